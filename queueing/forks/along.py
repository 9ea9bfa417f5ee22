"""Many values of a smooth function of one number, from few.

Between a least and a most number the function is taken by its polynomial through Chebyshev's
nodes, where the last coefficients are nothing next to the first; elsewhere, as beside a kink, the
interval is halved until it is so, or until it has few numbers left, each of which is worked out.

Source: Trefethen, *Approximation Theory and Approximation Practice*, 2013, chapters 3, 8 and 14.
"""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from headway.kinds import FloatArray

FEWEST = 100
"""Numbers that are worked out one by one, if there are no more."""

_NODES = 49
_TAIL, _NOTHING = 4, 0.1  # of the last coefficients, and of what counts as the same

Values: TypeAlias = Callable[[FloatArray], FloatArray]
Places: TypeAlias = NDArray[np.intp]


def along(values: Values, at: FloatArray, same: float = 1e-10) -> FloatArray:
    """Values at each number, to some 1e-10 of them.

    Parameters
    ----------
    values
        Of an array of numbers from the least to the most of those asked for, shape (points,);
        above 0, or not a number where it has none.
    at
        The numbers, shape (points,).
    same
        How far values may be off, relative.

    Examples
    --------
    >>> at = np.linspace(0.0, 3.0, 1001)
    >>> bool(np.abs(along(np.exp, at) / np.exp(at) - 1).max() < 1e-10)
    True
    """
    found, pieces = np.empty(at.shape), [np.argsort(at)]
    while pieces:
        asked = [at[piece] if piece.size <= FEWEST else _asked(at[piece]) for piece in pieces]
        given = np.split(values(np.concatenate(asked)), np.cumsum([a.size for a in asked])[:-1])
        later: list[Places] = []
        for piece, numbers, value in zip(pieces, asked, given, strict=True):
            known = (
                value if piece.size <= FEWEST else _interpolated(numbers, value, at[piece], same)
            )
            if known is None:
                middle = np.searchsorted(at[piece], (at[piece[0]] + at[piece[-1]]) / 2)
                later += np.split(piece, [middle])
            else:
                found[piece] = known
        pieces = later
    return found


def _asked(numbers: FloatArray) -> FloatArray:
    """Chebyshev's nodes between rising numbers, and some of these, to check by."""
    low, high = numbers[0], numbers[-1]
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(_angles())
    return np.concatenate([nodes, numbers[:: numbers.size // _TAIL]])


def _interpolated(
    asked: FloatArray, values: FloatArray, at: FloatArray, same: float
) -> FloatArray | None:
    """Values of the polynomial; none where it does not hold."""
    middle, half = (at[0] + at[-1]) / 2, max((at[-1] - at[0]) / 2, np.finfo(float).tiny)
    series = 2 / _NODES * np.cos(np.outer(np.arange(_NODES), _angles())) @ values[:_NODES]
    series[0] /= 2
    checked = chebyshev.chebval((asked[_NODES:] - middle) / half, series)
    close = np.abs(checked - values[_NODES:]) <= same * values[_NODES:]
    if close.all() and np.abs(series[-_TAIL:]).max() <= _NOTHING * same * np.abs(values).min():
        return np.asarray(chebyshev.chebval((at - middle) / half, series))
    return None


def _angles() -> FloatArray:
    return np.asarray(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
