"""Stations whose speed depends on how many are there, and separate queues side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import (
    Amount,
    Quantity,
    apply,
    check_positive,
    is_symbolic,
    number,
    plain,
)
from headway.queueing.erlang.birth_death import symbolic_chances, weights
from headway.queueing.flows.laws import check_arrivals
from headway.queueing.stations.abilities import Abilities, ServiceKind
from headway.queueing.stations.base import MM1, Servers, Station
from headway.queueing.times.laws import TimeLaw, exponential


@dataclass(frozen=True)
class LoadDependent(Station):
    """A station that serves at a rate of its own for each number of requests there.

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

    can: ClassVar[Abilities] = Abilities(ServiceKind.VARYING)
    lawless: ClassVar[str] = "rates do not say who of those present is served, and in what order"

    rates: Sequence[Quantity | str]

    def __post_init__(self) -> None:
        if len(self.rates) == 0:
            raise InvalidParameter("rates is empty; give the service rate with 1, 2, 3... requests")
        for rate in self.rates:
            check_positive("rates", rate)

    @property
    def service_time(self) -> Amount:  # type: ignore[override]
        """Service time of a request that is alone: 1 / rate_1 [s]."""
        return 1 / self._rates()[0]

    @property
    def capacity(self) -> Amount:
        """Largest arrival rate it can serve: the last rate [1/s]."""
        return self._rates()[-1]

    def fastest(self, population: Quantity) -> Amount:
        """Largest of the rates that occur with N jobs at most [1/s]."""
        return self._over_numbers(np.maximum, population, lambda _, rate: rate)

    def speedup(self, population: Quantity) -> Amount:
        """Largest of the rates that occur with N jobs at most, over the first."""
        return self.fastest(population) / self._rates()[0]

    @property
    def hastens(self) -> bool:
        """Whether no rate is below the one before."""
        rates = self._rates()
        return all(np.all(np.asarray(b) >= a) for a, b in pairwise(rates))

    def stay(self, population: Amount) -> tuple[Amount, Amount]:
        """Least and largest of n / rate_n for the numbers n that occur, 1 to N [s]."""
        beyond = np.maximum(population, 1) / self._rates()[-1]  # as the last rate holds on
        longest = self._over_numbers(np.maximum, population, lambda n, rate: n / rate)
        occurs = np.asarray(population) >= len(self.rates)
        worst = np.where(occurs, np.maximum(longest, beyond), longest)
        return self._over_numbers(np.minimum, population, lambda n, rate: n / rate), plain(worst)

    def _over_numbers(
        self, pick: Amount, population: Amount, value: Callable[[int, Amount], Amount]
    ) -> Amount:
        """Fold a value of each n and its rate over the numbers that occur; of n = 1 always."""
        found: Amount = None
        for n, rate in enumerate(self._rates(), start=1):
            each = value(n, rate)
            occurs = np.asarray(population) >= n
            found = each if found is None else np.where(occurs, pick(found, each), found)
        return plain(found)

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its lasting speed in use: arrival rate over last rate; 1 means overload."""
        return arrival_rate / self.capacity

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """R - 1 / rate_1 [s]; negative where company makes it faster than twice as fast."""
        return self.response_time(arrival_rate) - self.service_time

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """R = Q / lambda [s]; infinite from saturation on."""
        length = self.queue_length(arrival_rate)
        if is_symbolic(length, arrival_rate):
            return self.service_time if arrival_rate == 0 else length / arrival_rate
        rate = np.asarray(arrival_rate, float)
        busy = rate != 0
        return plain(np.where(busy, length / np.where(busy, rate, 1.0), self.service_time))

    def queue_length(self, arrival_rate: Quantity) -> Amount:
        """Mean number present: Q = sum of n p_n; infinite from saturation on."""
        return self._solved(arrival_rate)[0]

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without any request: p_0."""
        return self._solved(arrival_rate)[1]

    def _rates(self) -> list[Quantity]:
        return [number("rates", rate) for rate in self.rates]

    def _solved(self, arrival_rate: Quantity) -> tuple[Amount, Amount]:
        """Sum the states below the last rate's one by one, the rest as a geometric series."""
        rates = self._rates()
        busy = arrival_rate / rates[-1]
        if is_symbolic(arrival_rate, *rates):
            return _summed(symbolic_chances([arrival_rate / rate for rate in rates]), busy)
        ratios = np.stack(np.broadcast_arrays(*(np.asarray(arrival_rate) / r for r in rates)), -1)
        check_arrivals(busy)
        stable, full = np.asarray(busy) < 1, np.where(np.isnan(busy), np.nan, np.inf)
        chances = np.moveaxis(weights(np.where(stable[..., None], ratios, 0.5)), -1, 0)
        length, empty = _summed(list(chances), np.where(stable, busy, 0.5))
        none = np.where(np.isnan(busy), np.nan, 0.0)
        return plain(np.where(stable, length, full)), plain(np.where(stable, empty, none))


def _summed(chances: list[Amount], busy: Amount) -> tuple[Amount, Amount]:
    """Mean number and chance of none, the last chance being continued by powers of `busy`."""
    last, count = chances[-1], len(chances) - 1
    total = sum(chances[:-1]) + last / (1 - busy)
    below = sum(n * chance for n, chance in enumerate(chances[:-1]))
    length = below + last * (count + busy / (1 - busy)) / (1 - busy)
    return length / total, chances[0] / total


@dataclass(frozen=True)
class Parallel(Servers):
    """m servers with a queue each, chosen at random: m times M/M/1 at 1/m of the arrivals.

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
        ServiceKind.PARALLEL, shared=True, counts=frozenset({"servers"}), smooth=True
    )

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = U S / (1 - U) [s]."""
        return MM1(self.service_time).waiting_time(arrival_rate / self.count)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without any request at any server: (1 - U)**m."""
        idle = 1 - self.utilisation(arrival_rate)
        return idle**self.count if is_symbolic(idle) else apply("max", idle, 0.0) ** self.count

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """Exponential with mean R, that of one of its queues."""
        return exponential(self.response_time(arrival_rate))

    @property
    def lanes(self) -> int:
        """As many as servers."""
        return int(self.plain_count)
