"""Exact mean value analysis of several classes, a plane of equal total population at a time.

A plane is laid out by the numbers of all classes but the last, whose number is the rest of the
total; the last class is the largest one, to keep planes small. The neighbour with one job of class
c fewer then lies in the plane before, a fixed step to the left (0 for the last class), so whole
planes are solved by slices. A population without a job of a class multiplies what it reads for that
class by 0. So cells that are no population need only stay finite, and they do: no class leaves more
jobs in a cell than it brings.

Source: Reiser and Lavenberg, JACM 27(2), 1980.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.methods.memory import check_memory
from headway.queueing.recursion.estimates import instead
from headway.records import dataclass

_INSTANT = 1e-300  # added to think times, so that a class without any demand does not give 0 / 0
_AT_ONCE = 1e8  # steps of a class at a station without checking for Ctrl-C, some 0.1 s


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
        Number of separate queues of each station, shape (stations, points).
    think_time, population
        Z [s] and N, shape (classes, points).

    Returns
    -------
    Throughputs by class and point; queue lengths by class, station and point.

    Raises
    ------
    InvalidParameter
        For planes that need too much memory, with an exact method that does not.

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
    """Order of the classes that puts the largest last and the next largest first."""
    rising: list[int] = np.argsort(population.max(axis=1), kind="stable").tolist()
    return [*rising[-2:-1], *rising[:-2], rising[-1]]


def _walked(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Throughputs and queue lengths, plane after plane, stopping where points end."""
    largest = population.astype(int)
    steps = np.array(_steps(_sizes(population)))
    cells, margin = prod(_sizes(population)[:-1]), int(steps.max())
    columns = np.ascontiguousarray(demand.transpose(0, 2, 1))
    shares = np.ascontiguousarray((demand / queues).transpose(0, 2, 1))
    network = columns, shares, think_time + _INSTANT, largest, steps
    rate, queue = np.zeros(population.shape), np.zeros(demand.shape)
    before = np.ones((demand.shape[2], margin + cells, demand.shape[1]))
    after, number = before.copy(), np.zeros(len(steps), int)
    totals, start = largest.sum(axis=0), 1
    stride = max(1, int(_AT_ONCE / (cells * demand.size)))
    ends = {*totals[totals > 0].tolist()}
    for total in sorted({*ends, *range(1 + stride, int(totals.max()), stride)}):
        _lattice_planes(*network, start, total, before, after, number)
        if (total - start) % 2:
            before, after = after, before
        start = total
        for point in np.flatnonzero(totals == total) if total in ends else ():
            cell = margin + int(steps @ largest[:, point])
            ahead = before[point, cell - steps]
            residence = demand[:, :, point] * ahead
            cycle = think_time[:, point] + residence.sum(axis=1)
            rate[:, point] = largest[:, point] / np.where(largest[:, point], cycle, 1)
            queue[:, :, point] = rate[:, point, None] * residence
    return rate, queue


@compiled
def _lattice_planes(
    demand: FloatArray,
    share: FloatArray,
    think_time: FloatArray,
    largest: NDArray[np.intp],
    steps: NDArray[np.intp],
    start: int,
    stop: int,
    before: FloatArray,
    after: FloatArray,
    number: NDArray[np.intp],  # noqa: ARG001 - the kernel counts in it
) -> None:
    """Fill the planes from `start` to before `stop` with 1 + Q / queues, each from the last.

    Parameters
    ----------
    demand, share
        D, and D / queues, shape (classes, points, stations).
    think_time, largest
        Z, above 0, and N, shape (classes, points); the last class is that of the planes.
    steps
        Distance of the neighbour with a job fewer before a cell, shape (classes,).
    before, after
        The plane of one total below `start`, and the next one, shape (points, cells, stations);
        they swap roles.
    """
    network = _Network(demand[..., None], share[:, :, None], think_time[:, :, None, None])
    planes = _Planes(largest, steps)
    for total in range(start, stop):
        _walk(network, planes, total, before, after)
        before, after = after, before


@dataclass(frozen=True)
class _Network:
    """Demands as columns, demands per queue as rows, and think times, by class and point."""

    demand: FloatArray
    share: FloatArray
    think_time: FloatArray


def _sizes(population: FloatArray) -> list[int]:
    """N_c + 1 for each class."""
    return [int(n) + 1 for n in population.max(axis=1)]


def _steps(sizes: list[int]) -> list[int]:
    """Distance of neighbours with a job fewer of each class within a plane."""
    return [*(prod(sizes[c + 1 : -1]) for c in range(len(sizes) - 1)), 0]


def plane_bytes(population: FloatArray, stations: int) -> float:
    """Memory of two planes [B].

    Parameters
    ----------
    population
        N, shape (classes, points), the largest last.
    stations
        Number of stations.

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

    def __init__(self, largest: NDArray[np.intp], steps: NDArray[np.intp]) -> None:
        sizes = [int(n) + 1 for n in largest.max(axis=1)]
        self.steps: list[int] = steps.tolist()
        self.margin = max(self.steps)
        self._first, self._after_first = sizes[0] - 1, sum(sizes[1:]) - len(sizes) + 1
        self._numbers = np.indices(sizes[:-1], float).reshape(len(sizes) - 1, prod(sizes[:-1]))
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
