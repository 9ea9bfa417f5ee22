"""Stations with a limited number of places: jobs that find none are lost."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import (
    Amount,
    FloatArray,
    Quantity,
    apply,
    check_count,
    check_not_negative,
    is_symbolic,
    number,
    plain,
)
from headway.numerals import digits
from headway.queueing.erlang import waiting_room
from headway.queueing.flows.laws import saturation_throughput
from headway.queueing.numbers.laws import NumberLaw, roomy
from headway.queueing.numbers.waits import WaitLaw, in_turn
from headway.queueing.renewals.found import numbers_found
from headway.queueing.renewals.room import APPROXIMATE, renewal_room
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import Station
from headway.queueing.times.laws import (
    TimeLaw,
    behind_others,
    constant,
    exponential,
    limited,
)
from headway.queueing.times.processor_sharing.birth_death import BirthDeathSharing
from headway.records import dataclass

State = TypeVar("State")


class LimitedRoom(Station):
    """A station that rejects jobs when full, whose laws all follow from one solved state."""

    @property
    def capacity(self) -> Amount:
        """Infinite: it rejects jobs when full, and is stable at any arrival rate."""
        return np.inf

    def _once(self, arrival_rate: Quantity, solve: Callable[[Quantity], State]) -> State:
        """Solve at some loads, and keep the result until it is asked for others."""
        if is_symbolic(arrival_rate):
            return solve(arrival_rate)
        loads = np.asarray(arrival_rate, float)
        key = type(arrival_rate), loads.shape, loads.tobytes()
        if key not in self._last:
            self._last.clear()
            self._last[key] = solve(arrival_rate)
        state: State = self._last[key]
        return state

    @cached_property
    def _last(self) -> dict[object, Any]:
        return {}


class _SolvedRoom(LimitedRoom):
    """A station with limited places whose losses and waits are solved together."""

    places: Quantity | str

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its servers busy with admitted jobs: U = X S / m."""
        service_time = number("service_time", self.service_time)
        return self.throughput(arrival_rate) * service_time / self.count

    def loss_probability(self, arrival_rate: Quantity) -> Amount:
        """Probability that an arrival finds all K places occupied."""
        return self._solved(arrival_rate).loss

    def throughput(self, arrival_rate: Quantity) -> Amount:
        """Carried throughput X: arrivals that are not lost, at most m/S [1/s]."""
        carried = arrival_rate * self._solved(arrival_rate).admitted
        if is_symbolic(carried):
            return carried
        most = saturation_throughput(number("service_time", self.service_time), self.count)
        return apply("min", carried, most)

    def admitted(self, arrival_rate: Quantity) -> Amount:
        """Probability that an arrival finds a place, exact even if it is small."""
        return self._solved(arrival_rate).admitted

    def _solved(self, arrival_rate: Quantity) -> waiting_room.FiniteQueueResult:
        """Loss probabilities, and mean waits in service times, at some loads."""
        raise NotImplementedError

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time in the queue of admitted requests [s]."""
        return self._solved(arrival_rate).wait * number("service_time", self.service_time)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests."""
        return self._solved(arrival_rate).empty


@dataclass(frozen=True)
class GIMmK(_SolvedRoom):
    """m servers and K places, gamma-distributed times between arrivals; further jobs are lost.

    Means are exact for Poisson arrivals (`MMmK`), else nearly: `headway.queueing.renewals.room`.
    Percentiles of those let in are exact: `headway.queueing.renewals.found`.

    Parameters
    ----------
    service_time
        Mean of the exponential service time S of one server [s], 0 or more.
    servers
        Number of servers m, a whole number of 1 or more.
    places
        Places K, those in service included, a whole number of m or more.
    arrival_scv
        Squared coefficient of variation of the times between arrivals, 0 or more: 0 where they
        come at equal intervals, 1 for Poisson arrivals.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain, or fewer places than servers.

    Examples
    --------
    >>> regular = GIMmK(service_time=1.0, servers=1, places=5, arrival_scv=0.0)
    >>> round(regular.loss_probability(0.8), 4), round(MM1K(1.0, 5).loss_probability(0.8), 4)
    (0.023, 0.0888)

    References
    ----------
    Takács, *Introduction to the Theory of Queues*, 1962, chapters 2 and 4.
    """

    lawless: ClassVar[str] = "except at arrivals, a law is known for Poisson arrivals only"
    approximation: ClassVar[str] = APPROXIMATE
    can: ClassVar[Abilities] = Abilities(loses=True, counts=frozenset({"servers", "places"}))

    service_time: Quantity | str
    servers: Quantity | str
    places: Quantity | str
    arrival_scv: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        check_count("servers", self.servers)
        check_count("places", self.places)
        check_not_negative("arrival_scv", self.arrival_scv)
        _check_places(self.servers, self.places)

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return number("servers", self.servers)

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """The law for admitted jobs, exactly: exponential service behind those waiting."""
        servers = self.plain_count
        return behind_others(self.mean_service, servers, self._met(arrival_rate)[int(servers) :])

    def wait_law(self, arrival_rate: float) -> WaitLaw:
        """The law of the wait of admitted jobs, exactly: behind those that they find."""
        count = int(self.plain_count)
        return in_turn(self._met(arrival_rate), count, self.mean_service / count)

    def _met(self, arrival_rate: float) -> FloatArray:
        places, scv = (
            float(np.asarray(number(name, value), float))
            for name, value in (("places", self.places), ("arrival_scv", self.arrival_scv))
        )
        load = arrival_rate * self.mean_service
        return numbers_found(int(self.plain_count), int(places), load, scv)

    def _solved(self, arrival_rate: Quantity) -> waiting_room.FiniteQueueResult:
        def solve(rate: Quantity) -> waiting_room.FiniteQueueResult:
            load = rate * number("service_time", self.service_time)
            places, scv = number("places", self.places), number("arrival_scv", self.arrival_scv)
            if is_symbolic(self.count, places, load, scv):
                msg = f"{type(self).__name__} has no closed form; solve with numbers"
                raise GraphError(msg)
            return renewal_room(*(np.asarray(v, float) for v in (self.count, places, load, scv)))

        return self._once(arrival_rate, solve)


