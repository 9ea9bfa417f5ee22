"""Networks that block after service, station by station: approximate, for any size.

Station k is isolated, with its c_k places and the servers before it that it can block: an M/M/m
queue in which with c_k + n jobs, n wait for a place, each at a blocked server. A job holds its
server for

    S*_k = S_k + sum over j of q_kj B_j,

with B_j the mean time that a job waits for a place at j. Both follow from the throughputs, and are
iterated until they agree. The throughput of a closed network is that at which the numbers of jobs
sum to N. ``python -m tests.campaigns.blocking_errors`` measures the errors.

Source: Dallery and Frein, Operations Research 41(2), 1993; Perros, *Queueing Networks with
Blocking*, 1994, chapter 5.
"""

from collections.abc import Callable
from dataclasses import replace
from math import inf, isfinite

import numpy as np

from headway.errors import GraphError, Saturated
from headway.kinds import FloatArray
from headway.queueing.blocking.answers import BlockingSolution, solve_chain
from headway.queueing.blocking.chain import solvable
from headway.queueing.blocking.measured import decomposed_note
from headway.queueing.network.blocking import Blocking, BlockingNetwork, Room
from headway.queueing.stations.base import MMm
from headway.records import dataclass

# The iteration ends at this share of the longest service time. More steps or digits do not change
# the digits that are stated; both only affect speed.
_MOST_STEPS, _SETTLED = 2000, 1e-12
_HALVINGS = 60  # of an interval: more than the 53 bits of a float
_FAST = 1e9  # arrival rate, in service rates, at which an isolated station counts as always full
_MOST_LISTED = 4000  # most blocked jobs listed at an isolated station: for speed
_MOST_FOLLOWING = 2000  # most states of the chain of a queue and the stations after it: for speed


@dataclass(frozen=True)
class IsolatedStation:
    """An isolated station, with the jobs blocked on their way to it.

    Parameters
    ----------
    places
        Largest number of jobs at the station.
    servers
        Its own servers, and those of stations before it that it can block (`before`).
    """

    places: int
    servers: float
    before: int

    def chances(self, coming: float, service: float) -> FloatArray:
        """Probabilities of 0, 1... jobs at the station or blocked before it.

        ``coming`` is the arrival rate while no job is blocked; each blocked server reduces it by
        its share.
        """
        size = self.places + self.before
        births = np.full(size, coming)
        births[self.places :] *= 1 - np.arange(self.before) / max(self.before, 1)
        deaths = np.minimum(np.arange(1, size + 1), self.servers) / service
        logs = np.concatenate([[0.0], np.cumsum(np.log(births) - np.log(deaths))])
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum(), float)

    def through(self, chances: FloatArray, service: float) -> float:
        """Throughput [1/s]."""
        numbers = np.minimum(np.arange(chances.size), self.servers)
        return float(chances @ numbers / service)

    def carrying(self, rate: float, service: float) -> FloatArray:
        """Probabilities at a given throughput [1/s].

        Raises
        ------
        Saturated
            For a throughput above its capacity.
        """
        from scipy.optimize import brentq

        unit = 1 / service

        def miss(log: float) -> float:
            return self.through(self.chances(unit * np.exp(log), service), service) - rate

        top = np.log(_FAST)
        if miss(top) <= 0:
            raise Saturated("more jobs arrive than the network can pass; reduce the arrival rate")
        log = brentq(miss, np.log(rate / unit) - 1.0, top, xtol=1e-14)
        return self.chances(unit * float(np.exp(log)), service)


@dataclass(frozen=True)
class _Loads:
    """By station: the time that a job holds a server, jobs present, and mean blocked servers."""

    service: FloatArray
    queue: FloatArray
    blocked: FloatArray


