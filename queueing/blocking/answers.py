"""What a network with blocking does: throughputs, times, and how often it holds jobs up."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.blocking.chain import Stationary, stationary
from headway.queueing.blocking.moves import OUT, Move, Rates, Shape, rates_of
from headway.queueing.blocking.network import Blocking, BlockingNetwork


@dataclass(frozen=True)
class WindowAnswer:
    """Results of a finite-capacity region.

    Parameters
    ----------
    throughput
        Jobs that come in [1/s].
    utilisation
        Mean share of its places that is taken.
    full
        Share of time that all of them are.
    queue_length, waiting_time
        Mean number outside, and mean time there of a job each time that it comes in [s].
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
        Of the system [1/s], [s]; with think time, without it.
    station_throughput, utilisation, blocked, queue_length
        Of each station: jobs that leave it [1/s], share of its servers at work, share that is held
        up, and mean number there, those held up included; shape (stations,).
    loss_probability
        Share of the jobs from outside that find no place.
    windows
        Of each region.
    method, approximation
        How it was found, and what is not exact about it.
    call_blocking
        Share of those who come to each station from elsewhere that find no place there, shape
        (stations,); None where that is not known.
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
        Small enough; open ones with one queue without limit at most.

    Raises
    ------
    GraphError
        For a chain that is too large, with several queues without limit, or that stands still.
    Saturated
        For an open network in overload.

    Examples
    --------
    >>> from headway.queueing.blocking.network import Room
    >>> full = Room(1.0, places=1, blocking=Blocking.AFTER_SERVICE)
    >>> ring = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> two = BlockingNetwork((Room(1.0), full), ring, np.array([1.0, 0.0]), population=2)
    >>> round(solve_chain(two).throughput, 12)  # as M/M/1/3 would: 2 states of 3 serve
    0.666666666667
    """
    rates = rates_of(network)
    return _answers(network, rates, stationary(rates))


@dataclass(frozen=True)
class States:
    """Numbers of each state: servers at work, jobs, and whether there is no place; by station."""

    chance: FloatArray
    busy: FloatArray
    count: FloatArray
    full: NDArray[np.bool_]

    @staticmethod
    def of(shape: Shape, stationary: Stationary) -> "States":
        """Read them off the states of a chain."""
        space = stationary.space
        full = space.count >= np.array([places for _, places, _ in shape.rooms])
        return States(stationary.chance, space.busy, space.count, full)


def _answers(network: BlockingNetwork, rates: Rates, stationary: Stationary) -> BlockingSolution:
    shape, size = rates.shape, len(network.rooms)
    states = States.of(shape, stationary)
    flows = _flows(rates, states)
    done = sum(f for m, f in flows.items() if _ends(network, m))
    if not done > 0 and (network.closed or network.arrival_rate):
        raise GraphError(
            "deadlock: the network can reach a state where no job can move; give more capacity"
        )
    may_lose = np.isfinite(_places(network)).any()
    lost = _lost(network, rates, stationary, states, done) if may_lose else 0.0
    servers = np.array([room.servers for room in network.rooms])
    per = np.where(np.isfinite(servers), servers, np.inf)
    blocked = np.minimum(states.count[:, :size], servers) - states.busy[:, :size]
    outside = [_outside(stationary, k) for k in range(len(shape.windows))]
    queue = states.chance @ states.count[:, :size]
    if stationary.level is not None and stationary.level.station is not None:
        queue[stationary.level.station] += stationary.beyond
    through = [sum(f for m, f in flows.items() if m.source == k) for k in range(size)]
    return BlockingSolution(
        throughput=float(done),
        response_time=_response_time(network, float(done), float(queue.sum() + sum(outside))),
        station_throughput=np.array(through),
        utilisation=states.chance @ states.busy[:, :size] / per,
        blocked=states.chance @ blocked / per,
        queue_length=queue,
        loss_probability=0.0 if network.closed or not lost else lost / network.arrival_rate,
        call_blocking=np.array([_finding_none(rates, states, k) for k in range(size)]),
        windows=tuple(
            _window(shape, k, states, flows, outside[k]) for k in range(len(shape.windows))
        ),
    )


def _lost(
    network: BlockingNetwork, rates: Rates, stationary: Stationary, states: States, done: float
) -> float:
    """Jobs that find no place [1/s]: by the chance of that, which keeps the digits of small losses.

    Beside a queue without limit, whose states go on beyond those listed, arrivals less departures.
    """
    if stationary.level is not None:
        return float(network.arrival_rate - done)
    entries = ((move.target, rate) for move, rate in rates.rate.items() if move.source == OUT)
    return float(sum(rate * (states.chance @ states.full[:, target]) for target, rate in entries))


def _finding_none(rates: Rates, states: States, station: int) -> float:
    """Share of those who come to a station from elsewhere that find no place there."""
    moves = [m for m in rates.rate if m.target == station != m.source]
    busy = [states.busy[:, m.source] if m.source != OUT else 1.0 for m in moves]
    each = (rates.rate[m] * b for m, b in zip(moves, busy, strict=True))
    coming = states.chance * sum(each, np.zeros(len(states.chance)))
    return float(coming @ states.full[:, station] / coming.sum()) if coming.any() else 0.0


def _places(network: BlockingNetwork) -> FloatArray:
    """Places of the stations at which jobs come from outside."""
    return np.array([room.places for room in network.rooms])[np.asarray(network.entry) > 0]


def _response_time(network: BlockingNetwork, done: float, present: float) -> float:
    """N / X - Z, or Little's law; where nobody comes, that of a job which is alone."""
    if network.closed:
        return network.population / done - network.think_time
    if done:
        return present / done
    return float(network.visits @ [room.service_time for room in network.rooms])


def _flows(rates: Rates, states: States) -> dict[Move, float]:
    """How often each move is made; a job held up makes it later, one served once more does not."""
    return {move: float(made.sum()) for move, made in flows_by_state(rates, states).items()}


def flows_by_state(rates: Rates, states: States) -> dict[Move, FloatArray]:
    """How often each move is made in each state, shape (states,) [1/s]."""
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


def _ends(network: BlockingNetwork, move: Move) -> bool:
    """Whether a job is done with this move."""
    if move.source == OUT:
        return False
    return move.target == OUT or move.anew or move.target == len(network.rooms)


def _outside(stationary: Stationary, window: int) -> float:
    """Mean number of those who wait for a place in a region."""
    mean = float(stationary.chance @ [len(state[2][window]) for state in stationary.space.states])
    level = stationary.level
    return mean + (stationary.beyond if level is not None and level.window == window else 0.0)


def _window(
    shape: Shape, window: int, states: States, flows: dict[Move, float], outside: float
) -> WindowAnswer:
    stations, limit = shape.windows[window].stations, shape.windows[window].limit
    inside = states.count[:, list(stations)].sum(axis=1)
    coming = sum(
        f for m, f in flows.items() if m.target in stations and (m.anew or m.source not in stations)
    )
    return WindowAnswer(
        throughput=float(coming),
        utilisation=float(states.chance @ inside / limit),
        full=float(states.chance[inside >= limit].sum()),
        queue_length=outside,
        waiting_time=outside / coming if coming else 0.0,
    )
