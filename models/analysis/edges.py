"""The last value that keeps a condition that larger values break, searched from some value."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

_DOUBLINGS = 20  # doublings from the first value
_CELLS, _CLOSE = 16, 1e-9  # cells of a round, and relative width of the last one

Kept = Callable[[Sequence[float]], NDArray[np.bool_]]


def kept_around(kept: Kept, start: float, whole: bool) -> tuple[float | None, float]:  # noqa: FBT001
    """Find a value that keeps the condition and one that does not, by doubling and halving.

    Parameters
    ----------
    kept
        Which of some values keep it.
    start
        The value to start from.
    whole
        Whether only whole numbers from 1 on count.

    Returns
    -------
    Both values; None if no value keeps the condition, infinity if none breaks it.

    Examples
    --------
    >>> kept_around(lambda values: np.array(values) <= 7, 1.0, True)
    (4.0, 8.0)
    """
    least = 1.0 if whole else start * 0.5**_DOUBLINGS
    low, high = max(start, least), math.inf
    if kept([low])[0]:
        for _ in range(_DOUBLINGS):
            if not kept([2 * low])[0]:
                return low, 2 * low
            low *= 2
        return low, high
    while low > least:
        low, high = max(low / 2, least), low
        low = float(math.floor(low)) if whole else low
        if kept([low])[0]:
            return low, high
    return None, high


def last_kept(kept: Kept, low: float, high: float, whole: bool) -> float:  # noqa: FBT001
    """Find the last value that keeps the condition, in ever smaller cells.

    Parameters
    ----------
    kept
        Which of some values, passed together, keep it.
    low, high
        A value that keeps it, and a larger one that does not.
    whole
        Whether only whole numbers count.

    Examples
    --------
    >>> last_kept(lambda values: np.array(values) <= 7, 4.0, 8.0, True)
    7.0
    """
    while high - low > (1 if whole else _CLOSE * high):
        cells = np.linspace(low, high, _CELLS + 1)[1:-1]
        cells = np.unique(np.round(cells)) if whole else cells
        inside = np.concatenate([[low], cells[(cells > low) & (cells < high)], [high]])
        last = int(np.argmin(np.append(kept(inside[1:-1].tolist()), [False])))
        low, high = float(inside[last]), float(inside[last + 1])
    return low
