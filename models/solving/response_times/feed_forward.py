"""Percentiles of open networks without loops: all operating points at once."""

from collections.abc import Callable
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.parts.keys import VISITS, arrivals_at, station_at
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.flows import entry_shares
from headway.models.structure.planning.ways import shares, visits_given
from headway.queueing.sojourn.feed_forward import FeedForwardNetwork
from headway.queueing.sojourn.interpolated_percentiles import interpolated_percentiles
from headway.queueing.stations.rows import in_a_row

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution

Finding: TypeAlias = Callable[[FeedForwardNetwork, float], FloatArray]
"""A function that finds percentiles of a network: times within which a share of jobs completes."""

_MOST_ROUTES = 500  # with more routes, points are solved one by one, for memory and speed
_ROUNDING = 1e-12  # rounding error of probabilities that sum to 1


def is_feed_forward(solution: "Solution", *, for_search: bool = False) -> bool:
    """Whether percentiles of all points can be computed together.

    They can, except in closed networks, with classes, visits instead of routes, returns, shared
    servers, stations whose distribution has several pieces or does not accept arrays, or constant
    times that only some jobs spend. For a fast search, almost constant times count as smooth.
    """
    graph = solution.model.network.graph
    if solution.model.network_kind is not NetworkKind.OPEN or visits_given(graph):
        return False
    if len(graph.routes) > _MOST_ROUTES or any(shares(graph, name) for name in graph.stations):
        return False
    stations = (station_at(name).of(solution.values) for name in graph.stations)
    if not all((one.spread() if for_search else one).smooth for one in stations):
        return False
    constant = [name for name, station in graph.stations.items() if not station.can.limits]
    certain = all(
        np.all(np.abs(np.asarray(VISITS.of(solution.values)[n]) - 1) <= _ROUNDING) for n in constant
    )
    return certain and bool(_order(graph))


def _order(graph: Structure) -> list[str]:
    """Return the stations in topological order of the routes; empty if there is a loop."""
    before: dict[str, set[str]] = {name: set() for name in graph.stations}
    for route in graph.routes:
        before[route.target].add(route.source)
    try:
        return list(TopologicalSorter(before).static_order())
    except CycleError:
        return []


def percentiles_together(
    solution: "Solution",
    share: float,
    stable: NDArray[np.bool_],
    find: Finding = interpolated_percentiles,
) -> FloatArray:
    """Times within which a share of the jobs completes, at a row of points.

    Parameters
    ----------
    solution
        A solution of a network without loops.
    share
        Between 0 and 1.
    stable
        Where no station is saturated, shape (points,).
    find
        The function that finds the times.

    Returns
    -------
    The times [s], shape (points,); infinite where a station is saturated.
    """
    graph, values = solution.model.network.graph, solution.values
    names = _order(graph)
    points = slice(None) if stable.all() else np.flatnonzero(stable)
    place = {name: k for k, name in enumerate(names)}

    def row(value: Amount) -> FloatArray:
        return row_of(solution, value)[points]

    arrivals = {name: arrivals_at(name).of(values) for name in graph.arrivals}
    shares = entry_shares(arrivals) if arrivals else {next(iter(graph.stations)): 1.0}
    network = FeedForwardNetwork(
        tuple(in_a_row(station_at(name).of(values), row) for name in names),
        np.array([row(values[f"{name}.arrival_rate"]) for name in names]),
        np.array([row(shares.get(name, 0.0)) for name in names]),
        {(place[a], place[b]): row(p) for (a, b), p in graph.routes.chances(values).items()},
    )
    times = np.full(stable.size, np.inf)
    times[points] = find(network, share)
    return times


def row_of(solution: "Solution", value: Amount) -> FloatArray:
    """A value broadcast over the points, shape (points,), without copying if possible."""
    return np.broadcast_to(np.asarray(value, float), solution.shape).reshape(-1)
