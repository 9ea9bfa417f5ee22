"""A queueing network as numbers: stations, classes of jobs, and the routes between them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from functools import cached_property, wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, InvalidParameter
from headway.kinds import (
    Amount,
    FloatArray,
    check_count,
    check_not_negative,
    check_positive,
    is_symbolic,
)
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.flows.clients import Clients
from headway.queueing.network.arrays import check_population, rows, shape_over
from headway.queueing.network.blocking import BlockingNetwork
from headway.queueing.network.ranks import check_priority
from headway.queueing.network.routing import Routing
from headway.queueing.network.subject import Subject
from headway.queueing.stations.abilities import Abilities, ServiceKind
from headway.queueing.stations.base import Station
from headway.records import dataclass


class Saturation(StrEnum):
    """What to do about points that open classes saturate: raise an error, or mark them."""

    REFUSE = "refuse"
    MARK = "mark"


@dataclass(frozen=True)
class JobClass:
    """A class of jobs: open with an arrival rate, or closed with a population.

    Parameters
    ----------
    name
        Used in messages.
    arrival_rate
        Arrivals from outside [1/s], 0 or more; None for a closed class.
    population
        Number of jobs that circulate, a whole number from 0; None for an open class.
    think_time
        Mean think time of a closed class [s], 0 or more.
    priority
        Whole number from 1; 1 goes first at stations with priorities.

    Raises
    ------
    GraphError
        For a class with both arrival rate and population, or neither.
    InvalidParameter
        For numbers outside their domain.

    Examples
    --------
    >>> JobClass("terminals", population=40, think_time=15.0).is_open
    False
    """

    name: str
    arrival_rate: Amount = None
    population: Amount = None
    think_time: Amount = 0.0
    priority: int = 1

    def __post_init__(self) -> None:
        if (self.arrival_rate is None) == (self.population is None):
            msg = f"class {self.name} needs either an arrival_rate (open) or a population (closed)"
            raise GraphError(msg)
        if self.population is None:
            check_not_negative("arrival_rate", self.arrival_rate)
        else:
            check_population(self.population)
        check_not_negative("think_time", self.think_time)
        check_priority(self.name, self.priority)

    @property
    def is_open(self) -> bool:
        """Whether its jobs come from outside and leave."""
        return self.population is None


@dataclass(frozen=True)
class SharedStation:
    """A station shared by several classes.

    A product form needs processor sharing, or first come first served with one exponential
    service time for all classes (BCMP). A class without a service time does not queue here.

    Parameters
    ----------
    name
        Used in messages.
    service_times, visits
        Mean service time per visit [s] and mean visits, 0 or more, one for each class.
    kind
        How it serves.
    servers
        Number of servers m, whole numbers from 1, may be an array over operating points; ignored
        for a delay.
    discipline
        Queueing discipline, which matters if service times differ by class.
    speeds
        For varying speed: the speed with 1, 2... jobs of all classes together, relative to the
        service times, each above 0; then the last holds.
    crew
        Servers m of such a station, min(n, m) of which work with n jobs present.
    scv
        Squared coefficients of variation of the service times, 0 or more, one for each class;
        exponential times (1) by default. They matter in order of arrival and with priorities.
    arrival_scv
        Squared coefficient of variation of times between arrivals, for Allen and Cunneen's formula.
    again
        Probability of each class of returning at once after a visit, at least 0 and below 1; 0 by
        default.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain.

    Examples
    --------
    >>> SharedStation("cpu", service_times=(0.01, 0.02), visits=(20, 5)).servers
    1

    References
    ----------
    Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975.
    """

    name: str
    service_times: Sequence[Amount]
    visits: Sequence[Amount]
    kind: ServiceKind = ServiceKind.QUEUE
    servers: Amount = 1
    discipline: Discipline = Discipline.SHARING
    speeds: Sequence[Amount] | FloatArray = ()
    crew: Amount = 1
    scv: Sequence[Amount] = ()
    arrival_scv: Amount | None = None
    again: Sequence[Amount] = ()

    def __post_init__(self) -> None:
        for value in (*self.service_times, *self.visits):
            if isinstance(value, str) or is_symbolic(value):
                msg = f"{self.name}: {value} is not a number; classes are solved with numbers only"
                raise InvalidParameter(msg)
        for value in self.service_times:
            check_not_negative(f"{self.name}: service_time", value)
        for value in self.visits:
            check_not_negative(f"{self.name}: visits", value)
        check_count(f"{self.name}: servers", self.servers)
        try:
            object.__setattr__(self, "discipline", Discipline(self.discipline))
        except InvalidParameter as error:
            msg = f"{self.name}: {error}"
            raise InvalidParameter(msg) from None
        self._check_speeds()
        for value in (*self.scv, *([] if self.arrival_scv is None else [self.arrival_scv])):
            check_not_negative(f"{self.name}: scv", value)

    def _check_speeds(self) -> None:
        if (self.kind is ServiceKind.VARYING) != (len(self.speeds) > 0):
            msg = f"{self.name}: speeds by number present are those of a varying station; give both"
            raise InvalidParameter(msg)
        for value in self.speeds:
            check_positive(f"{self.name}: speeds", value)

    @property
    def is_spread(self) -> bool:
        """Whether its waits depend on more than means: other times, in order or by priority."""
        has_scv = len(self.scv) > 0 or self.arrival_scv is not None
        return has_scv and self.kind is ServiceKind.QUEUE and self.discipline.scv


_OF_ONE = vars(SharedStation("", (), ()))
"""The fields of a station with their defaults."""


def shared_by_one(name: str, station: Station) -> SharedStation:
    """A station of one class, with numbers already checked by its kind.

    Service times and visits are in the arrays of the network only.
    """
    shared = object.__new__(SharedStation)
    vars(shared).update(
        _OF_ONE, name=name, kind=station.can.product_form or ServiceKind.QUEUE, servers=1
    )
    return shared


@dataclass(frozen=True)
class Network:
    """A network: stations and classes as arrays over flat operating points.

    Every method takes this form; one class is a network with C = 1.

    Parameters
    ----------
    stations, classes
        The stations and classes that it was read from.
    service_times, visits
        Shape (classes, stations, points).
    servers
        Servers of each station, shape (stations, points).
    rates
        Arrival rates, 0 for closed classes, shape (classes, points).
    population, think_time
        0 for open classes, shape (classes, points).
    shape
        Shape of the operating points.
    speeds
        For stations of varying speed, by index: speeds with 1, 2... jobs, shape (numbers, points).
    crews
        Their servers that can work, by index, shape (points,).
    scv
        Squared coefficients of variation of service times, if a station has its own, shape
        (classes, stations, points).
    ways
        Routes of jobs between stations; None if only visits are known.
    chains
        Indices of the classes that change into one another; empty if none do.
    again
        Probabilities of returning at once, shape (classes, stations, points); None if no job does.
    branches
        Indices of the stations that serve the parts of a fork, by index of the fork.
    own_visits
        Visits without those of parts, shape (stations, points); None if nothing forks.
    blocking
        Rooms, routes and regions of a network with blocking, at one operating point.
    kinds
        The stations with laws of their own, in a network of one class without disciplines by class;
        empty if classes share stations.
    clients
        How the clients of its only class give up; None if they wait.
    oldest
        Age at which its only queue drops requests [s]; None if it drops none.
    """

    stations: tuple[SharedStation, ...]
    classes: tuple[JobClass, ...]
    service_times: FloatArray
    visits: FloatArray
    servers: FloatArray
    rates: FloatArray
    population: FloatArray
    think_time: FloatArray
    shape: tuple[int, ...]
    speeds: Mapping[int, FloatArray] = field(default_factory=dict)
    ways: Routing | None = None
    scv: FloatArray | None = None
    chains: tuple[tuple[int, ...], ...] = ()
    crews: Mapping[int, FloatArray] = field(default_factory=dict)
    again: FloatArray | None = None
    branches: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    own_visits: FloatArray | None = None
    blocking: BlockingNetwork | None = None
    kinds: tuple[Station, ...] = ()
    clients: Clients | None = None
    oldest: Amount = None

    @cached_property
    def subject(self) -> Subject:
        """The kind of subject, for functions that look up methods."""
        if self.blocking is not None:
            return Subject.BLOCKING
        return Subject.ONE_CLASS if self.kinds else Subject.CLASSES

    @cached_property
    def found(self) -> dict[int, str]:
        """Needs of methods that it does not meet, by need, with the reason; see `Need.of`."""
        return {}

    @cached_property
    def kept(self) -> dict[str, Any]:
        """Results cached by `once`, by function."""
        return {}

    @cached_property
    def abilities(self) -> tuple[Abilities, ...]:
        """The abilities of its stations with laws of their own, without repetition."""
        return distinct(station.can for station in self.kinds)

    @cached_property
    def disciplines(self) -> tuple[Discipline, ...]:
        """The disciplines of its stations, without repetition."""
        return distinct(station.discipline for station in self.stations)

    @cached_property
    def forks(self) -> bool:
        """Whether a job can be in several queues at once."""
        return any(can.forks for can in self.abilities)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the stations."""
        return tuple(station.name for station in self.stations)

    @cached_property
    def has_open(self) -> bool:
        """Whether it has open classes."""
        return any(c.is_open for c in self.classes)

    @cached_property
    def has_closed(self) -> bool:
        """Whether it has closed classes."""
        return any(not c.is_open for c in self.classes)

    @cached_property
    def may_be(self) -> FloatArray:
        """Arrivals or jobs that may become jobs of a class, shape (classes, points).

        They are those of all classes that change into it.
        """
        own: FloatArray = self.rates + self.population
        total = own.copy()
        for chain in map(list, self.chains):
            total[chain] = own[chain].sum(axis=0)
        return total

    @cached_property
    def demand(self) -> FloatArray:
        """Service demands D = V S, shape (classes, stations, points) [s]."""
        return self.visits * self.service_times

    @cached_property
    def is_open(self) -> Amount:
        """Whether each class is open, shape (classes,)."""
        return np.array([c.is_open for c in self.classes])

    @cached_property
    def is_delay(self) -> Amount:
        """Whether each station is a delay, shape (stations,)."""
        return self._are(ServiceKind.DELAY)

    @cached_property
    def is_pool(self) -> Amount:
        """Whether each station ever has several servers at one queue, shape (stations,)."""
        return self._are(ServiceKind.QUEUE) & (self.servers > 1).any(axis=1)

    @cached_property
    def is_varying(self) -> Amount:
        """Whether each station has speeds listed by number of jobs, shape (stations,)."""
        return self._are(ServiceKind.VARYING)

    @cached_property
    def is_crowd(self) -> Amount:
        """Whether each station's speed depends on the number of jobs, shape (stations,)."""
        return self.is_pool | self.is_varying

    @cached_property
    def is_roomy(self) -> Amount:
        """Stations where closed jobs never wait: delays, or a server each, shape (stations,)."""
        if not self.is_pool.any():
            return self.is_delay
        enough = (self.servers >= self.population.sum(axis=0).max()).all(axis=1)
        return self.is_delay | (self.is_pool & enough)

    @cached_property
    def full(self) -> FloatArray:
        """Work completed per second by each full station [s/s], shape (stations, points)."""
        return self._with_speeds(lambda speeds: speeds[-1])

    @property
    def fastest(self) -> FloatArray:
        """Work completed per second by each station at best [s/s]; with open classes, when full."""
        if self.is_open.any():
            return self.full
        occurs = np.maximum(self.population.sum(axis=0), 1)

        def best(speeds: FloatArray) -> FloatArray:
            there = np.arange(1, len(speeds) + 1)[:, None] <= occurs
            return np.asarray(np.where(there, speeds, 0.0).max(axis=0))

        return self._with_speeds(best)

    def _with_speeds(self, pick: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Servers; for stations of varying speed, what ``pick`` takes from the speeds."""
        if not self.speeds:
            return self.servers
        full = self.servers.copy()
        for k, speeds in self.speeds.items():
            full[k] = pick(speeds)
        return full

    @cached_property
    def queues(self) -> FloatArray:
        """Number of separate queues of each station, shape (stations, points)."""
        return np.where(self._are(ServiceKind.PARALLEL)[:, None], self.servers, 1.0)

    def _are(self, kind: ServiceKind) -> Amount:
        return np.array([s.kind == kind for s in self.stations])

    def at(self, points: NDArray[np.intp]) -> "Network":
        """The network at some of its operating points."""
        return replace(
            self,
            **{name: getattr(self, name)[..., points] for name in _BY_POINT},
            shape=points.shape,
            speeds={k: speeds[:, points] for k, speeds in self.speeds.items()},
            crews={k: crew[points] for k, crew in self.crews.items()},
            scv=None if self.scv is None else self.scv[..., points],
            again=None if self.again is None else self.again[..., points],
            ways=None if self.ways is None else self.ways.at(points),
        )


_Found = TypeVar("_Found")


def distinct(values: Iterable[_Found]) -> tuple[_Found, ...]:
    """Each value once, in order of first appearance.

    Examples
    --------
    >>> distinct([Saturation.MARK, Saturation.REFUSE, Saturation.MARK])
    (<Saturation.MARK: 'mark'>, <Saturation.REFUSE: 'refuse'>)
    """
    return tuple({id(value): value for value in values}.values())


_BY_POINT = ("service_times", "visits", "servers", "rates", "population", "think_time")


def once(law: Callable[[Network], _Found]) -> Callable[[Network], _Found]:
    """Cache the result of a function of a network, as many ask for it; arrays must not be changed.

    Examples
    --------
    >>> cpu, web = SharedStation("cpu", (0.1,), (1,)), JobClass("web", arrival_rate=1.0)
    >>> network = read_network([cpu], [web])
    >>> load = once(lambda network: network.rates * network.demand[:, 0])
    >>> load(network) is load(network)
    True
    """
    name = f"{law.__module__}.{law.__qualname__}"

    @wraps(law)
    def asked(network: Network) -> _Found:
        kept = network.kept
        if name not in kept:
            found = law(network)
            if isinstance(found, np.ndarray):
                found.flags.writeable = False
            kept[name] = found
        answer: _Found = kept[name]
        return answer

    return asked


def read_network(
    stations: Sequence[SharedStation],
    classes: Sequence[JobClass],
    ways: Routing | None = None,
) -> Network:
    """Stations and classes as arrays.

    Parameters
    ----------
    stations, classes
        At least one of each; every station has an entry for each class.
    ways
        Routes of jobs between them, if known.

    Raises
    ------
    GraphError
        For no stations or classes, or lists that do not match.

    Examples
    --------
    >>> network = read_network(
    ...     [SharedStation("cpu", (0.5,), (4,))], [JobClass("web", arrival_rate=0.1)]
    ... )
    >>> network.demand.shape
    (1, 1, 1)
    """
    network = laid_out(stations, classes, ways)
    _check_time(network)
    return network


def laid_out(
    stations: Sequence[SharedStation],
    classes: Sequence[JobClass],
    ways: Routing | None = None,
) -> Network:
    """As `read_network`, also for classes that no job belongs to for long."""
    _check_lists(stations, classes)
    shape = shape_over([*_amounts(stations, classes)])

    def by_station(name: str) -> FloatArray:
        entries = [value for station in stations for value in getattr(station, name)]
        table = rows(entries, shape).reshape(len(stations), len(classes), -1)
        return np.ascontiguousarray(table.swapaxes(0, 1))

    return Network(
        tuple(stations),
        tuple(classes),
        by_station("service_times"),
        by_station("visits"),
        rows([s.servers for s in stations], shape),
        rows([c.arrival_rate if c.is_open else 0.0 for c in classes], shape),
        rows([0.0 if c.is_open else c.population for c in classes], shape),
        rows([0.0 if c.is_open else c.think_time for c in classes], shape),
        shape,
        {k: rows(list(s.speeds), shape) for k, s in enumerate(stations) if len(s.speeds)},
        ways,
        _spread(stations, len(classes), shape),
        crews={k: rows([s.crew], shape)[0] for k, s in enumerate(stations) if len(s.speeds)},
        again=_again(stations, len(classes), shape),
    )


def _amounts(stations: Sequence[SharedStation], classes: Sequence[JobClass]) -> Iterator[Amount]:
    """All numbers of stations and classes, which may have many points."""
    for s in stations:
        yield from (*s.service_times, *s.visits, s.servers, *s.speeds, s.crew, *s.scv, *s.again)
        yield from () if s.arrival_scv is None else (s.arrival_scv,)
    for c in classes:
        yield from (c.arrival_rate if c.is_open else c.population, c.think_time)


def _spread(
    stations: Sequence[SharedStation], classes: int, shape: tuple[int, ...]
) -> FloatArray | None:
    """Squared coefficients of variation, if a station's wait depends on them."""
    if not any(station.is_spread for station in stations):
        return None
    scvs = [s.scv if s.is_spread and len(s.scv) else [1.0] * classes for s in stations]
    return _by_class(scvs, classes, shape)


def _again(
    stations: Sequence[SharedStation], classes: int, shape: tuple[int, ...]
) -> FloatArray | None:
    """Probabilities of returning at once, if some jobs do."""
    if not any(np.any(np.asarray(chance) > 0) for s in stations for chance in s.again):
        return None
    return _by_class([s.again or [0.0] * classes for s in stations], classes, shape)


def _by_class(
    tables: Sequence[Sequence[Amount]], classes: int, shape: tuple[int, ...]
) -> FloatArray:
    """A number of each class at each station, shape (classes, stations, points)."""
    table = rows([value for each in tables for value in each], shape)
    return np.ascontiguousarray(table.reshape(len(tables), classes, -1).swapaxes(0, 1))


def _check_lists(stations: Sequence[SharedStation], classes: Sequence[JobClass]) -> None:
    if not stations or not classes:
        raise GraphError("a network needs at least one station and one class")
    count = len(classes)
    for station in stations:
        for name in ("service_times", "visits", "scv"):
            given = len(getattr(station, name))
            if given != count and (given or name != "scv"):
                msg = (
                    f"{station.name}: {name} has {given} entries for {count} classes; "
                    "give one for each"
                )
                raise GraphError(msg)


def _check_time(network: Network) -> None:
    """Refuse a class without visits, and jobs that would circulate in no time."""
    if network.demand.any(axis=1).all():
        return
    somewhere = np.where(
        network.is_open[:, None],
        network.visits.any(axis=1),
        network.demand.any(axis=1) | (network.think_time > 0) | (network.population == 0),
    )
    if not somewhere.all():
        name = network.classes[int(np.argmin(somewhere.all(axis=1)))].name
        msg = f"class {name} visits no station; give it visits, service times or a think time"
        raise GraphError(msg)
