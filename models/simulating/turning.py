"""Where jobs go by class, and what they turn into, as a simulation follows them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import of_class
from headway.models.structure.planning.by_class import class_routes
from headway.queueing.chains.rounds import rounds_of
from headway.queueing.chains.routes import entry_states, laid_out


@dataclass(frozen=True)
class Turning:
    """The ways of jobs while they are in a class.

    Parameters
    ----------
    classes
        Names of all classes.
    entry
        Chance to enter at each station, shape (stations,).
    onward
        Chance to go from each station (row) to each class at each station, class by class, shape
        (stations, classes x stations).
    ends
        Where a round ends, and the next one begins, shape (classes x stations,).
    visits
        As many visits of the class itself as take the time of a round begun as it; by them alone
        it is told how long to simulate.
    """

    classes: tuple[str, ...]
    entry: FloatArray
    onward: FloatArray
    ends: NDArray[np.bool_]
    visits: FloatArray


def turnings(
    graph: ModelGraph, values: Mapping[str, Amount], times: FloatArray
) -> dict[str, Turning]:
    """Read the ways of each class.

    Parameters
    ----------
    graph, values
        A graph whose classes go ways of their own, and its numbers.
    times
        Mean service times, shape (classes, stations) [s].
    """
    routes = class_routes(graph, values)
    matrix, starts = laid_out(routes)[0], entry_states(routes)[0]
    count = len(routes.classes)
    rounds = rounds_of(routes, [_has_jobs(c, values) for c in routes.classes])
    entries = starts.reshape(count, count, -1)
    ends = np.zeros(matrix.shape[0], bool)
    for c in rounds.returns:
        ends |= starts[c] > 0
    rows = matrix.reshape(count, -1, matrix.shape[1])
    asked = (np.nan_to_num(rounds.visits[0]) * times).sum(axis=1)
    visits = np.where(times > 0, asked / np.where(times > 0, times, 1.0), 0.0)
    return {
        name: Turning(routes.classes, entries[c, c], rows[c], ends, visits[c])
        for c, name in enumerate(routes.classes)
    }


def _has_jobs(name: str, values: Mapping[str, Amount]) -> bool:
    """Whether anybody comes as a class, or is of it from the start."""
    numbers = (of_class(name, key) for key in ("arrival_rate", "population"))
    return any(float(values.get(key, 0.0)) > 0 for key in numbers)
