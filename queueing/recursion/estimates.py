"""Estimated memory and time of exact solutions, before they start."""

from collections.abc import Sequence
from math import prod

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.compiled.library import LIBRARY
from headway.queueing.methods.memory import LARGEST
from headway.queueing.methods.method import Cost
from headway.queueing.network.names import Method
from headway.queueing.recursion.closed_classes import ClosedClasses, Solver, groups
from headway.queueing.recursion.quadrature import (
    quadrature,
    quadrature_bytes,
    quadrature_operations,
)
from headway.queueing.recursion.recal import MOST_JOBS, recal, recal_bytes, recal_operations

# Times of single operations, measured on a machine of 2026 [s]. They choose between exact methods
# by speed, and say if none is fast enough. For the lattice of populations a cell and a plane; for
# RECAL a term and a step; for a quadrature a node, and a pair of nodes of its rule (eigenvalues);
# for a convolution a shift of a cell, and the multiplication of a cell by a station.
_CELL, _PLANE = 1e-8, 1e-5
_POPULATION = 1e-9  # of mean value analysis in C, for a class at a station
_TERM, _STEP = 5e-9, 1e-4
_NODE, _RULE = 1.5e-8, 2.5e-8
_SHIFT, _APPLIED = 2e-9, 2e-8
_TIMES = 5  # multiplications of the whole lattice by each station in a convolution

SOLVERS: dict[Method, Solver] = {Method.RECAL: recal, Method.QUADRATURE: quadrature}
"""Methods that take classes in turn."""


def estimate(
    method: Method,
    demand: FloatArray,
    queues: FloatArray,
    think_time: FloatArray,
    population: FloatArray,
) -> Cost:
    """Memory and time of RECAL or a quadrature.

    Parameters
    ----------
    method
        One of the two methods.
    demand
        D, shape (classes, stations, points) [s].
    queues
        Number of separate queues of each station, shape (stations, points).
    think_time, population
        Z [s] and N, shape (classes, points).

    Examples
    --------
    >>> import numpy as np
    >>> demand, ones = np.arange(1.0, 49).reshape(12, 4, 1), np.ones((12, 1))
    >>> given = demand, np.ones((4, 1)), ones, 3 * ones
    >>> recal = estimate(Method.RECAL, *given)
    >>> recal.fits, recal.memory < 20e6
    (True, True)
    """
    parts = [(g.network, len(g.points)) for g in groups(demand, queues, think_time, population)]
    each = [_of(method, network, points) for network, points in parts]
    memory = max((one.memory for one in each), default=0.0)
    obstacle = next((one.obstacle for one in each if one.obstacle), "")
    return Cost(memory, sum(one.seconds for one in each), obstacle)


def _of(method: Method, network: ClosedClasses, points: int) -> Cost:
    size = network.parts, network.jobs, len(network.population)
    if method is Method.QUADRATURE:
        rules = _RULE * network.parts * (network.jobs / 2) ** 2
        time = _NODE * quadrature_operations(*size) + rules + _STEP
        return Cost(quadrature_bytes(*size), points * time)
    time = points * _TERM * recal_operations(*size) + _STEP * network.jobs
    many = f"method recal supports at most {MOST_JOBS:,} jobs, but there are {network.jobs:,}"
    return Cost(recal_bytes(*size), time, many if network.jobs > MOST_JOBS else "")


def estimate_walk(memory: float, demand: FloatArray, population: FloatArray) -> Cost:
    """Time of mean value analysis over the lattice of populations.

    Parameters
    ----------
    memory
        Memory of the lattice [B].
    demand, population
        As for `estimate`.

    Examples
    --------
    >>> import numpy as np
    >>> round(estimate_walk(8e6, np.ones((1, 1, 1)), np.full((1, 1), 1e6)).seconds)
    10
    """
    planes = len(population) * float(population.max(axis=1, initial=0).sum())
    seconds = _CELL * _cells(population) * demand.size + _PLANE * planes
    populations = float(prod(population.max(axis=1, initial=0) + 1))
    by_kernel = None if LIBRARY is None else _POPULATION * populations * demand.size
    return Cost(memory, seconds, by_kernel=by_kernel)


def estimate_convolution(
    memory: float, sizes: Sequence[int], stations: int, speeds: float, points: int
) -> Cost:
    """Time of a convolution over the lattice of populations.

    Parameters
    ----------
    memory
        Memory that it needs [B].
    sizes
        N_c + 1 for each class.
    stations, speeds
        Number of stations to convolve, and of all their speeds, each a shift of the lattice.
    points
        Number of operating points.

    Examples
    --------
    >>> estimate_convolution(1e8, [1_000_001], 1, 2.0, 1).seconds < 1
    True
    >>> round(estimate_convolution(1e8, [1_000_001], 1, 500_000.0, 1).seconds / 3600, 1)
    1.4
    """
    cells, planes = float(prod(sizes)) * points, sum(sizes) if len(sizes) > 1 else 0
    once = cells * (_SHIFT * speeds + _APPLIED * stations) + _PLANE * planes * stations
    return Cost(memory, _TIMES * len(sizes) * once)


def refuse_large(method: Method, needed: Cost) -> None:
    """Refuse a method that needs too much memory or time.

    Parameters
    ----------
    method
        The method.
    needed
        Its cost.

    Raises
    ------
    InvalidParameter
        With the memory or time that it would need.

    Examples
    --------
    >>> refuse_large(Method.RECAL, Cost(3e9, 1.0))
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: recal needs 3 GB; use method linearizer or schweitzer
    """
    if needed.fits:
        return
    why = f"{method} needs {four_digits(needed.memory / 1e9)} GB"
    if needed.memory <= LARGEST:
        why = f"{method} needs about {four_digits(needed.here / 3600)} h"
    msg = f"{needed.obstacle or why}; use method linearizer or schweitzer"
    raise InvalidParameter(msg)


def _cells(population: FloatArray) -> float:
    """Cells of the lattice that mean value analysis walks, plane by plane.

    Planes leave out the largest class; of the next largest, only possible numbers are walked.
    """
    rising = np.sort(population.max(axis=1))
    beside = rising[:-1]
    return float(prod(beside + 1) * (rising.sum() - beside.max(initial=0) + 1))


def instead(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> str:
    """The exact methods that would work if the lattice is too large, with their memory.

    Parameters
    ----------
    demand, queues, think_time, population
        As for `estimate`.
    """
    given = demand, queues, think_time, population
    needed = {method: estimate(method, *given) for method in SOLVERS}
    fit = [f"{m} ({four_digits(n.memory / 1e9)} GB)" for m, n in needed.items() if n.fits]
    return f", or exactly {' or '.join(fit)}" if fit else ""
