"""Stations as a job meets them: what its visits take, and what it knows of the others there."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Protocol

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.stations.abilities import Abilities
from headway.queueing.stations.base import MMm
from headway.queueing.stations.shared import visit_law
from headway.queueing.times.laws import TimeLaw
from headway.queueing.times.lines import OrderedQueue, Shared
from headway.queueing.times.meeting import shared_law
from headway.queueing.times.phases import in_phases, one_of
from headway.queueing.times.sharers import Sharers
from headway.queueing.times.stops import Stop

_SHORT = 0.02  # of the mean service: quicker ones of other classes are taken as so long


class Visited(Protocol):
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

    def stop(self, arrival_rate: float, again: float) -> Stop | None:
        """The station as a job followed through a loop sees it; None if unknown."""


@dataclass(frozen=True)
class Met:
    """A station whose jobs share its servers, or ask different times of it, to one of them.

    Parameters
    ----------
    mean_service
        Of the job [s].
    law
        Finds how long a visit takes, at the rates there are.
    make_stop
        Makes of arrivals [1/s] what the station is to a job that is followed.
    """

    mean_service: float
    law: Callable[[], TimeLaw]
    make_stop: Callable[[float], Stop | None]
    can: Abilities = field(default_factory=Abilities)
    plain_count: float = 1.0
    plain_scv: float | None = None

    def time_law(self, arrival_rate: float) -> TimeLaw:  # noqa: ARG002 - at its own
        """Of a visit."""
        return self.law()

    def looped_law(self, arrival_rate: float) -> TimeLaw:
        """The same."""
        return self.time_law(arrival_rate)

    def feedback_law(self, arrival_rate: float, chance: float) -> None:
        """Not known, but to one who follows the job."""

    def stop(self, arrival_rate: float, again: float) -> Stop | None:  # noqa: ARG002 - memoryless
        """The station at this arrival rate, as the job meets it."""
        return self.make_stop(arrival_rate)


@dataclass(frozen=True)
class MetOnce:
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


def met_any(sharers: Sharers, own: float, scv: float, servers: int) -> MetOnce:
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
    >>> met_any(Sharers((0.5,), (1.0,), (4.0,)), 1.0, 4.0, servers=1).time_law(0.5).mean
    2.0
    """
    return MetOnce(own, partial(visit_law, sharers, own, scv, servers))


def met_sharing(rates: FloatArray, times: FloatArray, own: float, servers: int, lanes: int) -> Met:
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
    >>> met = met_sharing(np.array([0.5]), np.array([1.0]), 1.0, servers=1, lanes=1)
    >>> met.stop(0.5, 0.0).stay
    2.0
    """
    total = float(rates.sum())
    mean = float(rates @ times) / total if total else own
    stay = float(MMm(mean, servers).response_time(total / lanes)) * own / mean
    met = partial(Shared, others=in_phases(mean, 1.0), own=in_phases(own, 1.0))
    stop = partial(met, stay=stay, lanes=lanes, servers=servers)
    return Met(
        own, partial(_shared, tuple((rates / lanes).tolist()), tuple(times), own, servers), stop
    )


@lru_cache(maxsize=32)  # as several percentiles are asked for, one after the other
def _shared(
    rates: tuple[float, ...], times: tuple[float, ...], own: float, servers: int
) -> TimeLaw:
    return shared_law(np.array(rates), np.array(times), own, servers)


def met_in_turn(rates: FloatArray, times: FloatArray, own: float, law: TimeLaw) -> Met:
    """One server in order of arrival, as a job of one of several classes sees it.

    Parameters
    ----------
    rates, times
        Arrivals [1/s] and mean service time [s] of each class.
    own
        Mean service time of the job [s].
    law
        Of a visit.

    Examples
    --------
    >>> from headway.queueing.times.laws import exponential
    >>> met = met_in_turn(np.ones(2), np.array([0.1, 0.3]), 0.1, exponential(0.2))
    >>> round(met.stop(2.0, 0.0).others.mean, 12)
    0.2
    """
    least = _SHORT * float(rates @ times) / float(rates.sum())
    service = one_of(np.maximum(times, least), rates)
    stop = partial(OrderedQueue, others=service, own=in_phases(own, 1.0), stay=law.mean)
    return Met(own, lambda: law, stop)
