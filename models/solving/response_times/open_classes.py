"""Distributions of response times of several open classes that share stations."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.models.solving.classes.network import check_times_known, scv_of, shared_station
from headway.models.structure.graph import ModelGraph
from headway.models.structure.parts.keys import Values, of_class
from headway.models.structure.planning.ways import visits_given, ways_of
from headway.queueing.disciplines.discipline import SojournLaw
from headway.queueing.network.network import SharedStation
from headway.queueing.sojourn.routed_network import APART, GIVEN, INDEPENDENT, RoutedNetwork
from headway.queueing.sojourn.visited_station import (
    ONCE,
    ClassStation,
    VisitedStation,
    exponential_sharing_station,
    fcfs_station,
    general_sharing_station,
)
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Delay, Station
from headway.queueing.stations.priority import PriorityMG1
from headway.queueing.times.absorption import merge_returns
from headway.queueing.times.laws import (
    GAMMA,
    ComplexArray,
    TimeLaw,
    after_waiting,
    gamma,
    in_series,
    independent_visits,
    merged,
    mixture,
    poisson_wait,
)
from headway.queueing.times.processor_sharing.general import SharingClasses
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution

UNLIKE = f"{INDEPENDENT}, and Poisson arrivals: up to the 99th within 12% where measured"
"""Error where classes on common routes have service times of their own and wait in order of
arrival."""


def open_class_laws(point: "Solution") -> dict[str, TimeLaw | None]:
    """Distribution of the response time of each class, and of all jobs together under "".

    Parameters
    ----------
    point
        One operating point of a network of open classes.

    Returns
    -------
    Laws by class; None for a class that visits a saturated station.

    Raises
    ------
    GraphError
        For a station whose distribution is unknown, with the reason.
    """
    sharing = sharing_of(point)
    laws = {name: _class_law(sharing, c) for c, name in enumerate(point.classes)}
    known = [law for law in laws.values() if law is not None]
    if len(known) < len(laws):
        return {"": None, **laws}
    rates = sharing.rates if sharing.rates.any() else np.ones(len(laws))
    return {"": mixture(known, rates.tolist()), **laws}


@dataclass(frozen=True)
class SharedStations:
    """Stations as several classes use them, shape (classes, stations)."""

    point: "Solution"
    stations: tuple[SharedStation, ...]
    rates: FloatArray
    visits: FloatArray
    times: FloatArray
    scvs: FloatArray
    flows: FloatArray | None = None

    @property
    def loads(self) -> FloatArray:
        """Arrivals of each class at each station [1/s]; as given, where classes change."""
        return self.rates[:, None] * self.visits if self.flows is None else self.flows

    @property
    def alike(self) -> bool:
        """Whether all classes have the same service times and wait in order of arrival."""
        every = range(len(self.stations))
        return all(self.in_order(k) and len(self.services(k, 0)) == 1 for k in every)

    def in_order(self, k: int) -> bool:
        """Whether jobs at a station wait in order of arrival, or never wait."""
        station = self.stations[k]
        in_order = station.discipline.times is SojournLaw.IN_ORDER
        return in_order or station.kind is ServiceKind.DELAY

    def is_shared(self, k: int) -> bool:
        """Whether all jobs at a station share its servers."""
        station = self.stations[k]
        queue = station.kind is not ServiceKind.DELAY
        return queue and station.discipline.shares

    def is_general(self, k: int, own: int) -> bool:
        """Whether all jobs share the servers of a station with non-exponential service times."""
        return self.is_shared(k) and any(scv != 1 for _, scv in self.services(k, own))

    def services(self, k: int, own: int) -> set[tuple[float, float]]:
        """Distinct service times at a station and their scvs, including those of this class."""
        comes = self.loads[:, k] > 0
        comes[own] = True
        return set(zip(self.times[comes, k].tolist(), self.scvs[comes, k].tolist(), strict=True))

    def is_unlike(self, k: int, own: int) -> bool:
        """Whether a class waits in order of arrival with classes of other service times."""
        return len(self.services(k, own)) > 1 and not self.is_shared(k)

    def station(self, k: int, time: float) -> Station:
        """A station where all jobs have this service time."""
        component = self.point.model.graph.stations[self.stations[k].name]
        fields = {p: self.point.values[f"{self.stations[k].name}.{p}"] for p in component.fields}
        if component.scvs:
            fields["scv"] = self.scvs[self.loads[:, k] > 0, k].max(initial=0.0)
        made: Station = component.kind(**{**fields, "service_time": time})
        return made


def sharing_of(point: "Solution") -> SharedStations:
    """Read stations as classes use them; refuse stations whose times have no known distribution."""
    graph, values = point.model.graph, point.values
    check_times_known(graph, closed=False)
    stations = tuple(shared_station(graph, name, values) for name in graph.stations)
    rates = [float(values[of_class(name, "arrival_rate")]) for name in graph.classes]
    visits = np.array([station.visits for station in stations], float).T
    times = np.array([station.service_times for station in stations], float).T
    scvs = np.array([_scvs(graph, name, values) for name in graph.stations], float).T
    return SharedStations(point, stations, np.array(rates), visits, times, scvs)


def _scvs(graph: ModelGraph, name: str, values: Values) -> list[float]:
    """Squared coefficients of variation of service times, by class."""
    can = graph.stations[name].can
    if not (can.spread or can.insensitive):
        return [1.0] * len(graph.classes)
    return [float(scv_of(graph, name, c, values)) for c in graph.classes]


def _class_law(sharing: SharedStations, own: int) -> TimeLaw | None:
    """Law of the time of a class's job in the system."""
    visited = [int(k) for k in np.flatnonzero(sharing.visits[own] > 0)]
    point = sharing.point
    busy = [np.asarray(point[f"{sharing.stations[k].name}.utilisation"]) for k in visited]
    if any(share >= 1 for share in busy):
        return None
    if not visits_given(point.model.graph):
        return _by_routes(sharing, own)
    for k in visited:
        if sharing.visits[own, k] > 1 and sharing.is_general(k, own):
            msg = f"{sharing.stations[k].name}: {ONCE}"
            raise GraphError(msg)
    laws = [(_visit_law(sharing, k, own), float(sharing.visits[own, k])) for k in visited]
    law = in_series(*(independent_visits(each, visits) for each, visits in laws))
    waits = [visits for (_, visits), k in zip(laws, visited, strict=True) if _queues(sharing, k)]
    given = () if len(waits) <= 1 and sum(waits) <= 1 else (GIVEN,)
    return replace(law, notes=merged(given, law.notes))


