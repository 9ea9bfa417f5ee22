"""Stations: where requests wait and are served.

A station knows its laws per visit; the visits belong to the network. Every method takes floats,
NumPy arrays or SymPy expressions.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from headway.blocks import in_blocks
from headway.errors import GraphError
from headway.kinds import (
    Amount,
    Quantity,
    apply,
    check_count,
    check_not_negative,
    is_symbolic,
    number,
    plain,
)
from headway.lazy import loaded
from headway.queueing.flows.laws import (
    check_arrivals,
    littles_law,
    saturation_throughput,
    utilisation_law,
)
from headway.queueing.stations.abilities import SERVERS, Abilities, ServiceKind
from headway.queueing.stations.counted import Counted
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.queueing.times.laws import TimeLaw
    from headway.queueing.times.tagged_job.station import TaggedStation


class Station(Counted, ABC):
    """A station's laws, as functions of its arrival rate [1/s]."""

    service_time: Quantity | str
    approximation: ClassVar[str] = ""  # what is approximate about its formulas; empty if nothing is
    can: ClassVar[Abilities] = Abilities()
    followed: ClassVar[str] = ""  # place of the class that a job which returns sees
    lawless: ClassVar[str] = "no formula is known"  # why `time_law` refuses, if it does
    # kind that it becomes if its servers are shared
    shared_as: ClassVar[type["Station"] | None] = None
    # kind that it becomes under another choice of queue
    chosen_as: ClassVar[type["Station"] | None] = None

    def _number(self, value: Amount) -> Amount:
        """One of its numbers as a float, or as an array of floats."""
        return plain(np.asarray(number("service_time", value), float))

    @property
    def capacity(self) -> Amount:
        """Largest arrival rate it can serve: m / S [1/s]."""
        return saturation_throughput(number("service_time", self.service_time), self.count)

    def fastest(self, population: Quantity) -> Amount:  # noqa: ARG002 - for kinds it counts for
        """Largest service rate with at most N jobs: that at saturation [1/s]."""
        return self.capacity

    @property
    def speedup(self) -> Amount:
        """Ratio of its largest service rate to that with a single job: its servers, m."""
        return self.count

    @property
    def hastens(self) -> bool:
        """Whether more jobs never slow it down."""
        return True

    @property
    def alone(self) -> Amount:
        """Mean time of a visit without other jobs [s]: S."""
        time: Amount = number("service_time", self.service_time)
        return time

    def stay(self, population: Amount) -> tuple[Amount, Amount]:
        """Smallest and largest mean time among N jobs: S, and S (1 + (N - 1) / m) [s]."""
        service_time: Amount = number("service_time", self.service_time)
        return service_time, service_time * (1 + (population - 1) / self.count)

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Share of its servers that is busy: U = lambda S / m; 1 or more means overload."""
        return utilisation_law(arrival_rate, number("service_time", self.service_time), self.count)

    def offered(self, arrival_rate: Quantity) -> Amount:
        """Arrival rate over capacity: 1 or more means overload."""
        return self.utilisation(arrival_rate)

    @abstractmethod
    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Mean time in the queue before service, per visit [s]; infinite from saturation on."""

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """Mean waiting and service time of a visit: R = W + S [s]."""
        return self.waiting_time(arrival_rate) + number("service_time", self.service_time)

    def queue_length(self, arrival_rate: Quantity) -> Amount:
        """Mean number waiting and in service, by Little's law: Q = X R."""
        return littles_law(self.throughput(arrival_rate), self.response_time(arrival_rate))

    def throughput(self, arrival_rate: Quantity) -> Amount:
        """Rate of requests served [1/s]: all arrivals, unless the station loses some."""
        return arrival_rate

    def loss_probability(self, arrival_rate: Quantity) -> Amount:
        """Probability that an arrival is lost: 0 unless the number of places is finite."""
        return arrival_rate * 0

    def admitted(self, arrival_rate: Quantity) -> Amount:
        """Probability that an arrival finds a place: 1 unless their number is finite."""
        return 1 + arrival_rate * 0

    def returning(self, share: Quantity) -> "Station":  # noqa: ARG002 - for kinds that can
        """The station with all visits of a job as one, if jobs return with this probability.

        Only for kinds with this ability (`Abilities.returns`). Others do not need it, as the
        returning flow may be taken as Poisson (product form), or have no such law.

        Raises
        ------
        GraphError
            For a kind without such a law.
        """
        msg = f"{type(self).__name__} has no law for jobs that return directly"
        raise GraphError(msg)

    def time_law(self, arrival_rate: float) -> "TimeLaw":  # noqa: ARG002 - for kinds that know
        """Law of the response time of a visit, below saturation; refused if unknown."""
        msg = f"the response time of {self.label} has no known distribution: {self.lawless}"
        raise GraphError(msg)

    def shared_law(self, arrival_rate: float) -> "TimeLaw":  # noqa: ARG002 - for kinds that know
        """Law of the response time of a visit if all jobs present share the servers.

        Below saturation; refused if unknown.
        """
        what = f"the response time of {self.label}"
        msg = f"{what} has no known distribution where its servers are shared"
        raise GraphError(msg)

    def shared(self) -> "Station":
        """The station with the laws that it has if all jobs present share its servers.

        Examples
        --------
        >>> from headway.queueing import MG1
        >>> MG1(1.0, scv=4.0).shared().response_time(0.5)
        2.0
        """
        kind = self.shared_as
        if kind is None:
            return self
        return kind(**{one.name: getattr(self, one.name) for one in fields(kind)})  # type: ignore[arg-type]

    def chosen(self, name: str) -> "Station":
        """The station, with this name, if its queues are chosen in another way than at random.

        Examples
        --------
        >>> from headway.queueing import Parallel
        >>> Parallel(0.5, 4).chosen("cpu").utilisation(4.0)
        0.5
        """
        kind: Callable[..., Station] | None = self.chosen_as
        return self if kind is None else kind(self.service_time, self.count, name)

    @property
    def bare(self) -> "Station":
        """The station without the effects of its discipline."""
        return self

    def looped_law(self, arrival_rate: float) -> "TimeLaw":
        """The time law of a visit if jobs return, where the law of all visits is not known."""
        return self.time_law(arrival_rate)

    def feedback_law(self, arrival_rate: float, chance: float) -> "TimeLaw | None":  # noqa: ARG002
        """Law of the total time of jobs that return with this probability; None if unknown.

        The arrival rate [1/s] is that of new jobs.
        """
        return None

    def stop(self, arrival_rate: float, again: float) -> "TaggedStation | None":  # noqa: ARG002
        """The station in the form that a tagged job's chain takes; None if there is none."""
        from headway.queueing.times.phase_type import in_phases

        if not self.followed:
            return None
        kind: type[TaggedStation] = loaded(self.followed)
        stay, count = float(self.response_time(arrival_rate)), int(self.plain_count)
        return kind.alike(arrival_rate, in_phases(self.mean_service, 1.0), stay, count)


