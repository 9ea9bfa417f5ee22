"""Results of several classes, by the names that they have in a model."""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import (
    Amounts,
    of_class,
    offered_at,
)
from headway.queueing.network.result import Result


def system_by_class(graph: ModelGraph, solution: Result) -> Amounts:
    """Throughput and mean response time of all jobs and of each class."""
    rate, time = np.asarray(solution.throughput), np.asarray(solution.response_time)
    # what share of an overload each class gets through depends on more than the model says
    carried = np.where((rate > 0) & np.isinf(time) & _overloaded_classes(solution), np.nan, rate)
    values = {}
    for position, name in enumerate(graph.classes):
        values[of_class(name, "throughput")] = carried[position]
        values[of_class(name, "response_time")] = time[position]
    return values | {"throughput": carried.sum(axis=0), "response_time": _mean(time, rate)}


def _overloaded_classes(solution: Result) -> NDArray[np.bool_]:
    """Which classes visit a station offered more work than it can do; all if loads are unknown."""
    if solution.offered is None:
        return np.ones(np.shape(solution.throughput), bool)
    over = np.asarray(solution.offered) > 1 + _EXACTLY
    stuck = np.isinf(np.asarray(solution.station_response_time))
    return np.asarray((stuck & over[:, np.newaxis]).any(axis=0))


_EXACTLY = 1e-12  # rounding error of a sum of loads that is 1


def _mean(times: FloatArray, rates: FloatArray) -> FloatArray:
    """Mean over the jobs of all classes; without jobs, over the classes."""
    total = rates.sum(axis=0)
    some = total > 0
    spent = np.where(rates > 0, rates * np.where(rates > 0, times, 0.0), 0.0).sum(axis=0)
    return np.asarray(np.where(some, spent / np.where(some, total, 1.0), times.mean(axis=0)))


def stations_by_class(graph: ModelGraph, solution: Result) -> Amounts:
    """Results of each station, for all classes together."""
    values: Amounts = {}
    rate = np.asarray(solution.throughput)
    for position, name in enumerate(graph.stations):
        through = np.asarray(solution.station_throughput[position])
        values[f"{name}.utilisation"] = solution.utilisation[position].sum(axis=0)
        if solution.offered is not None:
            values[offered_at(name)] = np.asarray(solution.offered[position])
        values[f"{name}.queue_length"] = solution.queue_length[position].sum(axis=0)
        values[f"{name}.throughput"] = through.sum(axis=0)
        residence = np.asarray(solution.residence_time[position])
        values[f"{name}.residence_time"] = _mean(residence, rate)
        stay = np.asarray(solution.station_response_time[position])
        values[f"{name}.response_time"] = _mean(stay, through)
    return values
