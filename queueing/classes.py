"""Several classes of customers: what a network of them is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray, check_count, check_not_negative, is_symbolic
from headway.queueing.abilities import ServiceKind
from headway.queueing.centres import check_population


@dataclass(frozen=True)
class CustomerClass:
    """A class of customers: open with an arrival rate, or closed with a population.

    Parameters
    ----------
    name
        For messages.
    arrival_rate
        Arrivals from outside [1/s], 0 or more; None for a closed class.
    population
        Jobs that circulate, a whole number of 0 or more; None for an open class.
    think_time
        Mean think time of a closed class [s], 0 or more.

    Raises
    ------
    GraphError
        For a class with both arrival rate and population, or neither.
    InvalidParameter
        For numbers outside their domain.

    Examples
    --------
    >>> CustomerClass("terminals", population=40, think_time=15.0).is_open
    False
    """

    name: str
    arrival_rate: Any = None
    population: Any = None
    think_time: Any = 0.0

    def __post_init__(self) -> None:
        if (self.arrival_rate is None) == (self.population is None):
            msg = f"class {self.name}: give either an arrival_rate or a population"
            raise GraphError(msg)
        if self.population is None:
            check_not_negative("arrival_rate", self.arrival_rate)
        else:
            check_population(self.population)
        check_not_negative("think_time", self.think_time)

    @property
    def is_open(self) -> bool:
        """Whether its customers come from outside and leave."""
        return self.population is None


@dataclass(frozen=True)
class ServiceCentre:
    """A station as several classes see it.

    A product form needs processor sharing, or first come first served with one exponential
    service time for all classes (BCMP).

    Parameters
    ----------
    name
        For messages.
    service_times, visits
        Mean service time per visit [s] and mean visits, 0 or more, one for each class.
    kind
        How it serves.
    servers
        Number of servers m, a whole number of 1 or more; of a delay it does not matter.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain.

    Examples
    --------
    >>> ServiceCentre("cpu", service_times=(0.01, 0.02), visits=(20, 5)).servers
    1

    References
    ----------
    Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975.
    """

    name: str
    service_times: Sequence[Any]
    visits: Sequence[Any]
    kind: ServiceKind = ServiceKind.QUEUE
    servers: int = 1

    def __post_init__(self) -> None:
        for value in (*self.service_times, *self.visits):
            if isinstance(value, str) or is_symbolic(value):
                msg = f"{self.name}: {value} is no number; classes are solved in numbers only"
                raise InvalidParameter(msg)
        for value in self.service_times:
            check_not_negative(f"{self.name}: service_time", value)
        for value in self.visits:
            check_not_negative(f"{self.name}: visits", value)
        check_count(f"{self.name}: servers", self.servers)


@dataclass(frozen=True)
class ClassNetwork:
    """Centres and classes as arrays over the operating points, laid out flat.

    Parameters
    ----------
    centres, classes
        What it was read from.
    service_times, visits
        Shape (classes, stations, points).
    rates
        Arrival rates, 0 for closed classes, shape (classes, points).
    population, think_time
        0 for open classes, shape (classes, points).
    shape
        Shape of the operating points.
    """

    centres: tuple[ServiceCentre, ...]
    classes: tuple[CustomerClass, ...]
    service_times: FloatArray
    visits: FloatArray
    rates: FloatArray
    population: FloatArray
    think_time: FloatArray
    shape: tuple[int, ...]

    @property
    def demand(self) -> FloatArray:
        """Service demands D = V S, shape (classes, stations, points) [s]."""
        return self.visits * self.service_times

    @property
    def is_open(self) -> Any:
        """Which classes are open, shape (classes,)."""
        return np.array([c.is_open for c in self.classes])

    @property
    def is_delay(self) -> Any:
        """Which centres are delays, shape (stations,)."""
        return np.array([c.kind is ServiceKind.DELAY for c in self.centres])

    @property
    def servers(self) -> FloatArray:
        """Servers of each centre, shape (stations, 1)."""
        return np.array([[float(c.servers)] for c in self.centres])

    @property
    def is_pool(self) -> Any:
        """Which centres have several servers at one queue, shape (stations,)."""
        return np.array([c.kind is ServiceKind.QUEUE and c.servers > 1 for c in self.centres])


def read_network(
    centres: Sequence[ServiceCentre], classes: Sequence[CustomerClass]
) -> ClassNetwork:
    """Lay centres and classes out as arrays.

    Parameters
    ----------
    centres, classes
        At least one of each; every centre has an entry for each class.

    Raises
    ------
    GraphError
        For none of them, or lists that do not match.

    Examples
    --------
    >>> network = read_network(
    ...     [ServiceCentre("cpu", (0.5,), (4,))], [CustomerClass("web", arrival_rate=0.1)]
    ... )
    >>> network.demand.shape
    (1, 1, 1)
    """
    _check_lists(centres, classes)
    values = [
        *(v for c in centres for v in (*c.service_times, *c.visits)),
        *(c.arrival_rate if c.is_open else c.population for c in classes),
        *(c.think_time for c in classes),
    ]
    shape = np.broadcast_shapes(*(np.shape(v) for v in values))

    def rows(entries: Sequence[Any]) -> FloatArray:
        filled = [np.asarray(0.0 if entry is None else entry, float) for entry in entries]
        return np.array([np.broadcast_to(entry, shape).reshape(-1) for entry in filled])

    return ClassNetwork(
        tuple(centres),
        tuple(classes),
        np.array([rows(c.service_times) for c in centres]).swapaxes(0, 1),
        np.array([rows(c.visits) for c in centres]).swapaxes(0, 1),
        rows([c.arrival_rate for c in classes]),
        rows([c.population for c in classes]),
        rows([0.0 if c.is_open else c.think_time for c in classes]),
        shape,
    )


def _check_lists(centres: Sequence[ServiceCentre], classes: Sequence[CustomerClass]) -> None:
    if not centres or not classes:
        raise GraphError("a network needs a station and a class; give at least one of each")
    for centre in centres:
        for name in ("service_times", "visits"):
            if len(getattr(centre, name)) != len(classes):
                msg = (
                    f"{centre.name}: {name} has {len(getattr(centre, name))} entries "
                    f"for {len(classes)} classes; give one for each"
                )
                raise GraphError(msg)
    visits = read_visits(centres)
    for position, customers in enumerate(classes):
        if not any(visits[position]) and not np.any(customers.think_time):
            msg = f"class {customers.name} visits no station; give it visits or a think time"
            raise GraphError(msg)


def read_visits(centres: Sequence[ServiceCentre]) -> list[list[bool]]:
    """Tell for each class which centres ask work of it.

    Examples
    --------
    >>> read_visits([ServiceCentre("cpu", (0.5, 0.1), (4, 0))])
    [[True], [False]]
    """
    classes = range(len(centres[0].visits))
    return [
        [bool(np.any(np.multiply(s.visits[c], s.service_times[c]))) for s in centres]
        for c in classes
    ]
