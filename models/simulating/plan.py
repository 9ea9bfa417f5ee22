"""The plan of a simulation: stations, classes of jobs and their routes."""

from collections.abc import Mapping
from functools import cached_property
from math import inf

import numpy as np

from headway.kinds import FloatArray
from headway.models.simulating.class_switching import ClassSwitching
from headway.models.simulating.streams import BATCHES, CHANGING, SPREAD_ARRIVALS, TRACED, Stream
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.flows.clients import Clients
from headway.queueing.network.blocking import Blocking
from headway.queueing.playing.rows import NONE
from headway.queueing.stations.abilities import QueueChoice
from headway.queueing.stations.listed.serving import Serving
from headway.records import dataclass

ALL = ""
"""Name of the only class in a model without classes."""

SHARED_SPEED = (
    "where the speed depends on the number present, those at the servers (in the batch) share it "
    "equally, and the others wait in order of arrival"
)

GIVE_UP = (
    "response times are those of requests that were answered in time, from their first attempt on; "
    "jobs that go on for clients who have gone count in throughput and utilisation"
)

BREAKS = (
    "the clients of a class share a circuit breaker; attempts that it refuses reach no server, and "
    "count as attempts, not as losses"
)

IN_ROUNDS = (
    "the model gives visits, not routes: each job makes rounds of the stations that it still has "
    "to visit, in their order (2.4 visits are two, and a third in 40% of cases)"
)


@dataclass(frozen=True)
class SimulatedRoutes:
    """Routes of a class, by position of the station.

    Parameters
    ----------
    entry
        Probability of entering at each station, shape (stations,).
    onward
        Probability of going from each station (row) to each, shape (stations, stations).
    visits
        Mean visits of a job to each station, if given instead of routes.
    switching
        Routes by class, in place of `onward`.
    """

    entry: FloatArray
    onward: FloatArray
    visits: FloatArray | None = None
    switching: ClassSwitching | None = None

    @cached_property
    def mean_visits(self) -> FloatArray:
        """Mean visits of a job, used only to plan the length of the simulation."""
        if self.visits is not None:
            return self.visits
        if self.switching is not None:
            return self.switching.visits
        away = np.eye(len(self.entry)) - self.onward.T
        return np.asarray(np.linalg.solve(away, self.entry), float)


@dataclass(frozen=True)
class Jobs:
    """A class of jobs: open with an arrival rate [1/s], or closed with a population.

    Parameters
    ----------
    name, arrival_rate, population, think_time, ways
        Name, arrival rate or population, think time [s], and routes.
    streams
        Arrivals at each station, where not all of them are Poisson.
    arrival_scv
        The scv of the times between a class's arrivals, wherever its jobs enter.
    clients
        How the class's clients give up and retry; None where they wait.
    """

    name: str
    arrival_rate: float
    population: int
    think_time: float
    ways: SimulatedRoutes
    is_closed: bool = False
    priority: int = 1
    streams: tuple[Stream, ...] = ()
    arrival_scv: float = 1.0
    clients: Clients | None = None

    @property
    def arriving(self) -> tuple[Stream, ...]:
        """Its arrivals from outside: those of each station, or one stream of all."""
        if self.streams or self.population or not self.arrival_rate:
            return self.streams
        return (Stream(NONE, self.arrival_rate, self.arrival_scv),)

    @property
    def breaks(self) -> bool:
        """Whether its clients share a circuit breaker."""
        return self.clients is not None and self.clients.breaks

    @property
    def burst(self) -> float:
        """Variance of its number of arrivals over a Poisson flow's; the largest of its streams."""
        return max((each.burst for each in self.arriving), default=1.0)


