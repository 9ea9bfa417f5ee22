"""Times of a collective operation, in a piece for each protocol by size, over all processors.

In a piece, with a start a, a time b for each step, c for each byte of the buffer, and d for each
byte that leaves a processor,

    T(n, S) = a + b steps(n) + S (c + d (n - 1) / n)

with a to d of 0 or more, by least squares of relative residuals, in which single outliers count
less (Huber). The boundaries of pieces minimise a Bayesian information criterion, by dynamic
programming.
"""

import math
from enum import StrEnum
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.loggp.measuring.breaks import LEAST_POINTS
from headway.loggp.measuring.sizefit import LineParameter
from headway.records import dataclass

_HUBER = 2.0  # in units of the tolerance: larger residuals count linearly
_ROUNDS = 4  # of reweighting outliers: further ones change the sums by less than 1%

Z = 1.959963984540054
"""Half of a 95% interval of a normal law, in standard deviations."""

PART_NAMES = ("start", "step", "copy", "wire")
"""Parameters of a piece: a, b [s] and c, d [s/B]."""


class Growth(StrEnum):
    """The growth of the number of steps with the number n of processors."""

    RING = "ring"
    TREE = "tree"

    def steps(self, count: Any) -> Any:
        """Steps: n - 1 of a ring, log2 n of a tree."""
        return count - 1.0 if self is Growth.RING else np.log2(count)


@dataclass(frozen=True, eq=False)
class CollectivePiece:
    """The costs of an operation in a range of sizes.

    Parameters
    ----------
    first_size, last_size
        Smallest and largest measured size [B].
    start, step, copy, wire
        a and b [s], c and d [s/B], with 95% intervals.
    covariance
        Covariance of the four, shape (4, 4).
    """

    first_size: float
    last_size: float
    start: LineParameter
    step: LineParameter
    copy: LineParameter
    wire: LineParameter
    covariance: FloatArray

    @property
    def values(self) -> FloatArray:
        """a, b, c and d."""
        return np.array([getattr(self, name).value for name in PART_NAMES])


def design(count: FloatArray, size: FloatArray, growth: Growth) -> FloatArray:
    """Factors of a, b, c and d, shape (points, 4)."""
    ones = np.ones_like(count)
    return np.stack([ones, growth.steps(count), size, size * (count - 1) / count], axis=1)


@dataclass(frozen=True, eq=False)
class Pieces:
    """The best division of measured times into pieces, with the fit of each.

    Parameters
    ----------
    growth
        How steps grow with n.
    criterion
        Sum of the costs of all pieces and the penalty for each.
    parts
        The pieces, in order of size.
    """

    growth: Growth
    criterion: float
    parts: tuple["_FittedPiece", ...]

    @classmethod
    def of(
        cls, points: tuple[FloatArray, ...], growth: Growth, used: Any, tolerance: float
    ) -> "Pieces":
        """Dynamic programming: best[j] = min over i of best[i] + cost of sizes i to j + penalty.

        Parameters
        ----------
        points
            n, S [B] and T [s], each of shape (points,); at least three sizes.
        growth
            How steps grow with n.
        used
            Indices of those of a, b, c and d that the numbers of processors can distinguish.
        tolerance
            Relative misfit below which there is no further piece.
        """
        count, size, time = points
        factors = design(count, size, growth) / time[:, None]
        sizes, place = np.unique(size, return_inverse=True)
        penalty = (used.size + 1) * math.log(time.size)
        best: list[tuple[float, tuple[_FittedPiece, ...]]] = [(0.0, ())]
        for end in range(1, sizes.size + 1):
            offers: list[tuple[float, tuple[_FittedPiece, ...]]] = [(math.inf, ())]
            for start in range(max(end - LEAST_POINTS + 1, 0)):
                before, parts = best[start]
                if math.isfinite(before):
                    mine = (place >= start) & (place < end)
                    part = _fitted_piece(
                        factors[mine], used, tolerance, (sizes[start], sizes[end - 1])
                    )
                    offers.append((before + part.cost + penalty, (*parts, part)))
            best.append(min(offers, key=lambda one: one[0]))
        return cls(growth, *best[-1])

    @property
    def residuals(self) -> FloatArray:
        """Relative residuals, piece by piece."""
        return np.concatenate([part.residuals for part in self.parts])

    @property
    def parameters(self) -> int:
        """Number of parameters that are not 0."""
        return sum(part.active.size for part in self.parts)

    def described(self, deviation: float) -> tuple[CollectivePiece, ...]:
        """The pieces with intervals, given the relative standard deviation of one measurement."""
        return tuple(_described(part, deviation) for part in self.parts)


@dataclass(frozen=True, eq=False)
class _FittedPiece:
    first: float
    last: float
    values: FloatArray
    active: Any
    used: Any
    weighted: FloatArray
    residuals: FloatArray
    cost: float


def _fitted_piece(
    factors: FloatArray, used: Any, tolerance: float, ends: tuple[float, float]
) -> _FittedPiece:
    """Non-negative least squares of relative residuals, in which outliers count linearly."""
    from scipy.optimize import nnls

    columns = factors[:, used]
    scale = np.sqrt((columns**2).sum(axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    weight = np.ones(len(columns))
    for _ in range(_ROUNDS):
        found, _ = nnls(columns / scale * weight[:, None], weight)
        residuals = columns @ (found / scale) - 1
        far = np.abs(residuals) / (_HUBER * tolerance)
        weight = 1 / np.sqrt(np.maximum(far, 1.0))
    apart = np.abs(residuals) / tolerance
    cost = np.where(apart <= _HUBER, apart**2, 2 * _HUBER * apart - _HUBER**2)
    values = np.zeros(len(PART_NAMES))
    values[used] = found / scale
    active = used[found > 0]
    weighted = factors * weight[:, None]
    return _FittedPiece(*ends, values, active, used, weighted, residuals, float(cost.sum()))


def _described(part: _FittedPiece, deviation: float) -> CollectivePiece:
    """A piece with intervals: linear theory at the active parameters, with a common deviation.

    The upper limit of a parameter at 0 follows from the theory with all parameters active.
    """
    covariance = deviation**2 * _inverse(part.weighted, part.active)
    beside = deviation**2 * _inverse(part.weighted, part.used)
    active = np.isin(np.arange(len(PART_NAMES)), part.active)
    errors = np.sqrt(np.where(active, np.diag(covariance), np.diag(beside)))
    start, step, copy, wire = (
        _parameter(place, part, float(error)) for place, error in enumerate(errors)
    )
    return CollectivePiece(float(part.first), float(part.last), start, step, copy, wire, covariance)


def _inverse(factors: FloatArray, chosen: Any) -> FloatArray:
    """Inverse of the normal equations of chosen columns, 0 elsewhere, shape (4, 4)."""
    columns = factors[:, chosen]
    scale = np.sqrt((columns**2).sum(axis=0))
    scale = np.where(scale > 0, scale, 1.0)
    inverse = np.zeros((len(PART_NAMES), len(PART_NAMES)))
    own = np.linalg.pinv((columns / scale).T @ (columns / scale))
    inverse[np.ix_(chosen, chosen)] = own / np.outer(scale, scale)
    return inverse


def _parameter(place: int, part: _FittedPiece, error: float) -> LineParameter:
    if place not in part.used:
        return LineParameter(0.0, None, determined=False)
    value = float(part.values[place])
    low, high = max(value - Z * error, 0.0), value + Z * error
    return LineParameter(value, (low, high), value > 0 and low > 0)
