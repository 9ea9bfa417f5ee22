"""Closed networks of many classes, a job at a time: recursion by chain (RECAL).

Let G_m(N) be the normalising constant of the network in which station i occurs q_i + m_i times, q_i
being its number of copies. Removing a job of class r,

    N_r G_m(N) = Z_r G_m(N - e_r) + sum over i of (q_i + m_i) D_ir G_{m + e_i}(N - e_r),

so K jobs in all need the vectors m with sums up to K, K - 1... 0, whatever their classes are.
Without think times only the vectors of one sum are needed at a time, and G_0(N') = sum over i of
q_i G_{e_i}(N') / (K' + sum q) for K' jobs. All terms are positive. At the end, the network without
one job of each class in turn gives all means,

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
from headway.queueing.recursion.closed_classes import ClosedClasses
from headway.queueing.recursion.compositions import Compositions
from headway.queueing.recursion.quadrature import as_cost

MOST_JOBS = 1000
"""Most jobs: G_m / G_0 grows up to 2**K, which must stay in the range of floating point."""

_LEAF = 200_000  # most vectors of a table, for memory and speed
_BLOCK = 4_000_000  # numbers of all points solved together, for memory


def vectors(parts: int, jobs: int) -> int:
    """Number of vectors that distribute jobs over parts.

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
        Number of different stations, and one more if a class thinks.
    jobs, classes
        Total numbers.

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
    """Number of terms in the sums of an operating point.

    Examples
    --------
    >>> recal_operations(2, 3, 1)
    12.0
    """
    halvings = (classes - 1).bit_length()
    walked = comb(jobs - 1 + parts, parts) + halvings * comb(classes - 1 + parts, parts)
    return as_cost(parts * walked)


def recal(network: ClosedClasses) -> tuple[FloatArray, FloatArray]:
    """Throughputs and jobs at the stations.

    Parameters
    ----------
    network
        A network of at most 1000 jobs.

    Returns
    -------
    Throughputs, shape (classes, points); jobs, shape (classes, stations, points).

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> rate, jobs = recal(ClosedClasses(one[None], np.ones(1), one, np.array([2])))
    >>> round(float(rate[0, 0]), 12), round(float(jobs[0, 0, 0]), 12)
    (0.8, 1.2)
    """
    points = network.demand.shape[2]
    together = max(_BLOCK // vectors(network.parts, network.jobs), 1)
    starts = range(0, points, together)
    walk = _Recursion(network)
    solved = [_solved(walk, network.at(slice(start, start + together))) for start in starts]
    rates, queues = zip(*solved, strict=True)
    return np.concatenate(rates, axis=-1), np.concatenate(queues, axis=-1)


def _solved(walk: "_Recursion", network: ClosedClasses) -> tuple[FloatArray, FloatArray]:
    classes = len(network.population)
    values = np.ones((vectors(network.parts, network.jobs), network.demand.shape[2]))
    level = network.jobs
    for c, jobs in enumerate(network.population):
        for _ in range(jobs - 1):
            walk.take(network, c, level, values)
            level -= 1
    rate, queue = np.zeros(network.think_time.shape), np.zeros(network.demand.shape)
    values = values[: vectors(network.parts, level)].copy()
    for c, last in _without_each(walk, network, list(range(classes)), values):
        rate[c], queue[c] = _means(network, c, last)
    return rate, queue


def _without_each(
    walk: "_Recursion", network: ClosedClasses, left: Sequence[int], values: FloatArray
) -> Iterator[tuple[int, FloatArray]]:
    """The networks without one job of each class, by recursive halving of the classes."""
    if len(left) == 1:
        yield left[0], values
        return
    middle = len(left) // 2
    for own, others in ((left[:middle], left[middle:]), (left[middle:], left[:middle])):
        rest, level = values.copy(), len(left)
        for c in others:
            walk.take(network, c, level, rest)
            level -= 1
        yield from _without_each(walk, network, own, rest[: vectors(network.parts, level)])


def _means(network: ClosedClasses, c: int, last: FloatArray) -> tuple[FloatArray, FloatArray]:
    """X_r and Q_ir of a class, from the constants without one job of it.

    The constants are in the order of the parts: thinking first, if a class does, then stations.
    """
    first = int(network.thinking)
    each = network.copies[:, None] * last[first:]
    residence = network.demand[c] * each
    alone = last[0] if first else each.sum(axis=0) / (network.jobs - 1 + network.copies.sum())
    whole = network.think_time[c] * alone + residence.sum(axis=0)
    jobs = network.population[c]
    return np.asarray(jobs * alone / whole), np.asarray(jobs * residence / whole)


def _inner(parts: int, jobs: int) -> int:
    """Number of parts whose vectors are held in one table."""
    inner = min(parts, 2)
    while inner < parts and vectors(inner + 1, jobs) <= _LEAF:
        inner += 1
    return inner


class _Recursion:
    """Vectors m in blocks, one for each vector of the outer parts.

    A block has the vectors of the inner parts, of which the first is the rest of the sum.
    """

    def __init__(self, network: ClosedClasses) -> None:
        inner = _inner(network.parts, network.jobs)
        self.inner = Compositions(inner - 1, network.jobs)
        self.outer = Compositions(network.parts - inner, network.jobs)
        counts = [self.inner.count(level) for level in range(network.jobs + 1)]
        self._counts = np.array(counts)
        copies = np.concatenate([[0.0] if network.thinking else [], network.copies])
        self._first, self._copies = float(copies[0]), copies[1:inner]
        self._weights = self._copies[:, None] + self.inner.numbers
        self._outer = copies[inner:, None] + self.outer.numbers

    def _starts(self, level: int) -> NDArray[np.intp]:
        """Start of each block, for vectors of one sum."""
        sums = self.outer.total[: self.outer.count(level)]
        sizes = self._counts[level - sums]
        return np.asarray(np.cumsum(sizes) - sizes)

    def take(self, network: ClosedClasses, c: int, level: int, values: FloatArray) -> None:
        """Add a job of a class, in place: no block is read after it was overwritten."""
        demand = network.demand[c]
        if network.thinking:
            demand = np.vstack([network.think_time[c], demand])
        own, others = demand[: self.inner.parts + 1], demand[self.inner.parts + 1 :]
        read, write = self._starts(level), self._starts(level - 1)
        for o, into in enumerate(write):
            rest = level - 1 - int(self.outer.total[o])
            block = values[read[o] : read[o] + self._counts[rest + 1]]
            new = self._block(own, rest, block, thinking=network.thinking)
            for p, weights in enumerate(self._outer):
                start = read[self.outer.more[p, o]]
                new += values[start : start + len(new)] * (weights[o] * others[p])
            values[into : into + len(new)] = new
        values[: vectors(network.parts, level - 1)] /= values[0]

    def _block(
        self, demand: FloatArray, rest: int, block: FloatArray, *, thinking: bool
    ) -> FloatArray:
        """Terms of the inner parts, for vectors with a sum of at most ``rest``."""
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
