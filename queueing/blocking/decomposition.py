"""Networks that block after service, station by station: approximate, for any size."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, isfinite

import numpy as np
from scipy.optimize import brentq

from headway.errors import GraphError, Saturated
from headway.kinds import FloatArray
from headway.queueing.blocking.answers import BlockingSolution, solve_chain
from headway.queueing.blocking.chain import solvable
from headway.queueing.blocking.measured import decomposed_note
from headway.queueing.blocking.network import Blocking, BlockingNetwork, Room
from headway.queueing.stations.base import MMm

_ROUNDS = 2000
_SETTLED = 1e-12
_FAST = 1e9  # times the service rate: as good as without end
_MOST_LISTED = 4000
_MOST_FOLLOWING = 2000


@dataclass(frozen=True)
class Alone:
    """An isolated station, with the jobs that are blocked on their way to it.

    Parameters
    ----------
    places
        Jobs there at most.
    servers
        Its own; `before` are those of the stations before it that it can hold up.
    """

    places: int
    servers: float
    before: int

    def chances(self, coming: float, service: float) -> FloatArray:
        """Chance that 0, 1... are there or wait for a place, at a rate of those not held up."""
        size = self.places + self.before
        births = np.full(size, coming)
        births[self.places :] *= 1 - np.arange(self.before) / max(self.before, 1)
        deaths = np.minimum(np.arange(1, size + 1), self.servers) / service
        logs = np.concatenate([[0.0], np.cumsum(np.log(births) - np.log(deaths))])
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum(), float)

    def through(self, chances: FloatArray, service: float) -> float:
        """Jobs that leave it [1/s]."""
        numbers = np.minimum(np.arange(chances.size), self.servers)
        return float(chances @ numbers / service)

    def carrying(self, rate: float, service: float) -> FloatArray:
        """Probabilities at this throughput [1/s].

        Raises
        ------
        Saturated
            For more than it can serve.
        """
        unit = 1 / service

        def miss(log: float) -> float:
            return self.through(self.chances(unit * np.exp(log), service), service) - rate

        top = np.log(_FAST)
        if miss(top) <= 0:
            raise Saturated("more jobs arrive than the network can pass; reduce the arrival rate")
        log = brentq(miss, np.log(rate / unit) - 1.0, top, xtol=1e-14)
        return self.chances(unit * float(np.exp(log)), service)


@dataclass(frozen=True)
class _Parts:
    """All stations at a throughput: how long each keeps a server, and who is where."""

    service: FloatArray
    queue: FloatArray
    blocked: FloatArray


def solve_decomposed(network: BlockingNetwork) -> BlockingSolution:
    """Solve a network that blocks after service approximately.

    Each station is a queue with the places that it has and the servers that it can hold up; a
    server is kept by a job until it has gone, whose time follows from the stations after it. A
    station with an endless queue is solved with those right after it, by their chain.

    Parameters
    ----------
    network
        Open or closed, without regions and repetitive service; jobs from outside come to stations
        without a limit.

    Raises
    ------
    GraphError
        For networks of other kinds.
    Saturated
        For an open network in overload.

    Examples
    --------
    >>> from headway.queueing.blocking.network import Room
    >>> full = Room(1.0, places=4, blocking=Blocking.AFTER_SERVICE)
    >>> way = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> two = BlockingNetwork((Room(1.0), full), way, np.array([1.0, 0.0]), arrival_rate=0.7)
    >>> round(solve_decomposed(two).response_time, 3)
    7.955

    References
    ----------
    Dallery and Frein, Operations Research 41(2), 1993; Perros, *Queueing Networks with Blocking*,
    1994, chapter 5.
    """
    _check(network)
    visits = _visits(network)
    if not network.closed:
        return _solution(network, network.arrival_rate, visits)
    return _solution(network, _circulating_rate(network, visits), visits)


def decomposed_saturation(network: BlockingNetwork) -> float:
    """Arrival rate from which on an open network cannot keep up, approximately [1/s]."""
    _check(network)
    visits = _visits(network)
    return _largest(lambda rate: _parts(network, rate, visits), _full_rate(network, visits))


def _check(network: BlockingNetwork) -> None:
    if network.windows or any(
        r.finite and r.blocking is not Blocking.AFTER_SERVICE for r in network.rooms
    ):
        raise GraphError("decomposition supports only blocking after service, without regions")
    entered = [k for k, room in enumerate(network.rooms) if room.finite and network.entry[k] > 0]
    if entered and not network.closed:
        msg = f"{network.called[entered[0]]} has a capacity and jobs arrive there from outside"
        msg = f"{msg}; decomposition does not support such a network"
        raise GraphError(msg)


def _visits(network: BlockingNetwork) -> FloatArray:
    return network.visits


def _full_rate(network: BlockingNetwork, visits: FloatArray) -> float:
    """Throughput at which some station is always busy, whatever blocks [1/s]."""
    loads = [v * r.service_time / r.servers for v, r in zip(visits, network.rooms, strict=True)]
    return 1 / max(loads) if max(loads) > 0 else inf


def _largest(works: Callable[[float], object], most: float) -> float:
    """The largest rate at which nothing is overloaded, by halving."""
    low, high = 0.0, most
    for _ in range(60):
        middle = (low + high) / 2
        try:
            works(middle)
            low = middle
        except Saturated:
            high = middle
    return low


def _parts(network: BlockingNetwork, rate: float, visits: FloatArray) -> _Parts:
    """All stations at a throughput, by rounds until service times and waits for places agree."""
    rooms = network.rooms
    onward = network.onward
    alone = [_alone(network, k) for k in range(len(rooms))]
    service = np.array([room.service_time for room in rooms])
    wait, queue, change = (np.zeros(len(rooms)) for _ in range(3))
    for _ in range(_ROUNDS):
        for k in reversed(range(len(rooms))):
            others = np.delete(onward[k], k) @ np.delete(wait, k)
            service[k] = rooms[k].service_time + others
            wait_now, queue[k] = _one(rooms[k], alone[k], visits[k] * rate, service[k])
            change[k] = abs(wait_now - wait[k])
            wait[k] = wait_now
        if change.max() <= _SETTLED * service.max():
            break
    own = np.array([room.service_time for room in rooms])
    return _Parts(service.copy(), queue.copy(), (service - own) * visits * rate)


def _alone(network: BlockingNetwork, station: int) -> Alone | None:
    """A station by itself; None for one that nothing limits."""
    room = network.rooms[station]
    most = network.population if network.closed else inf
    if not isfinite(min(room.places, most)) or not isfinite(room.servers):
        return None
    ways = network.circulating if network.closed else np.asarray(network.onward)
    sources = [k for k in np.flatnonzero(ways[:, station]) if k != station]
    before = sum(network.rooms[k].servers for k in sources) if room.holds_up else 0
    if network.closed and network.think_time and network.entry[station] > 0:
        before = inf
    places = int(min(room.places, most))
    return Alone(places, room.servers, int(min(before, max(most - places, 0), _MOST_LISTED)))


def _one(room: Room, alone: Alone | None, rate: float, service: float) -> tuple[float, float]:
    """Mean time that a job waits for a place at a station, and jobs there."""
    if rate == 0:
        return 0.0, 0.0
    if alone is None:
        if not isfinite(room.servers):
            return 0.0, rate * service
        return 0.0, _unlimited(room.servers, rate, service)
    chances = alone.carrying(rate, service)
    numbers = np.arange(chances.size)
    over = float(chances @ np.maximum(numbers - alone.places, 0))
    return over / rate, float(chances @ numbers) - over


def _unlimited(servers: float, rate: float, service: float) -> float:
    if rate * service >= servers:
        raise Saturated("more jobs arrive than the network can pass; reduce the arrival rate")
    return float(MMm(service, servers).queue_length(rate))


def _circulating_rate(network: BlockingNetwork, visits: FloatArray) -> float:
    """Throughput at which as many jobs are there as circulate [1/s]."""

    def surplus(rate: float) -> float:
        try:
            parts = _parts(network, rate, visits)
        except Saturated:
            return float(network.population)
        return float(parts.queue.sum()) + rate * network.think_time - network.population

    low, high = 0.0, _full_rate(network, visits)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if surplus(middle) > 0 else (middle, high)
    return low


def _with_followers(
    network: BlockingNetwork, station: int, through: FloatArray, service: FloatArray
) -> float:
    """Jobs at a station without a limit, by the chain of it and those that hold it up.

    While its queue is long, those after it are full more often than on average: a mean time that
    it is held up would not do.
    """
    onward = network.onward[station]
    others = [j for j in range(len(onward)) if onward[j] > 0 and j != station]
    after = [j for j in others if network.rooms[j].holds_up]
    rooms = [replace(network.rooms[j], service_time=service[j]) for j in (station, *after)]
    rooms[0] = network.rooms[station]
    ways = np.zeros((len(rooms), len(rooms)))
    ways[0, 0], ways[0, 1:] = onward[station], onward[after]
    own = through[station] * (1 - onward[station])
    beside = np.maximum(through[after] - through[station] * onward[after], 0.0)
    beside[beside < _SETTLED * through[after]] = 0.0
    coming = np.array([own, *beside])
    small = BlockingNetwork(tuple(rooms), ways, coming / coming.sum(), float(coming.sum()))
    if not after or not solvable(small, _MOST_FOLLOWING):
        return float(MMm(service[station], rooms[0].servers).queue_length(through[station]))
    return float(solve_chain(small).queue_length[0])


def _solution(network: BlockingNetwork, rate: float, visits: FloatArray) -> BlockingSolution:
    parts = _parts(network, rate, visits)
    for k, room in enumerate(network.rooms):
        if not network.closed and isfinite(room.servers) and not room.finite and rate * visits[k]:
            parts.queue[k] = _with_followers(network, k, rate * visits, parts.service)
    servers = np.array([room.servers for room in network.rooms])
    own = np.array([room.service_time for room in network.rooms])
    through = rate * visits
    present = parts.queue.sum()
    return BlockingSolution(
        throughput=rate,
        response_time=network.population / rate - network.think_time
        if network.closed
        else float(present / rate if rate else visits @ own),
        station_throughput=through,
        utilisation=through * own / servers,
        blocked=parts.blocked / servers,
        queue_length=parts.queue,
        method="decomposition",
        approximation=decomposed_note(closed=network.closed),
    )
