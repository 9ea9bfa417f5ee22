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

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from headway.kinds import Amount, FloatArray, Quantity, is_symbolic, plain
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import Station
from headway.queueing.times.laws import TimeLaw, exponential, pooled
from headway.queueing.times.tagged_job.station import TaggedStation
from headway.queueing.variability.waiting import general_wait

GAMMA_ARRIVALS = (
    "times between arrivals are assumed gamma-distributed: mean response time within 5% where they "
    "are a constant and an exponential time, within 32% where they are one of two"
)
"""What is assumed of an scv between 0 and 1: ``python -m tests.campaigns.renewal_errors``."""

# Digits only: Newton's method squares its relative distance in the end, so that after a step of
# _CLOSE nothing is left; a term of (2) whose denominator is less is that of the derivatives.
_ROUNDS, _CLOSE, _NEAR = 100, 1e-9, 1e-7
_TERMS = 65_536  # terms of (2) that are computed together: for speed


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
    unknown = np.isnan(rate * time)
    busy = (rate > 0) & (time > 0)
    stable = busy & (rate * time < count)
    over = busy & ~stable
    rate, time, part = (np.where(stable, v, 1.0) for v in (rate, time, part))
    mean = np.where(stable, part / rate, 2 / count)  # a stable queue in place of others
    y, chance = np.empty(rate.shape), np.empty(rate.shape)
    for some in _blocks(count):
        gaps = _Gaps(scv.flat[some], part.flat[some])
        paced, many = mean.flat[some] / time.flat[some], count.flat[some]
        y.flat[some] = gaps.root(paced * many)
        chance.flat[some] = gaps.chance(y.flat[some], paced, many)
    chance = np.where(stable, chance, over)
    behind = np.where(stable, time / (count * y), np.where(over, np.inf, 0.0))
    return RenewalWait(np.where(unknown, np.nan, chance), np.where(unknown, np.nan, behind))


def _blocks(servers: FloatArray) -> Iterator[slice]:
    """Elements whose terms stay in the cache together."""
    step = max(1, int(_TERMS / max(1.0, float(servers.max(initial=1)))))
    return (slice(start, start + step) for start in range(0, servers.size, step))


def lone_wait(servers: Quantity, load: Quantity, arrival_scv: Quantity, share: Quantity) -> Amount:
    """Mean wait at m exponential servers that nothing else comes to, in service times.

    Of GI/M/m up to an scv of 1; of what varies more by two moments (`general_wait`).

    Parameters
    ----------
    servers, load
        m, and a = lambda S.
    arrival_scv, share
        As for `renewal_wait`.

    Returns
    -------
    A number or array, infinite from saturation on; of symbols, a function of them with derivatives.

    Examples
    --------
    >>> round(float(lone_wait(1, 0.5, 0.0, 1.0)), 6)
    0.255002
    """
    if is_symbolic(servers, load, arrival_scv, share):
        from headway.queueing.variability.symbols import LoneWait

        return LoneWait(servers, load, arrival_scv, share)
    steady = renewal_wait(load, 1.0, servers, np.minimum(arrival_scv, 1.0), share).mean
    if np.any(np.asarray(arrival_scv) > 1):
        seen = 1 + np.asarray(share, float) * (np.asarray(arrival_scv, float) - 1)
        bursty = general_wait(load, 1.0, servers, seen, 1.0)
        return plain(np.where(np.asarray(arrival_scv) > 1, bursty, steady))
    return plain(steady)


def lone_wait_slope(
    argument: int, servers: Amount, load: Amount, arrival_scv: Amount, share: Amount
) -> FloatArray:
    """Derivative of `lone_wait` for its load (1), the scv (2) or the share (3), by differences.

    Examples
    --------
    >>> round(float(lone_wait_slope(1, 1, 0.5, 1.0, 1.0)), 6)  # of a / (1 - a)
    4.0
    """
    given = [np.asarray(v, float) for v in (servers, load, arrival_scv, share)]
    centre = given[argument]
    least = (0.0, 0.0, 0.0, 0.0)[argument]
    most = (0.0, given[0], np.inf, 1.0)[argument]
    step = _STEP * np.where(centre > 0, centre, 1.0)
    step = np.minimum(step, _STEP * np.where(centre < most, most - centre, 1.0))
    low, high = np.maximum(centre - step, least), np.minimum(centre + step, most)
    ends = [
        np.asarray(lone_wait(*(end if k == argument else v for k, v in enumerate(given))), float)
        for end in (low, high)
    ]
    return np.asarray((ends[1] - ends[0]) / (high - low))


_STEP = 1e-5  # relative: the error of a central difference is its square, rounding 1e-11


@dataclass(frozen=True)
class _Gaps:
    """Times between arrivals, of which a share is chosen; all arrays of one shape."""

    scv: FloatArray
    share: FloatArray

    def missing(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """1 - A', A' and the slope of 1 - A' at s = x / E[T] by (3), each with all its digits."""
        if self.scv.any():
            some = np.where(self.scv > 0, self.scv, 1.0)
            logarithm = np.where(self.scv > 0, -np.log1p(self.scv * x) / some, -x)
        else:
            logarithm = -x
        missing, left = -np.expm1(logarithm), np.exp(logarithm)
        whole = self.share + (1 - self.share) * missing
        slope = left / (1 + self.scv * x) * self.share / whole**2
        return missing / whole, left * self.share / whole, slope

    def root(self, pace: FloatArray) -> FloatArray:
        """Solve (1) for y, `pace` being m mu E[T].

        (1 - A(m mu y)) / y - 1 is convex and falls, so that Newton's method rises to its root from
        where its tangent at 0 vanishes; 1 - A(m mu y) of a y below the root is nearer to it.
        """
        whole, seen = pace / self.share, 1 + self.share * (self.scv - 1)
        y = 2 * (1 - 1 / whole) / (whole * (1 + seen))
        y = np.maximum(y, self.missing(pace * y)[0])
        for _ in range(_ROUNDS):
            missing, _, slope = self.missing(pace * y)
            change = (missing - y) / (missing / y - pace * slope)
            y = y + change
            if (np.abs(change) <= _CLOSE * y).all():
                break
        return y

    def chance(self, y: FloatArray, mean: FloatArray, servers: FloatArray) -> FloatArray:
        """K / y of (2), with times in units of the service time."""
        if (servers == 1).all():
            return 1 - y
        k = np.arange(1.0, servers.max() + 1).reshape(-1, *[1] * y.ndim)
        with np.errstate(all="ignore"):
            missing, left, slope = self.missing(k * mean)
            weights = np.cumprod((servers - k + 1) / k * (missing / left), axis=0)
            ahead = servers * y - k
            near = np.abs(ahead) <= _NEAR * servers
            odds = np.where(
                near,
                1 - servers * mean * slope,
                (servers * missing - k) / np.where(near, 1.0, ahead),
            )
            terms = np.nan_to_num(weights / missing * odds, nan=np.inf)
        total = 1 / y + np.where(k <= servers, terms, 0.0).sum(axis=0)
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
