"""The results of a network with blocking: throughputs, times, and how often jobs are blocked."""

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.blocking.chain import Stationary, stationary
from headway.queueing.blocking.moves import OUT, Move, Rates, StateStructure, rates_of
from headway.queueing.network.blocking import Blocking, BlockingNetwork
from headway.records import dataclass


@dataclass(frozen=True)
class WindowAnswer:
    """Results of a finite-capacity region.

    Parameters
    ----------
    throughput
        Jobs that enter [1/s].
    utilisation
        Mean share of its places that is occupied.
    full
        Share of time in which all of them are.
    queue_length, waiting_time
        Mean number of jobs waiting outside, and their mean wait per entry [s].
    """

    throughput: float
    utilisation: float
    full: float
    queue_length: float
    waiting_time: float


@dataclass(frozen=True)
class BlockingSolution:
    """Results of a network with blocking.

    Parameters
    ----------
    throughput, response_time
        Throughput and response time of the system [1/s], [s]; the response time excludes think
        time.
    station_throughput, utilisation, blocked, queue_length
        For each station, shape (stations,): jobs that leave it [1/s], share of its servers working,
        share blocked, and mean number of jobs, including blocked ones.
    loss_probability
        Share of jobs from outside that find no place.
    windows
        The results of each region.
    method, approximation
        The method, and what is not exact about the result.
    call_blocking
        Share of the jobs arriving at each station from another one that find no place there, shape
        (stations,); None if not known.
    """

    throughput: float
    response_time: float
    station_throughput: FloatArray
    utilisation: FloatArray
    blocked: FloatArray
    queue_length: FloatArray
    loss_probability: float = 0.0
    windows: tuple[WindowAnswer, ...] = ()
    method: str = "chain"
    approximation: str = ""
    call_blocking: FloatArray | None = None

    @property
    def station_response_time(self) -> FloatArray:
        """Mean time of a visit, including blocking [s]."""
        through = self.station_throughput
        return np.where(through > 0, self.queue_length / np.where(through > 0, through, 1.0), 0.0)


def solve_chain(network: BlockingNetwork) -> BlockingSolution:
    """Solve a network with blocking exactly.

    Parameters
    ----------
    network
        Small enough for its chain; an open one may have one unlimited queue.

    Raises
    ------
    GraphError
        For a chain that is too large, has several unlimited queues, or deadlocks.
    Saturated
        For an open network in overload.

    Examples
    --------
    >>> from headway.queueing.network.blocking import Room
    >>> full = Room(1.0, places=1, blocking=Blocking.AFTER_SERVICE)
    >>> ring = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> two = BlockingNetwork((Room(1.0), full), ring, np.array([1.0, 0.0]), population=2)
    >>> round(solve_chain(two).throughput, 12)  # as M/M/1/3 would: 2 states of 3 serve
    0.666666666667
    """
    rates = rates_of(network)
    solved = stationary(rates)
    shape, size = rates.shape, len(network.rooms)
    states = StateSums.of(shape, solved)
    # A blocked job moves later but is counted now; a job that is served again is not counted.
    flows = {move: float(each.sum()) for move, each in flows_by_state(rates, states).items()}
    done = float(sum(f for m, f in flows.items() if _completes(network, m)))
    if not done > 0 and (network.closed or network.arrival_rate):
        raise GraphError(
            "deadlock: the network can reach a state where no job can move; give more capacity"
        )
    servers = np.array([room.servers for room in network.rooms])
    blocked = np.minimum(states.count[:, :size], servers) - states.busy[:, :size]
    queue = states.chance @ states.count[:, :size]
    if solved.level is not None and solved.level.station is not None:
        queue[solved.level.station] += solved.beyond
    windows = tuple(
        _window_answer(shape, k, states, flows, solved) for k in range(len(shape.windows))
    )
    present = float(queue.sum() + sum(w.queue_length for w in windows))
    from_each = [sum(f for m, f in flows.items() if m.source == k) for k in range(size)]
    return BlockingSolution(
        throughput=done,
        response_time=_response_time(network, present, done),
        station_throughput=np.array(from_each),
        utilisation=states.chance @ states.busy[:, :size] / servers,
        blocked=states.chance @ blocked / servers,
        queue_length=queue,
        loss_probability=_loss_probability(network, rates, solved, states, done),
        call_blocking=np.array([_call_blocking(rates, states, k) for k in range(size)]),
        windows=windows,
    )


