"""Operating points that differ in population only, and share one recursion."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.kinds import FloatArray

_WORTH = 4  # points per network from which going network by network is faster


def by_network(numbers: FloatArray, population: FloatArray) -> list[NDArray[np.intp]]:
    """Group operating points by network, if several populations share one.

    Parameters
    ----------
    numbers
        All numbers that define a network, shape (numbers, points).
    population
        Jobs N, shape (points,).

    Returns
    -------
    Indices of the points of each network; empty if that would save nothing.

    Examples
    --------
    >>> times = np.array([[1.0, 2.0] * 4])
    >>> [group.tolist() for group in by_network(times, np.arange(8.0))]
    [[0, 2, 4, 6], [1, 3, 5, 7]]
    """
    points = population.size
    if points < _WORTH or np.ptp(population) == 0:
        return []
    if (numbers == numbers[:, :1]).all():
        return [np.arange(points)]
    some, _ = distinct_columns(numbers[:, : 4 * _WORTH])
    if some.size == min(points, 4 * _WORTH) > points // _WORTH:
        return []
    networks, which = distinct_columns(numbers)
    if networks.size * _WORTH > points:
        return []
    order = np.argsort(which, kind="stable")
    ends = np.cumsum(np.bincount(which)).tolist()
    return [order[start:end] for start, end in pairwise([0, *ends])]
