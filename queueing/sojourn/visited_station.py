"""Stations as a job of one class visits them: laws of its visits, for chains of a tagged job."""

from collections.abc import Callable
from dataclasses import field, replace
from functools import lru_cache, partial
from typing import Protocol

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.classes.feedback import feedback_waits
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import MMm
from headway.queueing.stations.shared import visit_law
from headway.queueing.times.feedback import unlike_law
from headway.queueing.times.laws import GAMMA, ComplexArray, TimeLaw, gamma
from headway.queueing.times.phase_type import in_phases, one_of
from headway.queueing.times.processor_sharing.exponential import exponential_sharing_law
from headway.queueing.times.processor_sharing.general import SharingClasses
from headway.queueing.times.tagged_job.kinds import FcfsQueue, SharedQueue
from headway.queueing.times.tagged_job.station import TaggedStation
from headway.records import dataclass

_SHORT = 0.02  # least service time of other classes over their mean: for speed


class VisitedStation(Protocol):
    """A station with the laws of times that a job of one class spends there."""

    @property
    def can(self) -> Abilities:
        """Abilities of its kind."""

    @property
    def mean_service(self) -> float:
        """Mean service time [s]."""

    @property
    def plain_count(self) -> float:
        """Number of servers."""

    @property
    def plain_scv(self) -> float | None:
        """Scv of service times; None if two moments do not determine them."""

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """Law of the response time of one visit."""

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """Law of the response time of one visit, if jobs can return later."""

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw | None:
        """Law of the sum of visits with direct feedback at a probability; None if unknown."""

    def stop(self, arrival_rate: float, again: float) -> TaggedStation | None:
        """The station in the chain of a tagged job in a loop; None if unknown."""


@dataclass(frozen=True)
class ClassStation:
    """A station of several classes as a job of one of them visits it.

    Parameters
    ----------
    mean_service
        Mean service time of the job [s].
    law
        Returns the law of the response time per visit, at the given arrival rates.
    make_stop
        Returns the station in the chain of a tagged job, given its arrival rate [1/s].
    back
        Returns the law of the sum of visits with direct feedback, given the arrival rate from
        elsewhere [1/s] and the probability; None where only the tagged job's chain has it.
    """

    mean_service: float
    law: Callable[[], TimeLaw]
    make_stop: Callable[[float], TaggedStation | None]
    back: Callable[[float, float], TimeLaw] | None = None
    can: Abilities = field(default_factory=Abilities)
    plain_count: float = 1.0
    plain_scv: float | None = None

    def time_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - at its own
        """Law of the response time of one visit."""
        return self.law()

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """Law of the response time of one visit, as `time_law`."""
        return self.time_law(arrival_rate)

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw | None:
        """Law of the sum of visits with direct feedback, if known."""
        return None if self.back is None else self.back(arrival_rate, chance)

    def stop(self, arrival_rate: float, again: float) -> TaggedStation | None:  # noqa: ARG002 - memoryless
        """The station in the chain of a tagged job."""
        return self.make_stop(arrival_rate)


@dataclass(frozen=True)
class SingleVisitStation:
    """A processor-sharing station with any service times, for a job that visits it once.

    Parameters
    ----------
    mean_service
        Mean service time of the job [s].
    law
        Returns the law of the response time, at the given arrival rates.
    """

    mean_service: float
    law: Callable[[], TimeLaw]
    can: Abilities = field(default_factory=partial(Abilities, insensitive=True))
    plain_count: float = 1.0
    plain_scv: float | None = None

    def time_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - at its own
        """Law of the response time."""
        return self.law()

    def looped_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - refused
        """Refused."""
        raise GraphError(ONCE)

    def feedback_law(self, arrival_rate: float, chance: float) -> None:  # noqa: ARG002 - refused
        """Refused."""
        raise GraphError(ONCE)

    def stop(self, arrival_rate: float, again: float) -> None:  # noqa: ARG002 - refused
        """Refused."""
        raise GraphError(ONCE)


ONCE = (
    "response times of jobs that return to shared servers have a known distribution for "
    "exponential times only; simulate the model"
)
"""Why the law of several visits to shared servers is refused if service times are not
exponential.
"""


def general_sharing_station(
    sharers: SharingClasses, own: float, scv: float, servers: int
) -> SingleVisitStation:
    """Processor sharing by classes with service times of any scv.

    Parameters
    ----------
    sharers
        Arrivals, means and scvs by class.
    own, scv
        Mean service time of the job [s], and its scv.
    servers
        Number of servers.

    Examples
    --------
    >>> classes = SharingClasses((0.5,), (1.0,), (4.0,))
    >>> general_sharing_station(classes, 1.0, 4.0, servers=1).time_law(0.5).mean
    2.0
    """
    return SingleVisitStation(own, partial(visit_law, sharers, own, scv, servers))


