"""Mean of the k-th of n branches whose waits have a common factor (a normal copula).

A branch takes a wait and an independent service. The wait is 0 with probability 1 - p, otherwise
gamma-distributed. Its normal score is a Z + (1 - a**2)**(1/2) E, with Z common to all branches and
E the branch's own. Given Z, branches are independent, and the number done by a time has a
Poisson-binomial law. The common share of the score's variance is

    a**2 = s r(U)**log2(1 + scv),

with s the share of the branch's arrivals that fork, and r(U) such that two equal exponential
branches take the mean 3/2 - U/8 of Nelson and Tantawi. docs/explanation/forks.md derives the
exponent; nothing is fitted to simulations.

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
from headway.queueing.forks.counting import fewer_done, log_range_below
from headway.queueing.order_statistics.branch_times import (
    CONSTANT,
    FACTORS,
    STEP,
    Wait,
    done_by,
    factor_values,
    step_of,
)

_LOW, _HIGH = 14.0, 40.0  # times range from exp(-14) of the shortest mean to 40 times the longest
_FINE = 0.02  # step of the logarithm of time if services are constant: four digits
# Largest a**2, as 1 would make probabilities jump. Measured (``python -m tests.campaigns.constants
# fork correlation``): from 0.95 to 0.99 errors of means are the same.
_MOST_SHARED = 0.985
# Relative difference of branches over which they change from equal to different ones, which have
# other laws. Chosen; up to 0.3 the errors of means are the same, at 1 they are larger by half
# (``python -m tests.campaigns.constants fork likeness``).
_ALIKE = 0.1
# r(U) is a polynomial through seven loads. Closer to 0 and 1 its equation has no stable solution.
_DEGREE, _LIGHTEST, _BUSIEST = 6, 0.03, 0.97
_BLOCK = 400_000  # probabilities computed at a time, for memory and speed

Flags: TypeAlias = NDArray[np.bool_]


def similarity(waits: Wait) -> FloatArray:
    """Weight of the law for equal branches: exp(-(d / 0.1)**2), d the largest difference.

    It is also 1 without waiting, and if constant services and common arrivals keep all branches in
    step.

    Parameters
    ----------
    waits
        Waits, of shape (branches, points).

    Examples
    --------
    >>> one, two = np.ones((2, 1)), np.full((2, 1), 2.0)
    >>> chances = one / 2, np.array([[0.5], [0.1]])
    >>> same, apart = (Wait(one, one, p, two, 2 * two, one / 2, one) for p in chances)
    >>> similarity(same).tolist(), bool(similarity(apart)[0] < 1e-9)
    ([1.0], True)
    """
    rows = np.array(waits)
    in_step = (waits.scv < CONSTANT**3).all(axis=0) & (waits.share == 1).all(axis=0)
    most = rows.max(axis=1)
    apart = ((most - rows.min(axis=1)) / np.where(most > 0, most, 1.0)).max(axis=0)
    same = in_step | ~(waits.chance > 0).any(axis=0)
    return np.asarray(np.where(same, 1.0, np.exp(-((apart / _ALIKE) ** 2))))


def kth_with_common_factor(waits: Wait, needed: FloatArray) -> FloatArray:
    """Mean time [s] until k of the branches are done, shape (points,).

    Parameters
    ----------
    waits
        Waits, of shape (branches, points).
    needed
        k of each point, shape (points,), whole numbers from 1 to n.

    Examples
    --------
    >>> one, none = np.ones((2, 1)), np.zeros((2, 1))  # nobody waits: 3/2 of the service
    >>> alone = Wait(0.4 * one, one, none, none, none, none, one)
    >>> round(float(kth_with_common_factor(alone, np.array([2]))[0]), 6)
    0.6
    """
    common = np.polyval(_score_correlation(), waits.busy) ** np.log2(1 + waits.scv)
    return _kth(waits, np.minimum(waits.share * common, _MOST_SHARED), needed)


def _kth(waits: Wait, shared: FloatArray, needed: FloatArray) -> FloatArray:
    """Means of the k-th for given a**2, in blocks of points with the same k and step of time."""
    jumps = _jumping(waits).any(axis=0)
    steadiest = np.where(waits.scv < CONSTANT, 1.0, waits.scv).min(axis=0)
    steps = np.where(jumps, _FINE, np.minimum([step_of(scv) for scv in steadiest], STEP))
    found = np.empty(needed.shape)
    for k, step in sorted(set(zip(needed.tolist(), steps.tolist(), strict=True))):
        points = np.flatnonzero((needed == k) & (steps == step))
        low, high = _ends(waits.at(points), int(k))
        places = np.arange(floor(low / step), ceil(high / step) + 1)
        width = min(int(k), len(waits.service) - int(k) + 1)
        size = max(_BLOCK // (places.size * FACTORS * width), 1)
        for some in (points[start : start + size] for start in range(0, points.size, size)):
            one = waits.at(some)
            found[some] = _integrated(one, shared[:, some], int(k), _times(one, step * places))
    return found


def _jumping(waits: Wait) -> Flags:
    """Points with constant services, where probabilities jump."""
    return (waits.scv < CONSTANT) & (waits.service > 0)


def _scale(waits: Wait) -> FloatArray:
    """Unit of time [s]: the longest service, which does not depend on the arrival rate."""
    service = waits.service.max(axis=0)
    wait = (waits.chance * waits.wait).max(axis=0)
    return np.asarray(np.where(service > 0, service, np.where(wait > 0, wait, 1.0)))


def _ends(waits: Wait, needed: int) -> tuple[float, float]:
    """Logarithms of the first and the last time, in units of `_scale`."""
    scale = _scale(waits)
    means = (waits.service + waits.chance * waits.wait) / scale
    firsts = np.where(waits.service > 0, waits.service / scale, means)
    spread = waits.variance / np.where(waits.wait > 0, waits.wait, 1.0) ** 2
    most = max(float(np.maximum(spread, waits.scv).max()), 1.0)
    shortest, longest = float(firsts[firsts > 0].min(initial=1.0)), float(means.max())
    low = min(_LOW, log_range_below(waits.scv, needed))
    return log(shortest) - low, log(_HIGH * max(longest, shortest) * most)


def _integrated(waits: Wait, shared: FloatArray, needed: int, times: FloatArray) -> FloatArray:
    """Means of the k-th: P(T > t) given Z, averaged over Z, and integrated over log t."""
    each = [done_by(waits.branch(row), shared[row], times) for row in range(len(waits.service))]
    left = np.tensordot(fewer_done(each, needed), factor_values()[1], ([1], [0]))
    logs = np.log(times)
    step = logs[:, 1] - logs[:, 0]
    before = times[:, 0] * (step / 2 + step / np.expm1(step))  # the integral down to time 0
    found: FloatArray = before + np.trapezoid(left * times, logs, axis=1)
    return found


def _times(waits: Wait, logs: FloatArray) -> FloatArray:
    """Times at these logarithms and on both sides of constant services, shape (points, times)."""
    scale, jumping = _scale(waits), _jumping(waits)
    ordinary = scale[:, None] * np.exp(logs)
    rows = jumping.any(axis=1)
    jumps = np.where(jumping, waits.service, scale)[rows].T
    return np.sort(np.concatenate([ordinary, jumps * (1 - 1e-12), jumps * (1 + 1e-12)], axis=1))


@cache
def _score_correlation() -> tuple[float, ...]:
    """r(U) as a polynomial by falling powers of U, through seven Chebyshev nodes."""
    angles = np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)
    loads = (_LIGHTEST + _BUSIEST) / 2 - (_BUSIEST - _LIGHTEST) / 2 * np.cos(angles)
    return tuple(
        np.polyfit(loads, [_nelson_tantawi(float(busy)) for busy in loads], _DEGREE).tolist()
    )


def _nelson_tantawi(busy: float) -> float:
    """Solve for a**2 of two equal exponential branches: E[T] (1 - U) = 3/2 - U/8."""
    from scipy.optimize import brentq

    one = (1.0, 1.0, busy, 1 / (1 - busy), (1 - busy) ** -2, busy, 1.0)
    two, both = Wait(*np.full((2, 1, 7), one).transpose(2, 0, 1)), np.array([2.0])

    def excess(shared: float) -> float:
        mean = _kth(two, np.full((2, 1), shared), both)[0]
        return float(mean) * (1 - busy) - (1.5 - busy / 8)

    return float(brentq(excess, 0.0, 0.95, xtol=1e-9))
