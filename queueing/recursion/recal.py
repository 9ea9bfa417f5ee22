"""Closed networks of many classes, a job at a time: recursion by chain (RECAL).

Let G_m(N) be the normalising constant of the network in which station i stands q_i + m_i
times, q_i being its copies. Taking away a job of class r,

    N_r G_m(N) = Z_r G_m(N - e_r) + sum over i of (q_i + m_i) D_ir G_{m + e_i}(N - e_r),

so K jobs in all need the vectors m with a sum of up to K, K - 1... 0, which does not depend on
how many classes they are of. Without think times only the vectors of one sum are needed each
time, and G_0(N') = sum over i of q_i G_{e_i}(N') / (K' + sum q) for K' jobs. All terms are
positive. At the end the network without a job of each class in turn tells everything,

    X_r = N_r G_0(N - e_r) / c_r,  Q_ir = N_r q_i D_ir G_{e_i}(N - e_r) / c_r,

where c_r is the right-hand side above for m = 0; these are found by halving the classes.

Source: Conway and Georganas, "RECAL: a new efficient algorithm for the exact analysis of
multiple-chain closed queuing networks", JACM 33(4), 1986.
"""

from collections.abc import Iterator, Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.recursion.compositions import Compositions
from headway.queueing.recursion.crowds import Crowds
from headway.queueing.recursion.quadrature import as_cost

MOST_JOBS = 1000
"""G_m / G_0 grows up to 2**K, which has to stay in the range of floating-point numbers."""

_LEAF = 200_000  # vectors of a table, which is walked in one go
_BLOCK = 4_000_000  # numbers of all points solved together


def vectors(parts: int, jobs: int) -> int:
    """Vectors that share jobs among parts.

    Examples
    --------
    >>> vectors(4, 36)
    9139
    """
    return comb(jobs + parts - 1, parts - 1) if parts else 0


