"""Miss-ratio curves over sizes, interpolated so that they never increase."""

from collections.abc import Sequence

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.numerals import digits
from headway.records import dataclass


@dataclass(frozen=True)
class MonotoneCubic:
    """Cubics between points, decreasing wherever the points do (Fritsch and Butland).

    Parameters
    ----------
    sizes, misses
        The points; the first at size 0.
    slopes
        Slopes of the curve at the points.
    """

    sizes: FloatArray
    misses: FloatArray
    slopes: FloatArray

    @classmethod
    def through(cls, sizes: Sequence[float], misses: Sequence[float]) -> "MonotoneCubic":
        """The curve through some points; at size 0 all requests miss.

        Parameters
        ----------
        sizes
            Two or more, increasing, 0 or more.
        misses
            From 0 to 1, never increasing.

        Raises
        ------
        InvalidParameter
            For other numbers, with the reason.

        Examples
        --------
        >>> MonotoneCubic.through([2.0, 4.0], [0.5, 0.5]).at(np.array([0.0, 3.0, 9.0]))[0].tolist()
        [1.0, 0.5, 0.5]
        """
        at, missed = np.asarray(sizes, float), np.asarray(misses, float)
        _check(at, missed)
        if at[0] > 0:
            at, missed = np.concatenate([[0.0], at]), np.concatenate([[1.0], missed])
        return cls(at, missed, _slopes(at, missed))

    def at(self, size: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Misses, and their slope, at sizes from 0; constant beyond the last point."""
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


def first_fault(sizes: FloatArray, misses: FloatArray) -> tuple[int, str] | None:
    """The first point that makes the curve impossible, with the reason; None if there is none.

    Parameters
    ----------
    sizes, misses
        As for `MonotoneCubic.through`, in any unit of size.

    Examples
    --------
    >>> first_fault(np.array([1.0, 2.0]), np.array([0.4, 0.5]))
    (1, 'the miss ratio rises from 0.4 to 0.5; remove the point, or measure for longer')
    """
    before = [(0.0, 1.0), *zip(sizes.tolist(), misses.tolist(), strict=True)]
    for k, (size, miss) in enumerate(before[1:]):
        last, more = before[k]
        if not (size >= 0 and np.isfinite(size)):
            return k, f"size {digits(size)} is not a finite number of 0 or more"
        if not 0 <= miss <= 1:
            return k, f"miss ratio {digits(miss)} is not between 0 and 1; give shares, such as 0.05"
        if k and size <= last:
            return (
                k,
                f"size {digits(size)} comes after {digits(last)}; sort by size, and give "
                "each size once",
            )
        if miss > more:
            fault = f"the miss ratio rises from {digits(more)} to {digits(miss)}"
            return k, f"{fault}; remove the point, or measure for longer"
    return None


def _check(sizes: FloatArray, misses: FloatArray) -> None:
    """Refuse arrays that are not a miss-ratio curve."""
    if sizes.ndim != 1 or misses.ndim != 1:
        raise InvalidParameter(
            "a curve needs one list of sizes and one of miss ratios, both of numbers"
        )
    if len(sizes) != len(misses) or len(sizes) < 2:
        counts = f"{len(sizes)} sizes and {len(misses)} miss ratios"
        msg = f"a curve needs a miss ratio for each of two sizes or more; there are {counts}"
        raise InvalidParameter(msg)
    fault = first_fault(sizes, misses)
    if fault is not None:
        msg = f"point {fault[0] + 1} of the curve: {fault[1]}"
        raise InvalidParameter(msg)


def _slopes(at: FloatArray, missed: FloatArray) -> FloatArray:
    """Slopes at the points: weighted harmonic means of adjacent slopes (Fritsch and Butland)."""
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
    """Slope at an end: of the parabola through three points, limited so that the curve falls."""
    steepness = ((2 * width + beside) * slope - width * other) / (width + beside)
    return float(np.clip(steepness, 3 * slope, 0.0))
