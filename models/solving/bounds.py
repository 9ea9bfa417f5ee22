"""Bounds on a solved open network."""

from typing import TYPE_CHECKING

from headway.models.structure.parts.keys import VISITS, station_at
from headway.queueing.bounds.opened import open_bounds

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution
    from headway.queueing.bounds.common import Bounds


def bounds(solution: "Solution") -> "dict[str, Bounds]":
    """Bounds on an open network, by method; none where forks or formulas make its response time."""
    graph = solution.model.network.graph
    forked = any(station.branches for station in graph.stations.values())
    if forked or "response_time" in graph.outputs:
        return {}
    stations = [station_at(name).of(solution.values) for name in solution.stations]
    visits = [VISITS.of(solution.values)[name] for name in solution.stations]
    return open_bounds(stations, visits, solution.values["throughput"])
