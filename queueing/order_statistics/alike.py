"""Order statistics of n equal times that are not independent: branches of a fork.

Branches have their arrivals in common. The time of each is modelled as a factor common to all,
times a gamma variable of its own, whose squared coefficient of variation g is

    g = scv / (1 + scv (1 / h - 1)),  x(2, 2; h) = 3/2 - U/8,

with x(k, n; g) the mean of the k-th of n such variables of mean 1. So the k-th takes x times as
long as a single one, on average. Its variance lies between that for a common factor and that for a
common term.

Source: Nelson and Tantawi, IEEE Trans. Computers 37(6), 1988, for two exponential servers, which
determine h; Gupta and Kundu, "Generalized exponential distributions", Austral. N. Z. J. Statistics
41(2), 1999, for the law. docs/explanation/forks.md derives g; docs/accuracy/forks.md has its
errors.
"""

from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from headway.columns import distinct_columns
from headway.kinds import Amount, FloatArray
from headway.queueing.times.laws import (
    ComplexArray,
    Piece,
    TimeLaw,
    gamma,
    poisson_wait,
)

_DEGREE = 8  # of polynomials in U, with errors of 1e-8: digits only
_STEPS, _STEP = 60, 0.075  # of the trapezoidal rule, with errors of 1e-10: digits only
_EXACT = {(2, 2): (1.5, -0.125), (2, 1): (0.5, 0.125)}
"""Means of the last and the first of two exponential branches, by Nelson and Tantawi."""

# The law by two moments, measured over the 840 simulated forks of tests.campaigns.fork_errors. The
# variance of the k-th is term**0.4 factor**0.6; the largest errors are larger with other exponents:
# 14% of the 99th percentile with 0.5 and 0.7, against 11% with 0.6 (``python -m
# tests.campaigns.constants alike variance``).
_FACTOR = 0.6
# The common wait is 1 / (1 + scv**1.5) of the wait; powers from 1 to 2 have about the same errors
# (``python -m tests.campaigns.constants alike waits``).
_UNLIKE = 1.5
# Largest share of mean and deviation in the common wait: from 0.9 to 0.99 about the same (``python
# -m tests.campaigns.constants alike share``).
_SOME = 0.95
_TINY = 1e-300  # against division by 0
# Coefficient of variation below which a time is a constant plus a rest of this one. Chosen: it
# keeps the power of `lasting` within its table.
_STEADIEST = 0.15

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline


class OrderStatistic(NamedTuple):
    """Polynomials in U, ascending: E[X] and E[X**2] of the k-th of n variables of mean 1."""

    mean: tuple[float, ...]
    square: tuple[float, ...]


def polynomial(coefficients: tuple[float, ...], at: Amount) -> Amount:
    """A polynomial of a number, an array or a symbol.

    Examples
    --------
    >>> polynomial((1.5, -0.125), 0.5)
    1.4375
    """
    total: Amount = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * at + coefficient
    return total


@lru_cache(maxsize=4096)
def order_statistic(branches: int, needed: int, scv: float) -> OrderStatistic:
    """Moments of the k-th of n branches, in units of the mean of one, as polynomials in U.

    Parameters
    ----------
    branches, needed
        n and k, 1 <= k <= n.
    scv
        Squared coefficient of variation of service, 0 or more.

    Examples
    --------
    >>> [round(c, 12) for c in order_statistic(2, 2, 1.0).mean]  # Nelson and Tantawi: 3/2 - U/8
    [1.5, -0.125]
    """
    if scv == 0 or branches == 1:
        return OrderStatistic((1.0,), _fitted(1 + own_scv(_nodes(), scv)))
    moments_at = [_moments(branches, needed, g) for g in own_scv(_nodes(), scv)]
    mean, square = np.transpose(moments_at)
    exact = _EXACT.get((branches, needed)) if scv == 1 else None
    return OrderStatistic(exact or _fitted(mean), _fitted(square))


def moments(branches: Amount, needed: Amount, scv: Amount, busy: Amount) -> tuple[Amount, Amount]:
    """E[X] and E[X**2] of the k-th of n, in units of the mean of one, at each utilisation.

    Parameters
    ----------
    branches, needed, scv
        As for `order_statistic`; numbers, or arrays over operating points.
    busy
        U, 0 <= U < 1; a number, an array or, with numbers before it, a symbol.

    Examples
    --------
    >>> mean, square = moments(2, 2, 1.0, np.array([0.0, 0.8]))
    >>> mean.round(9).tolist(), float(square[0].round(6))
    ([1.5, 1.4], 3.5)
    """
    if all(np.ndim(part) == 0 for part in (branches, needed, scv)):
        one = order_statistic(int(branches), int(needed), float(scv))
        return polynomial(one.mean, busy), polynomial(one.square, busy)
    parts = np.broadcast_arrays(branches, needed, scv, busy)
    rows = np.array([np.ravel(part).astype(float) for part in parts])
    first, which = distinct_columns(rows[:3])
    both = np.empty((2, rows.shape[1]))
    for place, kind in enumerate(rows[:3, first].T):
        some = which == place
        both[0, some], both[1, some] = moments(kind[0], kind[1], kind[2], rows[3, some])
    mean, square = both.reshape(2, *parts[0].shape)
    return mean, square


