"""Percentiles of jobs that go forward only, to some 1e-6: for searches, which ask for millions.

Euler's algorithm, and Newton's method in the logarithm of the tail: the same nodes give the chance
and its density. Nearly all points need the same few terms, so that errors change smoothly with what
a network is made of, and differences of close networks are right; where more terms would change
the chance, as beside a narrow peak, the number is doubled.

Source: Abate and Whitt, "A unified framework for numerically inverting Laplace transforms",
INFORMS J. Computing 18(4), 2006.
"""

from dataclasses import replace
from functools import cache
from math import comb, exp, pi
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.sojourn.feed_forward import ForwardLaw, ForwardNetwork, in_blocks
from headway.queueing.times.laws import ComplexArray

Flags: TypeAlias = NDArray[np.bool_]

_DAMPING = 18.4  # discretisation error exp(-18.4) = 1e-8
_TERMS, _AVERAGED = 48, 11
_LESS = 0.75  # of the terms, which tell what more of them would change
_MOST = 384  # terms
_ALLOWED = 1e-8  # of a chance, and what a step may leave of the tail: else there are more terms
_BLOCK = 1024  # points whose transforms stay in the cache
_SETTLED = 1e-6  # relative step after which the next one would be lost in rounding
_DEEP = 0.02  # of the tail asked for: less of it tells no way back
_TRIES = 60
_LEAST = 1e-12  # a chance that counts as none


@cache
def _weights(terms: int) -> FloatArray:
    """Of the alternating series, its last partial sums averaged."""
    averaged = np.cumsum([comb(_AVERAGED, k) for k in range(_AVERAGED + 1)][::-1])[::-1]
    weights = np.concatenate([np.ones(terms), averaged / 2**_AVERAGED])
    weights[0] /= 2
    weights[1::2] *= -1
    return np.asarray(exp(_DAMPING / 2) * weights)


def swift_percentiles(network: ForwardNetwork, share: float) -> FloatArray:
    """Times that a share of all times does not exceed [s], to some 1e-6.

    Parameters
    ----------
    network
        At its operating points; of kinds that are next to constant, `Station.spread` stand in.
    share
        Between 0 and 1.

    Returns
    -------
    Array of shape (points,).

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = np.ones((1, 1))
    >>> alone = ForwardNetwork((MM1(0.5),), one, one, {})
    >>> swift_percentiles(alone, 0.95).round(5).tolist()
    [2.99573]
    """
    wide = replace(network, stations=tuple(station.spread() for station in network.stations))
    return in_blocks(wide, _BLOCK, lambda block: _block(block, share))


def _block(network: ForwardNetwork, share: float) -> FloatArray:
    law = network.law()
    times, some = law.constant.copy(), np.flatnonzero(law.beyond > 0)
    if some.size:
        kept = network if some.size == times.size else network.at(some)
        times[some] += swiftly_beyond(kept, 1 - share)
    return times


def swiftly_beyond(network: ForwardNetwork, tail: float, settled: float = _SETTLED) -> FloatArray:
    """Time beyond what is constant: the tail's logarithm is followed within ends that close in.

    Parameters
    ----------
    network
        At points where some time is beyond what is constant.
    tail
        Chance of more than the time.
    settled
        Relative: a step after which no other is taken.

    Returns
    -------
    Array of shape (points,) [s].

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = np.ones((1, 1))
    >>> swiftly_beyond(ForwardNetwork((MM1(0.5),), one, one, {}), 0.05).round(5).tolist()
    [2.99573]
    """
    law = network.law()
    times, points, terms = -law.beyond * np.log(tail), np.arange(law.beyond.size), _TERMS
    while points.size and terms <= _MOST:
        part = network if points.size == times.size else network.at(points)
        times[points], rough = _followed(part, times[points], tail, settled, terms)
        points, terms = points[rough], 2 * terms
    return np.asarray(times)


def _followed(
    network: ForwardNetwork, start: FloatArray, tail: float, settled: float, terms: int
) -> tuple[FloatArray, Flags]:
    """Times from a start by series of so many terms, and which of them need more terms."""
    times, time, points, part = start.copy(), start, np.arange(start.size), network
    low, high = np.zeros(start.size), np.full(start.size, np.inf)
    rough, allowed = np.zeros(start.size, bool), max(_ALLOWED, settled * tail)
    for _ in range(_TRIES):
        above, density, change = _series(part.law(), time, terms)
        miss = np.log(np.maximum(above, _LEAST) / tail)
        low, high = np.where(miss > 0, time, low), np.where(miss > 0, high, time)
        with np.errstate(all="ignore"):
            following = time + miss * np.maximum(above, _LEAST) / density
        middle = np.where(np.isfinite(high), (low + high) / 2, 4 * time)
        steady = (density > 0) & (above > _DEEP * tail)
        inside = steady & (following > low) & (following < np.minimum(high, 4 * time))
        following = np.where(inside, following, middle)
        times[points], rough[points] = following, change > allowed
        todo = np.abs(following - time) > settled * time
        if not todo.any():
            break
        if todo.sum() < todo.size / 2:
            part, points = part.at(np.flatnonzero(todo)), points[todo]
            low, high, following = low[todo], high[todo], following[todo]
        time = following
    return times, rough


def _series(
    law: ForwardLaw, time: FloatArray, terms: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Chance of more than a time, its density, and how far fewer terms are from the chance."""
    weights, fewer = _weights(terms), _weights(round(_LESS * terms))
    nodes: ComplexArray = np.asarray(_DAMPING / 2 + 1j * pi * np.arange(weights.size))
    transformed = law.transform(np.asarray(nodes[:, None] / time))
    chances = (transformed / nodes[:, None]).real
    above = 1 - weights @ chances
    change = np.abs(1 - fewer @ chances[: fewer.size] - above)
    return above, weights @ transformed.real / time, change
