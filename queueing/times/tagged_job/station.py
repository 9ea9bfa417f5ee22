"""A station of a loop as a tagged job visits it: places, rates and numbers in equilibrium.

A *place* is the state of the tagged job within a visit: the jobs ahead of it while it waits, the
jobs that are served with it, and phases of services. Each place counts a number b of other jobs at
the queue. A place that *counts all* leaves no other job of the queue uncounted; otherwise the jobs
behind the tagged job are uncounted, with weights of their own (`weights_behind`).
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.times.phase_type import Phases
from headway.records import dataclass

Numbers: TypeAlias = NDArray[np.intp]

Change: TypeAlias = tuple[Numbers, Numbers, FloatArray]
"""Indices of places before and after, and transition rates [1/s]."""

Arrivals: TypeAlias = tuple[Numbers, Numbers, FloatArray]
"""Numbers of jobs found on arrival, places that the tagged job takes, and their probabilities."""


NO_CHANGE: Change = np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)

_HASTE = 0.05
"""Share of the time in the loop by which fast services may be slowed, for speed; the means are
restored, and the errors in docs/accuracy/percentiles.md include it.
"""

_LONG = 5
"""Ratio of a delay to the time at queues above which `has_long_delay` holds: a choice."""

_COARSE = 4  # largest phase of a delay over `least`: for speed, like _HASTE


@dataclass(frozen=True, eq=False)
class TaggedStation(ABC):
    """A station of equal queues, one of which each job joins at random.

    Parameters
    ----------
    rate
        lambda, arrival rate of the station, feedback included [1/s].
    others, own
        Service times of other jobs, and of the tagged job.
    stay
        Mean response time of the tagged job per visit [s].
    lanes
        Number of queues, above 0.
    servers
        Servers m of each queue.
    again
        Probability that a served job returns directly to the same station.
    notes
        What is approximate about its service times.
    unlike
        Whether jobs of different services are served in order, which has no product form.
    """

    rate: float
    others: Phases
    own: Phases
    stay: float
    lanes: int = 1
    servers: int = 1
    again: float = 0.0
    notes: tuple[str, ...] = ()
    unlike: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        """Return what equality compares."""
        services = (self.others, self.own)
        arrays = (each for one in services for each in (one.start.tobytes(), one.moves.tobytes()))
        numbers = (self.rate, self.stay, self.lanes, self.servers, self.again)
        return type(self), *numbers, *arrays

    @property
    def load(self) -> float:
        """A = lambda S / lanes: offered load of one queue."""
        return self.rate / self.lanes * self.others.mean

    @property
    def busy(self) -> float:
        """U = a / m: utilisation."""
        return self.load / self.servers

    def at_rate(self, factor: float) -> "TaggedStation":
        """Return the station with its arrival rate multiplied by a factor."""
        return replace(self, rate=self.rate * factor)

    def with_coarse_phases(self, least: float) -> "TaggedStation":  # noqa: ARG002 - for delays
        """Return the station with the phases of a delay no shorter than `least` [s]."""
        return self

    @classmethod
    def alike(cls, rate: float, service: Phases, stay: float, count: int) -> "TaggedStation":
        """Return a station of `count` servers, with a tagged job like all others."""
        return cls(rate, service, service, stay, servers=count)

    @abstractmethod
    def numbers(self, size: int) -> FloatArray:
        """f(n): probabilities of n = 0, 1, 2... jobs at one queue in equilibrium."""

    def weights_behind(self, size: int) -> FloatArray:
        """b_i: weights of i = 0, 1, 2... jobs behind a tagged job that waits."""
        return self.numbers(size)

    @abstractmethod
    def jobs_counted(self, most: int) -> Numbers:
        """b, number of other jobs counted by each place, with at most `most` in the loop."""

    def counts_all(self, most: int) -> NDArray[np.bool_]:
        """Whether each place counts all others at the queue; another job is one place further."""
        return np.zeros(len(self.jobs_counted(most)), bool)

    @abstractmethod
    def arrivals(self, most: int) -> Arrivals:
        """Places that the tagged job takes, of each number of jobs that it finds."""

    @abstractmethod
    def service_rates(self, most: int) -> FloatArray:
        """Rates at which the tagged job's service ends, by place [1/s]."""

    def place_on_return(self, most: int) -> Numbers:
        """Place after direct feedback, by the place at the end of the service."""
        return np.arange(len(self.jobs_counted(most)))

    def phase_changes(self, most: int) -> Change:  # noqa: ARG002 - for times of several phases
        """Changes of phase, in which no service ends."""
        return NO_CHANGE

    @abstractmethod
    def departures(self, most: int) -> Change:
        """Changes of place at the end of the service of another counted job."""