def own_scv(busy: Amount, scv: Amount) -> Amount:
    """Squared coefficient of variation g of the part that branches do not share.

    Examples
    --------
    >>> round(own_scv(0.0, 0.7), 6), round(own_scv(1.0, 1.0), 6)
    (0.7, 0.5)
    """
    return scv / (1 + scv * polynomial(_sharing_polynomial(), busy))


@cache
def _sharing_polynomial() -> tuple[float, ...]:
    """Polynomial in U: 1/h - 1 for two exponential servers."""
    from scipy.optimize import brentq

    def excess(own: float, busy: float) -> float:
        return _moments(2, 2, own)[0] - 1.5 + busy / 8

    ratios = [1 / brentq(excess, 0.4, 1.1, args=(u,), xtol=1e-14) - 1 for u in _nodes()]
    return _fitted(np.array(ratios))


def _nodes() -> FloatArray:
    """Chebyshev nodes in utilisations from 0 to 1."""
    angles = np.pi * (np.arange(_DEGREE + 1) + 0.5) / (_DEGREE + 1)
    return np.asarray(0.5 - 0.5 * np.cos(angles))


def _fitted(values: FloatArray) -> tuple[float, ...]:
    """The polynomial through the values at the nodes."""
    return tuple(np.linalg.solve(np.vander(_nodes(), increasing=True), values).tolist())


def left_over(branches: Amount, needed: Amount, scv: Amount, busy: Amount) -> Amount:
    """Share of the time of a part, among n equal ones, after k of them are done.

    Parameters
    ----------
    branches, needed, scv, busy
        As for `moments`.

    Examples
    --------
    >>> round(left_over(2, 1, 1.0, 0.0), 9)  # the other of two takes as long again
    0.5
    """
    if all(np.ndim(part) == 0 for part in (branches, needed, scv)):
        return polynomial(_left_over(int(branches), int(needed), float(scv)), busy)
    parts = np.broadcast_arrays(branches, needed, scv, busy)
    each = zip(*(np.ravel(part).tolist() for part in parts), strict=True)
    return np.array([left_over(*one) for one in each]).reshape(parts[0].shape)


@lru_cache(maxsize=4096)
def _left_over(branches: int, needed: int, scv: float) -> tuple[float, ...]:
    if scv == 0 or branches == needed:
        return (0.0,)
    return _fitted(np.array([_outlasting(branches, needed, g) for g in own_scv(_nodes(), scv)]))


def _outlasting(branches: int, needed: int, scv: float) -> float:
    """E[T - x_k | T > x_k] P(T > x_k) of gamma times of mean 1, without the k - 1 shorter ones."""
    from scipy.special import gammainc

    weights, times = _order_quadrature(branches, needed, scv)
    shorter = gammainc(1 / scv + 1, times / scv) / np.maximum(gammainc(1 / scv, times / scv), _TINY)
    together = (needed - 1) * shorter + (branches - needed + 1) * times
    return float(1 - weights @ together / branches)


def _moments(branches: int, needed: int, scv: float) -> tuple[float, float]:
    """First two moments of the k-th of n gamma variables of mean 1."""
    weights, times = _order_quadrature(branches, needed, scv)
    return float(weights @ times), float(weights @ times**2)


def _order_quadrature(branches: int, needed: int, scv: float) -> tuple[FloatArray, FloatArray]:
    """Weights and values of the k-th of n gamma variables of mean 1.

    The probability p that one is done has a beta distribution; its log-odds are integrated over,
    around their mean and according to their deviation.
    """
    from scipy.special import betaln, digamma, expit, gammainccinv, gammaincinv, polygamma

    later = branches - needed + 1
    wide = float(np.sqrt(polygamma(1, needed) + polygamma(1, later)))
    at = _STEP * np.arange(-_STEPS, _STEPS + 1)
    odds = digamma(needed) - digamma(later) + wide * np.sinh(at)
    logs = -needed * np.logaddexp(0, -odds) - later * np.logaddexp(0, odds)
    weights = _STEP * wide * np.cosh(at) * np.exp(logs - betaln(needed, later))
    shape, low = 1 / scv, expit(odds)
    times = scv * np.where(low < 0.5, gammaincinv(shape, low), gammainccinv(shape, expit(-odds)))
    return np.asarray(weights), np.asarray(times)


