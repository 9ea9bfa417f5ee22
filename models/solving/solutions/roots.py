"""First crossings: the smallest rate at which a share reaches 1, at many points at once."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray

STEPS = 16
"""Trial rates per doubling: an excess over a 1/16 octave (4.4%) is never missed."""

OCTAVES = 12
"""Doublings to search for an earlier excess, below a rate that is too high."""

_DOUBLINGS, _HALVINGS = 46, 200  # a rate of 7e13 per second saturates everything that can saturate
_LOWEST = -14  # base-2 logarithm of the lowest rate tried
_CELLS = 16
_ALONE = 32  # cells for a single point, as a call costs the same for so many
_BITS = 52  # bits of a 1/16 octave: more than a double has
GRID = 2.0 ** (np.arange(1, STEPS * OCTAVES + 1) / STEPS)
"""Trial rates, relative to the one at which the search starts."""


def first_crossing(share: Callable[[Amount], Amount], shape: tuple[int, ...]) -> FloatArray:
    """Smallest positive rate at which a share reaches 1.

    Doubling or halving from 1 finds a rate at which the share does. As the share may rise and fall
    again below that, the search tries 16 rates in each of the 12 doublings below, or in all of them
    from 2**-14 on if no doubling finds one. The first of these cells at whose end the share is 1 or
    more is divided into 16 cells again and again (32 for a single point), down to the last bit.

    Parameters
    ----------
    share
        Takes rates of any shape that ends in `shape`, or one number for all points, and returns the
        share at each.
    shape
        Shape of the points.

    Returns
    -------
    Rates in that shape; infinite where the share stays below 1. A share of 1 or more over less
    than a 1/16 octave (4.4%), or only at rates 4,096 times smaller than one that reaches 1 at
    a power of two, may be missed.

    Examples
    --------
    >>> first_crossing(lambda rate: rate / np.array([3.0, 700.0]), (2,)).tolist()
    [3.0, 700.0]
    >>> bump = lambda rate: np.where((rate > 1.5) & (rate < 1.7), 1.2, 0.5)
    >>> round(float(first_crossing(bump, ())), 12)
    1.5
    """
    low, high = np.zeros(shape), np.full(shape, np.inf)
    for start in _starts(share, shape):
        ends = start * GRID.reshape(-1, *(1 for _ in shape))
        over = share(ends) >= 1
        first = over.argmax(axis=0)
        is_first = over.any(axis=0) & np.isinf(high)
        end = _pick(ends, first)
        low = np.where(
            is_first, np.where(first > 0, _pick(ends, np.maximum(first - 1, 0)), start), low
        )
        high = np.where(is_first, end, high)
        if np.isfinite(high).all():
            break
    return _refined(share, low, high)


def _refined(share: Callable[[Amount], Amount], low: FloatArray, high: FloatArray) -> FloatArray:
    """Narrow the cells at whose end the share is 1 or more, down to the last bit."""
    reached = np.isfinite(high)
    low, high = np.where(reached, low, 0.5), np.where(reached, high, 1.0)
    cells = _CELLS if low.size > 1 else _ALONE
    parts = np.arange(1, cells + 1).reshape(cells, *(1 for _ in low.shape)) / cells
    for _ in range(math.ceil(_BITS / math.log2(cells))):
        ends = low + (high - low) * parts
        over = share(ends) >= 1
        over[-1] = True  # the share at a cell's end is at least 1, even if rounding says otherwise
        first = over.argmax(axis=0)
        low, high = low + first * (high - low) / cells, _pick(ends, first)
    return np.where(reached, high, np.inf)


def _pick(ends: FloatArray, first: NDArray[np.intp]) -> FloatArray:
    return np.asarray(np.take_along_axis(ends, first[None], 0)[0])


def _starts(share: Callable[[Amount], Amount], shape: tuple[int, ...]) -> Iterator[FloatArray]:
    """Rates from which to search 12 doublings down, one after the other until all are found."""
    known = too_much(share, shape)
    yield np.where(np.isfinite(known), known / 2.0**OCTAVES, 2.0**_LOWEST)
    for start in range(_LOWEST + OCTAVES, _DOUBLINGS, OCTAVES):
        yield np.full(shape, 2.0**start)


def too_much(share: Callable[[Amount], Amount], shape: tuple[int, ...]) -> FloatArray:
    """Find a power of two at which the share is 1 or more; infinite if there is none.

    It doubles or halves from 1, with all points at one rate at a time, so that what depends on the
    rate alone is calculated once.

    Parameters
    ----------
    share, shape
        As for `first_crossing`; the share also takes single numbers, each for all points.

    Examples
    --------
    >>> too_much(lambda rate: rate / np.array([700.0, 0.3]), (2,)).tolist()
    [1024.0, 0.5]
    """

    def over(rate: float) -> NDArray[np.bool_]:
        return np.broadcast_to(share(rate) >= 1, shape)

    at_one = over(1.0)
    found = np.where(at_one, 1.0, np.inf)
    below, above = at_one, ~at_one
    for count in range(1, _HALVINGS):
        if not below.any():
            break
        below = below & over(0.5**count)
        found = np.where(below, 0.5**count, found)
    for count in range(1, _DOUBLINGS + 1):
        if not above.any():
            break
        reached = above & over(2.0**count)
        found, above = np.where(reached, 2.0**count, found), above & ~reached
    return found
