"""Fixed points by Newton's method in logarithms, from a point near the solution.

Waiting times at full pools depend on each other by high powers: a change of a per cent in one may
halve another. In logarithms u = log x powers are linear, so for

    F(u) = log g(exp u) - u

a few Newton steps reach the root from points where plain iteration would need tiny steps.
Derivatives are differences, with all columns evaluated at once; of several step lengths tried
together, that with the smallest sum of squares is taken (Dennis and Schnabel, Numerical Methods for
Unconstrained Optimization and Nonlinear Equations, 1983, chapter 6).
"""

from collections.abc import Callable

import numpy as np

from headway.kinds import FloatArray

_STEPS = 15  # most steps; from a near point it takes three or four
_DIFFERENCE = 1e-6  # step of differences of logarithms, about the square root of the precision
_LENGTHS = 0.5 ** np.arange(8)
_FURTHEST = 3.0  # largest change of a logarithm in a step: a factor of 20


def by_newton(
    g: Callable[[FloatArray], FloatArray], x: FloatArray, small: float, close: float
) -> FloatArray | None:
    """The fixed point of a map near a starting point; None if no step comes nearer.

    Parameters
    ----------
    g
        The map, from and to arrays of shape (numbers, `columns`), each column by itself; 0 or more.
    x
        Starting point, 0 or more, shape (numbers,).
    small
        Changes up to this size do not matter, above 0.
    close
        Largest relative change that counts as converged.

    Examples
    --------
    >>> import numpy as np
    >>> found = by_newton(lambda x: 12 / (1 + x) ** 4, np.array([2.0]), 1e-9, 1e-12)
    >>> (found * (1 + found) ** 4).round(9).tolist()
    [12.0]
    """
    count, u = len(x), np.log(x + small)

    def missed(at: FloatArray) -> FloatArray:
        """F(u), column by column."""
        with np.errstate(all="ignore"):
            return np.log(g(np.maximum(np.exp(at) - small, 0.0)) + small) - at

    for _ in range(_STEPS):
        at = np.repeat(u[:, np.newaxis], columns(count), axis=1)
        at[np.arange(count), np.arange(count)] += _DIFFERENCE
        found = missed(at)
        here = found[:, -1]
        if np.max(np.abs(here)) < close:
            return np.maximum(np.exp(u) - small, 0.0)
        slopes = (found[:, :count] - here[:, np.newaxis]) / _DIFFERENCE
        if not np.isfinite(slopes).all():
            return None
        step = -np.linalg.lstsq(slopes, here, rcond=None)[0]
        step *= min(1.0, _FURTHEST / np.max(np.abs(step)))
        tried = np.zeros(columns(count))
        tried[: len(_LENGTHS)] = _LENGTHS
        squares = np.sum(missed(u[:, np.newaxis] + step[:, np.newaxis] * tried) ** 2, axis=0)
        squares = np.where(np.isfinite(squares), squares, np.inf)
        best = int(np.argmin(squares))
        if not tried[best]:
            return None
        u = u + tried[best] * step
    return None


def columns(numbers: int) -> int:
    """Number of columns in the arrays passed to the map, for so many unknowns."""
    return max(numbers, len(_LENGTHS)) + 1
