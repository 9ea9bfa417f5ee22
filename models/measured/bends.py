"""Where a measured curve bends back: times rise while throughput falls."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.columns import distinct_columns
from headway.kinds import FloatArray

_ROSE = 1.5  # factor by which a curve must have risen before it can bend back

ALIKE = 0.1
"""Relative spread of throughput times response time along a branch that bends back."""


def bends_back(throughput: FloatArray, response_time: FloatArray) -> Any:
    """Mark the points on a branch that bends back: times rise while throughput falls.

    There X R stays near its largest value, the number of circulating requests. Before it bends
    back, a curve rises: one that only falls with load, or hardly changes, has no such branch.

    Parameters
    ----------
    throughput, response_time
        Points of a curve [1/s] and [s].

    Returns
    -------
    One boolean per point; all are false if the curve does not bend back.

    Examples
    --------
    >>> rate = np.array([100.0, 200.0, 300.0, 310.0, 280.0])
    >>> bends_back(rate, np.array([0.01, 0.012, 0.05, 0.1, 0.11])).tolist()
    [False, False, False, True, True]
    """
    product = throughput * response_time
    most = product.max()
    full = product >= (1 - ALIKE) * most
    points = list(zip(throughput, response_time, strict=True))
    beaten = [bool(np.any((throughput > x) & (response_time < r))) for x, r in points]
    rose = [bool(np.any((throughput < x) & (_ROSE * response_time < r))) for x, r in points]
    back = np.array(beaten) & np.array(rose) & full
    return full if back.any() and full.sum() > 1 else np.zeros(throughput.shape, bool)


def bends_by_level(
    inputs: Mapping[str, FloatArray], throughput: FloatArray, response_time: FloatArray
) -> Any:
    """Mark the points on branches that bend back, for several curves in one table.

    Parameters
    ----------
    inputs
        Settings of each row, including the throughput: each combination of the others is a curve,
        and all share one population: a point with as many requests inside is also at the limit.
    throughput, response_time
        All points [1/s] and [s].
    """
    settings = [np.asarray(v) for n, v in inputs.items() if n != "throughput"]
    if not settings:
        return bends_back(throughput, response_time)
    _, curve = distinct_columns(np.stack(settings))
    marks = np.zeros(throughput.shape, bool)
    for number in np.unique(curve):
        own = curve == number
        marks[own] = bends_back(throughput[own], response_time[own])
    product = throughput * response_time
    if marks.any():
        marks |= product >= (1 - ALIKE) * product[marks].mean()
    return marks
