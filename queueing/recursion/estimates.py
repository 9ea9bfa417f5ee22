"""What an exact solution would take: memory and time, before anything is walked."""

from dataclasses import dataclass
from math import prod

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.closed.demands import Method
from headway.queueing.closed.memory import LARGEST
from headway.queueing.recursion.crowds import Crowds, Solver, groups
from headway.queueing.recursion.quadrature import (
    quadrature,
    quadrature_bytes,
    quadrature_operations,
)
from headway.queueing.recursion.recal import MOST_JOBS, recal, recal_bytes, recal_operations

PATIENCE = 6.0
"""Estimated time up to which a recursion is chosen without being asked for [s]."""

_LONGEST = 3600.0  # what nobody waits for, even when asked for [s]
_QUICK = 0.1  # time up to which the lattice of populations is walked without asking further [s]
_CELL, _TERM, _NODE, _STEP = 1e-8, 5e-9, 1.5e-8, 1e-4  # measured on a machine of 2026 [s]

SOLVERS: dict[Method, Solver] = {Method.RECAL: recal, Method.QUADRATURE: quadrature}
"""Methods that take classes in turn."""


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of a method.

    Parameters
    ----------
    memory, time
        In all [B], [s]; the time is that of one machine, for comparison.
    obstacle
        Why it cannot be had at all; empty if it can.
    """

    memory: float
    time: float
    obstacle: str = ""

    @property
    def fits(self) -> bool:
        """Whether it can be had."""
        return not self.obstacle and self.memory <= LARGEST and self.time <= _LONGEST


def estimate(
    method: Method,
    demand: FloatArray,
    queues: FloatArray,
    think_time: FloatArray,
    population: FloatArray,
) -> Estimate:
    """Estimate memory and time of RECAL or a quadrature.

    Parameters
    ----------
    method
        Which of them.
    demand
        D, shape (classes, stations, points) [s].
    queues
        Separate queues each station is split into, shape (stations, points).
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
    parts = [(g.crowds, len(g.points)) for g in groups(demand, queues, think_time, population)]
    each = [_of(method, crowds, points) for crowds, points in parts]
    memory = max((one.memory for one in each), default=0.0)
    obstacle = next((one.obstacle for one in each if one.obstacle), "")
    return Estimate(memory, sum(one.time for one in each), obstacle)


def _of(method: Method, crowds: Crowds, points: int) -> Estimate:
    size = crowds.parts, crowds.jobs, len(crowds.population)
    if method is Method.QUADRATURE:
        time = _NODE * quadrature_operations(*size) + _STEP
        return Estimate(quadrature_bytes(*size), points * time)
    time = points * _TERM * recal_operations(*size) + _STEP * crowds.jobs
    many = f"method recal supports at most {MOST_JOBS:,} jobs, but there are {crowds.jobs:,}"
    return Estimate(recal_bytes(*size), time, many if crowds.jobs > MOST_JOBS else "")


def refuse_large(method: Method, needed: Estimate) -> None:
    """Refuse what does not fit, or would not end.

    Parameters
    ----------
    method
        Which it is.
    needed
        What it takes.

    Raises
    ------
    InvalidParameter
        With the memory or time it would take.

    Examples
    --------
    >>> refuse_large(Method.RECAL, Estimate(3e9, 1.0))
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: recal needs 3 GB; use method linearizer or schweitzer
    """
    if needed.fits:
        return
    why = f"{method} needs {four_digits(needed.memory / 1e9)} GB"
    if needed.memory <= LARGEST:
        why = f"{method} needs about {four_digits(needed.time / 3600)} h"
    msg = f"{needed.obstacle or why}; use method linearizer or schweitzer"
    raise InvalidParameter(msg)


def cheapest(
    lattice: float,
    demand: FloatArray,
    queues: FloatArray,
    think_time: FloatArray,
    population: FloatArray,
) -> Method:
    """Name the exact method that takes least time; the Linearizer where none fits.

    Parameters
    ----------
    lattice
        Memory that counts for the lattice of populations [B].
    demand, queues, think_time, population
        As for `estimate`.
    """
    walked = _CELL * _cells(population) * demand.size
    fits = lattice <= LARGEST
    if fits and walked <= _QUICK:
        return Method.EXACT
    times = {Method.EXACT: walked} if fits else {}
    for method in SOLVERS:
        needed = estimate(method, demand, queues, think_time, population)
        if needed.fits and needed.time <= PATIENCE:
            times[method] = needed.time
    return min(times, key=times.__getitem__, default=Method.LINEARIZER)


def _cells(population: FloatArray) -> float:
    """Cells of the lattice that mean value analysis walks, plane by plane.

    A plane is laid out without the largest class; of the next only the numbers that can be in it
    are walked.
    """
    rising = np.sort(population.max(axis=1))
    beside = rising[:-1]
    return float(prod(beside + 1) * (rising.sum() - beside.max(initial=0) + 1))


def instead(
    demand: FloatArray, queues: FloatArray, think_time: FloatArray, population: FloatArray
) -> str:
    """Name the exact methods that would do where the lattice is too large, with their memory.

    Parameters
    ----------
    demand, queues, think_time, population
        As for `estimate`.
    """
    given = demand, queues, think_time, population
    needed = {method: estimate(method, *given) for method in SOLVERS}
    fit = [f"{m} ({four_digits(n.memory / 1e9)} GB)" for m, n in needed.items() if n.fits]
    return f", or exactly {' or '.join(fit)}" if fit else ""
