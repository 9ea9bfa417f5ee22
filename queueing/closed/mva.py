"""Exact mean value analysis of one class, over any number of operating points at once.

Source: Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks",
JACM 27(2), 1980; Lazowska et al., *Quantitative System Performance*, 1984, chapter 6.
"""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.network.points import by_network

_BLOCK = 1 << 14  # numbers in the arrays of a block that fit into the second-level cache
_AT_ONCE = 1e8  # steps of a station without checking for Ctrl-C, some 0.1 s


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
        Number of separate queues of each station, shape (stations, points).
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
    first, points, begins = _networks(demand, queues, think_time, population)
    stations, jobs = len(demand), population[points].astype(int)
    # A stride that is odd in cache lines keeps stations from evicting one another.
    step = max(1, _BLOCK // stations // 16 * 16 - 8)
    throughput, queue = np.zeros(demand.shape[1]), np.zeros(demand.shape)
    for start in range(0, first.size, step):
        part, begin = first[start : start + step], begins[start : start + step + 1]
        here = slice(begin[0], begin[-1])
        network = demand.take(part, axis=1), 1 / queues.take(part, axis=1), think_time[part]
        length, own = np.zeros(network[0].shape), jobs[here]
        answers = np.zeros(own.size), np.zeros((stations, own.size))
        most = int(own.max())
        stride = max(1, int(_AT_ONCE / length.size))
        for n in range(0, most, stride):
            to = min(n + stride, most)
            _one_class_recursion(*network, n, to, begin - begin[0], own, length, *answers)
        throughput[points[here]], queue[:, points[here]] = answers
    return throughput, queue


def _networks(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """A point of each network, most jobs first; all points, and the first of each network.

    The points of a network are adjacent, those with fewest jobs first.
    """
    one = population.size == 1
    groups = [] if one else by_network(np.vstack([demand, queues, think_time]), population)
    if not groups:  # each point is a network
        order = np.argsort(-population, kind="stable")
        return order, order, np.arange(order.size + 1)
    which = np.empty(population.size, np.intp)
    for number, group in enumerate(groups):
        which[group] = number
    largest = np.zeros(len(groups))
    np.maximum.at(largest, which, population)
    place = np.empty(largest.size, np.intp)
    place[np.argsort(-largest, kind="stable")] = np.arange(largest.size)
    points = np.lexsort((population, place[which]))
    begins = np.concatenate([[0], np.cumsum(np.bincount(place[which]))])
    return points[begins[:-1]], points, begins


@compiled
def _one_class_recursion(
    demand: FloatArray,
    share: FloatArray,
    think_time: FloatArray,
    start: int,
    stop: int,
    begins: NDArray[np.intp],
    population: NDArray[np.intp],
    length: FloatArray,
    rate: FloatArray,
    queue: FloatArray,
) -> None:
    """Go on from `start` to `stop` jobs with networks side by side, and store points that end.

    Parameters
    ----------
    demand, share, think_time
        D and 1 / queues, shape (stations, networks), and Z, shape (networks,).
    begins, population
        First point of each network and the end of the last; N of each point, ascending in a
        network.
    length
        Q with `start` jobs, then with `stop`, as `demand`.
    rate, queue
        X and Q of the points, shapes (points,) and (stations, points).
    """
    order = np.argsort(population, kind="stable")
    column = np.repeat(np.arange(len(begins) - 1), np.diff(begins))[order]
    ends, firsts = np.unique(population[order], return_index=True)
    ending = dict(zip(ends.tolist(), map(slice, firsts, [*firsts[1:], order.size]), strict=True))
    cycle, residence = np.empty(think_time.shape), np.empty(demand.shape)
    whole = bool((share == 1).all())
    for n in range(start + 1, stop + 1):
        np.add(length if whole else length * share, 1.0, out=residence)
        residence *= demand
        np.add.reduce(residence, axis=0, out=cycle)
        cycle += think_time
        np.divide(n, cycle, out=cycle)
        np.multiply(residence, cycle, out=length)
        if n in ending:
            here = ending[n]
            rate[order[here]] = cycle[column[here]]
            queue[:, order[here]] = length[:, column[here]]
