"""Percentiles of a feed-forward network at many points at once, to a stated precision.

With a constant c and a random rest, P(T > t) of T = c + rest is inverted by Abate and Whitt's
algorithm Euler at s_n = (A / 2 + i pi n) / t,

    P(T > c + t) = 1 - exp(A / 2) sum over n of w_n Re(F(s_n) / (t s_n)),

with F the transform of the rest, w_n = 1/2, -1, 1, -1... and the last partial sums averaged. The
same nodes give the density, so that Newton's method in log P(T > t) finds the time,

    t' = t + (P / f) log(P / tail).

* `Precision.SEARCH`, to about 1e-6: A = 18.4, so the discretisation error is exp(-A) = 1e-8. Nearly
  all points need the same few terms, so that errors change smoothly with the network's numbers, and
  differences between similar networks are right. Where more terms would change the probability, as
  at a narrow peak, their number is doubled.
* `Precision.ROUNDING`: from such a start, one or two of Newton's steps with the longer series of
  `headway.queueing.times.inversion`, each of which doubles the number of digits. Points that do not
  converge are bracketed.

Source: Abate and Whitt, "A unified framework for numerically inverting Laplace transforms",
INFORMS J. Computing 18(4), 2006; "Numerical inversion of Laplace transforms of probability
distributions", ORSA J. Computing 7(1), 1995, for A = 18.4 and the 11 partial sums.
"""

from dataclasses import replace
from enum import Enum
from functools import cache
from math import comb, exp, pi
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.flows.fixed_points import Guess, balance
from headway.queueing.sojourn.feed_forward import FeedForwardLaw, FeedForwardNetwork, in_blocks
from headway.queueing.times.laws import ComplexArray

Flags: TypeAlias = NDArray[np.bool_]


class Precision(Enum):
    """Accuracy of percentiles."""

    SEARCH = "some 1e-6, relative: for searches, which ask for millions"
    ROUNDING = "the rounding of the inversion: 2e-12 of a chance"


RESOLVED = 2e-12
"""Rounding error of a probability by the full series.
`tests/models/sweeping/test_swept_percentiles.py` holds points and sweeps to it."""

# Euler's algorithm at Precision.SEARCH.
_DAMPING = 18.4  # A: discretisation error exp(-18.4) = 1e-8
_TERMS, _AVERAGED = 48, 11  # Abate and Whitt's 11; 48 in place of their 15, for narrow laws
_LESS = 0.75  # length of a shorter series over the full one: their difference estimates the error
_MOST = 384  # largest number of terms
_ALLOWED = 1e-8  # difference of probabilities up to which terms suffice: the discretisation error
_SETTLED = 1e-6  # relative step of Newton's method at which it ends: the next is rounding

# Newton's steps at Precision.SEARCH, for speed only.
_DEEP = 0.02  # P(T > t) over the tail below which the bracket is bisected instead
_TRIES = 60  # largest number of steps
_LEAST = 1e-12  # least probability whose logarithm is taken

# Newton's steps at Precision.ROUNDING, for speed only, as points that fail are bracketed.
_NEAR = 1e-3  # relative last step of the search up to which its result is the starting point
_TELLS = 1e-7  # least difference of a probability from an exponential law that a search resolves
_STEPS = 4  # largest number of steps
_CLOSE = 0.1  # of sqrt(RESOLVED / tail): a step whose square is below what is resolved
_CLOSEST = 1e-5  # largest relative step at which the method may end
_NEVER = 1e-300  # least probability whose logarithm is taken

_BLOCKS = {Precision.SEARCH: 1024, Precision.ROUNDING: 256}
"""Points whose transforms fit into the cache: for speed."""


def feed_forward_percentiles(
    network: FeedForwardNetwork, share: float, *, precision: Precision = Precision.ROUNDING
) -> FloatArray:
    """Smallest times t with P(T <= t) >= share [s], point by point.

    Parameters
    ----------
    network
        The network at its operating points. For a search, stations with nearly constant times are
        replaced by their `Station.spread`.
    share
        Between 0 and 1.
    precision
        Accuracy of the result.

    Returns
    -------
    Array of shape (points,).

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> alone = FeedForwardNetwork((MM1(0.5),), np.ones((1, 1)), np.ones((1, 1)), {})
    >>> feed_forward_percentiles(alone, 0.95).round(6).tolist()
    [2.995732]
    >>> feed_forward_percentiles(alone, 0.95, precision=Precision.SEARCH).round(5).tolist()
    [2.99573]
    """
    find = _to_rounding
    if precision is Precision.SEARCH:
        spread = tuple(station.spread() for station in network.stations)
        network, find = replace(network, stations=spread), _for_search
    return in_blocks(network, _BLOCKS[precision], lambda block: find(block, 1 - share))


def _for_search(network: FeedForwardNetwork, tail: float) -> FloatArray:
    law = network.law()
    times, random = law.constant.copy(), np.flatnonzero(law.beyond > 0)
    if random.size:
        times[random] += _beyond_constant(law.at(random), tail, _SETTLED)
    return times


