r"""GI/M/m: renewal arrivals at m exponential servers that share one queue, exactly.

With T the time between arrivals, A(s) = E[exp(-s T)], mu = 1/S and y the root in (0, 1) of

    y = 1 - A(m mu y),                                                                   (1)

those who wait do so for an exponential time of mean S / (m y), and the share of them is

    P(W > 0) = K / y,
    1 / K = 1 / y + sum over k = 1..m of
        C(m, k) / (C_k (1 - A_k)) (m (1 - A_k) - k) / (m y - k),                         (2)

with A_k = A(k mu) and C_k the product of A_i / (1 - A_i) over i = 1..k. Numerator and denominator
of the last factor change sign at the same k = m y, by (1), so that every term is positive.

The times between arrivals are gamma-distributed: constant at an scv of 0, Erlang's at 1/2, 1/3...,
exponential at 1. Where a share p of the arrivals comes to this queue, each chosen at random,

    A'(s) = p A(s) / (1 - (1 - p) A(s)).                                                 (3)

Source: Takács, *Introduction to the Theory of Queues*, 1962, chapter 2; Kleinrock, *Queueing
Systems* I, 1975, sections 6.2 to 6.4; for (3) Cox, *Renewal Theory*, 1962, section 8.3.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from headway.kinds import FloatArray
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import Station
from headway.queueing.times.laws import TimeLaw, exponential, pooled
from headway.queueing.times.tagged_job.station import TaggedStation

GAMMA_ARRIVALS = (
    "times between arrivals are assumed gamma-distributed: mean response time within 5% where they "
    "are a constant and an exponential time, within 32% where they are one of two"
)
"""What is assumed of an scv between 0 and 1: ``python -m tests.campaigns.renewal_errors``."""

# Digits only: Newton's method halves its distance at worst, and squares it in the end; a term of
# (2) whose denominator is less is the quotient of the derivatives.
_ROUNDS, _CLOSE, _NEAR = 200, 4e-16, 1e-7


@dataclass(frozen=True)
class RenewalWait:
    """How long jobs wait in GI/M/m.

    Parameters
    ----------
    chance
        Share of the jobs that wait, P(W > 0).
    behind
        Mean wait [s] of those who do; it is exponential. Infinite from saturation on.

    Examples
    --------
    >>> float(RenewalWait(np.array(0.5), np.array(2.0)).mean)
    1.0
    """

    chance: FloatArray
    behind: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Mean wait of all jobs [s]."""
        return np.asarray(self.chance * self.behind)


def renewal_wait(
    arrival_rate: ArrayLike,
    service_time: ArrayLike,
    servers: ArrayLike,
    arrival_scv: ArrayLike,
    share: ArrayLike = 1.0,
) -> RenewalWait:
    """How long jobs wait in GI/M/m, first come first served: by equations (1) to (3).

    Parameters
    ----------
    arrival_rate
        Arrivals at this queue [1/s], 0 or more. All arguments broadcast.
    service_time, servers
        Mean service time S of one server [s], above 0, and their number m, a whole number.
    arrival_scv
        Squared coefficient of variation of the times between arrivals, 0 or more, before some are
        chosen for this queue.
    share
        Share p of those that come to this queue, above 0 and at most 1.

    Examples
    --------
    >>> d_m_1 = renewal_wait(0.5, 1.0, 1, 0.0)
    >>> round(float(d_m_1.mean), 6)  # the root of s = exp(-2 (1 - s)) over 1 - s
    0.255002
    >>> m_m_2 = renewal_wait(1.0, 1.0, 2, 1.0)
    >>> round(float(m_m_2.chance), 9), round(float(m_m_2.mean), 9)
    (0.333333333, 0.333333333)
    """
    rate, time, count, scv, part = np.broadcast_arrays(
        *(np.asarray(v, float) for v in (arrival_rate, service_time, servers, arrival_scv, share))
    )
    stable = (rate * time < count) & (rate > 0)
    mean = part / np.where(stable, rate, 1.0)  # of the times between arrivals, before the choice
    mean = np.where(stable, mean, 4 * part * time / count)
    y = _root(mean * count / time, scv, part)
    chance = np.where(stable, _chance(y, mean / time, count, scv, part), rate > 0)
    behind = np.where(stable, time / (count * y), np.where(rate > 0, np.inf, 0.0))
    unknown = np.isnan(rate * time)
    return RenewalWait(np.where(unknown, np.nan, chance), np.where(unknown, np.nan, behind))


