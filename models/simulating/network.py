"""A plan as a Ciw simulation."""

import random
from array import array
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from heapq import heapify, heapreplace
from itertools import chain
from math import inf, sqrt
from typing import Any

import ciw
import numpy as np
from ciw import dists

from headway.models.simulating.class_switching import ClassSwitching
from headway.models.simulating.plan import Blueprint, Jobs, SimulatedRoutes, SimulatedStation
from headway.models.simulating.queues import (
    AT_GATES,
    Arrivals,
    Budgeted,
    Forking,
    Gate,
    Gone,
    Queue,
    SharedQueue,
    UnequalServers,
)
from headway.models.simulating.streams import Stream
from headway.models.simulating.turns import DisciplineQueue
from headway.queueing.stations.listed.serving import Serving

_chance = random.random
_THINKING = Serving(1.0, servers=inf, most=inf, used=lambda _: 0.0)
_FULL = 1e-9  # chances that miss 1 by less than this sum to 1


class Run(ciw.Simulation):
    """A simulation of a plan that records the time of each journey by class.

    Parameters
    ----------
    plan
        The plan to simulate.
    """

    def __init__(self, plan: Blueprint) -> None:
        self.plan = plan
        self._sources = {
            jobs.name: MergedArrivals(jobs.streams) for jobs in plan.classes if jobs.streams
        }
        self._guides = {
            jobs.name: guide_of(jobs.ways, self._sources.get(jobs.name)) for jobs in plan.classes
        }
        self._closed = {jobs.name for jobs in plan.classes if jobs.is_closed}
        self._priority = {jobs.name: jobs.priority for jobs in plan.classes}
        self._waits = {
            jobs.name for jobs in plan.classes if jobs.is_closed and jobs.think_time + plan.beyond
        }
        self._forget()
        nodes = [node for k, place in enumerate(plan.places) for node in _nodes(k, place)]
        outside = partial(SharedQueue, serving=_THINKING, station=_OUTSIDE, speed=float)
        gates = [partial(Gate, limit=region.limit) for region in plan.regions]
        super().__init__(
            _network(plan, len(nodes) + len(gates), self._sources),
            node_class=[*nodes, *gates, outside],
            arrival_node_class=Arrivals,
            exit_node_class=Gone,
        )
        self.door = self.transitive_nodes[-1]
        self._of = [
            [node for node in self.transitive_nodes if node.station == k]
            for k in range(len(plan.places))
        ]
        self._hold_up()

    def _hold_up(self) -> None:
        """Set what full stations do, and where jobs wait for regions."""
        self.gates = [node for node in self.transitive_nodes if node.station == AT_GATES]
        self._gates = {
            k: gate
            for gate, region in zip(self.gates, self.plan.regions, strict=True)
            for k in region.stations
        }
        for k, place in enumerate(self.plan.places):
            for node in self._of[k]:
                node.gate = self._gates.get(k)
                node.hold_up(place.blocking)

    def _forget(self) -> None:
        self.journeys = {jobs.name: array("d") for jobs in self.plan.classes}
        self.lost = dict.fromkeys(self.journeys, 0)

    def begin(self) -> None:
        """Start counting: the warm-up is over."""
        self._forget()
        for node in self.transitive_nodes:
            node.begin()

    def end(self) -> None:
        """Count up to the present time."""
        for node in self.transitive_nodes:
            node.count()

    def queues_of(self, station: int) -> list[Any]:
        """The queues of a station."""
        return self._of[station]

    def queues_of_parts(self, station: int) -> list[Any]:
        """Queues of the parts of a request: one per branch, or all of the fork's own.

        Several parts for parallel queues go to different ones.
        """
        branches = Counter(self.plan.places[station].branches)
        if not branches:
            return self._of[station][1:]
        return [q for b, count in branches.items() for q in random.sample(self._of[b], count)]

    def priority(self, job: Any) -> int:
        """The rank of a job's class, 1 before 2."""
        return self._priority[job.customer_class]

    def enter(self, job: Any) -> None:
        """Start a job that arrives from outside, or that circulates and first thinks."""
        if job.customer_class in self._waits:
            self.door.accept(job)
            return
        node = self._begin(job, _NOWHERE)
        crowded = job.customer_class in self._closed and node.is_full
        (self._seat(job) if crowded else node).accept(job)

    def _seat(self, job: Any) -> Any:
        """A station with room, for a job that is there from the start."""
        free = next(k for k, nodes in enumerate(self._of) if not nodes[0].is_full)
        return self._to(job, _NOWHERE, free)

    def _begin(self, job: Any, station: int) -> Any:
        """The first station of a journey; None if the job stays to be served again."""
        if not getattr(job, "stays", False):
            job.began, job.began_as = self.current_time, job.customer_class
        first = self._guides[job.customer_class].first(job)
        node = (
            self._done(job, station) if first is None else self._to(job, station, first, anew=True)
        )
        job.stays = node is None
        return node

    def after(self, job: Any, station: int) -> Any:
        """The next station; None to be served at the same station again."""
        if station == _OUTSIDE:
            return self._begin(job, station)
        waited = getattr(job, "waited", None)
        if waited is not None:
            waited.done()
            return self.nodes[-1]
        onward = self._guides[job.customer_class].next(job, station)
        return self._done(job, station) if onward is None else self._to(job, station, onward)

    def _done(self, job: Any, station: int) -> Any:
        """The target at the end of a journey, which may start the next."""
        began, began_as = job.began, job.began_as
        node = self.door if job.customer_class in self._waits else self.nodes[-1]
        if job.customer_class in self._closed and node is not self.door:
            node, job.stays = self._begin(job, station), False
        if node is None:
            job.began, job.began_as = began, began_as
        else:
            self.journeys[began_as].append(self.current_time - began + self.plan.beyond)
        return node

    def _to(self, job: Any, station: int, target: int, *, anew: bool = False) -> Any:
        """The queue of a station, or the door of its region; None if a full one sends jobs back."""
        node = self._node(target)
        if node.repeats and node.is_full and station not in (target, _NOWHERE):
            return None
        gate = self._gates.get(target)
        if gate is None or (gate is self._gates.get(station) and not anew):
            return node
        job.inside = node
        return gate

    def lose(self, job: Any) -> None:
        """Count a lost job."""
        self.lost[job.began_as] += 1
        self.nodes[-1].accept(job)

    def _node(self, station: int) -> Any:
        nodes = self._of[station]
        alone = len(nodes) == 1 or self.plan.places[station].serving.needed
        return nodes[0] if alone else nodes[int(_chance() * len(nodes))]


