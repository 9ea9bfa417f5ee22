"""What model files take from code: components with an algorithm behind them, and laws.

A component is made of fields and has parts that formulas can use; a law is a function that
formulas can call, so that its arithmetic stands once.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from headway.kinds import Amount


@dataclass(frozen=True)
class Algorithm:
    """A kind of component of a model file.

    Parameters
    ----------
    module, name
        Class that does the work: made of the fields, it has a property for each part.
    lists
        Fields that hold a number a stage.
    fields
        Fields that hold one number.
    parts
        Answers that formulas can use, as ``NAME.part``.
    defaults
        Values of fields that may be left out.
    """

    module: str
    name: str
    lists: tuple[str, ...]
    fields: tuple[str, ...]
    parts: tuple[str, ...]
    defaults: tuple[tuple[str, float], ...] = ()

    @cached_property
    def kind(self) -> type:
        """The class, imported when it is first used."""
        found: Amount = getattr(import_module(self.module), self.name)
        return found  # type: ignore[no-any-return]


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
    ),
    "contention": Algorithm(
        "headway.loggp.programs.related",
        "BlockingRequests",
        (),
        ("work", "latency", "handler_time", "handler_scv"),
        ("cycle_time", "uncontended_time", "contention_time"),
        (("handler_scv", 1.0),),
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
        found: Callable[..., Any] = getattr(import_module(self.module), self.name)
        return found

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of what it takes, in their order.

        Examples
        --------
        >>> LAWS["burst_gap_run_time"].arguments
        ('base_run_time', 'messages', 'added_gap')
        """
        return tuple(inspect.signature(self.function).parameters)

    def takes(self, count: int) -> bool:
        """Tell whether it can be called with so many arguments."""
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
    "headway.loggp.programs.barriers": ("mean_interruptions", "slowest_regular", "usable_share"),
    "headway.loggp.programs.related": ("bsp_superstep_time", "qsm_phase_time"),
    "headway.loggp.machine.routers": ("interface_gap",),
}
LAWS = {name: Law(module, name) for module, names in _LAWS.items() for name in names}
"""Laws by the name that formulas call them by."""