def _response_time(network: BlockingNetwork, present: float, done: float) -> float:
    """By Little's law; without arrivals, the time of a job that is alone [s]."""
    if network.closed:
        return network.population / done - network.think_time
    alone = [room.service_time for room in network.rooms]
    return present / done if done else float(network.visits @ alone)


@dataclass(frozen=True)
class StateSums:
    """Probability of each state, with busy servers, jobs and fullness of each station.

    Shapes (states,) and (states, stations).
    """

    chance: FloatArray
    busy: FloatArray
    count: FloatArray
    full: NDArray[np.bool_]

    @staticmethod
    def of(shape: StateStructure, stationary: Stationary) -> "StateSums":
        """The sums from the states of a solved chain."""
        space = stationary.space
        full = space.count >= np.array([places for _, places, _ in shape.rooms])
        return StateSums(stationary.chance, space.busy, space.count, full)


def _loss_probability(
    network: BlockingNetwork, rates: Rates, stationary: Stationary, states: StateSums, done: float
) -> float:
    """Probability that a job from outside is lost.

    Arrivals are Poisson, so a job finds a station full as often as it is full. With an unlimited
    queue, whose longer states are not listed, the loss is arrivals less departures; elsewhere that
    difference would lose the digits of a small probability.
    """
    places = np.array([room.places for room in network.rooms])
    if network.closed or not np.isfinite(places[np.asarray(network.entry) > 0]).any():
        return 0.0
    entries = ((move.target, rate) for move, rate in rates.rate.items() if move.source == OUT)
    full = (rate * (states.chance @ states.full[:, target]) for target, rate in entries)
    lost = float(network.arrival_rate - done if stationary.level is not None else sum(full))
    return lost / network.arrival_rate if lost else 0.0


def _call_blocking(rates: Rates, states: StateSums, station: int) -> float:
    """Probability that a job arriving at a station from another one finds it full."""
    moves = [m for m in rates.rate if m.target == station != m.source]
    busy = [states.busy[:, m.source] if m.source != OUT else 1.0 for m in moves]
    each = (rates.rate[m] * b for m, b in zip(moves, busy, strict=True))
    coming = states.chance * sum(each, np.zeros(len(states.chance)))
    return float(coming @ states.full[:, station] / coming.sum()) if coming.any() else 0.0


def flows_by_state(rates: Rates, states: StateSums) -> dict[Move, FloatArray]:
    """Rate at which each move is made in each state, shape (states,) [1/s].

    A job that finds its next station full only makes its move if it is blocked after service.
    """
    flows = {}
    for move, rate in rates.rate.items():
        busy = states.busy[:, move.source] if move.source != OUT else 1.0
        made = states.chance * busy
        blocks = move.target != OUT and rates.shape.rooms[move.target][2]
        if (
            move.target not in (OUT, move.source) and blocks is not Blocking.AFTER_SERVICE
        ) or move.source == OUT:
            made = made * ~states.full[:, move.target]
        flows[move] = np.asarray(rate * made, float)
    return flows


def _completes(network: BlockingNetwork, move: Move) -> bool:
    """Whether this move completes a job: it leaves, begins to think, or begins a new cycle."""
    if move.source == OUT:
        return False
    return move.target == OUT or move.anew or move.target == len(network.rooms)


def _window_answer(
    shape: StateStructure,
    window: int,
    states: StateSums,
    flows: dict[Move, float],
    stationary: Stationary,
) -> WindowAnswer:
    """Throughput and means of a region; jobs waiting outside are counted from the states."""
    stations, limit = shape.windows[window].stations, shape.windows[window].limit
    inside = states.count[:, list(stations)].sum(axis=1)
    coming = sum(
        f for m, f in flows.items() if m.target in stations and (m.anew or m.source not in stations)
    )
    outside = float(stationary.chance @ [len(s[2][window]) for s in stationary.space.states])
    if stationary.level is not None and stationary.level.window == window:
        outside += stationary.beyond
    return WindowAnswer(
        throughput=float(coming),
        utilisation=float(states.chance @ inside / limit),
        full=float(states.chance[inside >= limit].sum()),
        queue_length=outside,
        waiting_time=outside / coming if coming else 0.0,
    )