_OUTSIDE = -1
_NOWHERE = -3


class _ByRoutes:
    """Routing by probability, independent of earlier stations."""

    def __init__(self, ways: SimulatedRoutes, source: "MergedArrivals | None") -> None:
        self._source = source
        self._entry = _cumulated(ways.entry)
        self._onward = [_cumulated(row) for row in ways.onward]

    def first(self, job: Any) -> int | None:
        """Where a job enters."""
        del job
        return _pick(self._entry) if self._source is None else self._source.next_station()

    def next(self, job: Any, station: int) -> int | None:
        """The next station; None to leave."""
        del job
        return _pick(self._onward[station])


class _InRounds:
    """Round trips of each job that give the mean visits."""

    def __init__(self, visits: Any) -> None:
        self._visits = [float(number) for number in visits]

    def first(self, job: Any) -> int | None:
        """Draw the visits of a job to each station, and start."""
        job.path = self._path()
        return next(job.path, None)

    def next(self, job: Any, station: int) -> int | None:
        """The next station of its rounds; None when they are complete."""
        del station
        onward: int | None = next(job.path, None)
        return onward

    def _path(self) -> Iterator[int]:
        left = [int(number) + (_chance() < number % 1) for number in self._visits]
        rounds = range(max(left))
        return chain.from_iterable(
            [k for k, number in enumerate(left) if number > turn] for turn in rounds
        )


class _ByClass:
    """Routing by probability, with the class of the job at the next station."""

    def __init__(self, ways: SimulatedRoutes, switching: ClassSwitching) -> None:
        self._entry = _cumulated(ways.entry)
        self._onward = [_cumulated(row) for row in switching.onward]
        self._to = [(c, k) for c in switching.classes for k in range(len(ways.entry))]
        self._ends = switching.ends

    def first(self, job: Any) -> int | None:
        """Where a job enters."""
        del job
        return _pick(self._entry)

    def next(self, job: Any, station: int) -> int | None:
        """The next station, in any class; None to leave, or at the end of a round."""
        place = _pick(self._onward[station])
        if place is None:
            return None
        job.customer_class, onward = self._to[place]
        return None if self._ends[place] else onward


class MergedArrivals(dists.Distribution):
    """Arrivals at several stations as one flow that records the station of each."""

    def __init__(self, streams: Sequence[Stream]) -> None:
        self._next = [(0.0, k, each.station) for k, each in enumerate(streams)]
        self._times = [_gaps(each.rate, each.scv) for each in streams]
        self._now = 0.0
        self._stations: deque[int] = deque()
        self._begun = False

    def sample(self, t: Any = None, ind: Any = None) -> float:
        """Time to the next arrival [s]."""
        del t, ind
        if not self._begun:
            self._next = [
                (gap.sample(), k, s) for gap, (_, k, s) in zip(self._times, self._next, strict=True)
            ]
            heapify(self._next)
            self._begun = True
        time, k, station = self._next[0]
        heapreplace(self._next, (time + self._times[k].sample(), k, station))
        self._stations.append(station)
        gap, self._now = time - self._now, time
        return gap

    def __deepcopy__(self, memo: dict[int, Any]) -> "MergedArrivals":
        """The object itself: Ciw copies what it samples from, but jobs ask this one."""
        del memo
        return self

    def next_station(self) -> int:
        """The station of the next arrival."""
        return self._stations.popleft()


