"""Exact mean value analysis of several classes, a plane of equal total population at a time.

A plane is laid out by the numbers of all classes but the last, whose number is the rest of
the total: that of the largest class, for planes as small as can be. The neighbour with one
job of class c fewer then lies in the plane before, a fixed step to the left (none for the last
class): whole planes are solved by slices. A
population without a job of a class multiplies by 0 what it reads for it. So cells that are
no population need only stay finite, which they do: no class leaves more jobs in a cell
than it brings.

Source: Reiser and Lavenberg, JACM 27(2), 1980.
"""

from dataclasses import dataclass
from math import prod

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.methods.memory import check_memory
from headway.queueing.recursion.estimates import instead

_INSTANT = 1e-300  # added to think times: where a class has nothing to do, 0 / 0 stays away


def lattice_mva(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Throughputs and queue lengths of delays and single servers.

    R_ck(n) = D_ck (1 + Q_k(n - e_c)), X_c(n) = n_c / (Z_c + sum over k of R_ck(n))

    Parameters
    ----------
    demand
        D, shape (classes, stations, points) [s].
    queues
        Separate queues each station is split into, shape (stations, points).
    think_time, population
        Z [s] and N, shape (classes, points).

    Returns
    -------
    Throughputs by class and point; queue lengths by class and station and point.

    Raises
    ------
    InvalidParameter
        For planes that would need too much memory, with the exact method that would not.

    Examples
    --------
    >>> one = np.ones((1, 1))
    >>> rate, _ = lattice_mva(one[None], one, one, 2 * one)
    >>> float(rate[0, 0])
    0.8
    """
    order = _smallest_planes(population)
    check_memory(
        _sizes(population),
        plane_bytes(population[order], demand.shape[1]),
        lambda: instead(demand, queues, think_time, population),
    )
    rate, queue = _walked(demand[order], queues, think_time[order], population[order])
    back = np.argsort(order)
    return rate[back], queue[back]


def _smallest_planes(population: FloatArray) -> list[int]:
    """Order of the classes that puts the largest last, and first the next, which bounds windows."""
    rising: list[int] = np.argsort(population.max(axis=1), kind="stable").tolist()
    return [*rising[-2:-1], *rising[:-2], rising[-1]]


def _walked(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Throughputs and queue lengths, plane after plane."""
    planes = _Planes(population)
    columns = np.ascontiguousarray(demand.transpose(0, 2, 1))[..., None]
    rows = np.ascontiguousarray((demand / queues).transpose(0, 2, 1))[..., None, :]
    network = _Network(columns, rows, think_time[:, :, None, None] + _INSTANT)
    rate, queue = np.zeros(population.shape), np.zeros(demand.shape)
    before = np.ones((demand.shape[2], planes.margin + planes.cells, demand.shape[1]))
    after = before.copy()
    for total in range(1, planes.last + 1):
        for c, point, cell in planes.ends(total):
            if not population[c, point]:
                continue
            ahead = before[point, planes.margin + cell - planes.steps[c]]
            residence = demand[c, :, point] * ahead
            rate[c, point] = population[c, point] / (think_time[c, point] + residence.sum())
            queue[c, :, point] = rate[c, point] * residence
        _walk(network, planes, total, before, after)
        before, after = after, before
    return rate, queue


@dataclass(frozen=True)
class _Network:
    """Demands as columns, demands for each queue as rows, and think times, by class and point."""

    demand: FloatArray
    share: FloatArray
    think_time: FloatArray


def _sizes(population: FloatArray) -> list[int]:
    """N_c + 1 for each class."""
    return [int(n) + 1 for n in population.max(axis=1)]


def _steps(sizes: list[int]) -> list[int]:
    """How far the neighbours with a job fewer of each class lie apart in a plane."""
    return [*(prod(sizes[c + 1 : -1]) for c in range(len(sizes) - 1)), 0]


def plane_bytes(population: FloatArray, stations: int) -> float:
    """Memory of two planes [B].

    Parameters
    ----------
    population
        N, shape (classes, points), the largest last.
    stations
        Their number.

    Examples
    --------
    >>> plane_bytes(np.array([[3.0], [40.0]]), 8)
    640.0
    """
    sizes = _sizes(population)
    cells = prod(sizes[:-1]) + max(_steps(sizes))
    return 16.0 * cells * stations * float(population.shape[1])


class _Planes:
    """Layout of the planes: a cell for each number of jobs of all classes but the last."""

    def __init__(self, population: FloatArray) -> None:
        self.population = population.astype(int)
        self.largest = self.population.max(axis=1)
        sizes = _sizes(population)
        self.steps = _steps(sizes)
        self.cells, self.margin = prod(sizes[:-1]), max(self.steps)
        self._first, self._after_first = int(self.largest[0]), int(self.largest[1:].sum())
        self._totals = set(self.population.sum(axis=0).tolist())
        self.last = max(self._totals)
        self._numbers = np.indices(sizes[:-1], float).reshape(len(sizes) - 1, self.cells)
        self._others = np.asarray(self._numbers.sum(axis=0), float)

    def window(self, total: int) -> tuple[int, int]:
        """Cells in which the plane's populations lie, by the number of the first class."""
        if len(self.steps) == 1:
            return 0, 1
        fewest, most = max(0, total - self._after_first), min(self._first, total)
        return fewest * self.steps[0], (most + 1) * self.steps[0]

    def jobs(self, total: int, start: int, stop: int) -> list[FloatArray]:
        """Jobs of each class in the cells of a window."""
        rest = np.maximum(total - self._others[start:stop], 0)
        return [*self._numbers[:, start:stop], rest]

    def ends(self, total: int) -> list[tuple[int, int, int]]:
        """Classes, points and cells whose own population is of this total."""
        if total not in self._totals:
            return []
        points = np.flatnonzero(self.population.sum(axis=0) == total)
        steps = np.array(self.steps[:-1], int)
        cells = (self.population[:-1, points] * steps[:, None]).sum(axis=0)
        pairs = list(zip(points.tolist(), cells.tolist(), strict=True))
        return [(c, *pair) for c in range(len(self.largest)) for pair in pairs]


def _walk(
    network: _Network, planes: _Planes, total: int, before: FloatArray, after: FloatArray
) -> None:
    """Fill a plane with 1 + Q / queues, shape (points, cells, stations), from the one before."""
    start, stop = planes.window(total)
    here = after[:, planes.margin + start : planes.margin + stop]
    jobs = planes.jobs(total, start, stop)
    for c, step in enumerate(planes.steps):
        left = planes.margin - step
        ahead = before[:, left + start : left + stop]
        cycle = ahead @ network.demand[c]
        cycle += network.think_time[c]
        np.divide(jobs[c][:, None], cycle, out=cycle)
        arrived = _outer(cycle, network.share[c])
        arrived *= ahead
        np.add(here if c else 1.0, arrived, out=here)


def _outer(column: FloatArray, row: FloatArray) -> FloatArray:
    """X D / queues of every cell and station; for a single point BLAS does it faster."""
    if len(column) == 1:
        return np.asarray(np.dot(column[0], row[0]))[None]
    return column * row
