"""Closed networks given by a routing matrix that nothing leaves: their rounds.

A round begins at the reference and ends on return to it. So the network with the same visits is the
one in which routes to the reference leave, and jobs enter at the reference.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, nearest
from headway.kinds import Amount, FloatArray
from headway.models.language.formula import of_number
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.class_ways import EVERY, ClassRouting
from headway.models.structure.parts.routes import share_at
from headway.numerals import four_digits
from headway.queueing.flows.traffic import SUM_TOLERANCE, reached

_RATES = ("throughput", "arrival_rate")


def in_rounds(graph: ModelGraph, inputs: Mapping[str, Amount]) -> ModelGraph:
    """The graph of one round of a closed network; the graph itself if jobs leave it.

    Parameters
    ----------
    graph
        A graph without classes.
    inputs
        The values of its parameters.

    Raises
    ------
    GraphError
        For a reference that is not a station, or to which jobs return while others leave.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> two = ModelGraph("two").station("cpu", MM1(0.1)).station("disk", MM1(0.2))
    >>> two = two.route("cpu", "disk").route("disk", "cpu")
    >>> [(route.source, route.target) for route in in_rounds(two, {}).routes]
    [('cpu', 'disk')]
    """
    named = graph.class_ways.references.get(EVERY)
    if named is not None and named not in graph.stations:
        msg = f"reference: there is no station {named!r}{nearest(named, graph.stations)}"
        raise GraphError(msg)
    if named is None and not _may_be_closed(graph):
        return graph
    reference = named or next(iter(graph.arrivals), next(iter(graph.stations)))
    away = _leaving(graph, inputs) * _reached(graph, reference)
    if away.any():
        return graph if named is None else _entering(graph, named, away)
    if named is None and len(graph.arrivals) > 1:
        msg = (
            f"{graph.name}: no job leaves, but jobs arrive at {', '.join(graph.arrivals)}; "
            "delete the arrivals and set reference, or add a route that leaves"
        )
        raise GraphError(msg)
    return _from(replace(graph, routes=graph.routes.cut(reference)), reference)


def _may_be_closed(graph: ModelGraph) -> bool:
    """Whether every station has a route onward, and no number says that some jobs leave."""
    if any(station.visits for station in graph.stations.values()):
        return False
    names = tuple(graph.stations)
    changing = {route.source for route in graph.routes.changing}
    total = graph.routes.fixed(names).sum(axis=1) if graph.routes else np.zeros(len(names))
    return all(
        name in changing or rest >= 1 - SUM_TOLERANCE
        for name, rest in zip(names, total, strict=True)
    )


def _leaving(graph: ModelGraph, inputs: Mapping[str, Amount]) -> FloatArray:
    """Largest share of jobs that leaves each station, over the operating points."""
    names = tuple(graph.stations)
    needed = [share_at(route) for route in graph.routes.changing]
    values = graph.plan.run({**inputs, **dict.fromkeys(_RATES, 1.0)}, needed) if needed else {}
    total: dict[str, Amount] = dict(
        zip(names, graph.routes.fixed(names).sum(axis=1).tolist(), strict=True)
    )
    for route in graph.routes.changing:
        total[route.source] = total[route.source] + share_at(route).of(values)
    rest = np.array([float(np.max(1 - np.asarray(total[name], float))) for name in names])
    return np.where(rest > SUM_TOLERANCE, rest, 0.0)


def _reached(graph: ModelGraph, start: str) -> NDArray[np.bool_]:
    """Stations to which routes lead."""
    place = {name: k for k, name in enumerate(graph.stations)}
    edges = np.zeros((len(place), len(place)), bool)
    for route in graph.routes:
        edges[place[route.source], place[route.target]] = True
    return reached(edges, np.arange(len(place)) == place[start])


def _entering(graph: ModelGraph, reference: str, away: FloatArray) -> ModelGraph:
    """The graph if jobs leave it: rounds begin at the reference, and nothing may return to it."""
    if any(route.target == reference for route in graph.routes):
        name = tuple(graph.stations)[int(away.argmax())]
        msg = (
            f"reference {reference}: a round ends where it comes back there, but a share of "
            f"{four_digits(away.max())} leaves at {name}; route it on, or leave reference out"
        )
        raise GraphError(msg)
    return _from(graph, reference)


def _from(graph: ModelGraph, reference: str) -> ModelGraph:
    """The graph with jobs that enter at one station."""
    first = next(iter(graph.stations)) == reference
    arrivals = {} if first else {reference: of_number(1.0)}
    return replace(graph, arrivals=arrivals, class_ways=ClassRouting())
