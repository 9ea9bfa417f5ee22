"""What is simulated: stations, classes of jobs and their ways, as a simulation follows them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headway.kinds import FloatArray
from headway.models.simulating.streams import SPREAD_ARRIVALS, Stream
from headway.models.simulating.turning import Turning
from headway.queueing.blocking.network import Blocking
from headway.queueing.stations.abilities import Discipline
from headway.queueing.stations.listed.serving import Serving

ALL = ""
"""Class of the jobs of a model without classes."""

IN_ROUNDS = (
    "visits are given, not routes: each job goes its rounds, in a round to every station, in their "
    "order, that it has yet to visit (2.4 visits are two, and a third in 40 %)"
)


@dataclass(frozen=True)
class Ways:
    """Where the jobs of a class go, by position of the station.

    Parameters
    ----------
    entry
        Chance to enter there, shape (stations,).
    onward
        Chance to go from each (row) to each, shape (stations, stations).
    visits
        Mean visits of a job to each, where they are given in place of routes.
    turning
        Where routes go by class, in place of `onward`.
    """

    entry: FloatArray
    onward: FloatArray
    visits: FloatArray | None = None
    turning: Turning | None = None

    @cached_property
    def mean_visits(self) -> FloatArray:
        """Mean visits of a job; by them alone it is told how long to simulate."""
        if self.visits is not None:
            return self.visits
        if self.turning is not None:
            return self.turning.visits
        away = np.eye(len(self.entry)) - self.onward.T
        return np.asarray(np.linalg.solve(away, self.entry), float)


@dataclass(frozen=True)
class Jobs:
    """A class of jobs: open with an arrival rate [1/s], or closed with a population.

    Parameters
    ----------
    name, arrival_rate, population, think_time, ways
        What is simulated of it.
    streams
        Arrivals at each station, where they are not all Poisson.
    arrival_scv
        How the times between arrivals of a class vary, wherever its jobs come in.
    """

    name: str
    arrival_rate: float
    population: int
    think_time: float
    ways: Ways
    is_closed: bool = False
    priority: int = 1
    streams: tuple[Stream, ...] = ()
    arrival_scv: float = 1.0

    @property
    def burst(self) -> float:
        """Largest scv of the times between its arrivals."""
        return max((each.scv for each in self.streams), default=self.arrival_scv)


@dataclass(frozen=True)
class Place:
    """A station: how it serves, in whose turn, and its service times by class.

    Means [s] and squared coefficients of variation. Of a fork, the positions of the stations that
    its parts go to; none where they are its own. Of a room, what becomes of jobs from other
    stations that find no place.
    """

    name: str
    serving: Serving
    discipline: Discipline
    times: Mapping[str, float]
    scvs: Mapping[str, float]
    branches: tuple[int, ...] = ()
    blocking: Blocking = Blocking.LOST

    @property
    def shared(self) -> bool:
        """Whether all who are there share its servers."""
        return self.discipline is Discipline.SHARING

    @property
    def by_turns(self) -> bool:
        """Whether one goes before others, otherwise than in order of arrival."""
        return self.discipline not in {Discipline.SHARING, Discipline.FCFS}


@dataclass(frozen=True)
class Region:
    """Stations, by position, that hold at most `limit` jobs; others wait outside, in order."""

    name: str
    stations: tuple[int, ...]
    limit: int


@dataclass(frozen=True)
class Blueprint:
    """What is simulated.

    Parameters
    ----------
    name
        The model's.
    places, classes
        Stations in their order, and who goes to them.
    beyond
        Time of a job beyond its stations [s].
    regions
        Stations that together hold so many jobs.
    """

    name: str
    places: tuple[Place, ...]
    classes: tuple[Jobs, ...]
    beyond: float = 0.0
    regions: tuple[Region, ...] = ()

    def visits(self, jobs: Jobs) -> FloatArray:
        """Mean visits of a job and its parts to each station."""
        own = jobs.ways.mean_visits
        found = own * [p.serving.queues if p.serving.needed else 1 for p in self.places]
        for visits, place in zip(own, self.places, strict=True):
            for branch in place.branches:
                found[branch] += visits
        return found

    @property
    def is_closed(self) -> bool:
        """Whether nobody comes from outside."""
        return all(jobs.is_closed for jobs in self.classes)

    @property
    def crowd(self) -> tuple[Jobs, ...]:
        """Classes that jobs come as, or are from the start; others they only turn into."""
        return tuple(jobs for jobs in self.classes if jobs.population or jobs.arrival_rate)

    @property
    def loses(self) -> bool:
        """Whether some station turns jobs away; of those that circulate none does."""
        rooms = any(np.isfinite(place.serving.places) for place in self.places)
        return rooms and not self.is_closed

    @property
    def blocks(self) -> bool:
        """Whether jobs can be held up at other stations by one that is full."""
        return any(place.blocking is not Blocking.LOST for place in self.places)

    @property
    def unordered(self) -> str:
        """Why percentiles of the response time are not known; empty where they are."""
        reasons = ((place.name, place.serving.unordered) for place in self.places)
        return next((f"{name}: {why}" for name, why in reasons if why), "")

    @property
    def notes(self) -> tuple[str, ...]:
        """What the simulation takes for granted beyond what the model says."""
        rounds = any(jobs.ways.visits is not None for jobs in self.classes)
        thinks = any(jobs.think_time for jobs in self.classes)
        spread = any(scv not in (0.0, 1.0) for place in self.places for scv in place.scvs.values())
        said = {
            IN_ROUNDS: rounds,
            "think times are exponential": thinks,
            SPREAD_ARRIVALS: any(jobs.streams or jobs.arrival_scv != 1 for jobs in self.classes),
            "service times with an scv are gamma-distributed": spread,
            "what the formula for response_time adds to its stations is a constant": self.beyond,
        }
        return tuple(note for note, holds in said.items() if holds)