def _beyond_constant(law: FeedForwardLaw, tail: float, settled: float) -> FloatArray:
    """Times beyond the constant [s], by series of 48 terms, doubled where results differ."""
    times, points, terms = -law.beyond * np.log(tail), np.arange(law.beyond.size), _TERMS
    while points.size and terms <= _MOST:
        part = law.at(points)
        times[points], rough = _by_newton(part, times[points], tail, settled, terms)
        points, terms = points[rough], 2 * terms
    return np.asarray(times)


def _by_newton(
    law: FeedForwardLaw, start: FloatArray, tail: float, settled: float, terms: int
) -> tuple[FloatArray, Flags]:
    """Times by Newton's steps within a bracket, and which of them need more terms."""
    times, time, points = start.copy(), start, np.arange(start.size)
    low, high = np.zeros(start.size), np.full(start.size, np.inf)
    rough, allowed = np.zeros(start.size, bool), max(_ALLOWED, settled * tail)
    for _ in range(_TRIES):
        above, density, change = _series(law, time, terms)
        miss = np.log(np.maximum(above, _LEAST) / tail)
        low, high = np.where(miss > 0, time, low), np.where(miss > 0, high, time)
        with np.errstate(all="ignore"):
            following = time + miss * np.maximum(above, _LEAST) / density
        middle = np.where(np.isfinite(high), (low + high) / 2, 4 * time)
        steady = (density > 0) & (above > _DEEP * tail)
        inside = steady & (following >= low) & (following <= np.minimum(high, 4 * time))
        following = np.where(inside, following, middle)
        times[points], rough[points] = following, change > allowed
        todo = np.abs(following - time) > settled * time
        if not todo.any():
            break
        if todo.sum() < todo.size / 2:
            law, points = law.at(np.flatnonzero(todo)), points[todo]
            low, high, following = low[todo], high[todo], following[todo]
        time = following
    return times, rough


def _series(
    law: FeedForwardLaw, time: FloatArray, terms: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """P(T > c + t), the density there, and the difference of a shorter series from P."""
    if law.within is not None:
        chance, slope = law.within(time)
        return np.asarray(1 - chance), np.asarray(slope), np.zeros(time.shape)
    weights, fewer = _weights(terms), _weights(round(_LESS * terms))
    nodes: ComplexArray = np.asarray(_DAMPING / 2 + 1j * pi * np.arange(weights.size))
    transformed = law.transform(np.asarray(nodes[:, None] / time))
    chances = (transformed / nodes[:, None]).real
    above = 1 - weights @ chances
    change = np.abs(1 - fewer @ chances[: fewer.size] - above)
    return above, weights @ transformed.real / time, change


@cache
def _weights(terms: int) -> FloatArray:
    """exp(A / 2) w_n; the last 11 are binomial sums, which average the last partial sums."""
    averaged = np.cumsum([comb(_AVERAGED, k) for k in range(_AVERAGED + 1)][::-1])[::-1]
    weights = np.concatenate([np.ones(terms), averaged / 2**_AVERAGED])
    weights[0] /= 2
    weights[1::2] *= -1
    return np.asarray(exp(_DAMPING / 2) * weights)


def _to_rounding(network: FeedForwardNetwork, tail: float) -> FloatArray:
    law = network.law()
    times = law.constant.copy()
    random = np.flatnonzero(law.longer() > tail)
    if random.size:
        times[random] = _refined(law.at(random), tail)
    return times


def _refined(whole: FeedForwardLaw, tail: float) -> FloatArray:
    """Times from those of a search, or of an exponential law if the search is no better."""
    law = whole
    exponential = -law.beyond * np.log(tail)
    searched = _beyond_constant(law, tail, _NEAR)
    alike = np.abs(searched - exponential) <= _TELLS / tail * exponential
    times = law.constant + np.where(alike, exponential, searched)
    points = np.arange(law.constant.size)
    close = min(_CLOSE * np.sqrt(RESOLVED / tail), _CLOSEST)
    for _ in range(_STEPS):
        longer, density = law.exceedance_and_density(times[points])
        with np.errstate(all="ignore"):
            miss = np.log(longer / tail)
            step = np.where(np.abs(miss) <= RESOLVED / tail, 0.0, miss * longer / density)
        times[points] += step
        points = points[~(np.abs(step) <= close * times[points])]
        if not points.size:
            return times
        law = whole.at(points)
    times[points] = _bracketed(law, tail)
    return times


def _bracketed(law: FeedForwardLaw, tail: float) -> FloatArray:
    """Roots of t = t + (E[T] - c) log(P(T > t) / tail), enclosed."""

    def above(time: FloatArray, law: FeedForwardLaw) -> FloatArray:
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
        lambda time, points: time + law.beyond[points] * above(time, law.at(points)),
        low,
        high,
        Guess(high, high + law.beyond * miss, slope),
        RESOLVED / tail,
    )
