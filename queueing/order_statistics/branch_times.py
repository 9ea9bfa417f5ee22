"""The time at which a branch of a fork is done, given the factor that all branches share.

A branch takes a wait, whose normal score has a part in common with other branches, and then an
independent gamma-distributed service. The distribution of the wait is tabulated on a logarithmic
grid in service times, with cubic interpolation; so the matrix that convolves it with the service
depends on the scv only, and results are smooth in every number of the branch.

Source: Vasicek, "The distribution of loan portfolio value", Risk 15, 2002, for the common factor.
"""

from functools import cache, lru_cache
from math import ceil, floor, log, log2, sqrt
from typing import Any, NamedTuple

import numpy as np

from headway.kinds import FloatArray

CONSTANT = 0.01
"""Scv of service below which it is taken as constant: a standard deviation of 10%. Chosen:
narrower laws would need finer grids.
"""

FACTORS = 16
"""Gauss-Hermite values of the common factor of different branches: digits only."""

STEP = 0.1
"""Largest step of logarithms of times: digits only."""

# Digits only: largest step in standard deviations of a service; step of waits before a service is
# added; exponent whose exp(-36) is neglected; range of waits, exp(-12) of the shortest to 40 times
# the longest.
_DEVIATIONS, _FINEST, _SURE = 0.3, 0.025, 36.0
_BELOW, _ABOVE = 12.0, 40.0
_ROUNDED = 16  # steps to which grids are rounded, so that matrices can be reused: for speed
_NEXT = np.array([-1, 0, 1, 2])


class Wait(NamedTuple):
    """Waits and services of the parts of a request; arrays of shape (branches, points).

    Parameters
    ----------
    service, scv
        Mean service time [s], and its squared coefficient of variation.
    chance, wait, variance
        Probability of waiting; mean [s] and variance of the wait of parts that do.
    busy, share
        Utilisation, and the share of the branch's arrivals that fork.
    """

    service: FloatArray
    scv: FloatArray
    chance: FloatArray
    wait: FloatArray
    variance: FloatArray
    busy: FloatArray
    share: FloatArray

    def at(self, points: Any) -> "Wait":
        """The numbers at some of the operating points."""
        return Wait(*(part[..., points] for part in self))

    def branch(self, row: int) -> "Wait":
        """The numbers of one branch, shape (points,)."""
        return Wait(*(part[row] for part in self))


@cache
def factor_values(count: int = FACTORS) -> tuple[FloatArray, FloatArray]:
    """Values of the common factor, and their weights, by Gauss-Hermite quadrature."""
    values, weights = np.polynomial.hermite_e.hermegauss(count)
    return values, weights / weights.sum()


def step_of(scv: float) -> float:
    """Step of logarithms of times for which a service of this scv stays smooth.

    Examples
    --------
    >>> step_of(1.0), step_of(0.01), step_of(0.0)
    (0.1, 0.025, 0.1)
    """
    if scv < CONSTANT:
        return STEP
    return float(STEP / 2 ** max(ceil(log2(STEP / (_DEVIATIONS * sqrt(scv)))), 0))


def done_by(wait: Wait, shared: FloatArray, times: FloatArray) -> FloatArray:
    """Probability that a part is done by each time, given each value of the common factor.

    Parameters
    ----------
    wait, shared
        The numbers of one branch, and the common share of its score's variance, shape (points,).
    times
        Times of shape (points, times) [s].

    Returns
    -------
    Shape (points, factors, times).
    """
    chances = np.empty((len(times), FACTORS, times.shape[1]))
    steady = (wait.service == 0) | (wait.scv < CONSTANT)
    if steady.any():
        rest = times[steady] - wait.service[steady, None]
        after = waited_by(wait.at(steady), shared[steady], np.maximum(rest, 0.0))
        chances[steady] = np.where(rest[:, None] < 0, 0.0, after)
    for scv in np.unique(wait.scv[~steady]):
        some = ~steady & (wait.scv == scv)
        chances[some] = _served(wait.at(some), float(scv), shared[some], times[some])
    return chances


def waited_by(
    wait: Wait, shared: FloatArray, times: FloatArray, count: int = FACTORS
) -> FloatArray:
    """Probability of waiting no longer than each time, shape (points, factors, times).

    Parameters
    ----------
    wait, shared, times
        As for `done_by`.
    count
        Number of values of the common factor.
    """
    from scipy.special import gammaincc, ndtr, ndtri

    some = wait.chance > 0
    mean, variance = (np.where(some, part, 1.0)[:, None] for part in (wait.wait, wait.variance))
    shape = mean**2 / variance
    longer = wait.chance[:, None] * gammaincc(shape, times * shape / mean)
    scores = (
        ndtri(1 - longer)[:, None]
        - np.sqrt(shared)[:, None, None] * factor_values(count)[0][:, None]
    )
    return np.asarray(ndtr(scores / np.sqrt(1 - shared)[:, None, None]))


