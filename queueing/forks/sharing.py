"""The k-th of n unlike branches whose waits have a common part, by what each shares.

A part takes a wait and a service; services are independent. A wait is none with chance 1 - p, else
gamma-distributed; its normal score is a Z + (1 - a**2)**(1/2) E, with Z common to all branches and
E their own, so that given Z branches are independent, and how many are done by a time has a
Poisson-binomial law. What a branch shares follows from how much of it comes by the fork,

    a**2 = s (1 - (1 - r(U)) 2 scv / (1 + scv)),

with s the share of its arrivals that fork and r of U what makes two exponential branches that are
alike take what Nelson and Tantawi say. Nothing else is fitted.

Source: Nelson and Tantawi, IEEE Trans. Computers 37(6), 1988; Vasicek, "The distribution of loan
portfolio value", Risk 15, 2002, for one common normal factor. What it misses is measured
(docs/accuracy.md).
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray

_FACTORS = 16  # values of the common factor, by Gauss and Hermite
_BINS, _DEEPEST = 40, 9.0  # of waits, and the last one's chance as a power of e
_LOW, _HIGH = 14.0, 60.0  # times begin so far below the shortest mean, and end above the longest
_STEP, _FINE = 0.1, 0.02  # of the rule that integrates; fine where services are constant
_CONSTANT = 0.01  # scv of service below which it is taken as constant
_MOST_SHARED = 0.985  # of the variance of a score; all of it would make chances jump
_ALIKE = 0.1  # how much of its largest a number may differ where branches count as rather alike
_LOADS = np.array([0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95])


class Wait(NamedTuple):
    """What a part of a request does at its branch, at one operating point.

    Parameters
    ----------
    service, scv
        Mean service time [s], and its squared coefficient of variation.
    chance, wait, variance
        Chance to wait at all; mean [s] and variance of the wait of those who do.
    busy, share
        Utilisation, and the share of what comes there that forks.
    """

    service: float
    scv: float
    chance: float
    wait: float
    variance: float
    busy: float
    share: float

    @property
    def shared(self) -> float:
        """a**2: what of the variance of its wait's score is common."""
        own = (1 - _alike(self.busy)) * 2 * self.scv / (1 + self.scv)
        return min(max(self.share * (1 - own), 0.0), _MOST_SHARED)


def likeness(waits: Sequence[Wait]) -> float:
    """1 of branches that are alike, or nearly so, where nobody waits, or all goes in step; else 0.

    Examples
    --------
    >>> one, other = (Wait(1.0, 1.0, p, 2.0, 4.0, 0.5, 1.0) for p in (0.5, 0.1))
    >>> likeness([one, one]), likeness([one, other]) < 1e-9
    (1.0, True)
    """
    rows = np.array(waits)
    in_step = (rows[:, 1] < _CONSTANT**3).all() and (rows[:, 6] == 1).all()
    if in_step or not rows[:, 2].any():
        return 1.0
    most = rows.max(axis=0)
    apart = (most - rows.min(axis=0)) / np.where(most > 0, most, 1.0)
    return float(np.exp(-((apart.max() / _ALIKE) ** 2)))


def kth_sharing(waits: Sequence[Wait], needed: int) -> float:
    """Mean time [s] until k of the branches are done.

    Examples
    --------
    >>> one, two = Wait(1.0, 1.0, 0.5, 2.0, 4.0, 0.5, 1.0), Wait(0.4, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    >>> round(kth_sharing([two, two], 2), 9)  # nobody waits: 3/2
    0.6
    >>> 0.33 < kth_sharing([one, two], 1) < 0.34  # 1 / (1/2 + 1/0.4), little of it shared
    True
    """
    return _kth(waits, [wait.shared for wait in waits], needed)


def _kth(waits: Sequence[Wait], shared: Sequence[float], needed: int) -> float:
    times = _times(waits)
    each = zip(waits, shared, strict=True)
    done = np.array([_done(wait, common, times) for wait, common in each])
    left = 1 - _at_least(done, needed) @ _factors()[1]
    return float(times[0] + np.trapezoid(left * times, np.log(times)))