def while_stable(
    utilisation: Amount, waiting_time: Callable[..., Amount], *numbers: Amount
) -> Amount:
    """Evaluate a waiting time where U < 1; infinite from U = 1 on (NaN where U is NaN).

    Parameters
    ----------
    utilisation
        U, a number, array or SymPy expression.
    waiting_time
        Function of U, called with 0 <= U < 1 only, and of the numbers, that gives the wait.
    numbers
        Numbers and arrays; the function gets their values at the same points.

    Raises
    ------
    InvalidParameter
        For a negative U, as from a negative arrival rate.

    Examples
    --------
    >>> while_stable(1.5, lambda busy: 1 / (1 - busy))
    inf
    """
    if is_symbolic(utilisation):
        return waiting_time(utilisation, *numbers)
    if isinstance(utilisation, float) and 0 <= utilisation < 1:
        return plain(waiting_time(utilisation, *numbers))
    busy = np.asarray(utilisation, float)
    if busy.size and busy.min() >= 0 and busy.max() < 1:
        return plain(in_blocks(waiting_time, busy, *numbers))
    check_arrivals(busy)
    stable = busy < 1
    full = np.where(np.isnan(busy), np.nan, np.inf)
    waits = in_blocks(waiting_time, np.where(stable, busy, 0.0), *numbers)
    return plain(np.where(stable, waits, full))


