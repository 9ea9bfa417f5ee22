"""Routes by class, with changes of class, for a simulation."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import of_class
from headway.models.structure.planning.by_class import class_routes
from headway.queueing.chains.cycles import cycles_of
from headway.queueing.chains.routes import entry_states, laid_out
from headway.records import dataclass


@dataclass(frozen=True)
class ClassSwitching:
    """Routes of jobs while they are in a class.

    Parameters
    ----------
    classes
        Names of all classes.
    entry
        Probability of entering at each station, shape (stations,).
    onward
        Probability of going from each station (row) to each class at each station, class by class,
        shape (stations, classes x stations).
    ends
        Whether a round ends at each class and station, and the next one starts, shape (classes x
        stations,).
    visits
        Visits of a round that starts in this class, as if all of it took place in the class itself;
        used only to plan the length of the simulation.
    """

    classes: tuple[str, ...]
    entry: FloatArray
    onward: FloatArray
    ends: NDArray[np.bool_]
    visits: FloatArray


def class_switching_of(
    graph: ModelGraph, values: Mapping[str, Amount], times: FloatArray
) -> dict[str, ClassSwitching]:
    """Read the routes of each class.

    Parameters
    ----------
    graph, values
        A graph with routes by class, and its numbers.
    times
        Mean service times, shape (classes, stations) [s].
    """
    routes = class_routes(graph, values)
    matrix, starts = laid_out(routes)[0], entry_states(routes)[0]
    count = len(routes.classes)
    cycles = cycles_of(routes, [_has_jobs(c, values) for c in routes.classes])
    entries = starts.reshape(count, count, -1)
    ends = np.zeros(matrix.shape[0], bool)
    for c in cycles.returns:
        ends |= starts[c] > 0
    rows = matrix.reshape(count, -1, matrix.shape[1])
    demands = (np.nan_to_num(cycles.visits[0]) * times).sum(axis=1)
    visits = np.where(times > 0, demands / np.where(times > 0, times, 1.0), 0.0)
    return {
        name: ClassSwitching(routes.classes, entries[c, c], rows[c], ends, visits[c])
        for c, name in enumerate(routes.classes)
    }


def _has_jobs(name: str, values: Mapping[str, Amount]) -> bool:
    """Whether jobs arrive in a class, or are in it at the start."""
    numbers = (of_class(name, key) for key in ("arrival_rate", "population"))
    return any(float(values.get(key, 0.0)) > 0 for key in numbers)
