"""A queueing network as another tool's file says it, before it is one of headway's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from headway.queueing.stations.abilities import Discipline

Shares = Mapping[tuple[str, str], float]
"""Probability to go from one station to another."""


class Serves(StrEnum):
    """Everybody at once, from one queue, at a rate for each number there, or by its branches."""

    AT_ONCE = "delay"
    QUEUE = "queue"
    VARYING = "varying"
    FORK = "fork"


@dataclass(frozen=True)
class ServiceTimes:
    """Service or interarrival times: their mean [s] and squared coefficient of variation."""

    mean: float
    scv: float = 1.0


@dataclass(frozen=True)
class Station:
    """A station.

    Parameters
    ----------
    name
        As the file has it.
    serves
        How.
    times
        Service times of each class that has any there.
    servers
        Servers of a queue.
    order
        Whose turn it is.
    last_next
        Whether the last come is next, though nobody is interrupted: order is that of arrival then,
        which has the same means.
    places
        Room, those in service included; None without limit.
    blocking
        Whether those who find it full stay at the server that has served them; else they are lost.
    waits_outside
        Whether those who find it full wait before it, where nobody else passes them: places is
        None then, and they are counted with it.
    branches, needed
        Of a fork, stations that it sends a part to each, and parts that it waits for.
    rates
        Service rate with 1, 2... jobs, the last holding on [1/s]; of one that varies.
    """

    name: str
    serves: Serves
    times: Mapping[str, ServiceTimes]
    servers: int = 1
    order: Discipline = Discipline.FCFS
    places: int | None = None
    rates: tuple[float, ...] = ()
    last_next: bool = False
    branches: tuple[str, ...] = ()
    needed: int = 0
    blocking: bool = False
    waits_outside: bool = False

    @property
    def shared(self) -> bool:
        """Whether those present share the servers, rather than wait in turn."""
        return self.order is Discipline.SHARING


@dataclass(frozen=True)
class JobClass:
    """A class of jobs: open with times between arrivals, or closed with a population.

    Parameters
    ----------
    name
        As the file has it.
    arrivals
        ServiceTimes between arrivals; None where it is closed.
    population
        Jobs; None where it is open. Open classes without arrivals come of others alone.
    reference
        The station or source that the file counts its cycles by; may be empty.
    priority
        As the file has it: the largest goes first.
    """

    name: str
    arrivals: ServiceTimes | None
    population: int | None
    reference: str = ""
    priority: int = 0


@dataclass(frozen=True)
class Region:
    """Stations that together hold so many jobs, while the others wait outside."""

    name: str
    stations: tuple[str, ...]
    limit: int


@dataclass(frozen=True)
class Expected:
    """A value that the file holds.

    Parameters
    ----------
    measure
        Such as ``Utilization``.
    station, job_class
        Of which; empty for all of them.
    value
        In SI.
    low, high
        Confidence interval, of a simulated one.
    """

    measure: str
    station: str
    job_class: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Network:
    """What a file of another tool says.

    Parameters
    ----------
    name, kind
        Of the model, and of the file.
    stations, classes
        In the file's order.
    visits
        Mean visits by station and class.
    entries, routes
        Of an only, open class: its shares of arrivals by station, and its routes. Empty where
        visits say all.
    expected
        Values that the file holds.
    notes
        What of the file is not in the model, or is so in means only.
    class_entries, class_routes
        Where classes turn into one another: shares of stations by class, and chances to go from a
        class at a station to a class at a station. Visits are 1 then where a class comes at all.
    regions
        Limits of the jobs in several stations.
    """

    name: str
    kind: str
    stations: tuple[Station, ...]
    classes: tuple[JobClass, ...]
    visits: Mapping[tuple[str, str], float]
    entries: Mapping[str, float] = field(default_factory=dict)
    routes: Shares = field(default_factory=dict)
    expected: tuple[Expected, ...] = ()
    notes: tuple[str, ...] = ()
    class_entries: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    class_routes: Mapping[tuple[tuple[str, str], tuple[str, str]], float] = field(
        default_factory=dict
    )
    regions: tuple[Region, ...] = ()

    @property
    def classless(self) -> bool:
        """Whether it is a network without classes here: forks are of one class alone."""
        return any(station.branches for station in self.stations)

    def of_all(self, station: str) -> float:
        """Visits of an only class to a station."""
        return self.visits.get((station, self.classes[0].name), 0.0)
