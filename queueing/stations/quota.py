"""A server that may work only a share of each period, as processors under a quota do.

In closed networks it lies between two stations with a product form (`Mixed`).
"""

from abc import abstractmethod
from dataclasses import field
from functools import cached_property
from typing import ClassVar

import numpy as np

from headway.kinds import (
    Amount,
    FloatArray,
    Quantity,
    apply,
    check_domain,
    check_not_negative,
    check_positive,
    is_symbolic,
    number,
)
from headway.queueing.flows.laws import saturation_throughput
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import MM1, Station, while_stable
from headway.records import dataclass

# Fitted to simulations: 1/2, 1.4 and 1.64 of theta, up to 95% of capacity (``python -m
# tests.campaigns.quota_errors``), and 1.5, twice, of a closed network's l (``python -m
# tests.campaigns.closed_quota_errors``).
_BUDGETS, _SPREAD, _POWER = 0.5, 1.4, 1.64
_STEEP, _CORNER = 1.5, 1.5


@dataclass(frozen=True)
class Ends:
    """Means of a closed network with either end in place of the station.

    Parameters
    ----------
    slow, free
        Throughput of the station with its slow and its fast end, shape (points,) [1/s].
    ratios
        P(n >= j + 1) / P(n >= j) of the jobs n at the fast end, j = 0, 1..., shape (jobs, points):
        its utilisation with N, N - 1... jobs; 0 for more than N.
    """

    slow: FloatArray
    free: FloatArray
    ratios: FloatArray

    @cached_property
    def busy_variance(self) -> FloatArray:
        """(1 - U)**2 times the sum over j = 1, 2... of P(n >= j)**2 / P(n = j).

        Examples
        --------
        >>> one = np.ones(1)
        >>> Ends(one, one, np.array([[0.5], [0.0]])).busy_variance.tolist()  # one job, Z = S
        [0.125]
        """
        reached = np.cumprod(self.ratios, axis=0)
        idle = 1 - self.ratios
        after = np.concatenate([idle[1:], np.ones((1, *idle.shape[1:]))])
        some = after > 0  # if it is always busy with one job fewer, it is with all
        share = np.where(some, idle[0] / np.where(some, after, 1.0), 0.0)
        return np.asarray(idle[0] * (reached * np.minimum(share, 1.0)).sum(axis=0))


class Mixed(Station):
    """A station that closed networks take as a mixture of two with a product form."""

    mixed_note: ClassVar[str]
    """What is approximate about it, with the measured error."""

    @abstractmethod
    def ends(self) -> tuple[Station, Station]:
        """Its two ends: a slow single server, which is its limit, and a fast station."""

    @abstractmethod
    def weight(self, ends: Ends) -> FloatArray:
        """Weight of the fast end, from 0 (the slow end) to 1, within its capacity."""


