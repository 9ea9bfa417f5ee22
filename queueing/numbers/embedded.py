"""Number of jobs in M/G/1, by the Markov chain embedded at departures.

With A the arrivals during a service and p_n the probability of n jobs, the cut between n - 1 and n
is crossed as often upwards as downwards:

    p_n P(A = 0) = p_0 P(A > n - 1) + sum over k = 1..n-1 of p_k P(A > n - k).

All terms are positive. Departures leave behind what arrivals find, as both come one at a time, and
Poisson arrivals find the state at any time (PASTA).

Source: Kleinrock, *Queueing Systems* I, 1975, sections 5.3 and 5.6; for the summed form Ramaswami,
"A stable recursion for the steady state vector in Markov chains of M/G/1 type", Stochastic
Models 4(1), 1988.
"""

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.erlang.poisson import poisson
from headway.queueing.numbers.laws import NumberLaw
from headway.queueing.times.laws import GAMMA

_NOTHING = 1e-20  # probabilities that are neglected: digits only
_ALMOST = 1 - float(np.finfo(float).epsneg)  # the largest number below 1: rounding only
# Numbers are listed until p_n / p_(n-1) is the ratio of the tail, up to this error relative to 1
# minus it and up to rounding: digits only.
_STEADY, _ROUNDING = 1e-13, 8e-16
_MOST = 30_000  # most jobs listed; each takes a sum over all before: for speed


def embedded(load: float, scv: float, again: float = 0.0) -> NumberLaw:
    """M/G/1 with gamma-distributed service; constant at scv = 0.

    Parameters
    ----------
    load
        U = lambda S over all visits, below 1.
    scv
        Squared coefficient of variation of the service time of a visit.
    again
        Probability to return at once after a visit, below 1. The order of service does not change
        the number of jobs.

    Raises
    ------
    InvalidParameter
        For so many jobs that the chain would take too long.

    Examples
    --------
    >>> embedded(0.5, 1.0).chances(2).round(12).tolist()  # M/M/1
    [0.5, 0.25, 0.125]
    """
    if load == 0:
        return NumberLaw(np.ones(1), waits=0.0)
    coming = _arrivals(load * (1 - again), scv)
    waits, notes = load, (GAMMA,) if scv > 0 else ()
    if again > 0:
        coming, waits = _during_all_visits(coming, again), np.nan
    ratio = 1 / (1 + _decay(load * (1 - again), scv, again))
    return NumberLaw(_chain(coming, 1 - load, ratio), ratio, waits, notes)


def _arrivals(load: float, scv: float) -> FloatArray:
    """Probabilities of 0, 1, 2... arrivals during a service: Poisson or negative binomial."""
    if scv == 0:
        return np.asarray(poisson(np.arange(int(load + 40 * np.sqrt(load)) + 40), load))
    spread = load * scv
    fall = np.log1p(1 / spread)  # of the logarithm, per arrival
    most = int(min(60 / fall + 60 + 4 * load, 4.0 * _MOST))
    number = np.arange(1, most)
    ratios = spread / (1 + spread) * (number - 1 + 1 / scv) / number
    first = np.exp(-np.log1p(spread) / scv)
    return np.asarray(first * np.concatenate([[1.0], np.cumprod(ratios)]))


def _during_all_visits(coming: FloatArray, again: float) -> FloatArray:
    """Arrivals during all visits of a job that returns: b = (1 - p) a + p a * b (convolution)."""
    chances = np.zeros(min(2 * _MOST, int(len(coming) * (1 + 60 / (1 - again)))))
    total, size = 0.0, len(coming)
    for n in range(len(chances)):
        recent = chances[max(0, n - size + 1) : n]
        once = (1 - again) * coming[n] if n < size else 0.0
        chances[n] = (once + again * (coming[1 : len(recent) + 1] @ recent[::-1])) / (
            1 - again * coming[0]
        )
        total += chances[n]
        if n > 8 and chances[n] < _NOTHING:
            return chances[: n + 1]
    return chances


def _decay(load: float, scv: float, again: float) -> float:
    """Decay rate of the tail: p_n / p_(n+1) - 1 for large n.

    It is the root y > 0 of log E[(1 + y)**A] = log(1 + y), the pole of the generating function
    nearest to 1.
    """
    from scipy.optimize import brentq

    def grown(y: float) -> float:
        once = load * y if scv == 0 else -log_of_rest(load * scv * y) / scv
        return once - log_of_rest(again / (1 - again) * float(np.expm1(once)))

    def log_of_rest(share: float) -> float:
        """log(1 - share), finite if rounding makes the share 1 or more close to the pole."""
        return float(np.log1p(-min(share, _ALMOST)))

    def above(y: float) -> float:
        return (grown(y) - float(np.log1p(y))) / y

    pole = 1 / (load * scv) if scv > 0 else np.inf
    if again > 0:
        pole = -np.log(again) / load if scv == 0 else -np.expm1(scv * np.log(again)) * pole
    low, high = 1e-12, 1.0
    while high < pole and above(high) < 0:
        low, high = high, 2 * high
    high = min(high, float(pole) * (1 - 1e-12))
    if above(high) < 0:  # the pole itself is next to it
        return high
    return float(brentq(above, low, high, xtol=1e-15 * high, rtol=1e-14))


def _chain(coming: FloatArray, empty: float, ratio: float) -> FloatArray:
    """Probabilities of 0, 1, 2... jobs, until their ratio is that of the tail."""
    more = np.cumsum(coming[::-1])[::-1][1:]  # P(A > 0), P(A > 1)...
    chances = np.zeros(_MOST)
    chances[0], near, before = empty, max(_STEADY * (1 - ratio), _ROUNDING), False
    for n in range(1, _MOST):
        reach = min(n - 1, len(more) - 1)
        across = chances[n - reach : n] @ more[reach:0:-1]
        across += empty * more[n - 1] if n - 1 < len(more) else 0.0
        chances[n] = across / coming[0]
        steady = n > 1 and abs(chances[n] / chances[n - 1] - ratio) <= near
        if (steady and before) or chances[n] < _NOTHING:
            return chances[: n + 1]
        before = steady
    msg = (
        "service varies too much: the distribution of the number of jobs takes too "
        "long to compute; reduce its scv"
    )
    raise InvalidParameter(msg)
