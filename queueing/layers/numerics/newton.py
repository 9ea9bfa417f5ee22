"""Fixed points by Newton's method in logarithms, from near them.

Waits in front of full pools follow each other by high powers: a per cent of one is half of another.
In logarithms u of x powers are lines, so that of

    F(u) = log g(exp u) - u

a few of Newton's steps reach the root from where plain steps would have to be tiny. Derivatives are
differences, all columns of which are found at once; of the lengths of a step that are tried
together the one with the smallest sum of squares is taken (Dennis and Schnabel, Numerical Methods
for Unconstrained Optimization and Nonlinear Equations, 1983, chapter 6).
"""

from collections.abc import Callable

import numpy as np

from headway.kinds import FloatArray

_STEPS = 15  # after which it is left; from near by it takes three or four
_DIFFERENCE = 1e-6  # of a logarithm, near the root of what floating point resolves
_LENGTHS = 0.5 ** np.arange(8)
_FURTHEST = 3.0  # of a logarithm in a step: a factor of 20


def by_newton(
    g: Callable[[FloatArray], FloatArray], x: FloatArray, small: float, close: float
) -> FloatArray | None:
    """The fixed point of a map near a point; None where no step comes nearer.

    Parameters
    ----------
    g
        Of arrays of the shape (numbers, `columns`), column by column; 0 or more.
    x
        Where to begin, 0 or more, shape (numbers,).
    small
        A change of this size makes no difference, above 0.
    close
        Largest relative change that is none.

    Examples
    --------
    >>> import numpy as np
    >>> found = by_newton(lambda x: 12 / (1 + x) ** 4, np.array([2.0]), 1e-9, 1e-12)
    >>> (found * (1 + found) ** 4).round(9).tolist()
    [12.0]
    """
    count, u = len(x), np.log(x + small)

    def missed(at: FloatArray) -> FloatArray:
        """F, of columns."""
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
    """Columns of the arrays that a map of so many numbers is given."""
    return max(numbers, len(_LENGTHS)) + 1
