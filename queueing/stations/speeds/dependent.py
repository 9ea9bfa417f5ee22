"""Stations whose speed depends on the number of jobs present, and separate queues side by side."""

from collections.abc import Sequence
from dataclasses import field
from functools import reduce
from typing import ClassVar

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    Quantity,
    apply,
    check_count,
    check_not_negative,
    check_positive,
    is_symbolic,
    number,
    plain,
)
from headway.queueing.stations.abilities import SERVERS, Abilities, ServiceKind
from headway.queueing.stations.base import MM1, Servers, Station
from headway.queueing.stations.choosing import ChosenParallel
from headway.queueing.stations.speeds.varying import ALL, ALONE, ByLaw, Rates, Varying
from headway.queueing.times.laws import TimeLaw, exponential
from headway.records import dataclass

# relative deviation of rates from k times the first up to which they are those of a pool
_ALIKE = 1e-9


@dataclass(frozen=True)
class LoadDependent(Varying):
    """A station with a service rate for each number of requests present.

    p_n = p_0 lambda**n / (rate_1 rate_2 ... rate_n); the last rate holds on.

    Parameters
    ----------
    rates
        Service rates [1/s] with 1, 2, 3... requests present, each above 0.

    Raises
    ------
    InvalidParameter
        For no rate at all, or one that is not positive and finite.

    Examples
    --------
    >>> two_servers = LoadDependent((1.0, 2.0))
    >>> round(two_servers.response_time(1.0), 12)
    1.333333333333

    References
    ----------
    Lazowska et al., *Quantitative System Performance*, 1984, chapter 8.
    """

    rates: Sequence[Quantity | str]

    def __post_init__(self) -> None:
        if len(self.rates) == 0:
            raise InvalidParameter("rates is empty; give the service rate with 1, 2, 3... requests")
        for rate in self.rates:
            check_positive("rates", rate)

    def rates_to(self, most: float = ALL) -> Rates:
        """Service rates with 1, 2... requests, at most so many [1/s]; then the last holds."""
        count = max(int(min(most, len(self.rates))), 1)
        return [number("rates", rate) for rate in self.rates[:count]]

    @property
    def crew(self) -> Amount:
        """Servers m of a pool, whose rates are rate_1 min(n, m); 1 for any other rates."""
        speeds = [rate / self.rates_to(1)[0] for rate in self.rates_to()]
        if len(speeds) == 1 or is_symbolic(*speeds):
            return ALONE
        servers = np.round(np.asarray(speeds[-1], float))
        gaps = (abs(s - apply("min", n, servers)) / n for n, s in enumerate(speeds, start=1))
        pool = reduce(np.maximum, gaps) <= _ALIKE
        return plain(np.where(pool, servers, ALONE)) if np.any(pool & (servers > 1)) else ALONE

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its servers that works: of a pool U, otherwise 1 - p_0; 1 means overload."""
        if np.all(np.asarray(self.crew) > 1):
            return self.offered(arrival_rate)
        return super().utilisation(arrival_rate)


class _Pool(ByLaw):
    """A station of m servers at one queue, min(n, m) of which work with n requests present."""

    servers: Quantity | str

    @property
    def crew(self) -> Amount:
        """Its servers m."""
        return number("servers", self.servers)


@dataclass(frozen=True)
class WakeUp(_Pool):
    """Servers that sleep when idle: a request that finds no queue wakes one up.

    With n requests present and m servers, n / (s + w) are served while each is alone at a server
    (n <= m), and m / s while others wait, so that no server sleeps; saturation is m / s. Of one
    server U = lambda (s + w) / (1 + lambda w) is the share of time that it is busy.

    Parameters
    ----------
    request_time
        Service time s of a request while others wait [s], above 0.
    wake_up
        Time w that a request takes longer while nobody waits [s], 0 or more.
    servers
        Number of servers m, a whole number of 1 or more.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain.

    Examples
    --------
    >>> web = WakeUp(request_time=14e-6, wake_up=18e-6)
    >>> round(web.utilisation(20_000), 4), round(web.capacity)
    (0.4706, 71429)
    >>> WakeUp(request_time=14e-6, wake_up=18e-6, servers=4).capacity * 14e-6
    4.0

    References
    ----------
    A birth-death chain: Kleinrock, *Queueing Systems* I, 1975, section 3.1.
    """

    can: ClassVar[Abilities] = Abilities(ServiceKind.VARYING, shared=True, counts=SERVERS)

    request_time: Quantity | str = field(metadata={"unit": "s"})
    wake_up: Quantity | str = field(metadata={"unit": "s"})
    servers: Quantity | str = 1

    def __post_init__(self) -> None:
        check_positive("request_time", self.request_time)
        check_not_negative("wake_up", self.wake_up)
        check_count("servers", self.servers)

    @property
    def steady(self) -> Amount:
        """The number m + 1: from the first waiting request on, the rate is constant."""
        return self.crew + 1

    def rate(self, present: Amount) -> Amount:
        """Rate n / (s + w) while nobody waits, m / s with more [1/s]."""
        crew = self.crew
        alone = apply("where", present < crew + 1, number("wake_up", self.wake_up), 0.0)
        return apply("min", present, crew) / (number("request_time", self.request_time) + alone)

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its servers that works; for one, lambda (s + w) / (1 + lambda w); 1 is overload.

        For several servers it is the sum over the numbers present, as for all of these stations.
        """
        crew = self.crew
        if is_symbolic(crew) or np.all(np.asarray(crew) == 1):
            woken = arrival_rate * number("wake_up", self.wake_up)
            return (arrival_rate * number("request_time", self.request_time) + woken) / (1 + woken)
        return super().utilisation(arrival_rate)


