"""First crossings: the smallest rate at which something reaches 1, at many points at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray

_DOUBLINGS, _HALVINGS = 46, 200  # what 7e13 a second do not saturate never does
_CELLS = 16
_ROUNDS = 14  # 16**14 = 2**56: more than a double's digits


def first_crossing(share: Callable[[FloatArray], FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Smallest positive rate at which a share reaches 1.

    The crossing is bracketed by doubling or halving from 1; then the bracket is cut to the
    first of its 16 cells at whose end the share is 1 or more, again and again, to the last bit.

    Parameters
    ----------
    share
        Takes rates of any shape that ends in `shape`, and gives the share at each.
    shape
        Shape of the points.

    Returns
    -------
    Rates in that shape; infinite where the share stays below 1.

    Examples
    --------
    >>> first_crossing(lambda rate: rate / np.array([3.0, 700.0]), (2,)).tolist()
    [3.0, 700.0]
    """
    low, high = _bracket(share, shape)
    reached = share(high) >= 1
    parts = np.arange(1, _CELLS + 1).reshape(_CELLS, *(1 for _ in shape)) / _CELLS
    for _ in range(_ROUNDS):
        ends = low + (high - low) * parts
        over = share(ends) >= 1
        over[-1] = True  # the bracket's end, whatever rounding made of it
        first = over.argmax(axis=0)
        low, high = low + first * (high - low) / _CELLS, _pick(ends, first)
    return np.where(reached, high, np.inf)


def _pick(ends: FloatArray, first: NDArray[np.intp]) -> FloatArray:
    return np.asarray(np.take_along_axis(ends, first[None], 0)[0])


def _bracket(
    share: Callable[[FloatArray], FloatArray], shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """Find rates a factor of two apart with the share below and above 1, where there are such."""
    rate = np.ones(shape)
    grows = share(rate) < 1
    step = np.where(grows, 2.0, 0.5)
    for step_count in range(_HALVINGS):
        moving = ((share(rate) < 1) == grows) & ~(grows & (step_count >= _DOUBLINGS))
        if not moving.any():
            break
        rate = np.where(moving, rate * step, rate)
    return np.where(grows, rate / 2, rate), np.where(grows, rate, rate * 2)