def _one_server_wait(rate: Amount, time: Amount) -> Amount:
    busy = utilisation_law(rate, time)
    return while_stable(busy, lambda share, time: share * time / (1 - share), time)


def _one_server_response(rate: Amount, time: Amount) -> Amount:
    return while_stable(utilisation_law(rate, time), lambda share, time: time / (1 - share), time)


def _multi_server_wait(rate: Amount, time: Amount, servers: Amount) -> Amount:
    def wait(busy: Amount, time: Amount, servers: Amount) -> Amount:
        """W = C(m, a) S / (m - a), a = m U [s]."""
        from headway.queueing.erlang.formulas import erlang_c

        load = servers * busy
        return erlang_c(servers, load) * time / (servers - load)

    return while_stable(utilisation_law(rate, time, servers), wait, time, servers)


def idle(utilisation: Amount) -> Amount:
    """Share of time that a server with this utilisation is idle: 1 - U, and 0 in overload.

    Examples
    --------
    >>> idle(0.75), idle(1.5)
    (0.25, 0.0)
    """
    return 1 - utilisation if is_symbolic(utilisation) else apply("max", 1 - utilisation, 0.0)


@dataclass(frozen=True)
class Delay(Station):
    """A delay: every job has its own server, so no job waits: R = S.

    Parameters
    ----------
    service_time
        The delay S [s], 0 or more.

    Raises
    ------
    InvalidParameter
        For a delay that is negative or not finite.

    Examples
    --------
    >>> Delay(3.4e-3).response_time(800)
    0.0034

    References
    ----------
    Lazowska et al., *Quantitative System Performance*, 1984, section 6.5.
    """

    can: ClassVar[Abilities] = Abilities(
        ServiceKind.DELAY, shared=True, smooth=True, scv=0.0, chained=True
    )
    followed: ClassVar[str] = "headway.queueing.times.tagged_job.kinds:TaggedDelay"

    service_time: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)

    @property
    def capacity(self) -> Amount:
        """Infinite: there is always another server."""
        return np.inf

    @property
    def speedup(self) -> Amount:
        """Infinite: there is always another server."""
        return np.inf

    def stay(self, population: Amount) -> tuple[Amount, Amount]:  # noqa: ARG002 - nobody waits
        """S and S: no job waits [s]."""
        return self.service_time, self.service_time

    def utilisation(self, arrival_rate: Quantity) -> Amount:
        """Zero: a finite number of infinitely many servers is busy."""
        return arrival_rate * 0

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """Zero: no job waits."""
        return arrival_rate * 0

    def time_law(self, arrival_rate: float) -> "TimeLaw":  # noqa: ARG002 - the same at all of them
        """Constant."""
        from headway.queueing.times.laws import constant

        return constant(self._number(self.service_time))