def _queues(sharing: SharedStations, k: int) -> bool:
    return sharing.stations[k].kind is not ServiceKind.DELAY


def _by_routes(sharing: SharedStations, own: int) -> TimeLaw:
    """Law from following the routes, which are those of all classes."""
    ways = ways_of(sharing.point.model.graph, sharing.point.values)
    names = tuple(station.name for station in sharing.stations)
    if sharing.alike:
        stations = tuple(sharing.station(k, sharing.times[own, k]) for k in range(len(names)))
        loads = sharing.loads.sum(axis=0)
        return RoutedNetwork(names, stations, loads, ways.entries, ways.onward, ways.leaving).law()
    queues = np.array([_merges(sharing, k, own) for k in range(len(names))])
    many, onward, leaving = merge_returns(ways.onward, ways.leaving, queues)
    sharing = replace(sharing, visits=sharing.visits / many, times=sharing.times * many)
    visited = tuple(station_for(sharing, k, own) for k in range(len(names)))
    loads = sharing.loads.sum(axis=0)
    law = RoutedNetwork(names, visited, loads, ways.entries, onward, leaving).law()
    unlike = any(sharing.is_unlike(int(k), own) for k in np.flatnonzero(sharing.visits[own]))
    notes = tuple(UNLIKE if note == APART and unlike else note for note in law.notes)
    return replace(law, notes=notes)


def _merges(sharing: SharedStations, k: int, own: int) -> bool:
    """Whether consecutive visits to a station form one longer visit."""
    alone = sharing.is_shared(k) and _lanes(sharing, k) == 1
    return alone and not sharing.is_general(k, own)


def _lanes(sharing: SharedStations, k: int) -> int:
    station = sharing.stations[k]
    return int(station.servers) if station.kind is ServiceKind.PARALLEL else 1


def _visit_law(sharing: SharedStations, k: int, own: int) -> TimeLaw:
    """Law of the time of one visit of a class to a station."""
    return station_for(sharing, k, own).time_law(float(sharing.loads[:, k].sum()))


