"""Draws from a posterior: from a first guess towards the data, step by step.

Source: Del Moral, Doucet and Jasra, *Sequential Monte Carlo samplers*, 2006, for the steps;
Goodman and Weare, *Ensemble samplers with affine invariance*, 2010, for moves that need no tuning;
ter Braak, *A Markov chain Monte Carlo version of the genetic algorithm differential evolution*,
2006, section 2.3, for jumps from one mode to another.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.records import dataclass

LogDensity = Callable[[FloatArray], FloatArray]
"""Logarithm of a density, up to a constant: from points, shape (points, width), one number each."""

Move = Callable[[FloatArray, FloatArray, np.random.Generator], tuple[FloatArray, FloatArray]]
"""A function that proposes moved points, with the logarithm of each move's weight."""

SWEEPS = 4
"""Moves of every point after each step towards the data."""

_JUMPING = 2  # factor on the moves if there may be modes, as only some moves jump between them
_STRETCH = 2.0  # longest stretch of a move; its inverse is the shortest
_ALIKE = 0.5  # share of points that a step towards the data must leave with weight
_LEAST = 1e-6  # shortest step towards the data
_HALVINGS = 30
_SEED = 20_260
_FEWEST = 8  # fewest points from which the rest can be drawn


@dataclass(frozen=True)
class _Cloud:
    """Points, with the logarithms of both densities."""

    points: FloatArray
    guessed: FloatArray
    measured: FloatArray

    def of(self, rows: NDArray[np.intp]) -> "_Cloud":
        return _Cloud(self.points[rows], self.guessed[rows], self.measured[rows])

    def replaced(self, rows: NDArray[np.intp], by: "_Cloud") -> "_Cloud":
        """The cloud with some points replaced."""
        pairs = ((self.points, by.points), (self.guessed, by.guessed), (self.measured, by.measured))
        arrays = []
        for old, new in pairs:
            changed = old.copy()
            changed[rows] = new
            arrays.append(changed)
        return _Cloud(*arrays)


def tempered(
    guess: LogDensity,
    data: LogDensity,
    first: FloatArray,
    count: int,
    sweeps: int = SWEEPS,
    *,
    has_modes: bool = False,
) -> FloatArray:
    r"""Draw points from a density proportional to a prior times a likelihood.

    Points drawn from the guess are weighted by a rising power of the likelihood, resampled by their
    weights, and moved along the differences between them so that they spread.

    Parameters
    ----------
    guess, data
        Logarithms of prior and likelihood; minus infinity where a point is impossible.
    first
        Points drawn from the guess, shape (points, width).
    count
        Number of points to draw, even.
    sweeps
        Moves of each point after each step.
    has_modes
        Whether the posterior may have several modes, as with a number of servers: some moves are
        then exactly as long as the distance between two points, and lead from one mode to another.

    Returns
    -------
    Points of equal weight, one per row; none if the data rule out every first point.

    Examples
    --------
    >>> first = np.random.default_rng(1).normal(0, 3, (4000, 1))
    >>> guess = lambda x: -0.5 * (x[:, 0] / 3) ** 2
    >>> drawn = tempered(guess, lambda x: -0.5 * (x[:, 0] - 5) ** 2 / 0.01, first, 400)
    >>> drawn.shape, bool(abs(drawn.mean() - 5) < 0.02), bool(abs(drawn.std() - 0.1) < 0.02)
    ((400, 1), True, True)
    """
    random = np.random.default_rng(_SEED)
    cloud = _Cloud(first, guess(first), data(first))
    possible = np.flatnonzero(np.isfinite(cloud.guessed + cloud.measured))
    if possible.size < _FEWEST:
        return np.zeros((0, first.shape[1]))
    cloud = cloud.of(possible[np.arange(count) % possible.size])
    power = 0.0
    while power < 1:
        step = _step(cloud.measured, 1 - power)
        power = min(power + step, 1.0)
        cloud = cloud.of(_chosen(step * cloud.measured, random))
        for sweep in range(sweeps * (_JUMPING if has_modes else 1)):
            move = partial(_beside, jumps=has_modes) if sweep % 2 else _stretched
            cloud = _moved(cloud, guess, data, power, random, move)
    return cloud.points


def _step(likelihood: FloatArray, most: float) -> float:
    """The longest step that leaves half of the points with weight."""

    def left(step: float) -> float:
        weights = np.exp(step * (likelihood - likelihood.max()))
        return float(weights.sum() ** 2 / (weights**2).sum()) / likelihood.size

    if left(most) >= _ALIKE:
        return most
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if left(middle) >= _ALIKE else (low, middle)
    return max(low, _LEAST)


def _chosen(log_weights: FloatArray, random: np.random.Generator) -> NDArray[np.intp]:
    """Rows resampled by their weights, systematically, in any order."""
    weights = np.cumsum(np.exp(log_weights - log_weights.max()))
    places = (random.random() + np.arange(weights.size)) / weights.size * weights[-1]
    rows = np.minimum(np.searchsorted(weights, places), weights.size - 1)
    random.shuffle(rows)
    return np.asarray(rows)


def _moved(
    cloud: _Cloud,
    guess: LogDensity,
    data: LogDensity,
    power: float,
    random: np.random.Generator,
    move: Move,
) -> _Cloud:
    """Move each half relative to the other: towards or away from a point, or along two of them."""
    half = cloud.measured.size // 2
    halves = np.arange(half), np.arange(half, 2 * half)
    for mine, others in (halves, halves[::-1]):
        old, beside = cloud.of(mine), cloud.points[others]
        wanted, worth = move(old.points, beside, random)
        guessed, measured = guess(wanted), data(wanted)
        with np.errstate(invalid="ignore"):
            gain = worth + power * (measured - old.measured) + guessed - old.guessed
        taken = np.log(random.random(half)) < gain
        new = _Cloud(wanted, guessed, measured).of(np.flatnonzero(taken))
        cloud = cloud.replaced(mine[taken], new)
    return cloud


def _stretched(
    points: FloatArray, others: FloatArray, random: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    count, width = points.shape
    ends = 1 / np.sqrt(_STRETCH), np.sqrt(_STRETCH)
    stretch = (random.random(count) * (ends[1] - ends[0]) + ends[0]) ** 2
    fixed = others[random.integers(0, len(others), count)]
    return fixed + stretch[:, None] * (points - fixed), (width - 1) * np.log(stretch)


def _beside(
    points: FloatArray, others: FloatArray, random: np.random.Generator, *, jumps: bool
) -> tuple[FloatArray, FloatArray]:
    count, width = points.shape
    first, second = random.integers(0, len(others), (2, count))
    usual = 2.38 / np.sqrt(2 * width)  # ter Braak 2006: the best length for normal densities
    lengths = [0.3 * usual, usual, *([1.0] * jumps)]
    length = random.choice(lengths, count)
    jitter = 1e-4 * random.standard_normal(points.shape)
    return points + length[:, None] * (others[first] - others[second]) + jitter, np.zeros(count)