def _served(wait: Wait, scv: float, shared: FloatArray, times: FloatArray) -> FloatArray:
    """Wait and service, on the branch's grid and then at the times."""
    step, service = step_of(scv), wait.service[:, None]
    places = np.log(times / service) / step
    some = wait.chance > 0
    waits = np.where(some, wait.wait, wait.service) / wait.service
    most = np.maximum(wait.variance / np.where(some, wait.wait, 1.0) ** 2, 1.0)
    first = rounded_down((log(waits.min()) - _BELOW) / step)
    last = rounded_up(log(float((waits * most).max()) * _ABOVE) / step)
    ends = rounded_down(float(places.min()) - 2), rounded_up(float(places.max()) + 3)
    grid = service * np.exp(step * np.arange(first, last))
    after = waited_by(wait, shared, np.concatenate([np.zeros_like(service), grid], axis=1))
    together = after @ service_matrix(scv, (first, last), ends)
    return _interpolated(together, places - ends[0])


def rounded_down(place: float) -> int:
    """Start of a grid that contains a place, rounded so that matrices can be reused."""
    return floor(place / _ROUNDED) * _ROUNDED


def rounded_up(place: float) -> int:
    """End of a grid that contains a place, rounded so that matrices can be reused."""
    return ceil(place / _ROUNDED) * _ROUNDED


def _interpolated(values: FloatArray, places: FloatArray) -> FloatArray:
    """Cubic interpolation between values at whole places, shape (points, factors, places)."""
    start = np.floor(places).astype(int)
    found: FloatArray = np.zeros(1)
    for shift, weight in zip(_NEXT, _cubic(places - start), strict=True):
        index = np.broadcast_to((start + shift)[:, None], (*values.shape[:2], places.shape[1]))
        found = found + weight[:, None] * np.take_along_axis(values, index, axis=2)
    return found


def _cubic(part: FloatArray) -> list[FloatArray]:
    """Weights of the four neighbours, at a fraction of a step beyond the second."""
    return [
        -part * (part - 1) * (part - 2) / 6,
        (part + 1) * (part - 1) * (part - 2) / 2,
        -(part + 1) * part * (part - 2) / 2,
        (part + 1) * part * (part - 1) / 6,
    ]


@lru_cache(maxsize=256)
def service_matrix(scv: float, waits: tuple[int, int], ends: tuple[int, int]) -> FloatArray:
    """Matrix from probabilities of waits (none, then grid) to those of waits and services (grid).

    Parameters
    ----------
    scv
        Squared coefficient of variation of a service of mean 1.
    waits, ends
        First place of each grid, and one past its last, in steps of `step_of`.
    """
    step = step_of(scv)
    finer = max(round(step / _FINEST), 1)
    places = np.arange(finer * waits[0], finer * (waits[1] - 1) + 1)
    edges = np.concatenate([[0.0], np.exp(step / finer * places)])
    times = np.exp(step * np.arange(*ends))
    done, passed = _served_by(times - edges[:, None], scv)
    cells = -np.diff(passed, axis=0) / np.diff(edges)[:, None]
    rises = np.concatenate([done[:1] - cells[:1], -np.diff(cells, axis=0), cells[-1:]])
    return np.asarray(_finely(waits[1] - waits[0], finer).T @ rises if finer > 1 else rises)


def _served_by(times: FloatArray, scv: float) -> tuple[FloatArray, FloatArray]:
    """Probability of a service of mean 1 up to each time, and its integral."""
    from scipy.special import gammainc

    chance, integral = (times > 0).astype(float), np.maximum(times - 1, 0.0)
    some = (times > 0) & (times < 1 + _SURE * scv + sqrt(2 * _SURE * scv))
    at = times[some]
    chance[some] = gammainc(1 / scv, at / scv)
    integral[some] = at * chance[some] - gammainc(1 / scv + 1, at / scv)
    return chance, integral


@lru_cache(maxsize=64)
def _finely(count: int, finer: int) -> FloatArray:
    """Matrix from probabilities (none, then grid) to a finer grid, interpolated cubically."""
    size = finer * (count - 1) + 1
    found = np.zeros((size + 1, count + 1))
    found[0, 0] = 1.0
    for place in range(size):
        start = min(max(place // finer, 1), count - 3)
        weights = _cubic(np.asarray(place / finer - start))
        for shift, weight in zip(_NEXT, weights, strict=True):
            found[place + 1, start + shift + 1] += weight
    return found