def _times(waits: Sequence[Wait]) -> FloatArray:
    """Logarithmic, and just before and after each constant service."""
    means = [wait.service + wait.chance * wait.wait for wait in waits]
    spread = [max(wait.scv, wait.variance / wait.wait**2 if wait.wait else 0) for wait in waits]
    constant = np.array([w.service for w in waits if w.service > 0 and w.scv < _CONSTANT])
    some = [mean for mean in means if mean > 0] or [1.0]
    low, high = np.log(min(some)) - _LOW, np.log(_HIGH * max(some) * max(1.0, *spread, 0.0))
    ordinary = np.exp(np.arange(low, high, _FINE if constant.size else _STEP))
    beside = constant * (1 - 1e-12), constant * (1 + 1e-12)
    found: FloatArray = np.sort(np.concatenate([ordinary, *beside]))
    return found


def _done(wait: Wait, shared: float, times: FloatArray) -> FloatArray:
    """Chance that a part is done by each time, given each value of the common factor."""
    factors = np.ones(_FACTORS)
    if wait.chance <= 0 or wait.wait <= 0:
        return np.outer(_served(wait, times), factors)
    edges, means = _bins(wait)
    if wait.scv < _CONSTANT:
        return _waited(wait, shared, times - wait.service)
    scores = _scored(1 - wait.chance * (1 - edges), shared)
    weights = np.diff(np.concatenate([np.zeros((1, _FACTORS)), scores]), axis=0)
    ends = np.concatenate([[0.0], means])
    found: FloatArray = _served(wait, times[:, None] - ends) @ weights
    return found


def _bins(wait: Wait) -> tuple[FloatArray, FloatArray]:
    """Chances up to the ends of bins of waits, and mean waits in them [s]."""
    from scipy.special import gammainc, gammaincinv

    shape = wait.wait**2 / wait.variance
    edges = -np.expm1(-np.linspace(0, _DEEPEST, _BINS + 1))
    edges[-1] = 1.0
    ends = gammaincinv(shape, edges)
    below = gammainc(shape + 1, ends)
    below[-1] = 1.0
    return edges, wait.wait * np.diff(below) / np.diff(edges)


def _waited(wait: Wait, shared: float, times: FloatArray) -> FloatArray:
    """Chance to wait no longer than each time, given each value of the common factor."""
    from scipy.special import gammainc

    shape = wait.wait**2 / wait.variance
    each = np.asarray(gammainc(shape, np.maximum(times, 0) * shape / wait.wait), float)
    chances = _scored(1 - wait.chance * (1 - each), shared)
    return np.where(times[:, None] < 0, 0.0, chances)


def _scored(chances: FloatArray, shared: float) -> FloatArray:
    """Chances given each value of the common factor."""
    from scipy.special import ndtr, ndtri

    scores = ndtri(chances)[:, None] - np.sqrt(shared) * _factors()[0]
    return np.asarray(ndtr(scores / np.sqrt(1 - shared)))


def _served(wait: Wait, times: FloatArray) -> FloatArray:
    from scipy.special import gammainc

    if wait.service == 0 or wait.scv < _CONSTANT:
        return np.asarray(times >= wait.service, float)
    return np.asarray(gammainc(1 / wait.scv, np.maximum(times, 0) / (wait.scv * wait.service)))


def _at_least(done: FloatArray, needed: int) -> FloatArray:
    """Chance that k branches or more are done, shape of one branch's."""
    chances = np.zeros((len(done) + 1, *done.shape[1:]))
    chances[0] = 1.0
    for each in done:
        chances[1:] = chances[1:] * (1 - each) + chances[:-1] * each
        chances[0] *= 1 - each
    found: FloatArray = chances[needed:].sum(axis=0)
    return found


@cache
def _factors() -> tuple[FloatArray, FloatArray]:
    """Values of the common factor, and their weights."""
    values, weights = np.polynomial.hermite_e.hermegauss(_FACTORS)
    return values, weights / weights.sum()


def _alike(busy: float) -> float:
    """R of U, between loads at which it was found."""
    return float(np.interp(busy, _LOADS, _common()))


@cache
def _common() -> FloatArray:
    from scipy.optimize import brentq

    def excess(shared: float, busy: float) -> float:
        one = Wait(1.0, 1.0, busy, 1 / (1 - busy), (1 - busy) ** -2, busy, 1.0)
        return _kth([one, one], [shared] * 2, 2) * (1 - busy) - (1.5 - busy / 8)

    return np.array([brentq(excess, 0.0, 0.95, args=(u,), xtol=1e-6) for u in _LOADS])
