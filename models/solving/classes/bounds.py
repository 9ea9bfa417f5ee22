"""Bounds on the closed classes of a solved network."""

from typing import TYPE_CHECKING

import numpy as np

from headway.models.solving.classes.network import class_network
from headway.models.solving.classes.rooms import as_one
from headway.queueing.bounds.classes import class_bounds, why_unbounded
from headway.queueing.bounds.common import Bounds

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def bounds(solution: "Solution") -> dict[str, dict[str, Bounds]]:
    """Bounds on closed classes, by class and method; none where `no_class_bounds` says why."""
    if not solution.shared or no_class_bounds(solution):
        return {}
    _, stations, classes = class_network(solution.model.network)
    return class_bounds(stations, classes)


def no_class_bounds(solution: "Solution") -> str:
    """Why a network of several classes has no bounds; empty if it has some."""
    network = solution.model.network
    if network.graph.blocks:
        return "bounds by class are unknown with blocking or regions"
    if np.any(solution.saturated):
        return "open classes saturate a station"
    if network.graph.ways_by_class:
        return "bounds are known only where all classes have the same routes"
    if as_one(network) is not None:
        return f"{next(iter(network.graph.stations))} can lose jobs"
    _, stations, classes = class_network(network)
    return why_unbounded(stations, classes)