def _missing(x: FloatArray, scv: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """1 - A' and A' at x / E[T], each with all its digits."""
    some = np.where(scv > 0, scv, 1.0)
    logarithm = np.where(scv > 0, -np.log1p(scv * x) / some, -x)
    missing, left = -np.expm1(logarithm), np.exp(logarithm)
    whole = share + (1 - share) * missing
    return missing / whole, share * left / whole


def _root(pace: FloatArray, scv: FloatArray, share: FloatArray) -> FloatArray:
    """Solve (1) for y, `pace` being m mu E[T]: by Newton's method, from above."""
    y = np.ones_like(pace)
    for _ in range(_ROUNDS):
        missing, _ = _missing(pace * y, scv, share)
        change = (missing - y) / (1 - pace * _slope(pace * y, scv, share))
        y = y + np.minimum(change, 0.0)
        if not (np.abs(change) > _CLOSE * y).any():
            break
    return np.maximum(y, np.finfo(float).tiny)


def _slope(x: FloatArray, scv: FloatArray, share: FloatArray) -> FloatArray:
    """Derivative of 1 - A' with respect to x."""
    missing, left = _missing(x, scv, np.ones_like(share))
    return np.asarray(share * left / (1 + scv * x) / (share + (1 - share) * missing) ** 2)


def _chance(
    y: FloatArray, mean: FloatArray, servers: FloatArray, scv: FloatArray, share: FloatArray
) -> FloatArray:
    """K / y of (2), with times in units of the service time."""
    total, weight = 1 / y, np.ones_like(y)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for k in range(1, int(servers.max(initial=1)) + 1):
            missing, left = _missing(k * mean, scv, share)
            weight = weight * ((servers - k + 1) / k) * (missing / left)
            ahead = servers * y - k
            near = np.abs(ahead) <= _NEAR * servers
            slope = 1 - servers * mean * _slope(k * mean, scv, share)
            ratio = np.where(near, slope, (servers * missing - k) / np.where(near, 1.0, ahead))
            term = weight / missing * ratio
            total = total + np.where(k <= servers, np.where(np.isnan(term), np.inf, term), 0.0)
    return np.asarray(1 / (y * total))


@dataclass(frozen=True)
class RenewalStation:
    """A station to which a renewal flow comes, with exponential service.

    Parameters
    ----------
    station
        Its kind, with numbers.
    wait
        How long jobs wait there, each number for one operating point.
    assumed
        Whether the times between arrivals had to be taken as gamma-distributed.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = RenewalStation(MM1(1.0), renewal_wait(0.5, 1.0, 1, 0.0))
    >>> round(one.time_law(0.5).mean, 6)  # D/M/1: S / (1 - s)
    1.255002
    """

    station: Station
    wait: RenewalWait
    assumed: bool = False

    @property
    def can(self) -> Abilities:
        """Abilities of its kind."""
        return self.station.can

    @property
    def mean_service(self) -> float:
        """Mean service time [s]."""
        return self.station.mean_service

    @property
    def plain_count(self) -> float:
        """Number of servers."""
        return self.station.plain_count

    @property
    def plain_scv(self) -> float | None:
        """Squared coefficient of variation of its service times."""
        return self.station.plain_scv

    def time_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - at its own
        """Law of a visit: with some chance an exponential wait, and a service."""
        law = pooled(self.mean_service, float(self.wait.chance), float(self.wait.behind))
        return replace(law, notes=self._notes)

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """As `time_law`."""
        return self.time_law(arrival_rate)

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw | None:
        """All visits of a job that comes straight back make one exponential service."""
        if self.plain_count > 1:
            return None
        stay = self.time_law(arrival_rate).mean / (1 - chance)
        return replace(exponential(stay), notes=self._notes)

    def stop(self, arrival_rate: float, again: float) -> TaggedStation | None:  # noqa: ARG002 - unknown
        """None: what a job in a loop finds is not known."""
        return None

    @property
    def _notes(self) -> tuple[str, ...]:
        return (GAMMA_ARRIVALS,) if self.assumed else ()
