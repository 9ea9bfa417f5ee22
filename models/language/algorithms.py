"""What model files take from code: components with an algorithm behind them, and laws.

A component has fields, and results that formulas can use; a law is a function that formulas can
call, so that its arithmetic is written only once.
"""

import inspect
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from functools import cached_property
from importlib import import_module
from typing import Any

from headway.errors import GraphError, InvalidParameter, nearest, quoted
from headway.kinds import Amount
from headway.records import dataclass


@dataclass(frozen=True)
class Algorithm:
    """A kind of component of a model file.

    Parameters
    ----------
    module, name
        Class that does the work: it is made from the fields, and has a property for each result.
    lists
        Fields that hold a number for each stage.
    fields
        Fields that hold one number.
    parts
        Results that formulas can use, as ``NAME.part``.
    defaults
        Values of fields that may be left out.
    word, kinds
        If there are several classes: the key of a model file that selects one, and their names by
        its value, the first being the default. Each has fields of its own.
    labels
        The key of a model file that names the entries of its lists; empty if they have no names.
    file
        The key of a model file that names a file with its lists; empty if there is none.
    """

    module: str
    name: str
    lists: tuple[str, ...]
    fields: tuple[str, ...]
    parts: tuple[str, ...]
    defaults: tuple[tuple[str, float], ...] = ()
    word: str = ""
    labels: str = ""
    file: str = ""
    kinds: tuple[tuple[str, str], ...] = ()

    def kind(self, word: str = "") -> type:
        """The class, imported when it is first used.

        Raises
        ------
        InvalidParameter
            For a word that no class has.

        Examples
        --------
        >>> ALGORITHMS["caches"].kind("fifo").__name__
        'FIFOCache'
        """
        named = dict(self.kinds)
        if word and word not in named:
            msg = f"there is no {self.word} {quoted(word)}{nearest(word, named)}"
            raise InvalidParameter(msg)
        result: Amount = getattr(import_module(self.module), named.get(word, self.name))
        return result  # type: ignore[no-any-return]

    def word_of(self, kind: type) -> str:
        """The word for a class in a model file; empty if there is only one."""
        return next((word for word, name in self.kinds if name == kind.__name__), "")

    def keys(self, kind: type) -> tuple[str, ...]:
        """The fields of a class, with those that hold a list first."""
        own = [f.name for f in fields(kind)] if self.kinds else [*self.lists, *self.fields]
        return tuple(sorted(own, key=lambda key: key not in self.lists))

    def check(self, name: str, kind: type, given: Iterable[str]) -> None:
        """Refuse unknown and missing keys of a class.

        Raises
        ------
        GraphError
            With the first such key.
        """
        known, present = self.keys(kind), set(given)
        if unknown := sorted(present - set(known)):
            msg = f"{name} has no {unknown[0]!r}{nearest(unknown[0], known)}"
            raise GraphError(msg)
        if missing := [key for key in self.needed(kind) if key not in present]:
            msg = f"{name} needs {missing[0]}"
            raise GraphError(msg)

    def needed(self, kind: type) -> tuple[str, ...]:
        """Required keys."""
        if not self.kinds:
            return tuple(key for key in self.keys(kind) if key not in dict(self.defaults))
        without = {f.name for f in fields(kind) if f.default is MISSING}
        return tuple(key for key in self.keys(kind) if key in without)


ALGORITHMS = {
    "pipelines": Algorithm(
        "headway.loggp.machine.transfers",
        "PacketTransfer",
        ("occupancy", "gap_per_byte"),
        ("transfer", "packet"),
        (
            "total_time",
            "packets",
            "packet_time",
            "bottleneck_time",
            "bandwidth",
            "delivered_bandwidth",
            "bubbles",
            "best_packet",
            "best_time",
        ),
        labels="stages",
    ),
    "contention": Algorithm(
        "headway.loggp.programs.related",
        "BlockingRequests",
        (),
        ("work", "latency", "handler_time", "handler_scv"),
        ("cycle_time", "uncontended_time", "contention_time"),
        (("handler_scv", 1.0),),
    ),
    "caches": Algorithm(
        "headway.queueing.caches.policies",
        "LRUCache",
        ("popularity", "sizes", "miss_ratios"),
        ("size", "objects", "exponent", "lifetime", "rate"),
        ("hit_ratio", "miss_ratio", "marginal_hit_ratio", "resident"),
        word="policy",
        file="curve",
        kinds=(
            ("lru", "LRUCache"),
            ("fifo", "FIFOCache"),
            ("random", "RandomCache"),
            ("ttl", "TTLCache"),
            ("ttl-renewed", "RenewedTTLCache"),
            ("curve", "CurveCache"),
        ),
    ),
}
"""Kinds by the table of a model file that brings them in."""


@dataclass(frozen=True)
class Law:
    """A function that formulas can call; it takes floats, arrays and symbols alike.

    Parameters
    ----------
    module, name
        Where it stands.

    Examples
    --------
    >>> LAWS["burst_gap_run_time"].function(10.0, 1e6, 5e-6)
    15.0
    """

    module: str
    name: str

    @cached_property
    def function(self) -> Callable[..., Any]:
        """The function, imported when it is first used."""
        function: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return function

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of its arguments, in order.

        Examples
        --------
        >>> LAWS["burst_gap_run_time"].arguments
        ('base_run_time', 'messages', 'added_gap')
        """
        return tuple(inspect.signature(self.function).parameters)

    def takes(self, count: int) -> bool:
        """Whether it accepts this number of arguments."""
        try:
            inspect.signature(self.function).bind(*range(count))
        except TypeError:
            return False
        return True


_LAWS = {
    "headway.loggp.programs.laws": (
        "overhead_run_time",
        "serialisation_time",
        "burst_gap_run_time",
        "uniform_gap_run_time",
        "mixed_gap_run_time",
        "read_latency_run_time",
        "bulk_gap_run_time",
        "mpi_overhead_run_time",
    ),
    "headway.loggp.programs.algorithms": ("ring_all_reduce_time",),
    "headway.loggp.programs.barriers": ("mean_interruptions", "slowest_regular", "usable_share"),
    "headway.loggp.programs.related": ("bsp_superstep_time", "qsm_phase_time"),
    "headway.loggp.machine.routers": ("interface_gap",),
}
LAWS = {name: Law(module, name) for module, names in _LAWS.items() for name in names}
"""Laws by the name that formulas call them by."""
