"""Bounds on a solved network, or why there are none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.kinds import Amount
from headway.models.solving.classes.bounds import no_class_bounds
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.parts.keys import OWN_VISITS, VISITS, station_at
from headway.queueing.bounds.common import Bounds
from headway.queueing.bounds.network import network_bounds
from headway.queueing.bounds.opened import open_bounds
from headway.queueing.bounds.universal import StationUse, universal_bounds, universal_open_bounds
from headway.queueing.network.blocking import Blocking
from headway.queueing.stations.base import Delay

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def bounds(solution: "Solution") -> dict[str, Bounds]:
    """Bounds on a network of one class, by method; empty if `no_bounds` gives a reason."""
    if not solution.stations or solution.shared or _unbounded(solution):
        return {}
    network = solution.model.network
    kind = solution.model.network_kind
    forks = any(station.can.forks for station in network.graph.stations.values())
    if forks or kind is NetworkKind.BLOCKING:
        return _universal(solution)
    stations = [station_at(name).of(solution.values) for name in solution.stations]
    visits = [VISITS.of(solution.values)[name] for name in solution.stations]
    if kind is NetworkKind.OPEN:
        return open_bounds(stations, visits, solution.values["throughput"])
    if np.any(np.asarray(solution.beyond_stations) > 0):
        stations, visits = [*stations, Delay(solution.beyond_stations)], [*visits, 1.0]
    inputs = network.inputs
    return network_bounds(stations, visits, inputs["population"], inputs["think_time"])


def _universal(solution: "Solution") -> dict[str, Bounds]:
    """Bounds on a network with forks or blocking."""
    network, values = solution.model.network, solution.values
    visits = VISITS.of(values)
    own = visits if network.graph.blocks else OWN_VISITS.of(values)
    names = solution.stations
    limits = [StationUse(station_at(name).of(values), visits[name], own[name]) for name in names]
    regions: list[tuple[Amount, Sequence[int]]] = [
        (values[f"{name}.limit"], [names.index(one) for one in region.stations])
        for name, region in network.graph.regions.items()
    ]
    if not network.is_closed:
        return universal_open_bounds(limits, regions)
    if not network.graph.blocks and np.any(np.asarray(solution.beyond_stations) > 0):
        limits = [*limits, StationUse(Delay(solution.beyond_stations), 1.0, 1.0)]
    inputs = network.inputs
    return universal_bounds(limits, inputs["population"], inputs["think_time"], regions)


def no_bounds(solution: "Solution") -> str:
    """Why a solution has no bounds; empty if it has some."""
    if not solution.stations:
        return "a program has no stations to bound"
    if solution.shared:
        return "" if solution.class_bounds() else no_class_bounds(solution)
    if reason := _unbounded(solution):
        return reason
    return "" if bounds(solution) else "no station limits the throughput"


def _unbounded(solution: "Solution") -> str:
    """Why a network of one class has no bounds; empty if it has some."""
    network = solution.model.network
    graph = network.graph
    again = [n for n, one in graph.stations.items() if one.blocking == Blocking.REPETITIVE]
    if network.is_closed and np.any(np.asarray(network.inputs["population"]) < 1):
        return "the population is 0 at some point"
    if graph.gives_up:
        return "clients give up"
    if graph.arrival_batches:
        return "jobs arrive in batches"
    if lost := graph.losing:
        return f"{lost[0]} can lose jobs"
    if np.any(np.asarray(solution.values.get("loss_probability", 0.0)) > 0):
        return "jobs that find no room when they arrive are lost"
    if again:
        return f"repetitive service at {again[0]} changes how often a job visits each station"
    if "response_time" in graph.outputs and not network.is_closed:
        return "a formula gives the response time"
    return ""
