"""Curves of misses over sizes: interpolated so that they never rise."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray


@dataclass(frozen=True)
class Curve:
    """Cubics between points, each falling wherever its ends do (Fritsch and Butland).

    Parameters
    ----------
    sizes, misses
        The points; the first at size 0.
    slopes
        Of the curve at each.
    """

    sizes: FloatArray
    misses: FloatArray
    slopes: FloatArray

    @classmethod
    def through(cls, sizes: Sequence[float], misses: Sequence[float]) -> "Curve":
        """A curve through points; at size 0 everything misses.

        Parameters
        ----------
        sizes
            Rising, 0 or more.
        misses
            From 0 to 1, never rising.

        Raises
        ------
        InvalidParameter
            For other numbers, saying which.

        Examples
        --------
        >>> Curve.through([2.0, 4.0], [0.5, 0.5]).at(np.array([0.0, 3.0, 9.0]))[0].tolist()
        [1.0, 0.5, 0.5]
        """
        at, missed = np.asarray(sizes, float), np.asarray(misses, float)
        _check(at, missed)
        if at[0] > 0:
            at, missed = np.concatenate([[0.0], at]), np.concatenate([[1.0], missed])
        return cls(at, missed, _slopes(at, missed))

    def at(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Misses, and their slope, at sizes of 0 or more; past the last point it stays level."""
        x = np.minimum(size, self.sizes[-1])
        left = np.clip(np.searchsorted(self.sizes, x, side="right") - 1, 0, len(self.sizes) - 2)
        width = self.sizes[left + 1] - self.sizes[left]
        u = (x - self.sizes[left]) / width
        rise = self.misses[left + 1] - self.misses[left]
        first, last = self.slopes[left] * width, self.slopes[left + 1] * width
        square, cube = 3 * rise - 2 * first - last, first + last - 2 * rise
        value = self.misses[left] + u * (first + u * (square + u * cube))
        slope = (first + u * (2 * square + 3 * u * cube)) / width
        beyond = size > self.sizes[-1]
        return np.clip(value, 0.0, 1.0), np.where(beyond, 0.0, np.minimum(slope, 0.0))


def _check(sizes: FloatArray, misses: FloatArray) -> None:
    """Refuse what is no curve of misses."""
    if sizes.ndim != 1 or misses.ndim != 1:
        raise InvalidParameter(
            "a curve needs one list of sizes and one of miss ratios, both of numbers"
        )
    if len(sizes) != len(misses) or len(sizes) < 1 or (len(sizes) == 1 and sizes[0] == 0):
        counts = f"{len(sizes)} sizes and {len(misses)} miss ratios"
        msg = f"a curve needs a miss ratio for each size, and a size above 0; there are {counts}"
        raise InvalidParameter(msg)
    if not (np.isfinite(sizes).all() and (sizes >= 0).all() and (np.diff(sizes) > 0).all()):
        raise InvalidParameter("sizes must be finite, 0 or more, and increasing")
    outside = ~((misses >= 0) & (misses <= 1))
    if outside.any():
        msg = f"miss ratio {misses[outside][0]:g} is not between 0 and 1"
        raise InvalidParameter(msg)
    rising = np.flatnonzero(np.diff(misses) > 0)
    if len(rising):
        k = int(rising[0])
        msg = (
            f"misses rise from {misses[k]:g} at {sizes[k]:g} to {misses[k + 1]:g} at "
            f"{sizes[k + 1]:g}; a larger cache must not miss more"
        )
        raise InvalidParameter(msg)


def _slopes(at: FloatArray, missed: FloatArray) -> FloatArray:
    """Slopes at the points: harmonic means of those beside, one-sided at the ends."""
    width = np.diff(at)
    slope = np.diff(missed) / width
    result = np.zeros(at.shape)
    if len(slope) == 1:
        return np.full(2, slope[0])
    first, last = 2 * width[1:] + width[:-1], width[1:] + 2 * width[:-1]
    both = (slope[:-1] < 0) & (slope[1:] < 0)
    safe = np.where(both, slope[:-1], -1.0), np.where(both, slope[1:], -1.0)
    result[1:-1] = np.where(both, (first + last) / (first / safe[0] + last / safe[1]), 0.0)
    result[0] = _end(width[0], width[1], slope[0], slope[1])
    result[-1] = _end(width[-1], width[-2], slope[-1], slope[-2])
    return result


def _end(width: float, beside: float, slope: float, other: float) -> float:
    """Slope at an end: of the parabola through three points, kept from rising or overshooting."""
    found = ((2 * width + beside) * slope - width * other) / (width + beside)
    return float(np.clip(found, 3 * slope, 0.0))
