"""Operating points that differ in their population alone: one recursion answers all of them."""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray

_WORTH = 4  # points for each network, from which going network by network is faster


def by_network(numbers: FloatArray, population: FloatArray) -> list[NDArray[np.intp]]:
    """Group operating points by network, where several populations share one.

    Parameters
    ----------
    numbers
        All that makes a network, shape (numbers, points).
    population
        Jobs N, shape (points,).

    Returns
    -------
    Positions of the points of each network; none where that would save nothing.

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
    first = np.unique(numbers[:, : 4 * _WORTH], axis=1)
    if first.shape[1] == min(points, 4 * _WORTH) > points // _WORTH:
        return []
    networks, which = np.unique(numbers, axis=1, return_inverse=True)
    if networks.shape[1] * _WORTH > points:
        return []
    order = np.argsort(which.ravel(), kind="stable")
    return np.split(order, np.cumsum(np.bincount(which.ravel()))[:-1])