class _FiniteRoom(_SolvedRoom):
    """The common part of M/M/1/K and M/M/m/K."""

    renewal: ClassVar[type[Station]] = GIMmK  # kind that it becomes if arrivals are not Poisson

    def returning(self, share: Quantity) -> Station:
        """The station with S / (1 - p): geometric sums of exponential times are exponential."""
        whole_stay = number("service_time", self.service_time) / (1 - share)
        return replace(self, service_time=whole_stay)  # type: ignore[type-var]

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """The law for admitted jobs: exponential service behind the services of the queue ahead."""
        time, servers = self.mean_service, self.plain_count
        queue = round(float(np.asarray(number("places", self.places), float)) - servers)
        wait = float(self.waiting_time(arrival_rate)) / time if time > 0 else 0.0
        if queue == 0 or wait == 0:
            return exponential(time)
        return limited(time, servers, queue, arrival_rate * time / servers, wait)

    def shared_law(self, arrival_rate: float) -> TimeLaw:
        """The law for admitted jobs, among at most K - 1 others."""
        time, servers = self.mean_service, self.plain_count
        if time == 0:
            return constant(0.0)
        others = np.arange(int(np.asarray(number("places", self.places), float)))
        share = np.minimum(1.0, servers / (others + 1)) / time
        met = np.asarray(self.number_law(arrival_rate).head)[:-1]
        births = np.full(len(others), arrival_rate)
        return BirthDeathSharing(births, others * share, share, met / met.sum()).law()

    def number_law(self, arrival_rate: float, again: float = 0.0) -> NumberLaw:
        """From the chain of K + 1 states; visits of a job that returns are one service."""
        places = int(np.asarray(number("places", self.places), float))
        stay = self.mean_service / (1 - again)
        law = roomy(int(self.plain_count), places, arrival_rate * stay)
        return replace(law, waits=np.nan) if again > 0 else law

    def wait_law(self, arrival_rate: float) -> WaitLaw:
        """The law of the wait of admitted jobs, behind those that they find."""
        met, count = self.number_law(arrival_rate).head[:-1], int(self.plain_count)
        return in_turn(met / met.sum(), count, self.mean_service / count)

    def _solved(self, arrival_rate: Quantity) -> waiting_room.FiniteQueueResult:
        def solve(rate: Quantity) -> waiting_room.FiniteQueueResult:
            with np.errstate(over="ignore"):
                load = rate * number("service_time", self.service_time)
            return waiting_room.solve(self.count, number("places", self.places), load)

        return self._once(arrival_rate, solve)


@dataclass(frozen=True)
class MM1K(_FiniteRoom):
    """One server and K places, Poisson arrivals, exponential service; further jobs are lost.

    Loss probability (1 - u) u**K / (1 - u**(K+1)) with u = lambda S; 1 / (K + 1) at u = 1.

    Parameters
    ----------
    service_time
        Mean service time S [s], 0 or more.
    places
        Places K, the one in service included, a whole number of 1 or more.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain.

    Examples
    --------
    >>> MM1K(service_time=1.0, places=4).loss_probability(1.0)
    0.2

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, section 3.6.
    """

    can: ClassVar[Abilities] = Abilities(
        loses=True, returns=True, counts=frozenset({"places"}), chained=True, shares=True
    )

    service_time: Quantity | str
    places: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        check_count("places", self.places)


@dataclass(frozen=True)
class MMmK(_FiniteRoom):
    """m servers and K places, Poisson arrivals, exponential service; further jobs are lost.

    With K = m the loss probability is Erlang's B. It never saturates: it loses instead.

    Parameters
    ----------
    service_time
        Mean service time S of one server [s], 0 or more.
    servers
        Number of servers m, a whole number of 1 or more.
    places
        Places K, those in service included, a whole number of m or more.

    Raises
    ------
    InvalidParameter
        For parameters outside their domain, or fewer places than servers.

    Examples
    --------
    >>> round(MMmK(service_time=1.0, servers=2, places=2).loss_probability(1.0), 12)
    0.2

    References
    ----------
    Bolch et al., *Queueing Networks and Markov Chains*, 2nd ed., 2006, section 6.2.
    """

    can: ClassVar[Abilities] = Abilities(
        loses=True,
        returns=True,
        counts=frozenset({"servers", "places"}),
        chained=True,
        shares=True,
    )

    service_time: Quantity | str
    servers: Quantity | str
    places: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        check_count("servers", self.servers)
        check_count("places", self.places)
        _check_places(self.servers, self.places)

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return number("servers", self.servers)


def _check_places(servers: Amount, places: Amount) -> None:
    """Refuse more servers than places."""
    if isinstance(servers, str) or isinstance(places, str) or is_symbolic(servers, places):
        return
    if np.any(np.less(places, servers)):
        few, many = plain(np.min(places)), plain(np.max(servers))
        msg = f"places is {digits(few)}; it must be at least servers, {digits(many)}"
        raise InvalidParameter(msg)
