"""How long requests wait that come in bunches, as where one request makes several at once.

Of what a request finds as it comes, that of its own trace is known exactly, sampled or not, as a
trace is kept as a whole: K requests, with the probability q_k. What is there of other traces, J,
does not depend on it where traces come at random (Slivnyak), and is as many as there are at any
time, with the probability p_n. A request that finds n - 1 brings the number to n, as often as one
of n is answered. With exponential times of mean H, rate lambda, a = lambda H and m threads,

    a sum_k q_k p_(n-1-k) = min(n, m) p_n,

from which p_0 to p_(m-1) follow one by one, up to a factor. The sum over n of this, and of n times
this, give their scale and the mean number, and Little's law the mean waiting time:

    sum_(n<m) (m - n) p_n = m - a,
    (m - a) E J = a (1 + E K) + sum_(n<m) n (m - n) p_n,    W = (E J - a) / lambda.

This is exact for batches (M^X/M/m; Chaudhry and Templeton, A First Course in Bulk Queues, 1983),
and at one thread, a / (1 - a) of it with E K = 0, for any times once (c^2 - 1) / 2 of the waiting
without bunches is added, with their squared coefficient of variation c^2. With m threads that is
Allen and Cunneen's approximation.

With many threads only the peakedness z = 1 + E K counts: z requests are taken for one (Hayward's
approximation; Fredericks, Bell System Technical Journal 59, 1980).
"""

from collections.abc import Sequence

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.queueing.erlang.formulas import erlang_c
from headway.records import dataclass

MANY = 64
"""Threads above which only the peakedness counts; below them each bunch does."""


@dataclass(frozen=True)
class Met:
    """What requests find of their own trace as they come; or columns of loads.

    Parameters
    ----------
    chance
        Probability of each number, from 0 on, as far as `MANY`.
    mean
        Their mean number.
    """

    chance: FloatArray
    mean: FloatArray

    @classmethod
    def nobody(cls) -> "Met":
        """Nobody: requests that come one by one."""
        return cls(np.ones(1), np.zeros(1))

    @classmethod
    def of(cls, came: FloatArray, answered: FloatArray, trace: IntArray) -> "Met":
        """Count them.

        Parameters
        ----------
        came, answered, trace
            When each request came and was answered [s], and the number of its trace.

        Examples
        --------
        >>> met = Met.of(np.array([0.0, 0, 1, 3]), np.array([2.0, 3, 4, 5]), np.array([7, 7, 7, 7]))
        >>> met.chance.tolist(), met.mean.tolist()
        ([0.25, 0.5, 0.25], [1.0])
        """
        change = np.repeat((1, -1), len(came))
        order = np.lexsort((change, np.append(came, answered), np.append(trace, trace)))
        there = np.zeros(len(order), np.int64)
        there[order] = np.cumsum(change[order])
        found = np.maximum(there[: len(came)] - 1, 0)
        return cls(np.bincount(found)[:MANY] / len(found), np.array([float(found.mean())]))

    @classmethod
    def columns(cls, loads: "Sequence[Met]") -> "Met":
        """Several loads as columns."""
        chance = np.zeros((max(len(each.chance) for each in loads), len(loads), 1))
        for k, each in enumerate(loads):
            chance[: len(each.chance), k, 0] = each.chance
        return cls(chance, np.array([each.mean for each in loads]))

    def waiting(self, threads: int, offered: FloatArray) -> FloatArray:
        """Mean waiting time over the mean time for which a thread is held, W / H.

        Parameters
        ----------
        threads, offered
            m, and a below m.

        Examples
        --------
        >>> pairs = Met(np.array([0.5, 0.5]), np.array([0.5]))
        >>> pairs.waiting(1, np.array([0.0, 0.5]))  # (a + E K) / (1 - a)
        array([0.5, 2. ])
        """
        if len(self.chance) == 1 or threads > MANY:
            groups = np.maximum(np.round(threads / (1 + self.mean)), 1.0)
            return alone(groups, offered * groups / threads)
        numbers = [np.ones_like(offered)]  # p_n, up to a factor
        scale, longer = threads * numbers[0], np.zeros_like(offered)
        for n in range(1, threads):
            found = zip(self.chance, reversed(numbers), strict=False)
            comes = sum((chance * number for chance, number in found), np.zeros_like(offered))
            numbers.append(offered * comes / n)
            scale = scale + (threads - n) * numbers[n]
            longer += (threads - n) * comes
        return np.maximum((1 + self.mean) / (threads - offered) + longer / scale - 1, 0.0)


def alone(threads: int | FloatArray, offered: FloatArray) -> FloatArray:
    """W / H of requests that come one by one."""
    return np.asarray(erlang_c(threads, offered) / (threads - offered))
