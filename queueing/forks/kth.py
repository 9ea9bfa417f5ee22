"""Mean and second moment of the k-th order statistic of n different gamma-distributed times.

E[T] is the integral of the probability that fewer than k are done, over the logarithm of the time;
there it decays fast at both ends, so the trapezoidal rule converges geometrically. With constant
times the probability jumps, so the rule has a node on each side of them.

Source: David and Nagaraja, *Order Statistics*, 3rd ed., 2003, section 5.2, for the chances.
"""

from collections.abc import Callable
from math import ceil, floor, log, sqrt
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.forks.counting import fewer_done, log_range_below

CONSTANT = 1e-6
"""Scv below which a time counts as constant: a standard deviation of 0.1%."""

Fixed: TypeAlias = NDArray[np.bool_]
"""Masks of constant times."""

# Steps of the logarithm of time: at most 0.2, and half a standard deviation of the least variable
# time, for ten digits; 0.004 if probabilities jump, as the error is then the square of the step.
_WIDEST, _PER_DEVIATION, _JUMPING = 0.2, 0.5, 0.004
_LOW, _HIGH = 14.0, 40.0  # times range from exp(-14) of the shortest mean to 40 times the longest
_BLOCK = 2_000_000  # probabilities computed at a time, for memory and speed


def kth(means: FloatArray, scvs: FloatArray, needed: FloatArray) -> tuple[FloatArray, FloatArray]:
    """E[T] and E[T**2] of the k-th of n independent gamma times at each operating point.

    Parameters
    ----------
    means, scvs
        Of each time, shape (n, points); means [s], 0 or more, and squared coefficients of
        variation, 0 or more.
    needed
        k of each point, shape (points,), whole numbers from 1 to n.

    Examples
    --------
    >>> two = np.array([[1.0], [0.5]])
    >>> mean, _ = kth(two, np.ones_like(two), np.array([2]))  # 1 + 1/2 - 1/(1 + 2)
    >>> round(float(mean[0]), 10)
    1.1666666667
    """
    longest = means.max(axis=0)
    scale = np.asarray(np.where(longest > 0, longest, 1.0))

    def left(some: "_Times", at: FloatArray, k: int) -> FloatArray:
        return some.fewer_done(at, k)

    low = min(_LOW, log_range_below(scvs, int(needed.min())))
    found = _integrated(means / scale, scvs, needed, left, low)
    return found[0] * scale, found[1] * scale**2


def unfinished(means: FloatArray, scvs: FloatArray, needed: FloatArray) -> FloatArray:
    """Mean share of each time during which fewer than k of the n are done, shape (n, points).

    Parameters
    ----------
    means, scvs, needed
        As for `kth`.

    Examples
    --------
    >>> two = np.array([[1.0], [0.5]])
    >>> shares = unfinished(two, np.ones_like(two), np.array([1]))  # the shorter takes 1/3
    >>> [round(float(share), 9) for share in shares[:, 0]]
    [0.333333333, 0.666666667]
    """
    found = np.ones(means.shape)
    for row, mean in enumerate(means):
        some = (needed < len(means)) & (mean > 0)
        if not some.any():
            continue

        def left(times: "_Times", at: FloatArray, k: int, row: int = row) -> FloatArray:
            one, others = times.apart(row)
            return one.fewer_done(at, 1) * others.fewer_done(at, k)

        relative = means[:, some] / mean[some]
        together = _integrated(relative, scvs[:, some], needed[some], left, _LOW)[0]
        found[row, some] = np.minimum(together, 1.0)
    return found


class _Times(NamedTuple):
    """Means and squared coefficients of variation, and whether constant; shape (n, points)."""

    relative: FloatArray
    scvs: FloatArray
    fixed: Fixed

    def apart(self, row: int) -> tuple["_Times", "_Times"]:
        """One of the times, and the others."""
        here, rest = [row], np.arange(len(self.relative)) != row
        return self._rows(here), self._rows(rest)

    def _rows(self, rows: Any) -> "_Times":
        return _Times(self.relative[rows], self.scvs[rows], self.fixed[rows])

    def fewer_done(self, times: FloatArray, needed: int) -> FloatArray:
        """Probability that fewer than k are done by each time, shape (times, points)."""
        from scipy.special import gammainc

        each = []
        for mean, scv, constant in zip(*self, strict=True):
            spread = np.where(constant, 1.0, scv)
            size = np.where(constant, 1.0, mean)
            gone = gammainc(1 / spread, times / (size * spread))
            each.append(np.where(constant, times >= mean, gone))
        return fewer_done(each, needed)


_Left: TypeAlias = Callable[[_Times, FloatArray, int], FloatArray]
"""P(T > t) of the times, at each t and for k."""


def _integrated(
    relative: FloatArray, scvs: FloatArray, needed: FloatArray, left: _Left, low: float
) -> FloatArray:
    """First two moments of T, shape (2, points)."""
    fixed = (scvs < CONSTANT) | (relative == 0)
    times, step = _grid(relative, scvs, fixed, low)
    found = np.zeros((2, len(needed)))
    for k in np.unique(needed):
        points = np.flatnonzero(needed == k)
        size = max(_BLOCK // (times.size * int(min(k, len(relative) - k + 1))), 1)
        for start in range(0, points.size, size):
            some = points[start : start + size]
            part = _Times(relative[:, some], scvs[:, some], fixed[:, some])
            integrate = _with_jumps if fixed.any() else _smoothly
            found[:, some] = integrate(times, step, int(k), part, left)
    return found


def _grid(
    relative: FloatArray, scvs: FloatArray, fixed: Fixed, low: float
) -> tuple[FloatArray, float]:
    """Times in units of the longest mean, each exp(step) times the one before, and the step."""
    vary = ~fixed
    shortest = float(relative[vary].min(initial=1.0))
    least, most = (float(f(scvs[vary], initial=1.0)) for f in (np.min, np.max))
    step = min(_WIDEST, _PER_DEVIATION * sqrt(least), _JUMPING if fixed.any() else _WIDEST)
    ends = log(shortest) - low, log(_HIGH * max(most, 1.0))
    return np.exp(step * np.arange(floor(ends[0] / step), ceil(ends[1] / step) + 1)), step


def _smoothly(
    times: FloatArray, step: float, needed: int, part: _Times, chance: _Left
) -> FloatArray:
    """Both moments by the trapezoidal rule; before the first time the sum is a geometric series."""
    at = times[:, None]
    left = chance(part, at, needed)
    first = step * (left * at).sum(axis=0) + times[0] * step / np.expm1(step)
    second = step * (left * at**2).sum(axis=0) + times[0] ** 2 * step / np.expm1(2 * step)
    return np.array([first, 2 * second])


def _with_jumps(
    times: FloatArray, step: float, needed: int, part: _Times, chance: _Left
) -> FloatArray:
    """Both moments by trapezia with a node just before and just after each constant time."""
    del step
    ends = np.where(part.fixed, part.relative, times[0])
    ordinary = np.broadcast_to(times[:, None], (times.size, ends.shape[1]))
    beside = [ends * (1 - 1e-12), ends * (1 + 1e-12)]
    at = np.sort(np.concatenate([np.zeros((1, ends.shape[1])), ordinary, *beside]), axis=0)
    left = chance(part, at, needed)
    first, second = (np.trapezoid(left * f, at, axis=0) for f in (1.0, 2 * at))
    return np.array([first, second])