def exponential_sharing_station(
    rates: FloatArray, times: FloatArray, own: float, servers: int, lanes: int
) -> ClassStation:
    """Servers shared by all jobs present, as a job of one class among several visits them.

    For a tagged job, all others are of one class, with their mean service time.

    Parameters
    ----------
    rates, times
        Arrivals [1/s] and mean service time [s] of each kind.
    own
        Mean service time of the job [s], above 0.
    servers, lanes
        Servers of each queue, and number of queues, chosen at random.

    Examples
    --------
    >>> met = exponential_sharing_station(np.array([0.5]), np.array([1.0]), 1.0, servers=1, lanes=1)
    >>> met.stop(0.5, 0.0).stay
    2.0
    """
    total = float(rates.sum())
    mean = float(rates @ times) / total if total else own
    stay = float(MMm(mean, servers).response_time(total / lanes)) * own / mean
    met = partial(SharedQueue, others=in_phases(mean, 1.0), own=in_phases(own, 1.0))
    stop = partial(met, stay=stay, lanes=lanes, servers=servers)
    return ClassStation(
        own, partial(_shared, tuple((rates / lanes).tolist()), tuple(times), own, servers), stop
    )


@lru_cache(maxsize=32)  # several percentiles are asked for, one after the other
def _shared(
    rates: tuple[float, ...], times: tuple[float, ...], own: float, servers: int
) -> TimeLaw:
    return exponential_sharing_law(np.array(rates), np.array(times), own, servers)


def fcfs_station(sharers: SharingClasses, own: tuple[float, float], law: TimeLaw) -> ClassStation:
    """A single server in order of arrival, as a job of one of several classes visits it.

    Parameters
    ----------
    sharers
        Arrivals, means and scvs by class.
    own
        Mean service time of the job [s], and its scv.
    law
        Law of the response time per visit.

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential
    >>> two = SharingClasses((1.0, 1.0), (0.1, 0.3), (1.0, 1.0))
    >>> station = fcfs_station(two, (0.1, 1.0), exponential(0.2))
    >>> round(station.stop(2.0, 0.0).others.mean, 12)
    0.2
    """
    stop = partial(_tagged_fcfs_queue, sharers, own, law.mean)
    return ClassStation(own[0], lambda: law, stop, partial(_feedback_law, sharers, own))


def _tagged_fcfs_queue(
    sharers: SharingClasses, own: tuple[float, float], stay: float, rate: float
) -> TaggedStation:
    """The queue in the chain of a tagged job in a loop."""
    here = sharers.alike()
    if {own[1], *here.scvs} != {1.0}:
        raise GraphError(LOOPED)
    times, rates = np.array(here.times), np.array(here.rates)
    least = _SHORT * sharers.busy / sum(sharers.rates)
    others = one_of(np.maximum(times, least), rates)
    return FcfsQueue(rate, others, in_phases(own[0], 1.0), stay, unlike=len(times) > 1)


LOOPED = (
    "response times of classes with times of their own in a loop of several stations have a known "
    "distribution for exponential times only; simulate the model"
)
"""Why: percentiles were up to 30% off in loops with a delay, with times of scv 4."""


def _feedback_law(
    sharers: SharingClasses, own: tuple[float, float], arrival_rate: float, chance: float
) -> TimeLaw:
    """Law of the sum of visits with direct feedback, at the same probability for all classes."""
    here = sharers.alike()
    rates, times, scvs = (np.array(each) for each in here)
    total = float(rates.sum())
    mean = float(rates @ times) / total
    spread = float(rates @ (times**2 * (1 + scvs))) / total / mean**2 - 1
    each = [gamma(time, scv) for time, scv in zip(here.times, here.scvs, strict=True)]

    def service(s: ComplexArray) -> ComplexArray:
        pairs = zip(rates / total, each, strict=True)
        return np.asarray(sum(share * law(s) for share, law in pairs))

    mixed = _mean_with_feedback(SharingClasses((total,), (mean,), (spread,)), own, chance)
    law = unlike_law(
        (arrival_rate, service, mean),
        chance,
        gamma(*own),
        (mixed, _mean_with_feedback(here, own, chance)),
    )
    spreads = {own[1], *here.scvs} != {1.0}
    return replace(law, notes=(UNLIKE_BACK, *((GAMMA,) if spreads else ())))


def _mean_with_feedback(sharers: SharingClasses, own: tuple[float, float], chance: float) -> float:
    """Mean sum of visits with direct feedback, at the same probability for all classes [s]."""
    each = (
        (0.0, *sharers.rates),
        (own[0], *sharers.times),
        (own[1], *sharers.scvs),
    )
    rates, times, scvs = (np.array(one)[:, None] for one in each)
    wait = feedback_waits(rates, times, scvs, np.full(rates.shape, chance))[0, 0]
    return float(wait + own[0]) / (1 - chance)


UNLIKE_BACK = (
    "percentiles of classes with times of their own that return to a server assume that others "
    "return as any class: up to the 99th within 7%, the 99.9th within 3% where measured"
)
"""Measured by ``python -m tests.campaigns.returning_errors``."""