def order_statistic_law(
    rate: Amount, time: Amount, scv: Amount, pair: tuple[Amount, Amount]
) -> TimeLaw:
    """Law of the k-th of n branches: a wait that all have in common, and the rest.

    Parameters
    ----------
    rate, time, scv
        Arrivals [1/s] at one branch; mean [s], above 0, and squared coefficient of variation of its
        service, above 0. Below saturation; numbers or arrays over operating points.
    pair
        The results of `moments`.

    Examples
    --------
    >>> law = order_statistic_law(0.5, 1.0, 1.0, moments(2, 2, 1.0, 0.5))
    >>> round(law.mean, 9)  # (12 - U) / 8 S / (1 - U)
    2.875
    """
    wait, wait_variance = _waiting(rate * time, time, scv)
    mean, variance = _spread(rate * time, time, scv, pair)
    deviation = (variance / np.maximum(wait_variance, _TINY)) ** 0.5
    least = np.minimum(deviation, mean / np.maximum(wait, _TINY))
    share = np.minimum(1 / (1 + scv**_UNLIKE), _SOME * least)
    rest = power_exponential(mean - share * wait, variance - share**2 * wait_variance)
    common = poisson_wait(rate, gamma(time, scv), time, scv).pieces[0].transform

    def law(s: ComplexArray) -> ComplexArray:
        return np.asarray(common(s * share) * rest.transform(s))

    return TimeLaw((Piece(rest.shift, law),), mean)


def _waiting(busy: Amount, time: Amount, scv: Amount) -> tuple[Amount, Amount]:
    """Mean and variance of the wait in M/G/1 with gamma-distributed service."""
    mean = busy * time * (1 + scv) / (2 * (1 - busy))
    third = time**2 * (1 + scv) * (1 + 2 * scv)
    return mean, mean**2 + busy * third / (3 * (1 - busy))


def _spread(
    busy: Amount, time: Amount, scv: Amount, pair: tuple[Amount, Amount]
) -> tuple[Amount, Amount]:
    """Mean and variance of the k-th: between those for a common term and for a common factor."""
    wait, variance = _waiting(busy, time, scv)
    one, all_of_one, own = wait + time, variance + scv * time**2, own_scv(busy, scv)
    first, second = pair
    term = all_of_one + one**2 * (second - first**2 - own)
    factor = (one**2 + all_of_one) / (1 + own) * second - (one * first) ** 2
    # limits rounding at large scvs
    least, most = (np.maximum(both, _TINY) for both in (term, factor))
    return one * first, least ** (1 - _FACTOR) * most**_FACTOR


def power_exponential(mean: Amount, variance: Amount) -> Piece:
    """A time with these moments: a constant plus a power of exponential times.

    With P(T <= t) = (1 - exp(-t/theta))**a, which is exact for the longest of a exponential times.

    Parameters
    ----------
    mean, variance
        Mean and variance of the time [s], [s**2], above 0.

    Examples
    --------
    >>> one = power_exponential(1.5, 1.25)  # the longer of two exponential times of mean 1
    >>> float(one.transform(np.array([1.0 + 0j])).real[0].round(6)), float(one.shift)
    (0.333333, 0.0)
    """
    from scipy.special import digamma, loggamma

    spread = variance**0.5
    rest = np.minimum(mean, spread / _STEADIEST)
    power = np.exp(_power()(2 * np.log(spread / rest)))
    scale = rest / (digamma(power + 1) + np.euler_gamma)
    most = loggamma(power + 1)

    def law(s: ComplexArray) -> ComplexArray:
        turned = s * scale
        return np.asarray(np.exp(most + loggamma(1 + turned) - loggamma(power + 1 + turned)))

    return Piece(mean - rest, law)


@cache
def _power() -> "CubicSpline":
    """Logarithm of the power a, as a function of that of the squared coefficient of variation."""
    from scipy.interpolate import CubicSpline
    from scipy.special import digamma, polygamma

    logs = np.linspace(12.0, -9.0, 400)
    powers = np.exp(logs)
    mean = digamma(powers + 1) + np.euler_gamma
    variance = polygamma(1, 1.0) - polygamma(1, powers + 1)
    return CubicSpline(np.log(variance) - 2 * np.log(mean), logs)
