"""Fixed points of decreasing functions, at many points at once."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.records import dataclass

_WIDTH = 4e-16  # relative width of a bracket that has no double inside
_TRIES = 200  # most tries; bisection alone needs 60, for the last digits


@dataclass(frozen=True)
class Guess:
    """Initial rates, with the values and slopes of the function there; shape (points,)."""

    rate: FloatArray
    answer: FloatArray
    slope: FloatArray


Answer = Callable[[FloatArray, NDArray[np.intp]], FloatArray]
"""The function, from rates and the numbers of their points."""


def balance(
    answer: Answer, low: FloatArray, high: FloatArray, guess: Guess, agreed: float = 1e-12
) -> FloatArray:
    """Find rates x = f(x) of decreasing functions.

    By inverse quadratic interpolation through the last three tries, as many as each point needs; if
    a try does not halve the difference, the bracket is halved (Brent).

    Parameters
    ----------
    answer
        The function; called with fewer and fewer points.
    low, high
        Rates with f(low) > low and f(high) < high; shape (points,).
    guess
        Where to start.
    agreed
        Relative difference between a rate and its image that is accepted.

    Returns
    -------
    Rates, shape (points,); at a jump of the function, where it crosses the rate.

    Examples
    --------
    >>> one, answer = np.ones(1), lambda rate, points: 6 / (1 + rate)
    >>> guess = Guess(rate=3 * one, answer=1.5 * one, slope=-one)
    >>> balance(answer, 0 * one, 8 * one, guess).round(12).tolist()
    [2.0]
    """
    result, points = guess.rate.copy(), np.arange(low.size)
    rate, miss = guess.rate, guess.answer - guess.rate
    state = np.array([low, high, rate, miss, *np.full((4, low.size), np.nan)])
    following = rate + miss / (1 - guess.slope)
    for _ in range(_TRIES):
        state = _narrowed(state)
        low, high, rate, miss = state[:4]
        result[points] = rate
        todo = (np.abs(miss) > agreed * rate) & (high - low > _WIDTH * high)
        points, state, following = points[todo], state[:, todo], following[todo]
        if not points.size:
            break
        low, high = state[:2]
        inside = (following > low) & (following < high)
        following = np.where(inside, following, (low + high) / 2)
        new = answer(following, points) - following
        slow = np.abs(new) > np.abs(state[3]) / 2
        state = np.array([low, high, following, new, *state[2:6]])
        following = np.where(slow, np.nan, _interpolated(state[2:]))
    return result


def _narrowed(state: FloatArray) -> FloatArray:
    """Replace one end of the bracket by the last try, in row 2."""
    low, high, rate, miss = state[:4]
    return np.array([np.where(miss > 0, rate, low), np.where(miss > 0, high, rate), *state[2:]])


def _interpolated(tries: FloatArray) -> FloatArray:
    """Zero of the difference, interpolated from three tries, latest first, or from two."""
    x, f, y, g, z, h = tries
    with np.errstate(all="ignore"):
        two = x - f * (x - y) / (f - g)
        three = (
            x * g * h / ((f - g) * (f - h))
            + y * f * h / ((g - f) * (g - h))
            + z * f * g / ((h - f) * (h - g))
        )
    return np.asarray(np.where(np.isfinite(three), three, two))
