"""How long requests wait that come in bunches, from few callers, or hold threads of others.

Of what a request finds as it comes, that of its own trace is known exactly, sampled or not, as a
trace is kept as a whole: K requests, with the probability q_k. What is there of other traces, J,
does not depend on it where traces come at random (Slivnyak), and is as many as there are at any
time, with the probability p_n. A request that finds n - 1 brings the number to n, as often as one
of n is answered. With times of mean H, rate lambda, a = lambda H and m threads,

    a sum_k q_k f_(n-1-k) p_(n-1-k) = d_n p_n,   d_n = min(n, m) / h_n,

where f_j says how much more often than on average requests come while j are there (`callers`), and
h_n how much longer they take while n are. Where requests wait at other services, they take the
longer the more of them are there, as they do from load to load: with g = dH / da / H, and 1 + a in
service on average when one of them is,

    h_n = 1 + g (min(n, m) - min(1 + a, m)).

p_0, p_1, ... follow one by one, up to a factor. From some n on, f is f' and d is d'; the sum over
all n of the equation, and of n times it, give the factor and the mean number:

    d' - a f' = sum_n (d' - d_n) p_n + a sum_j (f_j - f') p_j,
    (d' - a f') E J = a ((1 + E K) sum_j f_j p_j + sum_j (f_j - f') j p_j) + sum_n n (d' - d_n) p_n,

and Little's law the mean waiting, W / H = E J / E B - 1, with E B = sum_n min(n, m) p_n.

This is exact for batches (M^X/M/m; Chaudhry and Templeton, A First Course in Bulk Queues, 1983) and
where times depend on how many are there. Of times that do not vary like exponential ones, what
M/G/m waits longer than M/M/m is added (`general_wait`): at one thread that is exact with bunches,
too. Where W is below that of M/M/m, as much less is added.

With many threads only the peakedness z = 1 + E K counts: z requests are taken for one (Hayward's
approximation; Fredericks, Bell System Technical Journal 59, 1980).
"""

from collections.abc import Sequence

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.queueing.variability.waiting import general_wait
from headway.records import dataclass

MANY = 64
"""Threads above which only the peakedness counts; below them each bunch and caller does."""
_MOST_LONGER = 0.7  # share by which times may be shorter than on average where nobody is there
_LEAST = 1e-9  # least number, against division by 0


@dataclass(frozen=True)
class Met:
    """What requests find as they come; or columns of loads.

    Parameters
    ----------
    chance
        Probability of each number of their own trace, from 0 on, as far as `MANY`.
    mean
        The mean of that number.
    pace
        How much more often than on average they come while 0, 1, ... of other traces are there; the
        last holds for all more.
    """

    chance: FloatArray
    mean: FloatArray
    pace: FloatArray

    @classmethod
    def nobody(cls) -> "Met":
        """Nobody: requests that come one by one, from many callers."""
        return cls(np.ones(1), np.zeros(1), np.ones(1))

    @classmethod
    def of(cls, came: FloatArray, answered: FloatArray, trace: IntArray, pace: FloatArray) -> "Met":
        """Count those of their own trace.

        Parameters
        ----------
        came, answered, trace
            When each request came and was answered [s], and the number of its trace.
        pace
            How often requests come while others are there.

        Examples
        --------
        >>> same = np.array([7, 7, 7, 7])
        >>> met = Met.of(np.array([0.0, 0, 1, 3]), np.array([2.0, 3, 4, 5]), same, np.ones(1))
        >>> met.chance.tolist(), met.mean.tolist()
        ([0.25, 0.5, 0.25], [1.0])
        """
        change = np.repeat((1, -1), len(came))
        order = np.lexsort((change, np.append(came, answered), np.append(trace, trace)))
        there = np.zeros(len(order), np.int64)
        there[order] = np.cumsum(change[order])
        found = np.maximum(there[: len(came)] - 1, 0)
        chance = np.bincount(found)[:MANY] / len(found)
        return cls(chance, np.array([float(found.mean())]), pace)

    @classmethod
    def columns(cls, loads: "Sequence[Met]") -> "Met":
        """Several loads as columns."""
        chance = np.zeros((max(len(each.chance) for each in loads), len(loads), 1))
        pace = np.empty((max(len(each.pace) for each in loads), len(loads), 1))
        for k, each in enumerate(loads):
            chance[: len(each.chance), k, 0] = each.chance
            pace[:, k, 0] = each.pace[-1]
            pace[: len(each.pace), k, 0] = each.pace
        return cls(chance, np.array([each.mean for each in loads]), pace)

    def waiting(
        self, threads: int, offered: FloatArray, scv: Amount = 1.0, longer: Amount = 0.0
    ) -> FloatArray:
        """Mean waiting time over the mean time for which a thread is held, W / H.

        Parameters
        ----------
        threads, offered
            m, and a below m.
        scv
            Squared coefficient of variation of the time for which a thread is held.
        longer
            By which share it is longer for each one more in service, g, 0 or more.

        Examples
        --------
        >>> pairs = Met(np.array([0.5, 0.5]), np.array([0.5]), np.ones(1))
        >>> pairs.waiting(1, np.array([0.25, 0.5]))  # (a + E K) / (1 - a)
        array([1., 2.])
        """
        if threads > MANY:
            groups = np.maximum(np.round(threads / (1 + self.mean)), 1.0)
            return alone(groups, offered * groups / threads, scv)
        waiting, usual = self._exponential(threads, offered, longer), alone(threads, offered)
        shorter = np.minimum(waiting / np.maximum(usual, _LEAST), 1.0)
        return waiting + (alone(threads, offered, scv) - usual) * shorter

    def _exponential(self, threads: int, offered: FloatArray, longer: Amount) -> FloatArray:
        """W / H of exponential times."""
        middle = np.minimum(1 + offered, threads)
        growth = np.minimum(longer, _MOST_LONGER / middle)
        answered = [n / (1 + growth * (n - middle)) for n in range(threads + 1)]
        always, most = self.pace[-1], answered[threads]
        numbers, coming = [np.ones_like(most)], [self.pace[0] * np.ones_like(most)]
        for n in range(1, max(threads, len(self.pace) - 1)):
            found = zip(self.chance, reversed(coming), strict=False)
            comes = sum((chance * each for chance, each in found), np.zeros_like(most))
            numbers.append(offered * comes / answered[min(n, threads)])
            coming.append(self.pace[min(n, len(self.pace) - 1)] * numbers[n])
        spare, idle, lost, often, oftener = np.zeros((5, *most.shape))
        for n, (number, comes) in enumerate(zip(numbers, coming, strict=True)):
            slower = (most - answered[min(n, threads)]) * number
            spare, lost = spare + slower, lost + n * slower
            idle = idle + max(threads - n, 0) * number
            often = often + (comes - always * number)
            oftener = oftener + n * (comes - always * number)
        free = np.maximum(most - offered * always, _LEAST * threads)
        factor = free / (spare + offered * often)
        there = offered * (1 + self.mean) * (always + factor * often)
        there = there + factor * (offered * oftener + lost)
        busy = np.maximum(threads - factor * idle, _LEAST)
        return np.asarray(np.maximum(there / free / busy - 1, 0.0))


def alone(threads: int | FloatArray, offered: FloatArray, scv: Amount = 1.0) -> FloatArray:
    """W / H of requests that come one by one: of M/G/m."""
    return general_wait(offered, 1.0, threads, 1.0, scv)
