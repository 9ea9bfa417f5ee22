"""A closed network as one of its jobs goes through it."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.closed.series import geometric, thinking
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.times.absorption import mean_visits
from headway.queueing.times.laws import ComplexArray

_CERTAIN = 1e-9
"""How far visits may be from 1 that every job makes."""


@dataclass(frozen=True)
class Place:
    """A station of a closed network: lanes of so many servers each; a delay has none.

    Parameters
    ----------
    name
        What messages call it.
    time
        Mean service time [s].
    servers, lanes
        Servers of each queue, and queues that are chosen at random; no lane is a delay.
    own
        Mean service time of the job that is followed [s]; None if it is as of all.
    shares
        Whether all who are at a queue share its servers, and none waits.

    Examples
    --------
    >>> Place("disks", 0.01, 1, 8).is_delay
    False
    """

    name: str
    time: float
    servers: int
    lanes: int
    own: float | None = None
    shares: bool = False

    @property
    def own_time(self) -> float:
        """Mean service time of the job that is followed [s]."""
        return self.time if self.own is None else self.own

    @property
    def is_delay(self) -> bool:
        """Whether everybody is served at once."""
        return self.lanes == 0


def place_of(name: str, station: Station, most: int) -> Place:
    """Read a station as one of this many jobs sees it.

    Raises
    ------
    GraphError
        For a kind whose jobs are not served in a known order.

    Examples
    --------
    >>> from headway.queueing import MMm
    >>> place_of("cpu", MMm(0.1, 4), most=100)
    Place(name='cpu', time=0.1, servers=4, lanes=1, own=None, shares=False)
    """
    kind, count = station.can.product_form, station.plain_count
    if kind is ServiceKind.DELAY:
        return Place(name, station.mean_service, 0, 0)
    if kind is ServiceKind.PARALLEL:
        return Place(name, station.mean_service, 1, int(count))
    if kind is ServiceKind.QUEUE:
        return Place(name, station.mean_service, int(min(count, max(most, 1))), 1)
    msg = f"{name}: its response time distribution is unknown: {station.lawless}"
    raise GraphError(msg)


@dataclass(frozen=True, eq=False)
class Circle:
    """A closed network and the ways of a job through it, between request and answer.

    Parameters
    ----------
    places
        The stations; first come first served where jobs wait.
    entries, onward, leaving
        As of `headway.queueing.times.absorption.Journey`, of the job that is followed.
    population
        Jobs N, 1 or more, the one that is followed among them.
    think_time
        Mean time between answer and next request [s], 0 or more.
    throughput
        About what the network does [1/s]; numbers are kept in range by it.
    stays
        Mean time of a visit to each station [s].
    visits
        Mean visits of the others to each station; None where they are as the job's own.
    outside
        Weights of 0, 1, 2... of the others where nobody waits, as of
        `headway.queueing.passages.aggregation`; None where all think alike.

    Examples
    --------
    >>> one = np.ones(1)
    >>> circle = Circle(
    ...     (Place("cpu", 1.0, 1, 1),), one, np.zeros((1, 1)), one, 3, 2.0, 0.8, stays=1.6 * one
    ... )
    >>> circle.others
    2
    """

    places: tuple[Place, ...]
    entries: FloatArray
    onward: FloatArray
    leaving: FloatArray
    population: int
    think_time: float
    throughput: float
    stays: FloatArray
    visits: FloatArray | None = None
    outside: FloatArray | None = None

    @cached_property
    def _key(self) -> tuple[object, ...]:
        arrays = [self.entries, self.onward, self.leaving, self.stays, self.others_visits]
        arrays += [] if self.outside is None else [self.outside]
        numbers = (self.places, self.population, self.think_time, self.throughput)
        return *numbers, *(each.tobytes() for each in arrays)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Circle) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def others(self) -> int:
        """Jobs that are not followed."""
        return self.population - 1

    @cached_property
    def others_visits(self) -> FloatArray:
        """Mean visits of the others to each station."""
        own = mean_visits(self.entries, self.onward)
        return own if self.visits is None else self.visits

    @cached_property
    def own_visits(self) -> FloatArray:
        """Mean visits of the job that is followed."""
        return mean_visits(self.entries, self.onward)

    @property
    def away(self) -> float:
        """Mean time that one of the others spends where nobody waits, in each circle [s]."""
        delays = zip(self.places, self.others_visits, strict=True)
        resting = sum(float(v) * place.time for place, v in delays if place.is_delay)
        return self.think_time + resting

    @cached_property
    def queues(self) -> "tuple[Queue | None, ...]":
        """What is at each station, but a delay."""
        rates = self.throughput * self.others_visits
        return tuple(
            None if place.is_delay else Queue(place, float(rate) * place.time / place.lanes)
            for place, rate in zip(self.places, rates, strict=True)
        )

    @property
    def rests(self) -> bool:
        """Whether the others are anywhere but at queues."""
        return self.away > 0 if self.outside is None else bool(self.outside[1:].any())

    @cached_property
    def returning(self) -> FloatArray:
        """How fast others come back, by the number of those away, over the flow assumed."""
        if not self.rests:
            return np.zeros(self.population)
        if self.outside is None:
            return np.arange(self.population) / (self.throughput * self.away)
        some = self.outside > 0
        ratios = self.outside[:-1] / np.where(some, self.outside, 1.0)[1:]
        return np.append(0.0, np.where(some[1:], ratios, 0.0))

    def at_delays(self, size: int) -> FloatArray:
        """Weights of 0, 1, 2... others where nobody waits, shape (size, 1)."""
        if self.outside is not None:
            return self.outside[:size, None]
        return thinking(size, np.array([self.throughput * self.away]))

    @cached_property
    def ways(self) -> FloatArray:
        """Weights of 0, 1, 2... of the others in the whole network, as many as there are."""
        series: ComplexArray | FloatArray = self.at_delays(self.others + 1)
        for queue in self.queues:
            series = series if queue is None else queue.times(series)
        return np.asarray(series[:, 0].real)

    @property
    def fullness(self) -> float:
        """Chance that all of the others are at queues."""
        series: ComplexArray | FloatArray = np.zeros((self.population, 1))
        series[0] = 1.0
        for queue in self.queues:
            series = series if queue is None else queue.times(series)
        chances = series[:, 0].real * self.at_delays(self.population)[::-1, 0]
        return float(chances[-1] / chances.sum())

    @property
    def spent_by_all(self) -> NDArray[np.bool_]:
        """Delays that every job spends once."""
        count = len(self.places)
        again = np.diag(np.linalg.inv(np.eye(count) - self.onward)) > 1 + _CERTAIN
        once = np.abs(self.own_visits - 1) < _CERTAIN
        return np.array([place.is_delay for place in self.places], bool) & once & ~again

    def settled(self) -> "Circle":
        """Without unvisited stations, and those that take no time."""
        used = (self.own_visits > 0) | (self.others_visits > 0)
        busy = np.array([place.time > 0 for place in self.places])
        return self.without(np.flatnonzero(~(used & busy)))

    def without(self, gone: NDArray[np.intp]) -> "Circle":
        """Leave delays out, or what takes no time; the others spend it thinking, the job never."""
        keep = np.setdiff1d(np.arange(len(self.places)), gone)
        through = np.linalg.inv(np.eye(len(gone)) - self.onward[np.ix_(gone, gone)])
        to = self.onward[:, gone] @ through
        onward = self.onward + to @ self.onward[gone]
        entries = self.entries + self.entries[gone] @ through @ self.onward[gone]
        delays = sum(self.others_visits[k] * self.places[k].time for k in gone)
        return replace(
            self,
            think_time=self.think_time + float(delays),
            places=tuple(self.places[k] for k in keep),
            entries=entries[keep],
            onward=onward[np.ix_(keep, keep)],
            leaving=(self.leaving + to @ self.leaving[gone])[keep],
            stays=self.stays[keep],
            visits=self.others_visits[keep],
        )

    def through(self, k: int) -> "Circle":
        """The same with a job that visits one of its stations, once."""
        only = np.zeros(len(self.places))
        only[k] = 1.0
        return replace(
            self,
            entries=only,
            onward=np.zeros((len(only), len(only))),
            leaving=np.ones(len(only)),
            visits=self.others_visits,
        )

    @property
    def mean(self) -> float:
        """Mean time of the job [s]."""
        return float(self.own_visits @ self.stays)


@dataclass(frozen=True)
class Queue:
    """Numbers of jobs at a station where some may wait.

    Parameters
    ----------
    place
        The station.
    load
        Services that each lane is asked for at a time, at the network's throughput.
    """

    place: Place
    load: float

    @cached_property
    def head(self) -> FloatArray:
        """Weights of 0, 1... up to as many as servers in one lane, the largest 1."""
        n = np.arange(1, self.place.servers + 1)
        with np.errstate(divide="ignore"):
            logs = np.append(0.0, np.cumsum(np.log(self.load / n)))
        return np.asarray(np.exp(logs - logs.max()))

    @property
    def busy(self) -> float:
        """Load of each server: the ratio of weights where all are busy."""
        return self.load / self.place.servers

    def weights(self, size: int) -> FloatArray:
        """Weights of 0, 1, 2... in one lane."""
        series = np.zeros((size, 1))
        series[0] = 1.0
        return np.asarray(self.lane(series)[:, 0].real)

    def times(self, series: ComplexArray | FloatArray, lanes: int | None = None) -> ComplexArray:
        """Convolve a series with what is in all lanes, or in some."""
        for _ in range(self.place.lanes if lanes is None else lanes):
            series = self.lane(series)
        return np.asarray(series)

    def lane(
        self, series: ComplexArray | FloatArray, turn: ComplexArray | None = None
    ) -> ComplexArray:
        """Convolve with one lane, each wait for a service counted by the transform of a turn."""
        last = self.place.servers - 1
        ratio = np.broadcast_to(self.busy * (1.0 if turn is None else turn), series.shape[1:])
        tail = geometric(self.head[last] * series[: max(len(series) - last, 0)], ratio)
        result = np.zeros(series.shape, tail.dtype)
        for number, weight in enumerate(self.head[:last]):
            result[number:] += weight * series[: len(series) - number]
        result[last:] += tail
        return np.asarray(result)

    def passed(self, series: ComplexArray, s: ComplexArray) -> ComplexArray:
        """Convolve with all lanes while the job that is followed goes through one of them."""
        place = self.place
        turn = 1 / (1 + s * place.time / place.servers)
        passed_lane = self.lane(self.times(series, place.lanes - 1), turn)
        return np.asarray(passed_lane / (1 + s * place.own_time))


def in_order(onward: FloatArray) -> list[int] | None:
    """Stations in an order in which jobs go; None where they can come back.

    Examples
    --------
    >>> in_order(np.array([[0.0, 0.0], [1.0, 0.0]]))
    [1, 0]
    """
    left, order = set(range(len(onward))), list[int]()
    while left:
        free = [k for k in sorted(left) if not any(onward[j, k] > 0 for j in left)]
        if not free:
            return None
        order += free
        left -= set(free)
    return order