def solve_decomposed(network: BlockingNetwork) -> BlockingSolution:
    """Solve a network with blocking after service approximately.

    Each station is a queue with its places and the servers that it can block. A job keeps its
    server until it can move on, after a time that depends on the next stations. A station with an
    unlimited queue is solved together with the next stations, by their chain.

    Parameters
    ----------
    network
        Open or closed, without regions and without repetitive service; jobs from outside enter at
        unlimited stations.

    Raises
    ------
    GraphError
        For networks of other kinds.
    Saturated
        For an open network in overload.

    Examples
    --------
    >>> from headway.queueing.network.blocking import Room
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
    check_decomposition(network)
    if not network.closed:
        return _solution(network, network.arrival_rate, network.visits)
    visits = network.visits

    def too_many(rate: float) -> bool:
        try:
            loads = _loads(network, rate, visits)
        except Saturated:
            return True
        present = float(loads.queue.sum()) + rate * network.think_time
        return present - network.population > 0

    return _solution(network, _largest(too_many, _full_rate(network, visits)), visits)


def decomposed_saturation(network: BlockingNetwork) -> float:
    """Arrival rate at which an open network saturates, approximately [1/s]."""
    check_decomposition(network)
    visits = network.visits

    def saturates(rate: float) -> bool:
        try:
            _loads(network, rate, visits)
        except Saturated:
            return True
        return False

    return _largest(saturates, _full_rate(network, visits))


def check_decomposition(network: BlockingNetwork) -> None:
    """Refuse regions, blocking other than after service, and limited stations of entry."""
    if network.windows or any(
        r.finite and r.blocking is not Blocking.AFTER_SERVICE for r in network.rooms
    ):
        raise GraphError("decomposition supports only blocking after service, without regions")
    entered = [k for k, room in enumerate(network.rooms) if room.finite and network.entry[k] > 0]
    if entered and not network.closed:
        msg = f"{network.called[entered[0]]} has a capacity and jobs arrive there from outside"
        msg = f"{msg}; decomposition does not support such a network"
        raise GraphError(msg)


def _full_rate(network: BlockingNetwork, visits: FloatArray) -> float:
    """Throughput at which some station is always busy, without blocking [1/s]."""
    loads = [v * r.service_time / r.servers for v, r in zip(visits, network.rooms, strict=True)]
    return 1 / max(loads) if max(loads) > 0 else inf


def _largest(exceeds: Callable[[float], bool], most: float) -> float:
    """The largest rate that stays within a limit, by bisection from 0 to ``most``."""
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if exceeds(middle) else (middle, high)
    return low


def _loads(network: BlockingNetwork, rate: float, visits: FloatArray) -> _Loads:
    """All stations at a throughput: S*_k and B_k, iterated upstream until they agree."""
    rooms = network.rooms
    onward = network.onward
    isolated = [_isolated(network, k) for k in range(len(rooms))]
    service = np.array([room.service_time for room in rooms])
    wait, queue, change = (np.zeros(len(rooms)) for _ in range(3))
    for _ in range(_MOST_STEPS):
        for k in reversed(range(len(rooms))):
            others = np.delete(onward[k], k) @ np.delete(wait, k)
            service[k] = rooms[k].service_time + others
            wait_now, queue[k] = _wait_and_queue(
                rooms[k], isolated[k], visits[k] * rate, service[k]
            )
            change[k] = abs(wait_now - wait[k])
            wait[k] = wait_now
        if change.max() <= _SETTLED * service.max():
            break
    own = np.array([room.service_time for room in rooms])
    return _Loads(service.copy(), queue.copy(), (service - own) * visits * rate)


def _isolated(network: BlockingNetwork, station: int) -> IsolatedStation | None:
    """An isolated station; None if it can never be full."""
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
    return IsolatedStation(
        places, room.servers, int(min(before, max(most - places, 0), _MOST_LISTED))
    )


def _wait_and_queue(
    room: Room, isolated: IsolatedStation | None, rate: float, service: float
) -> tuple[float, float]:
    """Mean time B that a job waits for a place at a station [s], and jobs at the station."""
    if rate == 0:
        return 0.0, 0.0
    if isolated is not None:
        chances = isolated.carrying(rate, service)
        numbers = np.arange(chances.size)
        over = float(chances @ np.maximum(numbers - isolated.places, 0))
        return over / rate, float(chances @ numbers) - over
    if not isfinite(room.servers):
        return 0.0, rate * service
    if rate * service >= room.servers:
        raise Saturated("more jobs arrive than the network can pass; reduce the arrival rate")
    return 0.0, float(MMm(service, room.servers).queue_length(rate))


def _with_followers(
    network: BlockingNetwork, station: int, through: FloatArray, service: FloatArray
) -> float:
    """Jobs at an unlimited station, from the chain of it and the stations that block it.

    While its queue is long, these stations are full more often than on average, so its mean
    blocking time would be wrong. Each of them serves for its S*, and also receives the jobs that
    come from elsewhere.
    """
    onward = network.onward[station]
    others = [j for j in range(len(onward)) if onward[j] > 0 and j != station]
    after = [j for j in others if network.rooms[j].holds_up]
    rooms = [replace(network.rooms[j], service_time=service[j]) for j in (station, *after)]
    rooms[0] = network.rooms[station]
    ways = np.zeros((len(rooms), len(rooms)))
    ways[0, 0], ways[0, 1:] = onward[station], onward[after]
    own = through[station] * (1 - onward[station])
    elsewhere = np.maximum(through[after] - through[station] * onward[after], 0.0)
    elsewhere[elsewhere < _SETTLED * through[after]] = 0.0
    coming = np.array([own, *elsewhere])
    small = BlockingNetwork(tuple(rooms), ways, coming / coming.sum(), float(coming.sum()))
    if not after or not solvable(small, _MOST_FOLLOWING):
        return float(MMm(service[station], rooms[0].servers).queue_length(through[station]))
    return float(solve_chain(small).queue_length[0])


def _solution(network: BlockingNetwork, rate: float, visits: FloatArray) -> BlockingSolution:
    loads = _loads(network, rate, visits)
    for k, room in enumerate(network.rooms):
        if not network.closed and isfinite(room.servers) and not room.finite and rate * visits[k]:
            loads.queue[k] = _with_followers(network, k, rate * visits, loads.service)
    servers = np.array([room.servers for room in network.rooms])
    own = np.array([room.service_time for room in network.rooms])
    through = rate * visits
    present = loads.queue.sum()
    return BlockingSolution(
        throughput=rate,
        response_time=network.population / rate - network.think_time
        if network.closed
        else float(present / rate if rate else visits @ own),
        station_throughput=through,
        utilisation=through * own / servers,
        blocked=loads.blocked / servers,
        queue_length=loads.queue,
        method="decomposition",
        approximation=decomposed_note(closed=network.closed),
    )
