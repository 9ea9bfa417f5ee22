"""Many values of a smooth function of one variable, by interpolation from a few.

The function is interpolated at Chebyshev nodes. If the last coefficients of the polynomial, or some
of the values, show that the error is too large, as near a kink, the interval is halved; an interval
with few numbers in it is computed number by number.

Source: Trefethen, *Approximation Theory and Approximation Practice*, 2013, chapters 3, 8 and 14.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from headway.kinds import FloatArray

FEWEST = 100
"""Up to so many numbers are computed one by one; affects speed only."""

_NODES = 49  # fewer suffice for 1e-10 if a function is smooth; affects speed only
# A polynomial is accepted if its last four coefficients are below a tenth of the tolerance. Four
# values are also checked against the function itself.
_TAIL, _NOTHING = 4, 0.1

Values: TypeAlias = Callable[[FloatArray], FloatArray]
Places: TypeAlias = NDArray[np.intp]


def interpolated(values: Values, at: FloatArray, tolerance: float = 1e-10) -> FloatArray:
    """Interpolate a function at many numbers.

    Parameters
    ----------
    values
        Function of an array of numbers within the range of ``at``; positive, or NaN.
    at
        The numbers, shape (points,).
    tolerance
        Relative error that is accepted.

    Examples
    --------
    >>> at = np.linspace(0.0, 3.0, 1001)
    >>> bool(np.abs(interpolated(np.exp, at) / np.exp(at) - 1).max() < 1e-10)
    True
    """
    found, pieces = np.empty(at.shape), [np.argsort(at)]
    while pieces:
        asked = [
            at[piece] if piece.size <= FEWEST else _nodes_and_checks(at[piece]) for piece in pieces
        ]
        given = np.split(values(np.concatenate(asked)), np.cumsum([a.size for a in asked])[:-1])
        later: list[Places] = []
        for piece, numbers, value in zip(pieces, asked, given, strict=True):
            known = (
                value
                if piece.size <= FEWEST
                else _interpolated(numbers, value, at[piece], tolerance)
            )
            if known is None:
                middle = np.searchsorted(at[piece], (at[piece[0]] + at[piece[-1]]) / 2)
                later += np.split(piece, [middle])
            else:
                found[piece] = known
        pieces = later
    return found


def _nodes_and_checks(numbers: FloatArray) -> FloatArray:
    """Chebyshev nodes between ascending numbers, and a few of the numbers as checks."""
    low, high = numbers[0], numbers[-1]
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(_angles())
    return np.concatenate([nodes, numbers[:: numbers.size // _TAIL]])


def _interpolated(
    asked: FloatArray, values: FloatArray, at: FloatArray, tolerance: float
) -> FloatArray | None:
    """Values of the interpolating polynomial; None if it misses the tolerance."""
    middle, half = (at[0] + at[-1]) / 2, max((at[-1] - at[0]) / 2, np.finfo(float).tiny)
    series = 2 / _NODES * np.cos(np.outer(np.arange(_NODES), _angles())) @ values[:_NODES]
    series[0] /= 2
    checked = chebyshev.chebval((asked[_NODES:] - middle) / half, series)
    close = np.abs(checked - values[_NODES:]) <= tolerance * values[_NODES:]
    if close.all() and np.abs(series[-_TAIL:]).max() <= _NOTHING * tolerance * np.abs(values).min():
        return np.asarray(chebyshev.chebval((at - middle) / half, series))
    return None


def _angles() -> FloatArray:
    return np.asarray(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
