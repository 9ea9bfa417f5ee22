"""Bounds on a closed network's throughput and response time, without solving it.

All arguments may be arrays: demands are a sequence over stations of numbers or arrays over
operating points, which population and think time broadcast with. Bounds other than the asymptotic
ones are for single servers (and delays, which count as think time).
"""

from collections.abc import Sequence

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.bounds.common import Bounds, in_order, read_demands, read_servers


def asymptotic_bounds(
    demands: Sequence[Amount],
    population: Amount,
    think_time: Amount = 0.0,
    servers: Sequence[Amount] | None = None,
) -> Bounds:
    """Limits by no waiting, by the bottleneck, and by waiting behind all other jobs.

    N / (Z + sum D (1 + (N-1)/m)) <= X <= min(min m/D, N / (Z + sum D))

    Parameters
    ----------
    demands
        Service demand D of a job at each station [s], 0 or more.
    population
        Jobs N, whole numbers of 1 or more.
    think_time
        Z [s], 0 or more.
    servers
        Servers m of each station; 1 each by default.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> bounds = asymptotic_bounds([0.5, 1.5], population=10, think_time=3.0)
    >>> round(bounds.throughput_upper, 4), round(bounds.response_time_lower, 4)
    (0.6667, 12.0)

    References
    ----------
    Lazowska et al., *Quantitative System Performance*, 1984, section 5.2.
    """
    demand, jobs, think = read_demands(demands, population, think_time)
    each = read_servers(servers, demand)
    total = demand.sum(axis=0)
    lower = jobs / (think + (demand * (1 + (jobs - 1) / each)).sum(axis=0))
    upper = np.minimum(1 / (demand / each).max(axis=0), jobs / (think + total))
    return in_order(lower, upper, jobs, think)


def balanced_job_bounds(
    demands: Sequence[Amount], population: Amount, think_time: Amount = 0.0
) -> Bounds:
    """Limits by comparison with networks whose stations all have the same demand.

    N / (Z + D + (N-1) D_max / (1 + Z/(N D))) <= X
    <= min(1/D_max, N / (Z + D + (N-1) D_mean / (1 + Z/D)))

    Parameters
    ----------
    demands, population, think_time
        As for `asymptotic_bounds`; single servers.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> bounds = balanced_job_bounds([1.0, 1.0], population=3)
    >>> bounds.throughput_lower, bounds.throughput_upper
    (0.75, 0.75)

    References
    ----------
    Zahorjan, Sevcik, Eager and Galler, CACM 25(2), 1982; Lazowska et al., *Quantitative
    System Performance*, 1984, section 5.4.
    """
    demand, jobs, think = read_demands(demands, population, think_time)
    total, largest = demand.sum(axis=0), demand.max(axis=0)
    slow = think + total + (jobs - 1) * largest / (1 + think / (jobs * total))
    return in_order(jobs / slow, _balanced_upper(demand, jobs, think), jobs, think)


def proportional_bounds(
    demands: Sequence[Amount], population: Amount, think_time: Amount = 0.0
) -> Bounds:
    """Limits by the distribution of jobs over unequal demands: as D, or as D**(N-1) at most.

    N / (Z + D + n_most sum D**N / sum D**(N-1)) <= X
    <= min(1/D_max, N / (Z + D + (N-1) / (1 + Z/D) sum D**2 / D))

    where at most n_most = (N-1) / (1 + Z/((N-1) D)) of N - 1 jobs are in queues, as X(N-1) is at
    least (N-1) / (Z + (N-1) D).

    Parameters
    ----------
    demands, population, think_time
        As for `asymptotic_bounds`; single servers.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> bounds = proportional_bounds([2.0, 1.0], population=3)
    >>> round(bounds.throughput_lower, 4), round(bounds.throughput_upper, 4)
    (0.4545, 0.4737)

    References
    ----------
    Hsieh and Lam, "Two classes of performance bounds for closed queueing networks", Performance
    Evaluation 7(1), 1987; here with a think time.
    """
    demand, jobs, think = read_demands(demands, population, think_time)
    total, largest = demand.sum(axis=0), demand.max(axis=0)
    others = jobs - 1
    share = demand / largest
    unlike = largest * (share**jobs).sum(axis=0) / (share**others).sum(axis=0)
    queued = others * others * total / np.maximum(others * total + think, 1e-300)
    slow = think + total + queued * unlike
    even = (demand * (demand / total)).sum(axis=0)
    fast = think + total + others * even / (1 + think / total)
    return in_order(jobs / slow, np.minimum(1 / largest, jobs / fast), jobs, think)


def geometric_bounds(
    demands: Sequence[Amount], population: Amount, think_time: Amount = 0.0
) -> Bounds:
    """Limits by bounding each queue length by a geometric series: the tightest of the three.

    The upper limit takes the balanced job bound for the throughput with one job fewer.

    Parameters
    ----------
    demands, population, think_time
        As for `asymptotic_bounds`; single servers.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> bounds = geometric_bounds([0.1, 0.1, 0.09, 0.08], population=10)
    >>> round(bounds.throughput_lower, 4), round(bounds.throughput_upper, 4)
    (8.1521, 8.2753)

    References
    ----------
    Casale, Muntz and Serazzi, "Geometric bounds: a noniterative analysis technique for
    closed queueing networks", IEEE Trans. Computers 57(6), 2008.
    """
    demand, jobs, think = read_demands(demands, population, think_time)
    largest, before = demand.max(axis=0), jobs - 1
    few = demand * before / (think + demand.sum(axis=0) + largest * before)
    many = demand * _balanced_upper(demand, before, think)
    slack = largest - demand
    busy = think + demand.sum(axis=0) + largest * before
    few, many = ((slack * _geometric_length(x, before)).sum(axis=0) for x in (few, many))
    lower = _root(jobs, busy - few, think * largest * before)
    upper = _root(jobs, busy - many, think * largest * jobs)
    outer = balanced_job_bounds(demands, population, think_time)
    return in_order(
        np.maximum(lower, outer.throughput_lower),
        np.minimum(upper, outer.throughput_upper),
        jobs,
        think,
    )


def _balanced_upper(demand: Amount, jobs: Amount, think: Amount) -> Amount:
    """Throughput if all stations had the mean demand, no more than the bottleneck allows."""
    total = demand.sum(axis=0)
    mean = total / np.maximum((demand > 0).sum(axis=0), 1)
    others = np.maximum(jobs - 1, 0)
    cycle = think + total + others * mean / (1 + think / total)
    return np.minimum(1 / demand.max(axis=0), jobs / cycle)


def _geometric_length(ratio: FloatArray, jobs: FloatArray) -> FloatArray:
    """Sum of ratio**j, j = 1..N; if the ratio reaches 1, its slack is 0, and so its weight."""
    some = np.minimum(ratio, 1 - 1e-12)
    return np.asarray((some - some ** (jobs + 1)) / (1 - some))


def _root(jobs: FloatArray, linear: FloatArray, product: FloatArray) -> FloatArray:
    """Smaller root X of product X**2 - N linear X + N**2 = 0, with N**2 in units of N."""
    return np.asarray(2 * jobs / (linear + np.sqrt(np.maximum(linear**2 - 4 * product, 0))))
