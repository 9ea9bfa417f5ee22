"""The k-th of n unlike branches whose waits have a common part, by what each shares.

A part takes a wait and a service; services are independent. A wait is none with chance 1 - p, else
gamma-distributed; its normal score is a Z + (1 - a**2)**(1/2) E, with Z common to all branches and
E their own, so that given Z branches are independent, and how many are done by a time has a
Poisson-binomial law. What a branch shares follows from how much of it comes by the fork,

    a**2 = s r(U)**log2(1 + scv),

with s the share of its arrivals that fork and r of U what makes two exponential branches that are
alike take what Nelson and Tantawi say. So branches of constant service share all, the more
services vary the less, and none share less than nothing: 1 / (1 + scv) is what arrivals are of the
variance of a busy queue, of which exponential services leave a half. Nothing is fitted.

Source: Nelson and Tantawi, IEEE Trans. Computers 37(6), 1988; Vasicek, "The distribution of loan
portfolio value", Risk 15, 2002, for one common normal factor. What it misses is measured
(docs/accuracy.md).
"""

from functools import cache
from math import ceil, floor, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.forks.counting import fewer_done, lowest
from headway.queueing.joins.parting import CONSTANT, FACTORS, STEP, Wait, done, factors, step_of

_LOW, _HIGH = 14.0, 40.0  # times begin so far below the shortest mean, and end above the longest
_FINE = 0.02  # of the rule that integrates where services are constant
_MOST_SHARED = 0.985  # of the variance of a score; all of it would make chances jump
_ALIKE = 0.1  # how much of its largest a number may differ where branches count as rather alike
_DEGREE, _LIGHTEST, _BUSIEST = 6, 0.03, 0.97  # of a polynomial in U, and between which loads
_BLOCK = 400_000  # chances at a time

Flags: TypeAlias = NDArray[np.bool_]


def likeness(waits: Wait) -> FloatArray:
    """1 of branches that are alike, or nearly so, where nobody waits, or all goes in step; else 0.

    Parameters
    ----------
    waits
        Of shape (branches, points).

    Examples
    --------
    >>> one, two = np.ones((2, 1)), np.full((2, 1), 2.0)
    >>> chances = one / 2, np.array([[0.5], [0.1]])
    >>> same, apart = (Wait(one, one, p, two, 2 * two, one / 2, one) for p in chances)
    >>> likeness(same).tolist(), bool(likeness(apart)[0] < 1e-9)
    ([1.0], True)
    """
    rows = np.array(waits)
    in_step = (waits.scv < CONSTANT**3).all(axis=0) & (waits.share == 1).all(axis=0)
    most = rows.max(axis=1)
    apart = ((most - rows.min(axis=1)) / np.where(most > 0, most, 1.0)).max(axis=0)
    same = in_step | ~(waits.chance > 0).any(axis=0)
    return np.asarray(np.where(same, 1.0, np.exp(-((apart / _ALIKE) ** 2))))


def kth_sharing(waits: Wait, needed: FloatArray) -> FloatArray:
    """Mean time [s] until k of the branches are done, shape (points,).

    Parameters
    ----------
    waits
        Of shape (branches, points).
    needed
        k of each point, shape (points,), whole numbers from 1 to n.

    Examples
    --------
    >>> one, none = np.ones((2, 1)), np.zeros((2, 1))  # nobody waits: 3/2 of the service
    >>> alone = Wait(0.4 * one, one, none, none, none, none, one)
    >>> round(float(kth_sharing(alone, np.array([2]))[0]), 6)
    0.6
    """
    return _kth(waits, _shared(waits), needed)


def _shared(waits: Wait) -> FloatArray:
    """a**2 of each branch: what of the variance of its wait's score is common."""
    alike = np.polyval(_alike(), waits.busy) ** np.log2(1 + waits.scv)
    return np.minimum(waits.share * alike, _MOST_SHARED)


