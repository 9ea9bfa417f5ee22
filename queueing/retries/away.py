"""The Markov chain of the jobs at a queue and the clients that are going to retry.

An attempt that finds n jobs is served with probability a_n, otherwise dropped; if served, its
answer is late with probability l_n, which does not depend on later arrivals (the law of its wait).
The client retries after a timeout and a backoff, D on average: with probability h after a first
attempt, with probability q after another. With lambda requests a second, o clients about to retry
and mu_n = min(n, m) mu,

    (n, o) -> (n + 1, o)      lambda a_n (1 - h l_n) + q a_n l_n o / D
           -> (n + 1, o + 1)  lambda h a_n l_n
           -> (n, o + 1)      lambda h (1 - a_n)
           -> (n + 1, o - 1)  a_n (1 - q l_n) o / D
           -> (n, o - 1)      (1 - a_n) (1 - q) o / D
           -> (n - 1, o)      mu_n.

D is taken as exponential. Mean passage times to sets of states follow from linear equations.

If jobs that have waited longer than W are dropped, n counts only jobs that will be served. With n
>= m of them, the next job waits between n - m and n - m + 1 turns of S / m, uniformly distributed.
As many jobs wait as are served within W, m W / S; all further ones are dropped.
"""

from math import ceil, inf

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.linalg import splu

from headway.kinds import FloatArray
from headway.queueing.retries.met import met
from headway.queueing.retries.times import TimedQueue
from headway.records import dataclass


@dataclass(frozen=True)
class Meeting:
    """What an attempt meets, by the number of jobs it finds; shapes (jobs,).

    Parameters
    ----------
    served
        Probability a_n that an attempt is served.
    late
        Probability l_n that a served attempt is answered late.
    departs
        Departure rates mu_n [1/s].
    """

    served: FloatArray
    late: FloatArray
    departs: FloatArray


def meeting(queue: TimedQueue, most: int) -> Meeting:
    """What attempts meet at a queue with at most so many jobs, or fewer if it drops old ones.

    Examples
    --------
    >>> meeting(TimedQueue(1.0, 2, 2.0, oldest=1.5), 99).served.tolist()  # three wait, and no more
    [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    """
    time, m = queue.service_time, queue.servers
    n = np.arange(int(min(most, fullest(queue))) + 1)
    departs = np.minimum(n, m) / time
    if most < fullest(queue):
        return Meeting(np.ones(len(n)), met(time, m, queue.timeout, n).late, departs)
    turn = time / m
    served = np.clip(room(queue) - n, 0.0, 1.0)
    first = np.minimum(np.maximum(n - m, 0) * turn, queue.oldest)
    last = np.minimum(np.maximum(n - m + 1, 0) * turn, queue.oldest)
    return Meeting(served, _late(queue, first, last), departs)


def room(queue: TimedQueue) -> float:
    """Mean number of jobs above which further ones are dropped: m (1 + W / S)."""
    return queue.servers * (1 + queue.oldest / queue.service_time)


def fullest(queue: TimedQueue) -> float:
    """The smallest number of jobs at which all further ones are dropped; infinite if none are."""
    return ceil(room(queue)) if queue.oldest < inf else inf


def _late(queue: TimedQueue, first: FloatArray, last: FloatArray) -> FloatArray:
    """Probability of a late answer after a wait that is uniform between two times [s]."""
    scale, limit = queue.service_time, queue.timeout
    before, after = np.minimum(first, limit), np.minimum(last, limit)
    wide = last - first
    # mean of e^(-(T - w) / S) for waits w up to T, and of 1 for longer ones
    rising = scale * (np.exp((after - limit) / scale) - np.exp((before - limit) / scale))
    beyond = wide - (after - before)
    point = np.exp((before - limit) / scale)
    return np.where(wide > 0, (rising + beyond) / np.where(wide > 0, wide, 1.0), point)


@dataclass(frozen=True)
class Asking:
    """Requests and retries.

    Parameters
    ----------
    load
        Requests lambda [1/s].
    first, again
        Probabilities h and q of a retry after a failed first attempt, and after a later one.
    delay
        Mean time D from an attempt to its retry [s].
    """

    load: float
    first: float
    again: float
    delay: float


def passage(meet: Meeting, asks: Asking, ends: NDArray[np.bool_], start: tuple[int, int]) -> float:
    """Mean passage time of the chain to a set of states [s].

    Parameters
    ----------
    meet, asks
        The parameters of the chain.
    ends
        Whether a state is in the set, by clients away and jobs, shape (away, jobs). It includes all
        states with the most jobs, unless attempts at these are never served.
    start
        Clients away and jobs at the start.

    Examples
    --------
    >>> one = Meeting(np.ones(3), np.zeros(3), np.array([0.0, 1.0, 1.0]))
    >>> ends = np.array([[False, False, True]])  # two jobs: after 2 + (2 + 4)
    >>> round(passage(one, Asking(0.5, 0.0, 0.0, 1.0), ends, (0, 0)), 12)
    8.0
    """
    away, wide = ends.shape
    n, o = np.tile(np.arange(wide), away), np.repeat(np.arange(away), wide)
    served = meet.served[n]
    late, back, load = served * meet.late[n], o / asks.delay, asks.load
    joins = np.where(o + 1 < away, load * asks.first, 0.0)
    moves = (
        (1, load * served - joins * late + back * asks.again * late),
        (wide + 1, joins * late),
        (wide, joins * (1 - served)),
        (1 - wide, back * (served - asks.again * late)),
        (-wide, back * (1 - asks.again) * (1 - served)),
        (-1, meet.departs[n]),
    )
    over = ends.ravel()
    every = np.arange(n.size)
    leaves = np.sum([rates for _, rates in moves], axis=0)
    rows, columns, values = [every], [every], [np.where(over, 1.0, leaves)]
    for step, rates in moves:
        inside = np.flatnonzero((rates > 0) & ~over)
        rows.append(inside)
        columns.append(inside + step)
        values.append(-rates[inside])
    value, row, column = map(np.concatenate, (values, rows, columns))
    system = coo_array((value, (row, column)), (n.size, n.size)).tocsc()
    times = splu(system, permc_spec="MMD_AT_PLUS_A").solve(np.where(over, 0.0, 1.0))
    return float(times[start[0] * wide + start[1]])