class AtTheStart(dists.Distribution):
    """The arrival of all jobs of a closed class, once, at time 0.

    Ciw copies it deeply; it holds no iterator, since Python 3.14 copies none.
    """

    def __init__(self) -> None:
        self._gap = 0.0

    def sample(self, t: Any = None, ind: Any = None) -> float:
        """Time to the next arrival: 0, then for ever [s]."""
        del t, ind
        gap, self._gap = self._gap, inf
        return gap


def _gaps(rate: float, scv: float) -> Any:
    """Times between arrivals."""
    if scv <= 1:
        return _service(1 / rate, scv)
    first = (1 + sqrt((scv - 1) / (scv + 1))) / 2
    chances = [first, 1 - first]
    return dists.HyperExponential([2 * rate * chance for chance in chances], chances)


def guide_of(
    ways: SimulatedRoutes, source: MergedArrivals | None = None
) -> _ByRoutes | _InRounds | _ByClass:
    """The router of the jobs of a class."""
    if ways.switching is not None:
        return _ByClass(ways, ways.switching)
    return _ByRoutes(ways, source) if ways.visits is None else _InRounds(ways.visits)


def _cumulated(chances: Any) -> list[float]:
    sums = np.cumsum(chances)
    full = abs(sums[-1] - 1) <= _FULL
    numbers: list[float] = np.where(full & (sums >= 1 - _FULL), 1.0, sums).tolist()
    return numbers


def _pick(cumulated: list[float]) -> int | None:
    place = bisect_right(cumulated, _chance())
    return place if place < len(cumulated) else None


def _nodes(station: int, place: SimulatedStation) -> list[Callable[..., Any]]:
    """The constructors of a station's queues."""
    serving = place.serving
    if serving.needed:
        own = [] if place.branches else [partial(Queue, serving=serving, station=station)]
        return [partial(Forking, serving=serving, station=station), *(own * serving.queues)]
    if serving.budget is not None:
        return [partial(Budgeted, serving=serving, station=station)]
    if serving.paces:
        return [partial(UnequalServers, serving=serving, station=station)]
    speed = serving.speed
    if place.by_turns and speed is None and serving.servers < inf:
        turns = partial(DisciplineQueue, discipline=place.discipline)
        return [partial(turns, serving=serving, station=station)] * serving.queues
    if speed is None and (place.shared or serving.servers == inf):
        speed = partial(min, serving.servers)
    made: Callable[..., Any] = Queue if speed is None else partial(SharedQueue, speed=speed)
    return [partial(made, serving=serving, station=station)] * serving.queues


def _network(plan: Blueprint, queues: int, sources: Mapping[str, MergedArrivals]) -> Any:
    """Ciw's network; its routes are never used."""
    served = [place for k, place in enumerate(plan.places) for _ in _nodes(k, place)]
    servers = [m for k, place in enumerate(plan.places) for m in _servers(k, place)]
    nothing = [[0.0] * (queues + 1)] * (queues + 1)
    return ciw.create_network(
        arrival_distributions={
            j.name: [sources.get(j.name) or _arrivals(j)] + [None] * queues for j in plan.classes
        },
        batching_distributions={
            j.name: [dists.Deterministic(j.population or 1)] * (queues + 1) for j in plan.classes
        },
        service_distributions={
            j.name: [
                *(_service(p.times[j.name], p.scvs[j.name]) for p in served),
                *[dists.Deterministic(0.0)] * (queues - len(served)),
                _thinking(j, plan.beyond),
            ]
            for j in plan.classes
        },
        routing={j.name: nothing for j in plan.classes},
        number_of_servers=[*servers, *[inf] * (queues + 1 - len(servers))],
    )


def _servers(station: int, place: SimulatedStation) -> list[float]:
    """Servers of each queue of a station; requests that wait for their parts have none."""
    alone = place.serving.speed is None and not (place.shared or place.by_turns)
    servers = place.serving.servers
    each = int(servers) if alone and servers < inf else inf
    count = len(_nodes(station, place))
    return [inf, *[each] * (count - 1)] if place.serving.needed else [each] * count


def _arrivals(jobs: Jobs) -> Any:
    if not (jobs.population or jobs.arrival_rate):
        return None
    if jobs.population:
        return AtTheStart()
    return _gaps(jobs.arrival_rate, jobs.arrival_scv)


def _service(time: float, scv: float) -> Any:
    if time == 0 or scv == 0:
        return dists.Deterministic(time)
    return dists.Exponential(1 / time) if scv == 1 else dists.Gamma(1 / scv, time * scv)


def _thinking(jobs: Jobs, beyond: float) -> Any:
    """Think time, after the time that a job spends outside its stations."""
    think = _service(jobs.think_time, 1.0)
    return think + dists.Deterministic(beyond) if beyond else think
