"""What networks with blocking and regions are not solved for, in one place."""

from headway.errors import GraphError
from headway.models.structure.parts.structure import Structure


def refuse_blocking(graph: Structure, what: str) -> None:
    """Refuse what is not known of a network that holds jobs up.

    Parameters
    ----------
    graph
        Any graph; others pass.
    what
        What was asked for, in the plural.

    Raises
    ------
    GraphError
        Naming what holds jobs up.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").station("cpu", MM1(0.1)).region("threads", ["cpu"], limit=8)
    >>> refuse_blocking(one, "percentiles")
    Traceback (most recent call last):
        ...
    headway.errors.GraphError: one: percentiles are not known where threads holds jobs up
    """
    if graph.blocks:
        msg = f"{graph.name}: {what} are not known where {_who(graph)} holds jobs up"
        raise GraphError(msg)


def check_solvable(graph: Structure) -> None:
    """Refuse structures that no network with blocking has.

    Raises
    ------
    GraphError
        For several classes, visits in place of routes, and routes or stations that use the
        throughput.
    """
    who = _who(graph)
    if graph.classes:
        msg = f"{graph.name}: {who} holds jobs up, which is solved for one class of jobs only"
        raise GraphError(msg)
    waiting = [name for name, station in graph.stations.items() if station.can.joins]
    if waiting:
        msg = f"{graph.name}: {who} holds jobs up, which is not solved beside forks ({waiting[0]})"
        raise GraphError(msg)
    given = [name for name, station in graph.stations.items() if station.visits]
    if given:
        msg = f"{given[0]} has visits, and {who} holds jobs up; give routes in place of visits"
        raise GraphError(msg)
    used = {name for route in graph.routes.changing for name in route.probability.names}
    parts = [f for s in graph.stations.values() for each in s.formulas().values() for f in each]
    used |= {name for f in (*parts, *(r.limit for r in graph.regions.values())) for name in f.names}
    if used & {"throughput"} or any(_is_answer(graph, name) for name in used):
        msg = f"{graph.name}: {who} holds jobs up; its stations cannot depend on the throughput"
        raise GraphError(msg)


def _is_answer(graph: Structure, name: str) -> bool:
    """Whether a name is what a station or region does, and not one of its own numbers."""
    whose, _, part = name.partition(".")
    if whose in graph.regions:
        return part != "limit"
    return whose in graph.stations and part not in graph.stations[whose].fields


def _who(graph: Structure) -> str:
    """A region or station that holds jobs up."""
    blocking = [name for name, station in graph.stations.items() if station.blocking]
    return next(iter([*graph.regions, *blocking]), "")
