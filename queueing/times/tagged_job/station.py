"""Stations of a loop, as a job sees them that is followed through it: a stop at one of its queues.

A stop knows how many others are at one of its queues in equilibrium, what a job does that finds so
many, and what happens beside it while it is there. Its *places* are what the job knows of those at
its queue: how many are ahead while it waits, how many are beside it while it is served; each
*holds* so many others, and where the rest of them are is not known.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.times.phase_type import Phases

Numbers: TypeAlias = NDArray[np.intp]

Change: TypeAlias = tuple[Numbers, Numbers, FloatArray]
"""Places before and after, and how fast."""


NO_CHANGE: Change = np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0)

_HASTE = 0.05  # share of the time in the loop by which quick services may be slowed
_LONG = 5  # times all that a job spends where others wait
_COARSE = 4  # times as long may a phase of a delay be


@dataclass(frozen=True, eq=False)
class TaggedStation(ABC):
    """A station with one queue or several like ones, one of them chosen at random.

    Parameters
    ----------
    rate
        Arrivals at all its queues [1/s].
    others, own
        Service times of those who come, and of the job that is followed.
    stay
        Mean time of a visit of that job [s].
    lanes
        Number of queues.
    servers
        Of each queue.
    again
        Chance with which one who is served comes straight back to where it was.
    notes
        What is taken for granted about its times.
    unlike
        Whether others wait in order with services of other kinds, in no product form.
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
        """What tells it from another."""
        services = (self.others, self.own)
        arrays = (each for one in services for each in (one.start.tobytes(), one.moves.tobytes()))
        numbers = (self.rate, self.stay, self.lanes, self.servers, self.again)
        return type(self), *numbers, *arrays

    @property
    def load(self) -> float:
        """Servers of a queue that are busy, on average."""
        return self.rate / self.lanes * self.others.mean

    @property
    def busy(self) -> float:
        """Utilisation."""
        return self.load / self.servers

    def at_rate(self, factor: float) -> "TaggedStation":
        """With more arrivals by a factor."""
        return replace(self, rate=self.rate * factor)

    def eased(self, least: float) -> "TaggedStation":  # noqa: ARG002 - for delays
        """With phases no shorter than this [s], where that hardly matters."""
        return self

    @classmethod
    def alike(cls, rate: float, service: Phases, stay: float, count: int) -> "TaggedStation":
        """Of a job like all others, where there are so many servers."""
        return cls(rate, service, service, stay, servers=count)

    @abstractmethod
    def numbers(self, size: int) -> FloatArray:
        """Chances of 0, 1, 2... at one queue in equilibrium."""

    def behind(self, size: int) -> FloatArray:
        """Weights of 0, 1, 2... behind a job that waits."""
        return self.numbers(size)

    @abstractmethod
    def beside(self, most: int) -> Numbers:
        """How many others each place holds, in the order of places; of `most` others in all."""

    def counted(self, most: int) -> NDArray[np.bool_]:
        """Which places hold all others that are at the queue; a place then holds one more."""
        return np.zeros(len(self.beside(most)), bool)

    @abstractmethod
    def arrivals(self, most: int) -> Iterator[tuple[int, int, float]]:
        """Numbers that are found at a queue, the places they lead to, and with which chance."""

    @abstractmethod
    def finishing(self, most: int) -> FloatArray:
        """How fast the job is served, by place [1/s]."""

    def back(self, most: int) -> Numbers:
        """Where the job is, by place, that comes straight back to its queue."""
        return np.arange(len(self.beside(most)))

    def changes(self, most: int) -> Change:  # noqa: ARG002 - for times of several phases
        """Changes of place when nobody leaves."""
        return NO_CHANGE

    @abstractmethod
    def departures(self, most: int) -> Change:
        """Changes of place as one of the others that are held is served."""


@dataclass(frozen=True, eq=False)
class Loop:
    """Stations that jobs go to and fro between.

    Parameters
    ----------
    stops
        The stations, none saturated.
    entries
        Share of jobs that come into the loop there.
    onward
        Chances of going from station to station; what is missing leaves the loop.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> from headway.queueing.times.tagged_job.kinds import FcfsQueue
    >>> one, service = np.ones(1), in_phases(1.0, 1.0)
    >>> loop = Loop((FcfsQueue(0.5, service, service, 2.0),), one, np.array([[0.9]]))
    >>> round(loop.busy, 12), round(loop.through, 12)
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
        return isinstance(other, Loop) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def busy(self) -> float:
        """Utilisation of the busiest station."""
        return max(stop.busy for stop in self.stops)

    @cached_property
    def rates(self) -> FloatArray:
        """Visits to each station [1/s]."""
        return np.array([stop.rate for stop in self.stops])

    @property
    def out(self) -> FloatArray:
        """Chance of leaving the loop after each station."""
        return np.asarray(np.maximum(1 - self.onward.sum(axis=1), 0.0))

    @property
    def through(self) -> float:
        """Jobs that come and leave [1/s]."""
        return float(self.rates @ self.out)

    @property
    def visits(self) -> FloatArray:
        """Mean visits to each station of a job that enters at each, shape (entries, stations)."""
        return np.asarray(np.linalg.inv(np.eye(len(self.stops)) - self.onward), float)

    @property
    def means(self) -> FloatArray:
        """Mean time in the loop by where one enters [s]."""
        return np.asarray(self.visits @ [stop.stay for stop in self.stops])

    @property
    def least(self) -> float:
        """A service so quick that it may be slowed to this time [s]."""
        times = np.array([stop.others.mean for stop in self.stops])
        visits = self.entries @ self.visits
        stays = visits * np.array([stop.stay for stop in self.stops])
        return float(_HASTE * stays.sum() / (stays @ (1 / times)))

    def eased(self) -> "Loop":
        """With delays in phases that are no quicker than need be."""
        return replace(self, stops=tuple(stop.eased(_COARSE * self.least) for stop in self.stops))

    def scaled(self, factor: float) -> "Loop":
        """The same loop with other rates."""
        return replace(self, stops=tuple(stop.at_rate(factor) for stop in self.stops))

    @property
    def is_alone(self) -> bool:
        """Whether all others are at one queue, and counted there: then nothing is approximate."""
        first = self.stops[0]
        return len(self.stops) == 1 and first.lanes == 1 and bool(first.counted(1).any())

    @property
    def is_mixed(self) -> bool:
        """Whether jobs of other services are served in order, in no product form."""
        return any(stop.unlike for stop in self.stops)

    @property
    def is_slow(self) -> bool:
        """Whether a job is so long where nobody waits that it finds the others anew."""
        stays = np.array([stop.stay for stop in self.stops])
        waits = np.array([stop.busy > 0 for stop in self.stops])
        waited = float(self.entries @ self.visits @ (stays * waits))
        return bool(stays[~waits].max(initial=0.0) > _LONG * waited)
