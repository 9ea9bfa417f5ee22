"""What headway does not solve in networks with blocking and regions."""

from headway.errors import GraphError
from headway.models.structure.parts.structure import Structure


def refuse_blocking(graph: Structure, what: str) -> None:
    """Refuse results that are unknown for a network that blocks.

    Parameters
    ----------
    graph
        Any graph; those without blocking pass.
    what
        The requested results, in the plural.

    Raises
    ------
    GraphError
        Naming the station or region that blocks.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").station("cpu", MM1(0.1)).region("threads", ["cpu"], limit=8)
    >>> refuse_blocking(one, "percentiles")
    Traceback (most recent call last):
        ...
    headway.errors.GraphError: one: percentiles are unknown where threads blocks; simulate it
    """
    if graph.blocks:
        msg = f"{graph.name}: {what} are unknown where {_who(graph)} blocks; simulate it"
        raise GraphError(msg)


def check_solvable(graph: Structure) -> None:
    """Refuse structures that networks with blocking do not support.

    Raises
    ------
    GraphError
        For several classes, visits instead of routes, and routes or stations that use the
        throughput.
    """
    if reason := unsolved(graph):
        raise GraphError(reason)
    check_formulas(graph)


def unsolved(graph: Structure) -> str:
    """Why a network with blocking has no law, whatever its numbers; empty if it has one."""
    who = _who(graph)
    if graph.classes:
        return f"{graph.name}: {who} blocks, which is solved for one class only; simulate it"
    waiting = [name for name, station in graph.stations.items() if station.can.joins]
    if waiting:
        return f"{graph.name}: {who} blocks; headway cannot combine this with forks ({waiting[0]})"
    given = [name for name, station in graph.stations.items() if station.visits]
    if given:
        return f"{given[0]} has visits, but {who} blocks jobs; give routes instead of visits"
    return ""


def check_formulas(graph: Structure) -> None:
    """Refuse numbers that depend on the throughput, as blocking in turn decides the throughput.

    Raises
    ------
    GraphError
        For routes, stations or limits that use the throughput.
    """
    used = {name for route in graph.routes.changing for name in route.probability.names}
    parts = [f for s in graph.stations.values() for each in s.formulas().values() for f in each]
    used |= {name for f in (*parts, *(r.limit for r in graph.regions.values())) for name in f.names}
    if used & {"throughput"} or any(_is_answer(graph, name) for name in used):
        who = _who(graph)
        msg = f"{graph.name}: {who} blocks jobs; formulas of stations cannot use the throughput"
        raise GraphError(msg)


def _is_answer(graph: Structure, name: str) -> bool:
    """Whether a name is a result of a station or region, rather than one of its own numbers."""
    whose, dot, part = name.partition(".")
    if not dot:  # a parameter, which may have the name of a station or region
        return False
    if whose in graph.regions:
        return part != "limit"
    return whose in graph.stations and part not in graph.stations[whose].fields


def _who(graph: Structure) -> str:
    """What a message calls a region or station that blocks."""
    blocking = [name for name, station in graph.stations.items() if station.blocking]
    return next(iter([*graph.regions, *blocking]), "")
