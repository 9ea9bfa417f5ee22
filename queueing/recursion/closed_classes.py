"""Closed classes at single servers and delays, in the form that RECAL and quadrature take.

Stations with the same demands of all classes are copies of one. Stations without demand and classes
without jobs are left out. Only ratios of a class's demands matter to these methods: its unit of
time is the largest of its demands and its think time.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.kinds import FloatArray
from headway.records import dataclass


@dataclass(frozen=True)
class ClosedClasses:
    """Closed classes at copies of single servers, at operating points with the same populations.

    Parameters
    ----------
    demand
        D at each copy, shape (classes, stations, points), in the class's unit of time.
    copies
        Servers of equal demand, each with a queue of its own, shape (stations,).
    think_time
        Z, delays included, shape (classes, points), in the same unit.
    population
        N, 1 or more, shape (classes,).
    """

    demand: FloatArray
    copies: FloatArray
    think_time: FloatArray
    population: NDArray[np.intp]

    @property
    def jobs(self) -> int:
        """Jobs of all classes."""
        return int(self.population.sum())

    @property
    def thinking(self) -> bool:
        """Whether any class thinks."""
        return bool(self.think_time.any())

    @property
    def parts(self) -> int:
        """Number of different stations, and one more for thinking."""
        return len(self.copies) + self.thinking

    def at(self, points: slice) -> "ClosedClasses":
        """The network at some of the operating points."""
        return ClosedClasses(
            self.demand[..., points], self.copies, self.think_time[:, points], self.population
        )


@dataclass(frozen=True)
class _Group:
    """Operating points with the same populations, and how they were reduced."""

    points: NDArray[np.intp]
    classes: NDArray[np.intp]
    rows: NDArray[np.intp]
    members: NDArray[np.intp]
    shares: FloatArray
    unit: FloatArray
    network: ClosedClasses


Solver = Callable[[ClosedClasses], tuple[FloatArray, FloatArray]]
"""Throughputs, shape (classes, points); jobs at each station, shape (classes, stations, points)."""


def groups(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> Iterator[_Group]:
    """Group operating points of equal populations and queues.

    Parameters
    ----------
    demand
        D, shape (classes, stations, points) [s].
    queues
        Number of separate queues of each station, shape (stations, points).
    think_time, population
        Z [s] and N, shape (classes, points).
    """
    _, group = distinct_columns(np.vstack([population, queues]))
    for number in range(int(group.max(initial=-1)) + 1):
        points = np.flatnonzero(group == number)
        if population[:, points[0]].any():
            yield _group(points, demand, queues, think_time, population)


def _group(
    points: NDArray[np.intp],
    demand: FloatArray,
    queues: FloatArray,
    think_time: FloatArray,
    population: FloatArray,
) -> _Group:
    split = queues[:, points[0]]
    classes = np.flatnonzero(population[:, points[0]])
    each = demand[np.ix_(classes, np.arange(len(split)), points)] / split[:, None]
    rows = np.flatnonzero(each.any(axis=(0, 2)))
    flat = np.ascontiguousarray(each[:, rows].swapaxes(0, 1)).reshape(
        len(rows), len(classes) * len(points)
    )
    _, first, members = np.unique(flat, axis=0, return_index=True, return_inverse=True)
    members = members.ravel()
    copies = np.asarray(np.bincount(members, weights=split[rows], minlength=len(first)), float)
    own, resting = each[:, rows[first]], think_time[np.ix_(classes, points)]
    unit = np.maximum(own.max(axis=1, initial=0), resting)
    jobs = population[classes, points[0]].astype(int)
    network = ClosedClasses(own / unit[:, None], copies, resting / unit, jobs)
    return _Group(points, classes, rows, members, split[rows] / copies[members], unit, network)


def solve_groups(
    solver: Solver,
    demand: FloatArray,
    queues: FloatArray,
    think_time: FloatArray,
    population: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Throughputs and queue lengths at all operating points.

    Parameters
    ----------
    solver
        Solver of points with the same populations.
    demand, queues, think_time, population
        As for `groups`.

    Returns
    -------
    Throughputs, shape (classes, points); queue lengths, shape (classes, stations, points).
    """
    rate, queue = np.zeros(population.shape), np.zeros(demand.shape)
    for group in groups(demand, queues, think_time, population):
        rates, lengths = solver(group.network)
        rate[np.ix_(group.classes, group.points)] = rates / group.unit
        own = lengths[:, group.members] * group.shares[:, None]
        queue[np.ix_(group.classes, group.rows, group.points)] = own
    return rate, queue