def recal_bytes(parts: int, jobs: int, classes: int) -> float:
    """Memory of an operating point [B].

    Parameters
    ----------
    parts
        Stations that differ, and one more where a class thinks.
    jobs, classes
        In all.

    Examples
    --------
    >>> recal_bytes(4, 36, 12) < 2e6, 1e8 < recal_bytes(8, 36, 12) < 1e9
    (True, True)
    """
    inner = _inner(parts, jobs)
    table = vectors(inner, jobs) * (4 * inner + 4)
    ends = 2 * vectors(parts, classes) + 2 * vectors(parts, (classes + 1) // 2)
    return 8.0 * as_cost(table + max(vectors(parts, jobs), ends))


def recal_operations(parts: int, jobs: int, classes: int) -> float:
    """Terms that are added up for an operating point.

    Examples
    --------
    >>> recal_operations(2, 3, 1)
    12.0
    """
    halvings = (classes - 1).bit_length()
    walked = comb(jobs - 1 + parts, parts) + halvings * comb(classes - 1 + parts, parts)
    return as_cost(parts * walked)


def recal(crowds: Crowds) -> tuple[FloatArray, FloatArray]:
    """Throughputs and jobs at the stations.

    Parameters
    ----------
    crowds
        A network of at most 1000 jobs.

    Returns
    -------
    Throughputs, shape (classes, points); jobs, shape (classes, stations, points).

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> rate, jobs = recal(Crowds(one[None], np.ones(1), one, np.array([2])))
    >>> round(float(rate[0, 0]), 12), round(float(jobs[0, 0, 0]), 12)
    (0.8, 1.2)
    """
    points = crowds.demand.shape[2]
    together = max(_BLOCK // vectors(crowds.parts, crowds.jobs), 1)
    starts = range(0, points, together)
    walk = _Walk(crowds)
    solved = [_solved(walk, crowds.at(slice(start, start + together))) for start in starts]
    rates, queues = zip(*solved, strict=True)
    return np.concatenate(rates, axis=-1), np.concatenate(queues, axis=-1)


def _solved(walk: "_Walk", crowds: Crowds) -> tuple[FloatArray, FloatArray]:
    classes = len(crowds.population)
    values = np.ones((vectors(crowds.parts, crowds.jobs), crowds.demand.shape[2]))
    level = crowds.jobs
    for c, jobs in enumerate(crowds.population):
        for _ in range(jobs - 1):
            walk.take(crowds, c, level, values)
            level -= 1
    rate, queue = np.zeros(crowds.think_time.shape), np.zeros(crowds.demand.shape)
    values = values[: vectors(crowds.parts, level)].copy()
    for c, last in _without_each(walk, crowds, list(range(classes)), values):
        rate[c], queue[c] = _ends(crowds, c, last)
    return rate, queue


def _without_each(
    walk: "_Walk", crowds: Crowds, left: Sequence[int], values: FloatArray
) -> Iterator[tuple[int, FloatArray]]:
    """The network without a job of each class: half of them take the other half, and so on."""
    if len(left) == 1:
        yield left[0], values
        return
    middle = len(left) // 2
    for own, others in ((left[:middle], left[middle:]), (left[middle:], left[:middle])):
        rest, level = values.copy(), len(left)
        for c in others:
            walk.take(crowds, c, level, rest)
            level -= 1
        yield from _without_each(walk, crowds, own, rest[: vectors(crowds.parts, level)])


def _ends(crowds: Crowds, c: int, last: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Throughput and jobs of a class from the constants without one job of it.

    They are in the order of the parts: first thinking if anybody does, then the stations.
    """
    first = int(crowds.thinking)
    each = crowds.copies[:, None] * last[first:]
    residence = crowds.demand[c] * each
    alone = last[0] if first else each.sum(axis=0) / (crowds.jobs - 1 + crowds.copies.sum())
    whole = crowds.think_time[c] * alone + residence.sum(axis=0)
    jobs = crowds.population[c]
    return np.asarray(jobs * alone / whole), np.asarray(jobs * residence / whole)


def _inner(parts: int, jobs: int) -> int:
    """Parts of which all vectors are in one table."""
    inner = min(parts, 2)
    while inner < parts and vectors(inner + 1, jobs) <= _LEAF:
        inner += 1
    return inner


class _Walk:
    """Vectors m laid out as blocks: one for the numbers of each vector of the outer parts.

    Within a block stand those of the inner parts; of them the first is what the others leave
    of the sum.
    """

    def __init__(self, crowds: Crowds) -> None:
        inner = _inner(crowds.parts, crowds.jobs)
        self.inner = Compositions(inner - 1, crowds.jobs)
        self.outer = Compositions(crowds.parts - inner, crowds.jobs)
        counts = [self.inner.count(level) for level in range(crowds.jobs + 1)]
        self._counts = np.array(counts)
        copies = np.concatenate([[0.0] if crowds.thinking else [], crowds.copies])
        self._first, self._copies = float(copies[0]), copies[1:inner]
        self._weights = self._copies[:, None] + self.inner.numbers
        self._outer = copies[inner:, None] + self.outer.numbers

    def _starts(self, level: int) -> NDArray[np.intp]:
        """Where the blocks begin, for vectors of a sum."""
        sums = self.outer.total[: self.outer.count(level)]
        sizes = self._counts[level - sums]
        return np.asarray(np.cumsum(sizes) - sizes)

    def take(self, crowds: Crowds, c: int, level: int, values: FloatArray) -> None:
        """Add a job of a class, in place: a block is written where no later one is read from."""
        demand = crowds.demand[c]
        if crowds.thinking:
            demand = np.vstack([crowds.think_time[c], demand])
        own, others = demand[: self.inner.parts + 1], demand[self.inner.parts + 1 :]
        read, write = self._starts(level), self._starts(level - 1)
        for o, into in enumerate(write):
            rest = level - 1 - int(self.outer.total[o])
            block = values[read[o] : read[o] + self._counts[rest + 1]]
            new = self._block(own, rest, block, thinking=crowds.thinking)
            for p, weights in enumerate(self._outer):
                start = read[self.outer.more[p, o]]
                new += values[start : start + len(new)] * (weights[o] * others[p])
            values[into : into + len(new)] = new
        values[: vectors(crowds.parts, level - 1)] /= values[0]

    def _block(
        self, demand: FloatArray, rest: int, block: FloatArray, *, thinking: bool
    ) -> FloatArray:
        """The terms of the inner parts, for vectors of a sum up to rest."""
        count = int(self._counts[rest])
        new = block[:count] * demand[0]
        if not thinking:
            new *= (self._first + rest - self.inner.total[:count])[:, None]
        for i, more in enumerate(self.inner.more):
            terms = block[more[:count]]
            terms *= self._weights[i, :count, None]
            terms *= demand[i + 1]
            new += terms
        return np.asarray(new)
