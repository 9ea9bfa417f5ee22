"""Distributions of response times in networks with closed classes, also mixed with open ones.

If all servers are shared, one job is followed among the numbers of jobs of each class. Otherwise
the jobs that it meets are treated as one class, with the mean visits and times of all classes and
with their total arrivals; the times found are scaled to the mean of the class, which is known.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.solving.classes.network import check_times_known, shared_station
from headway.models.structure.parts.keys import of_class
from headway.models.structure.parts.orders import check_exponential
from headway.models.structure.planning.ways import shares, visits_given, ways_of
from headway.queueing.network.network import SharedStation
from headway.queueing.passages.aggregation import (
    ArrivingClass,
    are_counted_apart,
    with_other_classes,
)
from headway.queueing.passages.class_numbers import SharingClass
from headway.queueing.passages.laws import given_visits_law, passage_law, stretched
from headway.queueing.passages.passage import Passage, PassageStation, topological_order
from headway.queueing.passages.processor_sharing import sharing_law
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.times.inversion import tabulated
from headway.queueing.times.laws import TimeLaw, mixture
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution

AS_ONE = (
    "percentiles treat the jobs of closed classes as one class: up to the 99th within 13%, the "
    "99.9th within 13% where measured"
)


def closed_class_laws(point: "Solution") -> dict[str, TimeLaw | None]:
    """Distribution of the response time of each class, and of all jobs together under "".

    Parameters
    ----------
    point
        One operating point of a network with closed classes.

    Returns
    -------
    Laws by class; None for a class with infinite times.
    """
    crowd = _crowd(point)
    each = {name: _law(crowd, c) for c, name in enumerate(point.classes)}
    laws = {name: None if law is None else tabulated(law) for name, law in each.items()}
    known = [law for law in laws.values() if law is not None]
    if len(known) < len(laws):
        return {"": None, **laws}
    rates = crowd.rates if crowd.rates.any() else np.ones(len(laws))
    return {"": mixture(known, rates.tolist()), **laws}


@dataclass(frozen=True)
class _Crowd:
    """Classes and their numbers, by class or with shape (classes, stations)."""

    point: "Solution"
    stations: tuple[SharedStation, ...]
    rates: FloatArray
    populations: FloatArray
    thinking: FloatArray
    visits: FloatArray
    times: FloatArray

    @property
    def delays(self) -> NDArray[np.bool_]:
        """Which stations are delays."""
        return np.array([station.kind is ServiceKind.DELAY for station in self.stations])

    def others(self, own: int) -> list[tuple[int, int]]:
        """The other jobs: their classes, and how many circulate; open classes count none."""
        jobs = self.populations - (np.arange(len(self.rates)) == own)
        closed = np.where(self.populations > 0, jobs, 0.0)
        there = ((closed > 0) | (self.populations == 0)) & (self.rates > 0)
        return [(int(c), int(closed[c])) for c in np.flatnonzero(there)]

    def is_one(self, own: int) -> bool:
        """Whether all classes wait in order of arrival, with equal visits and times at each queue.

        If so, and if jobs only go forward, the number of jobs found at each queue is all that
        matters; and the total number of jobs there has a product form, however long each class is
        away.
        """
        graph = self.point.model.graph
        queues = ~self.delays
        come = [c for c, _ in self.others(own)]
        shared = any(
            shares(graph, s.name) for s in self.stations if s.kind is not ServiceKind.DELAY
        )
        return not shared and all(
            bool((each[c, queues] == each[own, queues]).all())
            for each in (self.visits, self.visits * self.times)
            for c in come
        )

    def arriving(self, own: int) -> list[ArrivingClass]:
        """The other jobs, as they arrive at the queues."""
        resting = self.thinking + (self.visits * self.times)[:, self.delays].sum(axis=1)
        return [self._arriving(c, jobs, float(resting[c])) for c, jobs in self.others(own)]

    def classes(self, own: int) -> tuple[SharingClass, ...]:
        """The other jobs, as they arrive at the stations."""
        thinking = self.thinking
        return tuple(
            SharingClass(
                tuple(self.times[c].tolist()),
                tuple(self.visits[c].tolist()),
                float(self.rates[c]),
                (self._arriving(c, jobs, float(thinking[c])),),
            )
            for c, jobs in self.others(own)
        )

    def _arriving(self, c: int, jobs: int, away: float) -> ArrivingClass:
        return ArrivingClass(jobs, away if jobs else 1 / float(self.rates[c]))

    def alone(self, own: int) -> Passage:
        """The path of a job of a class that is alone in the network."""
        total = float(self.rates.sum())
        flow = self.rates @ self.visits
        work = self.rates @ (self.visits * self.times)
        mean = np.where(flow > 0, work / np.where(flow > 0, flow, 1.0), self.times[own])
        stations = tuple(self._station(k, float(mean[k]), own) for k in range(len(self.stations)))
        graph, count = self.point.model.graph, len(stations)
        ends = np.ones(count), np.zeros((count, count)), np.ones(count)
        if not visits_given(graph):
            ways = ways_of(graph, self.point.values)
            ends = ways.entries, ways.onward, ways.leaving
        others = flow / total if total else self.visits[own]  # it meets no other job
        return Passage(stations, *ends, 1, 0.0, total, self.times[own], others)

    def _station(self, k: int, mean: float, own: int) -> PassageStation:
        station, time = self.stations[k], float(self.times[own, k])
        if station.kind is ServiceKind.DELAY:
            return PassageStation(station.name, mean, 0, 0, time)
        lanes = int(station.servers) if station.kind is ServiceKind.PARALLEL else 1
        servers = int(station.servers) // lanes
        shared = shares(self.point.model.graph, station.name)
        return PassageStation(station.name, mean, servers, lanes, time, shared)


def _crowd(point: "Solution") -> _Crowd:
    graph, values = point.model.graph, point.values
    check_times_known(graph, closed=True)
    check_exponential(graph)

    def by_class(part: str) -> FloatArray:
        return np.array([float(values.get(of_class(name, part), 0.0)) for name in graph.classes])

    stations = tuple(shared_station(graph, name, values) for name in graph.stations)
    visits = np.array([station.visits for station in stations], float).T
    times = np.array([station.service_times for station in stations], float).T
    rates, jobs = by_class("throughput"), by_class("population")
    return _Crowd(point, stations, rates, jobs, by_class("think_time"), visits, times)


def _as_long(alone: Passage, mean: float) -> Passage:
    """Scale the times at queues to a given mean, which decides how far a chain is followed."""
    delays = np.array([station.is_delay for station in alone.stations])
    spent = alone.own_visits * alone.stays
    served, rest = float(spent[~delays].sum()), mean - float(spent[delays].sum())
    if served <= 0 or rest <= served:
        return alone
    return replace(alone, stays=np.where(delays, alone.stays, alone.stays * rest / served))


def _law(crowd: _Crowd, own: int) -> TimeLaw | None:
    mean = float(crowd.point[f"class {crowd.point.classes[own]}.response_time"])
    if not np.isfinite(mean):
        return None
    alone, given = crowd.alone(own), visits_given(crowd.point.model.graph)
    shared = None if given else sharing_law(alone, crowd.classes(own), mean)
    if shared is not None:
        return shared
    arriving = crowd.arriving(own)
    passage = with_other_classes(_as_long(alone, mean), arriving)
    law = given_visits_law(passage, crowd.visits[own]) if given else passage_law(passage)
    straight = given or topological_order(passage.onward) is not None
    as_one = () if straight and crowd.is_one(own) and are_counted_apart(arriving) else (AS_ONE,)
    return stretched(law, mean, as_one)