@dataclass(frozen=True)
class Slowing(_Pool):
    """Servers that slow down as requests queue: service takes S (1 + g ln n) with n present.

    Parameters
    ----------
    request_time
        Service time S of a request that is alone [s], above 0.
    growth
        What each e-fold of requests adds to it, in parts of S, 0 or more.
    crowd
        Number of requests from which on it grows no more, a whole number of 1 or more.
    servers
        Number of servers at the one queue, a whole number of 1 or more: m serve up to m at once,
        each at the pace that all who are present leave it.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain.

    Examples
    --------
    >>> round(Slowing(request_time=0.01, growth=0.1, crowd=64).capacity, 2)
    70.63
    >>> round(Slowing(request_time=0.01, growth=0.1, crowd=64, servers=2).capacity, 2)
    141.25

    References
    ----------
    Measured; the chain is a birth-death one: Kleinrock, *Queueing Systems* I, 1975, section 3.1.
    """

    can: ClassVar[Abilities] = Abilities(
        ServiceKind.VARYING, shared=True, counts=SERVERS | {"crowd"}
    )

    request_time: Quantity | str = field(metadata={"unit": "s"})
    growth: Quantity | str
    crowd: Quantity | str
    servers: Quantity | str = 1

    def __post_init__(self) -> None:
        check_positive("request_time", self.request_time)
        check_not_negative("growth", self.growth)
        check_count("crowd", self.crowd)
        check_count("servers", self.servers)

    @property
    def steady(self) -> Amount:
        """The number from which all servers work and service slows down no more."""
        return apply("max", number("crowd", self.crowd), self.crew)

    def rate(self, present: Amount) -> Amount:
        """min(n, m) / (S (1 + g ln n)), with at most the crowd for n in the logarithm [1/s]."""
        many = apply("min", present, number("crowd", self.crowd))
        grown = 1 + number("growth", self.growth) * apply("log", many)
        busy = apply("min", present, self.crew)
        return busy / (number("request_time", self.request_time) * grown)


@dataclass(frozen=True)
class Parallel(Servers):
    """m servers, each with its own queue, chosen at random: m M/M/1 with 1/m of the arrivals each.

    R = S / (1 - U): slower than M/M/m, as a request may wait while another server is idle.
    A striped set of disks is of this kind, not a pool.

    Parameters
    ----------
    service_time
        Mean service time S of one server [s], 0 or more.
    servers
        Number of servers m, a whole number of 1 or more.

    Raises
    ------
    InvalidParameter
        For a service time that is negative or not finite, or servers that are not 1, 2, 3...

    Examples
    --------
    >>> Parallel(service_time=0.5, servers=4).response_time(4.0)
    1.0

    References
    ----------
    Kleinrock, *Queueing Systems* II, 1976, section 5.1 (one fast server against many).
    """

    can: ClassVar[Abilities] = Abilities(
        ServiceKind.PARALLEL,
        shared=True,
        counts=SERVERS,
        smooth=True,
        exponential=True,
        eased_by=SERVERS,
        scv=1.0,
    )
    followed: ClassVar[str] = "headway.queueing.times.tagged_job.kinds:FcfsQueue"
    chosen_as: ClassVar[type[Station] | None] = ChosenParallel

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = U S / (1 - U) [s]."""
        return MM1(self.service_time).waiting_time(arrival_rate / self.count)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests at any server: (1 - U)**m."""
        idle = 1 - self.utilisation(arrival_rate)
        return idle**self.count if is_symbolic(idle) else apply("max", idle, 0.0) ** self.count

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """Exponential with mean R, as at one of its queues."""
        return exponential(self.response_time(arrival_rate))

    def shared_law(self, arrival_rate: float) -> TimeLaw:
        """The law of one of its queues."""
        return MM1(self.mean_service).shared_law(arrival_rate / self.plain_count)
