"""Percentiles of jobs that go forward only, to the rounding of the inversion.

From a swift start, Newton's method in the logarithm of the tail; the number of digits doubles with
each step, so that one or two of the full series are enough. Points that it does not settle are
enclosed.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.flows.fixed_points import Guess, balance
from headway.queueing.sojourn.feed_forward import ForwardLaw, ForwardNetwork, in_blocks
from headway.queueing.sojourn.search_percentiles import swiftly_beyond

_BLOCK = 256  # points whose transforms stay in the cache
_NEVER = 1e-300
_NEAR = 1e-3  # relative: a last swift step after which the full series takes over
_RESOLVED = 1e-7  # of a chance: differences that swift percentiles tell
_STEPS = 4
_CLOSE = 0.1  # of the square root of what is lost: a step whose square nobody misses
_CLOSEST = 1e-5
PRECISION = 2e-12
"""Of a chance."""


def forward_percentiles(network: ForwardNetwork, share: float) -> FloatArray:
    """Least times that a share of all times does not exceed [s].

    Parameters
    ----------
    network
        At its operating points.
    share
        Between 0 and 1.

    Returns
    -------
    Array of shape (points,).

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = np.ones((1, 1))
    >>> forward_percentiles(ForwardNetwork((MM1(0.5),), one, one, {}), 0.95).round(6).tolist()
    [2.995732]
    """
    return in_blocks(network, _BLOCK, lambda block: _of_block(block, share))


def _of_block(network: ForwardNetwork, share: float) -> FloatArray:
    law, tail = network.law(), 1 - share
    times = law.constant.copy()
    some = np.flatnonzero(law.longer() > tail)
    if some.size:
        kept = network if some.size == times.size else network.at(some)
        times[some] = _beyond_constant(kept, tail)
    return times


def _beyond_constant(network: ForwardNetwork, tail: float) -> FloatArray:
    law = network.law()
    times, points = law.constant + _start(law, tail), np.arange(law.constant.size)
    close = min(_CLOSE * np.sqrt(PRECISION / tail), _CLOSEST)
    for _ in range(_STEPS):
        step = _newton(law, times[points], tail)
        times[points] += step
        points = points[~(np.abs(step) <= close * times[points])]
        if not points.size:
            return times
        law = network.at(points).law()
    times[points] = _enclosed(network.at(points), tail)
    return times


def _start(law: ForwardLaw, tail: float) -> FloatArray:
    """An exponential's time beyond the constant; a swift one, where that tells them apart."""
    exponential = -law.beyond * np.log(tail)
    swift = swiftly_beyond(law.network, tail, _NEAR)
    alike = np.abs(swift - exponential) <= _RESOLVED / tail * exponential
    return np.where(alike, exponential, swift)


def _newton(law: ForwardLaw, time: FloatArray, tail: float) -> FloatArray:
    """What to add to a time, by the logarithm of the chance of more; none within its rounding."""
    longer, density = law.exceedance_and_density(time)
    with np.errstate(all="ignore"):
        miss = np.log(longer / tail)
        return np.where(np.abs(miss) <= PRECISION / tail, 0.0, miss * longer / density)


def _enclosed(network: ForwardNetwork, tail: float) -> FloatArray:
    law = network.law()

    def above(time: FloatArray, law: ForwardLaw) -> FloatArray:
        return np.asarray(np.log(np.maximum(law.exceedance(time), _NEVER) / tail))

    low, before = law.constant, np.full(law.constant.size, -np.log(tail))
    high = low - law.beyond * np.log(tail)
    miss = above(high, law)
    while (miss > 0).any():
        low, before = np.where(miss > 0, high, low), np.where(miss > 0, miss, before)
        high = np.where(miss > 0, 2 * high, high)
        miss = above(high, law)
    slope = 1 + law.beyond * (miss - before) / (high - low)
    return balance(
        lambda time, points: time + law.beyond[points] * above(time, network.at(points).law()),
        low,
        high,
        Guess(high, high + law.beyond * miss, slope),
        PRECISION / tail,
    )