@dataclass(frozen=True)
class Quota(Mixed):
    """One server limited to the share q of each period P: an approximation.

    It serves at full speed until it has worked q P in a period, then rests until the next one;
    what a period leaves unused is lost. Arrivals are Poisson, service is exponential. Capacity
    q / S and utilisation lambda S / q are exact. On every path it has no less work before it
    than a server without a quota, and no more than one of speed q, so that

        R = S / (1 - rho) + theta (S / (q - rho) - S / (1 - rho)),  rho = lambda S,

    with theta between 0 (periods long against S, low load) and 1 (short periods, or close to
    saturation). With U = rho / q, a = q P / S, y = a (1 - sqrt U)**2 (at whose exponential a
    period's arrivals exceed its budget) and r = a sqrt U (1 - sqrt U),

        theta = e**-y (q + (1 - q) (y / 2 + e**(-y / 2)))
                / (1 + (1 - q) r + r / (2 sqrt(1 + 1.4 a)))**1.64.

    In a closed network X lies between that with a server of speed q and the lesser of q / S and
    that without a quota; `weight` says where.

    Parameters
    ----------
    service_time
        Mean service time S at full speed [s], 0 or more.
    quota
        Share q of each period that it may work, above 0 and at most 1.
    period
        Length P of a period [s], positive.

    Raises
    ------
    InvalidParameter
        For a parameter outside its domain.

    Examples
    --------
    >>> processor = Quota(service_time=0.002, quota=0.6, period=0.1)
    >>> processor.capacity, round(processor.utilisation(150.0), 12)
    (300.0, 0.5)
    >>> round(processor.response_time(150.0), 5)
    0.00289

    References
    ----------
    Turner, Rao and Rao, "CPU bandwidth control for CFS", Linux Symposium 2010, for the server;
    the exponent y is Cramér's for a compound Poisson sum. The rest is fitted
    (docs/accuracy.md).
    """

    can: ClassVar[Abilities] = Abilities(mixed=True)
    lawless: ClassVar[str] = "only its mean is approximated"
    approximation: ClassVar[str] = (
        "the mean response under a quota is fitted to simulations up to 95% of capacity; "
        "largest error measured: 10.2%"
    )
    mixed_note: ClassVar[str] = (
        "the throughput under a quota is approximated from its exact bounds and the "
        "variation of busy times; "
        "largest error measured: throughput 3.7%, response time 29% (99 of 100 within 11%)"
    )

    service_time: Quantity | str
    quota: Quantity | str
    period: Quantity | str = field(metadata={"unit": "s"})

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        check_positive("quota", self.quota)
        check_domain("quota", self.quota, lambda q: q <= 1, "at most 1")
        check_positive("period", self.period)

    @property
    def _share(self) -> Amount:
        return number("quota", self.quota)

    @property
    def capacity(self) -> Amount:
        """Largest arrival rate it can serve: q / S [1/s], exact."""
        return saturation_throughput(number("service_time", self.service_time), self._share)

    @property
    def speedup(self) -> Amount:
        """The quota: its share of a server."""
        return self._share

    def stay(self, population: Amount) -> tuple[Amount, Amount]:
        """S alone without a quota, and S N / q behind everybody with one of speed q [s]."""
        time = number("service_time", self.service_time)
        return time, time * population / self._share

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its quota in use: U = lambda S / q, exact; 1 or more means overload."""
        return arrival_rate * number("service_time", self.service_time) / self._share

    def response_bounds(self, arrival_rate: Quantity) -> tuple[Amount, Amount]:
        """Exact bounds of the mean response time: without a quota, and for a server of speed q [s].

        Examples
        --------
        >>> Quota(1.0, 0.5, 10.0).response_bounds(0.25)
        (1.3333333333333333, 4.0)
        """
        service_time, share = number("service_time", self.service_time), self._share
        busy = self.utilisation(arrival_rate)
        ends = [
            while_stable(busy, lambda busy: service_time / (1 - share * busy)),
            while_stable(busy, lambda busy: service_time / (share * (1 - busy))),
        ]
        return ends[0], ends[1]

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean response time, by its position between the exact bounds [s]: an approximation."""
        service_time, share = number("service_time", self.service_time), self._share

        def between(busy: Amount) -> Amount:
            least, most = service_time / (1 - share * busy), service_time / (share * (1 - busy))
            return least + self._delayed(busy) * (most - least)

        return while_stable(self.utilisation(arrival_rate), between)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = R - S [s]: waiting, including until the next period."""
        return self.response_time(arrival_rate) - number("service_time", self.service_time)

    def ends(self) -> tuple[Station, Station]:
        """The servers that it lies between: one of speed q, and one without a quota."""
        time = number("service_time", self.service_time)
        return MM1(time / self._share), MM1(time)

    def weight(self, ends: Ends) -> FloatArray:
        """Weight of the server without a quota, up to capacity: (X - X_slow) / (X_most - X_slow).

        In a period the server without a quota would be busy for U P on average, with a variance
        near v P, v = 2 S (1 - U)**2 sum of P(n >= j)**2 / P(n = j). The loss to the quota if that
        is normal, and the loss with short periods, at a server of speed q, give

            X_most - X = (l**-1.5 + (X_most - X_slow)**-1.5)**(-2/3),  X_most = min(q / S, X_free),
            l = sqrt(v / P) L(1.5 abs(U - q) sqrt(P / v)) / S,  L(z) = E[max(normal - z, 0)],

        or the loss by 1 - theta, as for Poisson arrivals, if that is larger.

        Parameters
        ----------
        ends
            Means of the network with each of `ends`.

        Examples
        --------
        >>> long, short = Quota(1.0, 0.5, 1e4), Quota(1.0, 0.5, 1e-4)
        >>> half = Ends(np.array([0.3]), np.array([0.4]), np.array([[0.4], [0.0]]))
        >>> long.weight(half).round(3).tolist(), short.weight(half).round(3).tolist()
        ([1.0], [0.0])

        References
        ----------
        The variance is that of the time in a set of states of a birth-death chain: Keilson,
        *Markov Chain Models: Rarity and Exponentiality*, 1979. The rest is fitted.
        """
        most = np.minimum(self.capacity, ends.free)
        gap = np.maximum(most - ends.slow, 0.0)
        part = np.where(gap > 0, self._lost(ends) / np.where(gap > 0, gap, 1.0), 1.0)
        lost = np.where(part > 0, _smooth_minimum(part), 0.0)
        busy = np.clip(np.asarray(self.utilisation(most), float), 0.0, 1.0)
        return np.asarray(np.maximum(1 - lost, 1 - self._delayed(busy)))

    def _lost(self, ends: Ends) -> FloatArray:
        """Throughput l lost to the quota with long periods [1/s]."""
        time, share = (self._number(v) for v in (self.service_time, self.quota))
        spread = np.sqrt(2 * time * ends.busy_variance / self._number(self.period))
        from_corner = np.abs(ends.free * time - share) / np.where(spread > 0, spread, 1.0)
        return np.asarray(
            spread * _normal_loss(_STEEP * from_corner) / np.where(time > 0, time, 1.0)
        )

    def _delayed(self, busy: Amount) -> Amount:
        """Theta: 0 as without a quota, 1 as on a server of speed q."""
        share, root = self._share, apply("sqrt", busy)
        time = number("service_time", self.service_time)
        if not is_symbolic(time):  # without service nothing is delayed, for any theta
            time = apply("where", np.asarray(time, float) > 0, time, 1.0)
        budget = share * number("period", self.period) / time
        rare = budget * (1 - root) ** 2
        near = budget * root * (1 - root)
        alone = share + (1 - share) * (rare / 2 + apply("exp", -rare / 2))
        spread = near * _BUDGETS / apply("sqrt", 1 + _SPREAD * budget)
        return apply("exp", -rare) * alone / (1 + (1 - share) * near + spread) ** _POWER


def _normal_loss(least: FloatArray) -> FloatArray:
    """L(z) = E[max(normal - z, 0)], z >= 0."""
    from scipy.special import erfcx

    density = np.exp(-(least**2) / 2) / np.sqrt(2 * np.pi)
    tail = np.sqrt(np.pi / 2) * erfcx(least / np.sqrt(2))
    return np.asarray(density * np.maximum(1 - least * tail, 0.0))


def _smooth_minimum(part: FloatArray) -> FloatArray:
    """A smooth minimum of x and 1: (x**-1.5 + 1)**(-2/3)."""
    low, high = np.minimum(part, 1.0), np.maximum(part, 1.0)
    return np.asarray(low * (1 + (low / high) ** _CORNER) ** (-1 / _CORNER))
