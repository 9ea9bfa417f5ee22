"""Orders of service at the stations of a graph, and priorities of classes."""

from collections.abc import Iterator

from headway.errors import GraphError
from headway.models.structure.parts.structure import Structure
from headway.queueing.disciplines.discipline import Discipline, SojournLaw
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.stations.listed.kinds import usable_kinds


def check_order(name: str, kind: type[Station], discipline: Discipline) -> None:
    """Refuse a discipline for a kind of station with an order of its own.

    Raises
    ------
    GraphError
        With the station and the remedy.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> check_order("cpu", MM1, Discipline("priority"))
    """
    if kind.can.takes(discipline):
        return
    able = {n: k.can for n, k in usable_kinds().items() if k.can.takes(discipline)}
    *others, last = [n for n, can in able.items() if can.limits]
    msg = (
        f"{name}: a {kind.__name__} does not support the discipline {discipline}; "
        f"delete discipline, or use {', '.join(others)} or {last}"
    )
    raise GraphError(msg)


def check_priorities(graph: Structure) -> None:
    """Refuse priorities that no station uses, and stations that lack them.

    Raises
    ------
    GraphError
        With the station or class, and the remedy.
    """
    ordered = list(by_priority(graph))
    for name, numbers in graph.classes.items():
        if ordered and "priority" not in numbers:
            msg = (
                f"class {name} has no priority, which {ordered[0]} needs; give it one (1 is "
                "served first)"
            )
            raise GraphError(msg)
        if "priority" in numbers and not ordered:
            able = " or ".join(f'"{each}"' for each in Discipline if each.by_priority)
            msg = (
                f"class {name} has a priority, but no station uses it; give a station a discipline "
                f"of {able}"
            )
            raise GraphError(msg)
    if ordered and not graph.classes:
        msg = (
            f"{ordered[0]} serves by priority, but there are no classes; add classes with "
            "priorities"
        )
        raise GraphError(msg)


def by_priority(graph: Structure) -> Iterator[str]:
    """Names of the stations that serve by priority."""
    for name, station in graph.stations.items():
        if station.discipline.by_priority:
            yield name


def check_turns_known(graph: Structure) -> None:
    """Refuse stations whose discipline leaves the distribution of response times unknown.

    Raises
    ------
    GraphError
        With the station and its discipline.
    """
    for name, station in graph.stations.items():
        if not _known(graph, name):
            msg = (
                f"{name}: only mean response times are known for discipline "
                f"{station.discipline}; simulate it for the rest"
            )
            raise GraphError(msg)


def check_exponential(graph: Structure) -> None:
    """Refuse shared servers with general service times if a job is followed among exponential ones.

    Raises
    ------
    GraphError
        With the station and the remedy.
    """
    for name, station in graph.stations.items():
        if station.can.insensitive:
            kind = station.kind.__name__
            msg = (
                f"{name}: response times at a shared {kind} have a known distribution only in open "
                "networks whose routes are those of all classes; use MM1 or MMm, or simulate it"
            )
            raise GraphError(msg)


def _known(graph: Structure, name: str) -> bool:
    """Whether the order has a law; priorities have one for open classes that use no other queue."""
    times = graph.stations[name].discipline.times
    if times is not SojournLaw.HEAD_OF_LINE:
        return times is not SojournLaw.UNKNOWN
    queues = [n for n, s in graph.stations.items() if s.can.product_form is not ServiceKind.DELAY]
    closed = any("population" in numbers for numbers in graph.classes.values())
    kind = graph.stations[name].can
    return queues == [name] and not closed and not kind.counts and not graph.routes.loops
