"""Stations as a job meets them: what its visits take, and what it knows of the others there."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
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

_SHORT = 0.02  # of the mean service: quicker ones of other classes are taken as so long


class VisitedStation(Protocol):
    """A station, as one of the jobs sees it that visit it at a rate [1/s]."""

    @property
    def can(self) -> Abilities:
        """What its kind is."""

    @property
    def mean_service(self) -> float:
        """Mean service time [s]."""

    @property
    def plain_count(self) -> float:
        """Number of servers."""

    @property
    def plain_scv(self) -> float | None:
        """Scv of service times; None where two moments do not tell them."""

    def time_law(self, arrival_rate: float) -> TimeLaw:
        """Of a visit."""

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """Of a visit of those who come back."""

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw | None:
        """Of all visits of those who come straight back; None if unknown."""

    def stop(self, arrival_rate: float, again: float) -> TaggedStation | None:
        """The station as a job followed through a loop sees it; None if unknown."""


@dataclass(frozen=True)
class ClassStation:
    """A station whose jobs share its servers, or ask different times of it, to one of them.

    Parameters
    ----------
    mean_service
        Of the job [s].
    law
        Finds how long a visit takes, at the rates there are.
    make_stop
        Makes of arrivals [1/s] what the station is to a job that is followed.
    back
        Finds how long all visits of who comes straight back take, at arrivals from elsewhere [1/s]
        and a chance; None where that is known only to one who follows the job.
    """

    mean_service: float
    law: Callable[[], TimeLaw]
    make_stop: Callable[[float], TaggedStation | None]
    back: Callable[[float, float], TimeLaw] | None = None
    can: Abilities = field(default_factory=Abilities)
    plain_count: float = 1.0
    plain_scv: float | None = None

    def time_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - at its own
        """Of a visit."""
        return self.law()

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """The same."""
        return self.time_law(arrival_rate)

    def feedback_law(self, arrival_rate: float, chance: float) -> TimeLaw | None:
        """Of all visits, where there is a law for it."""
        return None if self.back is None else self.back(arrival_rate, chance)

    def stop(self, arrival_rate: float, again: float) -> TaggedStation | None:  # noqa: ARG002 - memoryless
        """The station at this arrival rate, as the job meets it."""
        return self.make_stop(arrival_rate)


@dataclass(frozen=True)
class SingleVisitStation:
    """A station whose jobs share its servers for times of any scv, to a job that comes once.

    Parameters
    ----------
    mean_service
        Of the job [s].
    law
        Finds how long the visit takes, at the rates there are.
    """

    mean_service: float
    law: Callable[[], TimeLaw]
    can: Abilities = field(default_factory=partial(Abilities, insensitive=True))
    plain_count: float = 1.0
    plain_scv: float | None = None

    def time_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - at its own
        """Of the visit."""
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
"""Why a job's several visits to shared servers of other times are not followed."""


def general_sharing_station(
    sharers: SharingClasses, own: float, scv: float, servers: int
) -> SingleVisitStation:
    """Servers shared by jobs whose times are of any scv.

    Parameters
    ----------
    sharers
        Who comes to it.
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
    """Servers shared by all present jobs, as one of several kinds of jobs sees them.

    To a job that is followed the others are of one kind, that of their mean.

    Parameters
    ----------
    rates, times
        Arrivals [1/s] and mean service time [s] of each kind.
    own
        Mean service time of the job [s], above 0.
    servers, lanes
        Servers of each queue, and queues that are chosen at random.

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


@lru_cache(maxsize=32)  # as several percentiles are asked for, one after the other
def _shared(
    rates: tuple[float, ...], times: tuple[float, ...], own: float, servers: int
) -> TimeLaw:
    return exponential_sharing_law(np.array(rates), np.array(times), own, servers)


def fcfs_station(comers: SharingClasses, own: tuple[float, float], law: TimeLaw) -> ClassStation:
    """One server in order of arrival, as a job of one of several classes sees it.

    Parameters
    ----------
    comers
        Who comes to it, by class.
    own
        Mean service time of the job [s], and its scv.
    law
        Of a visit.

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential
    >>> two = SharingClasses((1.0, 1.0), (0.1, 0.3), (1.0, 1.0))
    >>> met = fcfs_station(two, (0.1, 1.0), exponential(0.2))
    >>> round(met.stop(2.0, 0.0).others.mean, 12)
    0.2
    """
    stop = partial(_in_turn, comers, own, law.mean)
    return ClassStation(own[0], lambda: law, stop, partial(_back_in_turn, comers, own))


def _in_turn(
    comers: SharingClasses, own: tuple[float, float], stay: float, rate: float
) -> TaggedStation:
    """The queue as it is to a job that is followed through several stations."""
    here = comers.alike()
    if {own[1], *here.scvs} != {1.0}:
        raise GraphError(LOOPED)
    times, rates = np.array(here.times), np.array(here.rates)
    least = _SHORT * comers.busy / sum(comers.rates)
    others = one_of(np.maximum(times, least), rates)
    return FcfsQueue(rate, others, in_phases(own[0], 1.0), stay, unlike=len(times) > 1)


LOOPED = (
    "response times of classes with times of their own in a loop of several stations have a known "
    "distribution for exponential times only; simulate the model"
)
"""Percentiles were up to 30% off in loops with a delay, with times of scv 4."""


def _back_in_turn(
    comers: SharingClasses, own: tuple[float, float], arrival_rate: float, chance: float
) -> TimeLaw:
    """All visits of a job that comes straight back, as the others do."""
    here = comers.alike()
    rates, times, scvs = (np.array(each) for each in here)
    total = float(rates.sum())
    mean = float(rates @ times) / total
    spread = float(rates @ (times**2 * (1 + scvs))) / total / mean**2 - 1
    each = [gamma(time, scv) for time, scv in zip(here.times, here.scvs, strict=True)]

    def service(s: ComplexArray) -> ComplexArray:
        pairs = zip(rates / total, each, strict=True)
        return np.asarray(sum(share * law(s) for share, law in pairs))

    mixed = _mean_stay(SharingClasses((total,), (mean,), (spread,)), own, chance)
    law = unlike_law(
        (arrival_rate, service, mean), chance, gamma(*own), (mixed, _mean_stay(here, own, chance))
    )
    spreads = {own[1], *here.scvs} != {1.0}
    return replace(law, notes=(UNLIKE_BACK, *((GAMMA,) if spreads else ())))


def _mean_stay(comers: SharingClasses, own: tuple[float, float], chance: float) -> float:
    """Mean time until a job leaves that comes straight back with a chance, as the others do [s]."""
    each = ((0.0, *comers.rates), (own[0], *comers.times), (own[1], *comers.scvs))
    rates, times, scvs = (np.array(one)[:, None] for one in each)
    wait = feedback_waits(rates, times, scvs, np.full(rates.shape, chance))[0, 0]
    return float(wait + own[0]) / (1 - chance)


UNLIKE_BACK = (
    "percentiles of classes with times of their own that return to a server assume that others "
    "return as any class: up to the 99th within 7%, the 99.9th within 3% where measured"
)
"""By ``python -m tests.campaigns.returning_errors``."""