@dataclass(frozen=True)
class SimulatedStation:
    """A station: its service, its discipline, and its service times by class.

    Times are means [s] and squared coefficients of variation. A fork has the positions of the
    stations that its parts go to; none if it has its own queues. A station with limited room has
    the fate of jobs from other stations that find it full; one with several queues, how a job
    chooses; one with a deadline, the time since its request after which a job is dropped when its
    turn comes [s].
    """

    name: str
    serving: Serving
    discipline: Discipline
    times: Mapping[str, float]
    scvs: Mapping[str, float]
    branches: tuple[int, ...] = ()
    blocking: Blocking = Blocking.LOST
    choice: QueueChoice = QueueChoice.RANDOM
    oldest: float = inf

    @property
    def shared(self) -> bool:
        """Whether all jobs that are present share its servers."""
        return self.discipline.shares

    @property
    def by_turns(self) -> bool:
        """Whether its order of service differs from the order of arrival."""
        return not (self.discipline.in_turn or self.discipline.shares)


@dataclass(frozen=True)
class SimulatedRegion:
    """Stations, by position, that hold at most `limit` jobs together; others wait in order."""

    name: str
    stations: tuple[int, ...]
    limit: int


@dataclass(frozen=True)
class Blueprint:
    """All that a simulation needs to know of a model.

    Parameters
    ----------
    name
        The model's.
    places, classes
        The stations in order, and the classes of jobs.
    beyond
        Time of a job outside its stations [s].
    regions
        Groups of stations with a shared limit.
    """

    name: str
    places: tuple[SimulatedStation, ...]
    classes: tuple[Jobs, ...]
    beyond: float = 0.0
    regions: tuple[SimulatedRegion, ...] = ()

    def visits(self, jobs: Jobs) -> FloatArray:
        """Mean visits of a job, including its parts, to each station."""
        own = jobs.ways.mean_visits
        total = own * [p.serving.queues if p.serving.needed else 1 for p in self.places]
        for visits, place in zip(own, self.places, strict=True):
            for branch in place.branches:
                total[branch] += visits
        return total

    @property
    def cycle(self) -> float:
        """Longest time after which arrivals repeat [s]; 0 where they do not."""
        return max((s.cycle for jobs in self.classes for s in jobs.streams), default=0.0)

    @property
    def is_closed(self) -> bool:
        """Whether no jobs arrive from outside."""
        return all(jobs.is_closed for jobs in self.classes)

    @property
    def crowd(self) -> tuple[Jobs, ...]:
        """Classes in which jobs start; the other classes are only changed into."""
        return tuple(jobs for jobs in self.classes if jobs.population or jobs.arrival_rate)

    @property
    def loses(self) -> bool:
        """Whether some station loses jobs; never in a closed network."""
        rooms = any(
            np.isfinite(place.serving.places) or place.oldest < inf for place in self.places
        )
        return rooms and not self.is_closed

    @property
    def gives_up(self) -> bool:
        """Whether clients of some class may give up."""
        return any(jobs.clients is not None for jobs in self.classes)

    @property
    def blocks(self) -> bool:
        """Whether a full station can block jobs at other stations."""
        return any(place.blocking is not Blocking.LOST for place in self.places)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the simulation assumes beyond the model."""
        rounds = any(jobs.ways.visits is not None for jobs in self.classes)
        thinks = any(jobs.think_time for jobs in self.classes)
        by_number = any(p.serving.speeds and not (p.shared or p.serving.paces) for p in self.places)
        spread = any(scv not in (0.0, 1.0) for place in self.places for scv in place.scvs.values())
        streams = [stream for jobs in self.classes for stream in jobs.arriving]
        notes = {
            IN_ROUNDS: rounds,
            "think times are exponential": thinks,
            SPREAD_ARRIVALS: any(s.scv != 1 and not s.gaps for s in streams),
            BATCHES: any(s.batch is not None for s in streams),
            TRACED: any(s.gaps for s in streams),
            CHANGING: any(s.changing is not None for s in streams),
            SHARED_SPEED: by_number,
            "service times with an scv are gamma-distributed": spread,
            GIVE_UP: self.gives_up,
            BREAKS: any(jobs.breaks for jobs in self.classes),
            "the formula for response_time adds a constant to the time at stations": self.beyond,
        }
        return tuple(note for note, holds in notes.items() if holds)
