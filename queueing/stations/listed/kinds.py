"""Kinds of station by name, as in model files; the module of a kind is imported when used."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from headway.errors import GraphError, PackageError, nearest
from headway.lazy import loaded, offered, outside
from headway.queueing.stations.base import Station

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

STATIONS = {
    "Delay": "headway.queueing.stations.base",
    "MM1": "headway.queueing.stations.base",
    "MMm": "headway.queueing.stations.base",
    "MM1K": "headway.queueing.stations.finite",
    "MMmK": "headway.queueing.stations.finite",
    "GIMmK": "headway.queueing.stations.finite",
    "MD1": "headway.queueing.stations.general",
    "MG1": "headway.queueing.stations.general",
    "MGm": "headway.queueing.stations.general",
    "GGm": "headway.queueing.stations.general",
    "LoadDependent": "headway.queueing.stations.speeds.dependent",
    "Parallel": "headway.queueing.stations.speeds.dependent",
    "WakeUp": "headway.queueing.stations.speeds.dependent",
    "Slowing": "headway.queueing.stations.speeds.dependent",
    "UnequalServers": "headway.queueing.stations.speeds.unequal",
    "FastestFirst": "headway.queueing.stations.speeds.unequal",
    "Batch": "headway.queueing.stations.speeds.batch",
    "BatchK": "headway.queueing.stations.speeds.batch",
    "Quota": "headway.queueing.stations.quota",
    "ForkJoin": "headway.queueing.stations.forked",
}
"""The module of each of headway's own kinds."""

REPLICATED = {"MM1": "Parallel"}
"""The kind that several stations of a kind form: with its service time, and a server for each."""

LIMITED = {"MM1": "MM1K", "MMm": "MMmK"}
"""The kind that a kind is with limited places."""


class Written(NamedTuple):
    """A kind in model files that stands for several stations, or for a network of its own.

    Parameters
    ----------
    module
        The module that has its law.
    numbers
        Keys of its table in a model file, with the meaning of each.
    closed
        Whether closed networks take it: ``yes``, ``nearly`` or ``no``.
    title
        Its description, if no class of this name has one.
    """

    module: str
    numbers: Mapping[str, str]
    closed: str
    title: str = ""


WRITTEN = {
    "Fork": Written(
        "headway.queueing.forks.fork",
        {
            "branches": "The stations that serve a request in parallel.",
            "needed": "How many branches must finish; all by default.",
        },
        "nearly",
    ),
    "Join": Written(
        "headway.queueing.forks.fork",
        {
            "fork": "The station of kind Fork whose branches it waits for.",
            "needed": "How many branches must finish; all by default.",
        },
        "nearly",
        "Waits for the branches of a Fork to finish",
    ),
    "FiniteSource": Written(
        "headway.queueing.stations.speeds.sources",
        {
            "service_time": "Mean service time of one server [s].",
            "servers": "Number of servers.",
            "sources": "Number of sources.",
            "think_time": "How long a source pauses before its next request [s].",
        },
        "yes",
    ),
}
"""Kinds that model files expand; they are not kinds of a single station."""

_FIELDS = "__dataclass_fields__"
GROUP = "headway.stations"
"""Entry-point group by which other packages add kinds: ``NAME = module:NAME``."""


def station_kinds() -> list[str]:
    """Names of all kinds: headway's own, then those of other packages.

    Examples
    --------
    >>> station_kinds()[:3]
    ['Delay', 'MM1', 'MMm']
    """
    return [*STATIONS, *(name for name in offered(GROUP) if name not in STATIONS)]


def station_kind(name: str) -> type[Station]:
    """Find a kind of station by its name.

    Raises
    ------
    GraphError
        For an unknown name; the message has the most similar ones.
    PackageError
        For a kind of another package that cannot be used.

    Examples
    --------
    >>> station_kind("MM1").__name__
    'MM1'
    """
    if name in STATIONS:
        own: type[Station] = loaded(f"{STATIONS[name]}:{name}")
        return own
    kind: type[Station] | None = outside(GROUP, name, _kind_of)
    if kind is None:
        msg = f"there is no kind of station {name!r}{nearest(name, station_kinds())}"
        raise GraphError(msg)
    return kind


def _kind_of(point: "EntryPoint") -> type[Station]:
    """A kind of another package: a frozen dataclass with all laws that a station needs."""
    loaded: object = point.load()
    if not (isinstance(loaded, type) and issubclass(loaded, Station) and hasattr(loaded, _FIELDS)):
        msg = f"{point.value} is not a dataclass derived from headway.queueing.Station"
        raise PackageError(msg)
    kind: type[Station] = loaded
    if lacking := sorted(kind.__abstractmethods__):
        msg = f"{point.value} lacks {', '.join(lacking)}"
        raise PackageError(msg)
    if kind.__name__ != point.name:
        msg = f"{point.value} is called {kind.__name__}; make both the same"
        raise PackageError(msg)
    return kind


def product_form_kinds(*, shared: bool = False, unequal: bool = False) -> tuple[str, ...]:
    """Names of the kinds whose networks have a product form.

    Parameters
    ----------
    shared
        Only kinds that jobs of several classes can share.
    unequal
        Only kinds whose servers may differ.

    Examples
    --------
    >>> product_form_kinds(shared=True)[:5]
    ('Delay', 'MM1', 'MMm', 'LoadDependent', 'Parallel')
    >>> product_form_kinds(unequal=True)
    ('UnequalServers',)
    """
    kinds = {n: kind.can for n, kind in usable_kinds().items() if kind.can.product_form}
    wanted = {n: can for n, can in kinds.items() if can.shared or not shared}
    return tuple(n for n, can in wanted.items() if can.unequal or not unequal)


def usable_kinds() -> dict[str, type[Station]]:
    """All kinds by name, except those of other packages that cannot be used.

    Examples
    --------
    >>> [name for name, kind in usable_kinds().items() if kind.can.loses]
    ['MM1K', 'MMmK', 'GIMmK', 'BatchK']
    """
    kinds = {}
    for name in station_kinds():
        with suppress(PackageError):
            kinds[name] = station_kind(name)
    return kinds
