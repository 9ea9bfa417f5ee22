"""Stations that no job reaches: refused, because their results would say that they are idle."""

from headway.errors import GraphError
from headway.models.structure.parts.class_ways import EVERY
from headway.models.structure.parts.forks import forks
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.by_class import visited


def check_reached(graph: Structure) -> None:
    """Refuse a station to which neither arrivals nor routes nor forks lead.

    A route counts whatever its probability; stations with visits need no routes.

    Raises
    ------
    GraphError
        With the station and the remedy.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> two = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.2))
    >>> two.at().solve(5)
    Traceback (most recent call last):
        ...
    headway.errors.GraphError: two: no job comes to disk; add a route to it, or remove it
    """
    if any(station.visits for station in graph.stations.values()):
        return
    branches = {b: fork for fork, several in forks(graph.stations).items() for b in several}
    here = _here(graph)
    for name in graph.stations:
        if name not in here and branches.get(name) not in here:
            msg = f"{graph.name}: no job comes to {name}; {_remedy(graph, name, branches)}"
            raise GraphError(msg)


def _here(graph: Structure) -> set[str]:
    """Stations that jobs themselves (not parts) reach, whatever the numbers are."""
    if graph.class_ways.by_class:
        return {station for _, station in visited(graph)}
    starts = [graph.class_ways.references.get(EVERY, ""), *graph.arrivals]
    first = [name for name in starts if name] or [*graph.stations][:1]
    return {*first, *graph.routes.behind(first)}


def _remedy(graph: Structure, name: str, branches: dict[str, str]) -> str:
    """What to do, and why a route from a branch of a fork does not help, if there is one."""
    for route in graph.routes:
        fork = branches.get(route.source)
        if route.target == name and fork:
            return (
                f"the parts of {fork} end at its branch {route.source}, so that "
                f"{route.source} -> {name} is never taken; let {fork} go on to it, or remove it"
            )
    return "add a route to it, or remove it"
