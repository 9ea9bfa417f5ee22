"""Distributions of waiting times, first come first served.

Source: Kleinrock, *Queueing Systems* I, 1975, sections 5.7 and 5.12; for closed networks the
arrival theorem: Lavenberg and Reiser, J. Appl. Prob. 17(4), 1980.
"""

from collections.abc import Callable
from math import exp, log

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.times.inversion import exceedance
from headway.queueing.times.laws import GAMMA, TimeLaw, after_constants, gamma, poisson_wait
from headway.records import dataclass

_NEVER = 1e-300  # stands for 0 in a logarithm
_SAME = 1e-13  # relative accuracy of percentiles: digits only


@dataclass(frozen=True)
class WaitLaw:
    """Distribution of a waiting time.

    Parameters
    ----------
    waits
        Probability of waiting.
    mean
        Mean wait of all arrivals [s].
    longer
        Probability of a wait longer than a time from 0 [s], as a function.
    notes
        Assumptions, in words.

    Examples
    --------
    >>> law = exponential_wait(0.5, 2.0)
    >>> law.mean, round(law.longer(2.0), 9), law.percentile(0.4)
    (1.0, 0.183939721, 0.0)
    """

    waits: float
    mean: float
    longer: Callable[[float], float]
    notes: tuple[str, ...] = ()

    def percentile(self, share: float) -> float:
        """Smallest time that a share of the waits does not exceed [s]; 0 if so many do not wait."""
        from scipy.optimize import brentq

        rest = 1 - share
        if self.waits <= rest or self.mean <= 0:
            return 0.0

        def above(time: float) -> float:
            return log(max(self.longer(time), _NEVER) / rest)

        low, high = 0.0, self.mean / self.waits
        while above(high) > 0:
            low, high = high, 2 * high
        return float(brentq(above, low, high, xtol=_SAME * high, rtol=_SAME))


NO_WAIT = WaitLaw(0.0, 0.0, lambda _: 0.0)
"""A wait of 0."""


def exponential_wait(chance: float, mean: float) -> WaitLaw:
    """A wait that is 0 or exponential, as in M/M/1 and M/M/m.

    Parameters
    ----------
    chance, mean
        Probability of waiting, and mean wait of jobs that do [s].

    Examples
    --------
    >>> round(exponential_wait(0.75, 4.0).percentile(0.95), 6)  # 4 ln 15
    10.832201
    """
    if mean <= 0:
        return NO_WAIT
    return WaitLaw(chance, chance * mean, lambda time: chance * exp(-time / mean))


def in_turn(met: FloatArray, servers: int, turn: float) -> WaitLaw:
    """Wait at m exponential servers, by the number found on arrival: a mixture of Erlang laws.

    Parameters
    ----------
    met
        Probabilities that an arrival finds 0, 1, 2... jobs, shape (numbers,).
    servers, turn
        m, and the mean time between departures while all are busy, S / m [s].

    Examples
    --------
    >>> law = in_turn(np.array([0.5, 0.25, 0.25]), servers=1, turn=2.0)
    >>> law.waits, law.mean, round(law.longer(2.0), 9)
    (0.5, 1.5, 0.275909581)
    """
    behind = met[servers:]
    stages = np.arange(1, len(behind) + 1)
    if not behind.any() or turn <= 0:
        return NO_WAIT

    def longer(time: float) -> float:
        from scipy.special import gammaincc

        return float(behind @ gammaincc(stages, time / turn))

    return WaitLaw(float(behind.sum()), float(behind @ stages) * turn, longer)


def served(met: FloatArray, servers: int, turn: float) -> WaitLaw:
    """Response time at m exponential servers, by the number found on arrival, in that order.

    While all servers work, departures are a Poisson process of rate m/S. A service lasts a
    geometric number of them, with mean m. So P(T > t) is the sum over j of the Poisson probability
    (t / turn)**j exp(-t / turn) / j! times the probability that wait and service take more than j
    of them (uniformisation).

    Parameters
    ----------
    met, servers, turn
        As for `in_turn`.

    Examples
    --------
    >>> law = served(np.array([0.5, 0.25, 0.25]), servers=1, turn=2.0)
    >>> law.mean, round(law.longer(2.0), 9)
    (3.5, 0.597804092)
    """
    waited = np.maximum(np.arange(len(met)) - servers + 1, 0)

    def longer(time: float) -> float:
        from scipy.special import gammaln, pdtr, xlogy

        if turn <= 0:
            return 0.0
        level = time / turn
        if servers == 1:
            return float(met @ pdtr(waited, level))
        most = int(level + 12 * level**0.5 + 60) + len(met)
        turns = np.arange(most)
        chances = np.exp(xlogy(turns, level) - level - gammaln(turns + 1))
        lasting = (1 - 1 / servers) ** np.maximum(turns - waited[:, None], 0)
        return float(met @ lasting @ chances)

    mean = float(met @ (waited + servers)) * turn
    return WaitLaw(1.0, mean, longer)


def poisson_waits(rate: float, time: float, scv: float) -> WaitLaw:
    """Pollaczek-Khinchine wait in M/G/1, with gamma-distributed service.

    Parameters
    ----------
    rate, time, scv
        Arrivals [1/s], and mean [s] and squared coefficient of variation of service; constant
        service, scv = 0, has Crommelin's wait.

    Examples
    --------
    >>> round(poisson_waits(0.5, 1.0, 1.0).percentile(0.95), 6)  # 2 ln 10
    4.60517
    """
    busy = rate * time
    if busy <= 0:
        return NO_WAIT
    if scv == 0:
        whole = after_constants(rate, time)
        return WaitLaw(busy, whole.mean - time, lambda t: _beyond(whole, time + t))
    law = poisson_wait(rate, gamma(time, scv), time, scv)
    return WaitLaw(busy, law.mean, lambda t: _beyond(law, t), (GAMMA,))


def _beyond(law: TimeLaw, time: float) -> float:
    return float(exceedance(law, time))