def station_for(sharing: SharedStations, k: int, own: int) -> VisitedStation:
    """A station as jobs of one class see it."""
    station, time = sharing.stations[k], float(sharing.times[own, k])
    if station.kind is ServiceKind.DELAY or time == 0:
        return Delay(time)
    if station.discipline.times is SojournLaw.HEAD_OF_LINE:
        return _by_priority(sharing, k, own)
    if station.discipline.shares:
        lanes = _lanes(sharing, k)
        servers = int(station.servers) // lanes
        if sharing.is_general(k, own):
            return general_sharing_station(
                _sharers(sharing, k), time, float(sharing.scvs[own, k]), servers
            )
        return exponential_sharing_station(
            sharing.loads[:, k], sharing.times[:, k], time, servers, lanes
        )
    if len(sharing.services(k, own)) == 1:
        return sharing.station(k, time)
    if int(station.servers) == 1:
        each = (time, float(sharing.scvs[own, k]))
        return fcfs_station(_sharers(sharing, k), each, _in_turn(sharing, k, own))
    msg = (
        f"{station.name}: times of classes with different service times have a known distribution "
        "only at one server, not at several; simulate it"
    )
    raise GraphError(msg)


def _sharers(sharing: SharedStations, k: int) -> SharingClasses:
    each = (sharing.loads[:, k], sharing.times[:, k], sharing.scvs[:, k])
    return SharingClasses(*(tuple(one.tolist()) for one in each))


def _by_priority(sharing: SharedStations, k: int, own: int) -> ClassStation:
    """A single server with non-preemptive priorities, for the jobs of one class."""
    graph, values = sharing.point.model.graph, sharing.point.values
    ranks = np.array([int(values[of_class(c, "priority")]) for c in graph.classes])
    if len(set(ranks.tolist())) < len(ranks) or (sharing.visits > 1).any():
        msg = (
            f"{sharing.stations[k].name}: times by priority have a known distribution only if each "
            "class has its own priority and visits once; simulate it"
        )
        raise GraphError(msg)
    order = np.argsort(ranks)
    times, rates = sharing.times[:, k], sharing.loads[:, k]
    _check_smooth(sharing, k, own)
    station = PriorityMG1(times[order].tolist(), sharing.scvs[order, k].tolist())
    law = station.time_laws(rates[order].tolist())[int(np.flatnonzero(order == own)[0])]
    return fcfs_station(_sharers(sharing, k), (float(times[own]), 1.0), law)


def _in_turn(sharing: SharedStations, k: int, own: int) -> TimeLaw:
    _check_smooth(sharing, k, own)
    law = served_in_turn(sharing.loads[:, k], sharing.times[:, k], own, sharing.scvs[:, k])
    others = any(_queues(sharing, other) for other in range(len(sharing.stations)) if other != k)
    name = sharing.stations[k].name
    notes = (f"arrivals at {name} are assumed Poisson",) if others else ()
    gamma = (GAMMA,) if (sharing.scvs[:, k] != 1).any() else ()
    return replace(law, notes=merged(notes, gamma))


def _check_smooth(sharing: SharedStations, k: int, own: int) -> None:
    comes = sharing.loads[:, k] > 0
    if sharing.scvs[comes, k].min(initial=sharing.scvs[own, k]) < _SMOOTH:
        name = sharing.stations[k].name
        msg = (
            f"{name}: times of classes with different service times have no known distribution if "
            "some are (almost) constant; simulate it"
        )
        raise GraphError(msg)


_SMOOTH = 1e-2
"""Smallest scv of service times whose transform can be inverted with a few terms."""


def served_in_turn(
    rates: FloatArray, times: FloatArray, own: int, scvs: FloatArray | None = None
) -> TimeLaw:
    """Response time of a class at one server in order of arrival: exact for Poisson arrivals.

    The wait is that in M/G/1 whose service times are a mixture of the classes' times.

    Parameters
    ----------
    rates, times
        Arrivals [1/s] and mean service time [s] of each class.
    own
        Index of the class.
    scvs
        Squared coefficients of variation of gamma-distributed times; exponential if not given.

    Examples
    --------
    >>> law = served_in_turn(np.array([0.4, 0.4]), np.array([0.2, 2.0]), own=0)
    >>> round(law.mean, 4)
    13.6667
    """
    scvs = np.ones(times.shape) if scvs is None else scvs
    shares = rates / rates.sum()
    mean = float(shares @ times)
    scv = float(shares @ (times**2 * (1 + scvs))) / mean**2 - 1
    each = [gamma(time, c) for time, c in zip(times.tolist(), scvs.tolist(), strict=True)]

    def service(s: ComplexArray) -> ComplexArray:
        return np.asarray(sum(p * law(s) for p, law in zip(shares, each, strict=True)))

    wait = poisson_wait(float(rates.sum()), service, mean, scv)
    return after_waiting(wait, each[own], float(times[own]))