def _kth(waits: Wait, shared: FloatArray, needed: FloatArray) -> FloatArray:
    """Points in blocks that need as many branches, on grids of times with one step."""
    found, steps = np.empty(needed.shape), _steps(waits)
    for k, step in sorted(set(zip(needed.tolist(), steps.tolist(), strict=True))):
        points = np.flatnonzero((needed == k) & (steps == step))
        low, high = _ends(waits.at(points), int(k))
        places = np.arange(floor(low / step), ceil(high / step) + 1)
        width = min(int(k), len(waits.service) - int(k) + 1)
        size = max(_BLOCK // (places.size * FACTORS * width), 1)
        for some in (points[start : start + size] for start in range(0, points.size, size)):
            one = waits.at(some)
            found[some] = _at_once(one, shared[:, some], int(k), _times(one, step * places))
    return found


def _steps(waits: Wait) -> FloatArray:
    """Of logarithms of times at each point, fine where chances jump, shape (points,)."""
    jumps = _jumping(waits).any(axis=0)
    steadiest = np.where(waits.scv < CONSTANT, 1.0, waits.scv).min(axis=0)
    return np.where(jumps, _FINE, np.minimum([step_of(scv) for scv in steadiest], STEP))


def _jumping(waits: Wait) -> Flags:
    return (waits.scv < CONSTANT) & (waits.service > 0)


def _scale(waits: Wait) -> FloatArray:
    """What times are told in [s]: the longest service, which no arrival rate changes."""
    service = waits.service.max(axis=0)
    wait = (waits.chance * waits.wait).max(axis=0)
    return np.asarray(np.where(service > 0, service, np.where(wait > 0, wait, 1.0)))


def _ends(waits: Wait, needed: int) -> tuple[float, float]:
    """Logarithms of the first and the last time, in `_scale`."""
    scale = _scale(waits)
    means = (waits.service + waits.chance * waits.wait) / scale
    firsts = np.where(waits.service > 0, waits.service / scale, means)
    spread = waits.variance / np.where(waits.wait > 0, waits.wait, 1.0) ** 2
    most = max(float(np.maximum(spread, waits.scv).max()), 1.0)
    shortest, longest = float(firsts[firsts > 0].min(initial=1.0)), float(means.max())
    low = min(_LOW, lowest(waits.scv, needed))
    return log(shortest) - low, log(_HIGH * max(longest, shortest) * most)


def _at_once(waits: Wait, shared: FloatArray, needed: int, times: FloatArray) -> FloatArray:
    """Means of the k-th, by the rule of trapezia over logarithms of times."""
    each = [done(waits.branch(row), shared[row], times) for row in range(len(waits.service))]
    left = np.tensordot(fewer_done(each, needed), factors()[1], ([1], [0]))
    logs = np.log(times)
    step = logs[:, 1] - logs[:, 0]
    before = times[:, 0] * (step / 2 + step / np.expm1(step))  # the rule, down to no time
    found: FloatArray = before + np.trapezoid(left * times, logs, axis=1)
    return found


def _times(waits: Wait, logs: FloatArray) -> FloatArray:
    """At these logarithms, and just before and after constant services, shape (points, times)."""
    scale, jumping = _scale(waits), _jumping(waits)
    ordinary = scale[:, None] * np.exp(logs)
    rows = jumping.any(axis=1)
    jumps = np.where(jumping, waits.service, scale)[rows].T
    return np.sort(np.concatenate([ordinary, jumps * (1 - 1e-12), jumps * (1 + 1e-12)], axis=1))


@cache
def _alike() -> tuple[float, ...]:
    """Of r by U: a polynomial by falling powers, through loads at which it was found."""
    angles = np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)
    loads = (_LIGHTEST + _BUSIEST) / 2 - (_BUSIEST - _LIGHTEST) / 2 * np.cos(angles)
    return tuple(np.polyfit(loads, [_common(float(busy)) for busy in loads], _DEGREE).tolist())


def _common(busy: float) -> float:
    from scipy.optimize import brentq

    one = (1.0, 1.0, busy, 1 / (1 - busy), (1 - busy) ** -2, busy, 1.0)
    two, both = Wait(*np.full((2, 1, 7), one).transpose(2, 0, 1)), np.array([2.0])

    def excess(shared: float) -> float:
        mean = _kth(two, np.full((2, 1), shared), both)[0]
        return float(mean) * (1 - busy) - (1.5 - busy / 8)

    return float(brentq(excess, 0.0, 0.95, xtol=1e-9))
