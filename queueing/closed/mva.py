"""Exact mean value analysis of one class, over any number of operating points at once.

Source: Reiser and Lavenberg, "Mean-value analysis of closed multichain queuing networks",
JACM 27(2), 1980; Lazowska et al., *Quantitative System Performance*, 1984, chapter 6.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.closed.points import by_network

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
    throughput, queue = np.zeros(demand.shape[1]), np.zeros(demand.shape)
    alike = by_network(np.vstack([demand, queues, think_time]), population)
    for group in alike:
        one = group[0]
        throughput[group], queue[:, group] = _sweep(
            demand[:, one], queues[:, one], float(think_time[one]), population[group]
        )
    if alike:
        return throughput, queue
    step = max(1, _BLOCK // len(demand))
    for start in range(0, demand.shape[1], step):
        part = np.s_[..., start : start + step]
        throughput[part], queue[part] = _block(
            np.ascontiguousarray(demand[part]), queues[part], think_time[part], population[part]
        )
    return throughput, queue


def _sweep(
    demand: FloatArray, queues: FloatArray, think_time: float, population: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Run the recursion of one network once, and keep what it gives for each population."""
    ends, which = np.unique(population.astype(int), return_inverse=True)
    kept, rates = np.zeros((ends.size, demand.size)), np.zeros(ends.size)
    queue, residence = np.zeros(demand.shape), np.empty(demand.shape)
    wanted = iter([n for n in ends.tolist() if n > 0])
    position, following = ends.size - int((ends > 0).sum()), next(wanted, None)
    split = None if (queues == 1).all() else queues
    for n in range(1, int(ends[-1]) + 1):
        np.add(queue if split is None else queue / split, 1.0, out=residence)
        np.multiply(residence, demand, out=residence)
        rate = n / (think_time + float(np.add.reduce(residence)))
        np.multiply(residence, rate, out=queue)
        if n == following:
            rates[position], kept[position] = rate, queue
            position, following = position + 1, next(wanted, None)
    return rates[which], kept[which].T


def _block(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> tuple[FloatArray, FloatArray]:
    throughput, wanted = np.zeros(demand.shape[1]), np.zeros(demand.shape)
    queue, residence = np.zeros(demand.shape), np.empty(demand.shape)
    whole = bool((queues == 1).all())
    ends = set(population.astype(int).tolist())
    for n in range(1, max(ends) + 1):
        np.add(queue if whole else queue / queues, 1, out=residence)
        residence *= demand
        rate = n / (think_time + residence.sum(axis=0))
        np.multiply(residence, rate, out=queue)
        if n in ends:
            here = population == n
            throughput[here], wanted[:, here] = rate[here], queue[:, here]
    return throughput, wanted
