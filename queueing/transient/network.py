"""Queues and networks whose load varies with time, in the form that methods take."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.numerals import digits
from headway.queueing.methods.method import Subject
from headway.queueing.transient.forward import Numbers, exactly, steady
from headway.queueing.transient.service import Service


@dataclass(frozen=True)
class TimedStation:
    """A station whose capacity may vary with time.

    Parameters
    ----------
    name
        Used in messages.
    services
        How it serves; one service for each number in `TimedNetwork.which`.
    entry
        Share of jobs that enter the network here.
    lacking
        Why its law of service times is not supported; empty if it is.
    """

    name: str
    services: tuple[Service, ...]
    entry: float
    lacking: str = ""

    @property
    def is_delay(self) -> bool:
        """Whether it is a delay: nobody waits there."""
        return not self.services[0].speeds and not np.isfinite(self.services[0].servers)


@dataclass(frozen=True, eq=False)
class TimedNetwork:
    """A network whose load varies with time.

    Parameters
    ----------
    edges
        Limits of the parts of the time in which nothing changes [s], shape (parts + 1,).
    rates
        Arrival rate from outside in each part [1/s].
    which
        Index of the services that hold in each part.
    stations
        The stations.
    onward
        Routing probabilities from each station (row) to each (column).
    start
        Number of jobs at the start, or None for the steady state of the first rate.
    beyond
        Constant time that each job spends outside the stations [s].
    """

    edges: FloatArray
    rates: FloatArray
    which: NDArray[np.int64]
    stations: tuple[TimedStation, ...]
    onward: FloatArray
    start: int | None = None
    beyond: float = 0.0
    found: dict[int, str] = field(default_factory=dict)

    subject: ClassVar[Subject] = Subject.TIMED
    kinds: ClassVar[tuple[object, ...]] = ()
    blocking: ClassVar[None] = None

    @property
    def lengths(self) -> FloatArray:
        """Lengths of the parts [s]."""
        return np.diff(self.edges)

    @cached_property
    def visits(self) -> FloatArray:
        """Mean visits of a job to each station."""
        entry = np.array([station.entry for station in self.stations])
        away = np.eye(len(entry)) - self.onward.T
        return np.asarray(np.linalg.solve(away, entry), float)

    @cached_property
    def queues(self) -> tuple[int, ...]:
        """Indices of the stations that are not delays."""
        return tuple(k for k, station in enumerate(self.stations) if not station.is_delay)

    @property
    def queue(self) -> TimedStation:
        """The only queue."""
        return self.stations[self.queues[0]]

    @property
    def delay(self) -> float:
        """Mean time of a job at delays [s]."""
        times = [s.services[0].time if s.is_delay else 0.0 for s in self.stations]
        return float(self.visits @ times)

    def service(self, station: TimedStation, part: int) -> Service:
        """The service of a station in a part of the time."""
        return station.services[min(int(self.which[part]), len(station.services) - 1)]

    def begin(self) -> Numbers | None:
        """Numbers of jobs at the start at the only queue; None if there is no steady state then."""
        if self.start is not None:
            return exactly(self.start)
        return steady(float(self.rates[0]), self.service(self.queue, 0))


def lone(network: TimedNetwork) -> str:
    """Why the network has no single queue to follow; empty if it has."""
    if len(network.queues) != 1:
        return (
            f"method {{asked}} follows one queue, and there are {len(network.queues)} "
            f"({_queues(network)}); use method {_instead(network)}"
        )
    k = network.queues[0]
    if not _comes_once(network):
        return (
            f"{network.stations[k].name}: jobs come {digits(network.visits[k])} times, and method "
            f"{{asked}} follows those that come once; use method {_instead(network)}"
        )
    return ""


def _queues(network: TimedNetwork) -> str:
    return ", ".join(network.stations[k].name for k in network.queues)


def _comes_once(network: TimedNetwork) -> bool:
    """Whether jobs come once to the first queue."""
    k = network.queues[0]
    return bool(network.visits[k] == 1 and not (network.onward[k].any() and _returns(network, k)))


def _instead(network: TimedNetwork, *others: str) -> str:
    """Methods for what another does not know: those that may apply, and simulation."""
    one = len(network.queues) == 1 and _comes_once(network)
    plain = not any(
        np.isfinite(service.places) or service.speeds
        for station in network.stations
        for service in station.services
    )
    names = [*(["forward"] if one else []), *(["fluid"] if plain else []), *others]
    return " or ".join([", ".join(names), "simulation"]) if names else "simulation"


def _returns(network: TimedNetwork, queue: int) -> bool:
    reached = np.linalg.matrix_power(np.eye(len(network.stations)) + network.onward, 9)
    return bool((network.onward[queue] @ reached)[queue] > 0)


def markov(network: TimedNetwork) -> str:
    """Refuse the first station whose law of service times is not supported."""
    return next((f"{s.name}: {s.lacking}" for s in network.stations if s.lacking), "")


def roomy(network: TimedNetwork) -> str:
    """Refuse the first station with a limit on its jobs."""
    for station in network.stations:
        if any(np.isfinite(service.places) for service in station.services):
            return (
                f"{station.name}: has places, and method {{asked}} is for queues without a limit; "
                f"use method {_instead(network)}"
            )
    return ""


def by_servers(network: TimedNetwork) -> str:
    """Refuse the first station whose speed depends on its number of jobs."""
    for station in network.stations:
        if any(service.speeds for service in station.services):
            return (
                f"{station.name}: its speed depends on the number there, which method {{asked}} "
                f"does not know; use method {_instead(network)}"
            )
    return ""


def startable(network: TimedNetwork) -> str:
    """Refuse a start in steady state if there is none."""
    if len(network.queues) == 1 and network.begin() is None:
        return (
            f"{network.queue.name}: no steady state at the first rate, which is above its "
            "capacity; give --start empty or --start backlog=N"
        )
    return ""


def unhurried(network: TimedNetwork) -> str:
    """Refuse a given start, which a method without memory would ignore."""
    if network.start is not None:
        return (
            "method {asked} has no memory of a start; "
            f"use method {_instead(network)}, or --start steady"
        )
    return ""


def never_full(network: TimedNetwork) -> str:
    """Refuse a load above a capacity, with the first time."""
    for part, rate in enumerate(network.rates.tolist()):
        for station, visits in zip(network.stations, network.visits.tolist(), strict=True):
            service = network.service(station, part)
            if rate * visits >= service.fastest and not np.isfinite(service.places):
                return (
                    f"{station.name}: from {digits(network.edges[part])} s on the load is above "
                    f"its capacity, so there is no steady state; use method {_instead(network)}"
                )
    return ""


def unfollowed(network: TimedNetwork) -> str:
    """What in a network of queues no method follows over time, and the one that plays it."""
    what = f"{len(network.queues)} queues ({_queues(network)})"
    if len(network.queues) == 1:
        what = f"a queue to which jobs come back ({_queues(network)})"
    speeds = [s.name for s in network.stations if any(each.speeds for each in s.services)]
    if speeds:
        limit = f"a speed by the number there at {', '.join(speeds)}"
    else:
        limited = [s.name for s in network.stations if any(map(_is_limited, s.services))]
        also = "a load above a capacity" if network.start is None else "a given start"
        limit = f"places at {', '.join(limited)} and {also}"
    return f"no formula over time covers {what} with {limit}; use method simulation"


def _is_limited(service: Service) -> bool:
    return bool(np.isfinite(service.places))
