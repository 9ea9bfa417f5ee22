"""Exact mean value analysis of one class, over any number of operating points at once.

Source: Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks",
JACM 27(2), 1980; Lazowska et al., *Quantitative System Performance*, 1984, chapter 6.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.network.points import by_network

_BLOCK = 1 << 14  # numbers in a block's arrays: they stay in the second-level cache


def mean_value_analysis(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Throughput and queue lengths of delays and single servers.

    R_k(n) = D_k (1 + Q_k(n - 1)), X(n) = n / (Z + sum R_k(n)), Q_k(n) = X(n) R_k(n)

    Parameters
    ----------
    demand
        Service demands D, shape (stations, points) [s].
    queues
        Separate queues each is split into, shape (stations, points).
    think_time
        Time Z without queueing, delays included, shape (points,) [s].
    population
        Jobs N, shape (points,); the recursion runs once, to the largest.

    Returns
    -------
    Throughput by point; queue lengths by station and point.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> throughput, queue = mean_value_analysis(one, one, np.ones(1), np.array([2.0]))
    >>> throughput.round(12).tolist(), queue.round(12).tolist()
    ([0.8], [[1.2]])
    """
    first, column = _networks(np.vstack([demand, queues, think_time]), population)
    throughput, queue = np.zeros(demand.shape[1]), np.zeros(demand.shape)
    step = max(1, _BLOCK // len(demand))
    by_column = np.argsort(column, kind="stable")
    ends = np.searchsorted(column[by_column], np.arange(0, first.size + step, step))
    for block, (start, stop) in enumerate(pairwise(ends)):
        points, part = by_column[start:stop], first[block * step : (block + 1) * step]
        throughput[points], queue[:, points] = _block(
            demand.take(part, axis=1),
            queues.take(part, axis=1),
            think_time[part],
            population[points].astype(int),
            column[points] - block * step,
        )
    return throughput, queue


def _networks(
    numbers: FloatArray, population: FloatArray
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """First point of each network, those with most jobs first, and which network each point is."""
    which = np.arange(population.size)
    for number, group in enumerate(by_network(numbers, population)):
        which[group] = number
    _, first = np.unique(which, return_index=True)
    largest = np.zeros(first.size)
    np.maximum.at(largest, which, population)
    order = np.argsort(-largest, kind="stable")
    place = np.empty(first.size, np.intp)
    place[order] = np.arange(first.size)
    return first[order], place[which]


def _block(
    demand: FloatArray,
    queues: FloatArray,
    think_time: FloatArray,
    population: NDArray[np.intp],
    column: NDArray[np.intp],
) -> tuple[FloatArray, FloatArray]:
    """Run the recursion of some networks side by side, and keep each where points end."""
    order = np.argsort(population, kind="stable")
    column, answers = column[order], np.zeros((1 + len(demand), order.size))
    ends, begins = np.unique(population[order], return_index=True)
    ending = dict(zip(ends.tolist(), map(slice, begins, [*begins[1:], order.size]), strict=True))
    both = np.zeros((1 + len(demand), demand.shape[1]))
    rate, queue, residence = both[0], both[1:], np.empty(demand.shape)
    whole, alone = bool((queues == 1).all()), demand.shape[1] == 1
    for n in range(1, int(ends[-1]) + 1):
        np.add(queue if whole else queue / queues, 1.0, out=residence)
        residence *= demand
        np.add.reduce(residence, axis=0, out=rate)
        rate += think_time
        np.divide(n, rate, out=rate)
        np.multiply(residence, rate, out=queue)
        if n in ending:
            here = ending[n]
            answers[:, here] = both if alone else both.take(column[here], axis=1)
    back = np.empty_like(answers)
    back[:, order] = answers
    return back[0], back[1:]