@dataclass(frozen=True, eq=False)
class StationLoop:
    """Stations among which jobs can return, in an open network.

    Parameters
    ----------
    stops
        The stations, none saturated.
    entries
        Probability that a job enters the loop at each station.
    onward
        P, routing probabilities between the stations; a job leaves with the rest.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> from headway.queueing.times.tagged_job.kinds import FcfsQueue
    >>> one, service = np.ones(1), in_phases(1.0, 1.0)
    >>> loop = StationLoop((FcfsQueue(0.5, service, service, 2.0),), one, np.array([[0.9]]))
    >>> round(loop.busy, 12), round(loop.throughput, 12)
    (0.5, 0.05)
    """

    stops: tuple[TaggedStation, ...]
    entries: FloatArray
    onward: FloatArray

    @cached_property
    def _key(self) -> tuple[object, ...]:
        stops = tuple(stop.key for stop in self.stops)
        return stops, self.entries.tobytes(), self.onward.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StationLoop) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def busy(self) -> float:
        """Utilisation of the busiest station."""
        return max(stop.busy for stop in self.stops)

    @cached_property
    def rates(self) -> FloatArray:
        """lambda_k, arrival rates of the stations [1/s]."""
        return np.array([stop.rate for stop in self.stops])

    @property
    def exit_probabilities(self) -> FloatArray:
        """out_k = 1 - sum over j of P_kj: probability of leaving the loop after station k."""
        return np.asarray(np.maximum(1 - self.onward.sum(axis=1), 0.0))

    @property
    def throughput(self) -> float:
        """X = sum over k of lambda_k out_k: throughput of the loop [1/s]."""
        return float(self.rates @ self.exit_probabilities)

    @cached_property
    def visits(self) -> FloatArray:
        """(1 - P)^-1: mean visits by the station of entry, shape (entries, stations)."""
        return np.asarray(np.linalg.inv(np.eye(len(self.stops)) - self.onward), float)

    @cached_property
    def means(self) -> FloatArray:
        """Mean time in the loop by the station of entry [s]."""
        return np.asarray(self.visits @ [stop.stay for stop in self.stops])

    @cached_property
    def least(self) -> float:
        """Service time to which quicker services are slowed [s]."""
        times = np.array([stop.others.mean for stop in self.stops])
        visits = self.entries @ self.visits
        stays = visits * np.array([stop.stay for stop in self.stops])
        return float(_HASTE * stays.sum() / (stays @ (1 / times)))

    def with_coarse_phases(self) -> "StationLoop":
        """Return the loop with phases of delays no shorter than `_COARSE * least`."""
        return replace(
            self, stops=tuple(stop.with_coarse_phases(_COARSE * self.least) for stop in self.stops)
        )

    def scaled(self, factor: float) -> "StationLoop":
        """Return the loop with all arrival rates multiplied by a factor."""
        return replace(self, stops=tuple(stop.at_rate(factor) for stop in self.stops))

    @property
    def is_one_queue(self) -> bool:
        """Whether the loop is one queue with a place that counts all: the chain is then exact."""
        first = self.stops[0]
        return len(self.stops) == 1 and first.lanes == 1 and bool(first.counts_all(1).any())

    @property
    def has_unlike_services(self) -> bool:
        """Whether a station serves jobs of different services in order: no product form."""
        return any(stop.unlike for stop in self.stops)

    @property
    def has_long_delay(self) -> bool:
        """Whether a delay is so long that visits before and after it are nearly independent."""
        stays = np.array([stop.stay for stop in self.stops])
        waits = np.array([stop.busy > 0 for stop in self.stops])
        waited = float(self.entries @ self.visits @ (stays * waits))
        return bool(stays[~waits].max(initial=0.0) > _LONG * waited)