@dataclass(frozen=True)
class MM1(Station):
    """One server, Poisson arrivals, exponential service: R = S / (1 - U).

    Parameters
    ----------
    service_time
        Mean service time S [s], 0 or more.

    Raises
    ------
    InvalidParameter
        For a service time that is negative or not finite.

    Examples
    --------
    >>> MM1(service_time=0.5).response_time(1.0)
    1.0

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, section 3.2.
    """

    can: ClassVar[Abilities] = Abilities(
        ServiceKind.QUEUE, shared=True, smooth=True, exponential=True, scv=1.0, chained=True
    )
    followed: ClassVar[str] = "headway.queueing.times.tagged_job.kinds:FcfsQueue"

    service_time: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = U S / (1 - U) [s]."""
        time = number("service_time", self.service_time)
        return in_blocks(_one_server_wait, arrival_rate, time)

    def response_time(self, arrival_rate: Quantity) -> Amount:
        """R = S / (1 - U) [s]."""
        time = number("service_time", self.service_time)
        return in_blocks(_one_server_response, arrival_rate, time)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests: 1 - U."""
        return idle(self.utilisation(arrival_rate))

    def time_law(self, arrival_rate: float) -> "TimeLaw":
        """Exponential with mean R."""
        from headway.queueing.times.laws import exponential

        return exponential(self.response_time(arrival_rate))

    def shared_law(self, arrival_rate: float) -> "TimeLaw":
        """The law of Coffman, Muntz and Trotter."""
        from headway.queueing.times.processor_sharing.exponential import exponential_sharing_law

        return exponential_sharing_law(arrival_rate, self.mean_service, self.mean_service, 1)

    def feedback_law(self, arrival_rate: float, chance: float) -> "TimeLaw":
        """The law of Takács."""
        from headway.queueing.times.feedback import feedback_law

        return feedback_law(arrival_rate, chance, self.mean_service, 1.0)


@dataclass(frozen=True)
class Servers(Station):
    """The common part of stations with m equal servers.

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
    """

    service_time: Quantity | str
    servers: Quantity | str

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        check_count("servers", self.servers)

    @property
    def count(self) -> Quantity:
        """Number of servers m."""
        return number("servers", self.servers)


@dataclass(frozen=True)
class MMm(Servers):
    """m servers that share one queue, Poisson arrivals, exponential service.

    W = C(m, a) S / (m - a) with a = lambda S and Erlang's C.

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
    >>> disks = MMm(service_time=0.012, servers=28)
    >>> round(disks.utilisation(1000), 4), round(disks.response_time(1000), 6)
    (0.4286, 0.012)

    References
    ----------
    Kleinrock, *Queueing Systems* I, 1975, section 3.5.
    """

    can: ClassVar[Abilities] = Abilities(
        ServiceKind.QUEUE,
        shared=True,
        counts=SERVERS,
        smooth=True,
        eased_by=SERVERS,
        scv=1.0,
        chained=True,
    )
    followed: ClassVar[str] = "headway.queueing.times.tagged_job.kinds:MultiServerQueue"

    def waiting_time(self, arrival_rate: Quantity) -> Amount:
        """W = C(m, a) S / (m - a) [s]."""
        time = number("service_time", self.service_time)
        return in_blocks(_multi_server_wait, arrival_rate, time, self.count)

    def empty_probability(self, arrival_rate: Quantity) -> Amount:
        """Share of time without requests: 1 / (sum below m of a**k / k! + last / (1 - U))."""
        from headway.queueing.erlang.formulas import empty_probability

        time = number("service_time", self.service_time)
        return empty_probability(self.count, arrival_rate * time)

    def time_law(self, arrival_rate: float) -> "TimeLaw":
        """Exponential service, with probability C(m, a) after a wait of mean S / (m - a)."""
        from headway.queueing.erlang.formulas import erlang_c
        from headway.queueing.times.laws import pooled

        time, servers = self._number(self.service_time), self._number(self.count)
        load = arrival_rate * time
        return pooled(time, erlang_c(servers, load), time / (servers - load))

    def shared_law(self, arrival_rate: float) -> "TimeLaw":
        """Law of a tagged job among the number of others, each with at most one server."""
        from headway.queueing.times.processor_sharing.exponential import exponential_sharing_law

        return exponential_sharing_law(
            arrival_rate, self.mean_service, self.mean_service, int(self.plain_count)
        )
