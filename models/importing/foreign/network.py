"""A queueing network as another tool's file describes it, before it becomes a headway model."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.table import DEFAULT
from headway.records import dataclass

Shares = Mapping[tuple[str, str], float]
"""Routing probability from one station to another."""


class Serves(StrEnum):
    """As a delay, a queue, a station with a rate for each number of jobs, or a fork."""

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
class ForeignStation:
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
        Queue discipline.
    last_next
        Whether the job that came last is next, without interrupting any: ``order`` is then that of
        arrival, which has the same means.
    places
        Capacity, including jobs in service; None without a limit.
    blocking
        Whether jobs that find it full stay at the server that has just served them; otherwise they
        are lost.
    waits_outside
        Whether jobs that find it full wait in front of it and are not overtaken: ``places`` is then
        None, and these jobs count as being there.
    branches, needed
        For a fork: the stations to which it sends a part each, and the parts for which the join
        waits.
    rates
        For a varying rate: the service rate with 1, 2... jobs [1/s]; the last one holds for more.
    """

    name: str
    serves: Serves
    times: Mapping[str, ServiceTimes]
    servers: int = 1
    order: Discipline = DEFAULT
    places: int | None = None
    rates: tuple[float, ...] = ()
    last_next: bool = False
    branches: tuple[str, ...] = ()
    needed: int = 0
    blocking: bool = False
    waits_outside: bool = False

    @property
    def shared(self) -> bool:
        """Whether the jobs present share the servers, rather than wait their turn."""
        return self.order.shares

    @property
    def in_turn(self) -> bool:
        """Whether jobs start in the order in which they come."""
        return self.order.in_turn and not self.last_next


@dataclass(frozen=True)
class ForeignClass:
    """A class of jobs: open, with interarrival times, or closed, with a population.

    Parameters
    ----------
    name
        As the file has it.
    arrivals
        Interarrival times; None if closed.
    population
        Number of jobs; None if open. An open class without arrivals gets its jobs from other
        classes.
    reference
        The station or source that marks the start of a cycle in the file; may be empty.
    priority
        As in the file: the largest goes first.
    """

    name: str
    arrivals: ServiceTimes | None
    population: int | None
    reference: str = ""
    priority: int = 0


@dataclass(frozen=True)
class ForeignRegion:
    """Stations that together hold a limited number of jobs, while further ones wait outside."""

    name: str
    stations: tuple[str, ...]
    limit: int


@dataclass(frozen=True)
class Expected:
    """A result that the file contains.

    Parameters
    ----------
    measure
        Name of the measure, such as ``Utilization``.
    station, job_class
        Where it was measured; empty for all of them.
    value
        In SI.
    low, high
        Confidence interval of a simulated value.
    """

    measure: str
    station: str
    job_class: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class ForeignNetwork:
    """The contents of another tool's file.

    Parameters
    ----------
    name, kind
        Name of the model, and kind of file.
    stations, classes
        In the file's order.
    visits
        Mean visits by station and class.
    entries, routes
        For a single open class: its shares of arrivals by station, and its routes. Empty where the
        visits suffice.
    expected
        Results in the file.
    notes
        What the model leaves out, or reproduces only in its means.
    class_entries, class_routes
        Where jobs change class: shares of stations by class, and routing probabilities from a class
        at a station to a class at a station. Visits are then 1 wherever a class appears.
    regions
        Limits on the number of jobs in several stations together.
    """

    name: str
    kind: str
    stations: tuple[ForeignStation, ...]
    classes: tuple[ForeignClass, ...]
    visits: Mapping[tuple[str, str], float]
    entries: Mapping[str, float] = field(default_factory=dict)
    routes: Shares = field(default_factory=dict)
    expected: tuple[Expected, ...] = ()
    notes: tuple[str, ...] = ()
    class_entries: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    class_routes: Mapping[tuple[tuple[str, str], tuple[str, str]], float] = field(
        default_factory=dict
    )
    regions: tuple[ForeignRegion, ...] = ()

    @property
    def classless(self) -> bool:
        """Whether headway models it without classes; forks need a single class."""
        return any(station.branches for station in self.stations)

    def of_all(self, station: str) -> float:
        """Visits of a single class to a station."""
        return self.visits.get((station, self.classes[0].name), 0.0)
