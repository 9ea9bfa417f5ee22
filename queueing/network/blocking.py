"""Networks with stations of limited capacity, which block or lose jobs that find no place."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from math import inf, isfinite

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray, check_count, check_not_negative
from headway.numerals import digits
from headway.queueing.flows.traffic import check_matrix, reached
from headway.records import dataclass


class Blocking(StrEnum):
    """What happens to a job whose next station is full.

    ``lost`` loses it. ``after service`` keeps it at its server, which serves no other job until
    there is a place; the job blocked first moves first. ``repetitive`` serves it again and draws
    its next station anew (random destination).
    """

    LOST = ""
    AFTER_SERVICE = "after service"
    REPETITIVE = "repetitive"


def check_blocking(name: str, blocking: str, *, can_be_full: bool) -> None:
    """Refuse an unknown kind of blocking, and blocking at a station that is never full.

    Raises
    ------
    GraphError
        Naming the station, and what there is.
    """
    if blocking not in set(Blocking):
        kinds = " or ".join(repr(str(kind)) for kind in Blocking if kind)
        msg = f"{name}: unknown blocking {blocking!r}; it must be {kinds}"
        raise GraphError(msg)
    if blocking and not can_be_full:
        msg = f"{name}: blocking needs a capacity; use MM1K or MMmK"
        raise GraphError(msg)


@dataclass(frozen=True)
class Room:
    """A station with exponential service, in order of arrival, and places for a number of jobs.

    Parameters
    ----------
    service_time
        Mean service time S of one server [s], 0 or more.
    servers
        Servers m, a whole number of 1 or more; infinity for a delay.
    places
        Largest number of jobs, including those in service, m or more; infinite for no limit.
    blocking
        What happens to jobs that find no place.

    Raises
    ------
    InvalidParameter
        For numbers outside their domain.

    Examples
    --------
    >>> Room(0.1, servers=1, places=3, blocking=Blocking.AFTER_SERVICE).finite
    True
    """

    service_time: float
    servers: float = 1
    places: float = inf
    blocking: Blocking = Blocking.LOST

    def __post_init__(self) -> None:
        check_not_negative("service_time", self.service_time)
        for name, number in (("servers", self.servers), ("places", self.places)):
            if number != inf:
                check_count(name, number)
        if self.places < self.servers and isfinite(self.servers):
            msg = (
                f"places is {digits(self.places)}; it must be at least servers, "
                f"{digits(self.servers)}"
            )
            raise InvalidParameter(msg)

    @property
    def finite(self) -> bool:
        """Whether it has a capacity."""
        return isfinite(self.places)

    @property
    def holds_up(self) -> bool:
        """Whether jobs that find it full block their server."""
        return self.finite and self.blocking is Blocking.AFTER_SERVICE


@dataclass(frozen=True)
class Window:
    """A finite-capacity region: stations with a common limit, outside of which other jobs wait.

    Parameters
    ----------
    stations
        Indices of its stations, which have no limit of their own.
    limit
        Largest number of jobs inside, a whole number from 1. Others wait in order of arrival.

    Examples
    --------
    >>> Window((0, 1), limit=8).limit
    8
    """

    stations: tuple[int, ...]
    limit: float

    def __post_init__(self) -> None:
        check_count("limit", self.limit)


@dataclass(frozen=True)
class BlockingNetwork:
    """Stations, routes between them, and jobs: arrivals from outside, or a population.

    Parameters
    ----------
    rooms
        The stations.
    onward
        Routing probabilities from each station (row) to each, shape (stations, stations); with the
        remaining probability a job leaves, or in a closed network thinks.
    entry
        Share of the jobs from outside, or of jobs that have thought, that enters at each.
    arrival_rate
        Arrival rate of an open network [1/s]; a job that finds its first station full is lost.
    population, think_time
        For a closed network: jobs, and mean time from answer to request [s]. A job that has thought
        and finds its first station full waits, and its user with it.
    windows
        Its finite-capacity regions, which share no station.

    Raises
    ------
    GraphError
        For invalid routes, regions that overlap, full stations that lose jobs inside the network,
        and rings of stations that block each other for ever.
    InvalidParameter
        For numbers outside their domain.

    Examples
    --------
    >>> full = Room(0.1, places=2, blocking=Blocking.AFTER_SERVICE)
    >>> way, first = np.array([[0, 1.0], [0, 0]]), np.array([1.0, 0])
    >>> two = BlockingNetwork((Room(0.1), full), way, first, arrival_rate=5)
    >>> two.closed
    False
    """

    rooms: tuple[Room, ...]
    onward: FloatArray
    entry: FloatArray
    arrival_rate: float = 0.0
    population: int = 0
    think_time: float = 0.0
    windows: tuple[Window, ...] = ()
    names: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        check_matrix(self.called, self.onward)
        check_not_negative("arrival_rate", self.arrival_rate)
        check_not_negative("think_time", self.think_time)
        check_windows(self)
        check_losses(self)
        check_deadlock(self)

    @property
    def closed(self) -> bool:
        """Whether the network is closed."""
        return self.population > 0

    @property
    def called(self) -> tuple[str, ...]:
        """Names of its stations: as given, or by number."""
        return self.names or tuple(f"station {k + 1}" for k in range(len(self.rooms)))

    @property
    def leaving(self) -> FloatArray:
        """Probability of leaving from each station, shape (stations,)."""
        return np.asarray(np.clip(1 - self.onward.sum(axis=1), 0.0, 1.0), float)

    @property
    def visits(self) -> FloatArray:
        """Mean visits of a job to each station if none is lost, shape (stations,)."""
        away = np.eye(len(self.rooms)) - self.onward.T
        return np.asarray(np.linalg.solve(away, self.entry), dtype=np.float64)

    def window_of(self, station: int) -> int | None:
        """Number of the region that a station is in; None if it is in none."""
        return next((k for k, w in enumerate(self.windows) if station in w.stations), None)

    def entries(self, window: Window) -> float:
        """Mean visits of a job to a region if none is lost."""
        inside = np.zeros(len(self.rooms), bool)
        inside[list(window.stations)] = True
        passing = self.visits[~inside] @ self.onward[~inside][:, inside].sum(axis=1)
        return float(self.entry[inside].sum() + passing)

    @property
    def circulating(self) -> FloatArray:
        """Routing probabilities, with jobs that leave returning at once."""
        return np.asarray(self.onward + np.outer(self.leaving, self.entry), float)


def check_windows(network: BlockingNetwork) -> None:
    """Refuse regions that share a station, and stations in them with a limit of their own."""
    taken: set[int] = set()
    for window in network.windows:
        for k in window.stations:
            if k in taken:
                msg = f"{network.called[k]} is in two regions; keep it in one"
                raise GraphError(msg)
            if network.rooms[k].finite:
                msg = f"{network.called[k]} has a capacity and is in a region; remove one of them"
                raise GraphError(msg)
            taken.add(k)


def check_losses(network: BlockingNetwork) -> None:
    """Refuse stations that would lose jobs after some service, or circulating jobs."""
    for k, room in enumerate(network.rooms):
        if not room.finite or room.blocking is not Blocking.LOST:
            continue
        if network.closed:
            msg = f"{network.called[k]} loses jobs, so a closed network runs empty"
            msg = f"{msg}; set blocking"
            raise GraphError(msg)
        others = np.delete(network.onward[:, k], k)
        if others.any():
            msg = (
                f"{network.called[k]} loses jobs that come from other stations, while others "
                "block; set blocking there too"
            )
            raise GraphError(msg)


def check_deadlock(network: BlockingNetwork) -> None:
    """Refuse networks with a deadlock: jobs that wait for each other's places.

    A ring of stations that block after service deadlocks once it is full; a closed network with
    repetitive service, once all of its places are taken.

    Raises
    ------
    GraphError
        Naming the ring, what it holds, and the remedy.

    References
    ----------
    Kundu and Akyildiz, Performance Evaluation 9, 1989: no deadlock where each ring has more places
    than there are jobs.
    """
    many = network.population if network.closed else inf
    ring, places = _tightest(network)
    if ring and places <= many:
        way = " -> ".join(network.called[k] for k in (*ring, ring[0]))
        full = f"{digits(many)} jobs fill it" if network.closed else "jobs from outside fill it"
        room = f"{digits(places)} places in all"
        msg = f"deadlock: {way} has {room}, and {full}; no job could move again"
        msg = f"{msg}; give more capacity, or remove one limit"
        raise GraphError(msg)
    here = visited(network)
    total = sum(network.rooms[k].places for k in here)
    stuck = total <= many if len(here) > 1 else total < many
    if network.closed and not network.think_time and stuck:
        some = len(here) < len(network.rooms)
        who = " and ".join(network.called[k] for k in here) if some else "all stations together"
        elsewhere = ", and no job comes to another station" if some else ""
        msg = f"deadlock: {who} have {digits(total)} places for {digits(many)} jobs{elsewhere}"
        msg = f"{msg}; give more capacity, or fewer jobs"
        raise GraphError(msg)


def visited(network: BlockingNetwork) -> list[int]:
    """Indices of the stations that jobs visit.

    Examples
    --------
    >>> none, first = np.zeros((2, 2)), np.array([1.0, 0.0])
    >>> visited(BlockingNetwork((Room(1.0), Room(1.0)), none, first, population=1))
    [0]
    """
    entered = np.asarray(network.entry) > 0
    return np.flatnonzero(reached(np.asarray(network.onward) > 0, entered)).tolist()


def _tightest(network: BlockingNetwork) -> tuple[tuple[int, ...], float]:
    """The ring of stations that block after service with the fewest places, and their number."""
    holding = [k for k, room in enumerate(network.rooms) if room.holds_up]
    round_trip = (
        network.circulating if network.closed and not network.think_time else network.onward
    )
    best: tuple[tuple[int, ...], float] = ((), inf)
    for first in holding:
        for ring, places in _rings(network.rooms, round_trip, holding, first):
            if places < best[1]:
                best = ring, places
    return best


def _rings(
    rooms: Sequence[Room], round_trip: FloatArray, holding: Sequence[int], first: int
) -> Iterator[tuple[tuple[int, ...], float]]:
    """Rings through a station with the fewest places, by relaxation (Bellman and Ford)."""
    reached: dict[int, tuple[tuple[int, ...], float]] = {first: ((first,), rooms[first].places)}
    for _ in holding:
        for k, (way, places) in list(reached.items()):
            for j in holding:
                if j == k or not round_trip[k, j] > 0:
                    continue
                if j == first:
                    yield way, places
                elif places + rooms[j].places < reached.get(j, ((), inf))[1]:
                    reached[j] = (*way, j), places + rooms[j].places
