"""Bounds on the closed classes of a solved network."""

from typing import TYPE_CHECKING

import numpy as np

from headway.models.solving.classes.rooms import as_one
from headway.models.solving.classes.solve import class_network
from headway.queueing.bounds.classes import class_bounds
from headway.queueing.bounds.common import Bounds

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def bounds(solution: "Solution") -> dict[str, dict[str, Bounds]]:
    """Bounds on closed classes, by class and method; none where open classes saturate a station."""
    if np.any(solution.saturated) or solution.model.network.graph.ways_by_class:
        return {}
    if as_one(solution.model.network) is not None:
        return {}
    _, stations, classes = class_network(solution.model.network)
    return class_bounds(stations, classes)
