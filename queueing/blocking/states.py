"""The state space of a network with blocking: its size is bounded before it is listed."""

from functools import lru_cache
from math import inf, isfinite

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.blocking.moves import OUT, State, StateStructure
from headway.queueing.network.blocking import Blocking
from headway.records import dataclass

MOST = 20_000
"""Most states of a chain that is solved: listing them takes about ten seconds. For speed only."""


@dataclass(frozen=True)
class StateSpace:
    """The recurrent states of a network, and the transitions between them.

    Parameters
    ----------
    states
        The states, as a list.
    source, target, move, servers
        For each transition: the states that it leads from and to, its move (an index in the
        structure), and the number of servers that make it.
    count, busy
        Jobs and working servers, by state (rows) and station.
    """

    states: tuple[State, ...]
    source: NDArray[np.intp]
    target: NDArray[np.intp]
    move: NDArray[np.intp]
    servers: FloatArray
    count: FloatArray
    busy: FloatArray

    def generator(self, rates: FloatArray) -> coo_array:
        """Rates between states without the diagonal, shape (states, states)."""
        size = len(self.states)
        flow = self.servers * rates[self.move]
        return coo_array((flow, (self.source, self.target)), shape=(size, size))


def estimate(shape: StateStructure) -> float:
    """Upper bound on the number of states, without listing them.

    The states of each station and region are counted by number of jobs, and convolved. Blocked jobs
    are counted at the station that they wait for, by where they come from; jobs outside a region by
    where they are going.

    Examples
    --------
    >>> from headway.queueing.blocking.moves import Move
    >>> shape = StateStructure(((1, 2, Blocking.LOST), (1, inf, Blocking.LOST)),
    ...                        (Move(0, 1), Move(1, 0)), population=3)
    >>> estimate(shape)  # 0, 1 or 2 at the first
    3.0
    """
    most = shape.population or sum(
        places if isfinite(places) else shape.cap
        for k, (_, places, _) in enumerate(shape.rooms)
        if shape.window_of(k) is None
    ) + sum(w.limit + shape.cap for w in shape.windows)
    if not isfinite(most):
        return inf
    size = int(most)
    total = np.eye(1, size + 1)[0]
    for k in range(len(shape.rooms)):
        if shape.window_of(k) is None:
            total = np.convolve(total, _station_counts(shape, k, size))[: size + 1]
    for k in range(len(shape.windows)):
        total = np.convolve(total, _region_counts(shape, k, size))[: size + 1]
    return float(total[size] if shape.population else total.sum())


def _station_counts(shape: StateStructure, station: int, size: int) -> FloatArray:
    """Numbers of states with 0, 1... jobs at a station or blocked on their way to it."""
    _, places, blocking = shape.rooms[station]
    most = int(min(places, size) if isfinite(places) else min(shape.cap, size))
    ways = np.zeros(size + 1)
    ways[: most + 1] = 1
    if blocking is Blocking.AFTER_SERVICE and most < size:
        sources = {m.source for m in shape.moves if m.target == station and m.source != OUT}
        servers = sum(shape.rooms[k][0] for k in sources - {station})
        blocked = np.arange(1, min(servers, size - most) + 1)
        ways[most + 1 : most + 1 + blocked.size] = (
            np.maximum(len(sources - {station}), 1.0) ** blocked
        )
    return ways


def _region_counts(shape: StateStructure, window: int, size: int) -> FloatArray:
    """Numbers of states with 0, 1... jobs in a region or waiting outside it."""
    limit = int(min(shape.windows[window].limit, size))
    inside = np.eye(1, size + 1)[0]
    for _ in shape.windows[window].stations:
        inside = np.cumsum(inside)
    ways = np.where(np.arange(size + 1) <= limit, inside, 0.0)
    outside = np.arange(1, int(min(size - limit, shape.cap)) + 1)
    kinds = max(len(targets_of(shape, window)), 1)
    with np.errstate(over="ignore"):
        ways[limit + 1 : limit + 1 + outside.size] = inside[limit] * float(kinds) ** outside
    return ways


def targets_of(shape: StateStructure, window: int) -> set[int]:
    """Stations of a region that jobs enter it at."""
    stations = shape.windows[window].stations
    return {
        m.target
        for m in shape.moves
        if m.target in stations and (m.anew or m.source not in stations)
    }


def check_size(shape: StateStructure, most: float = MOST) -> None:
    """Refuse a chain that is too large, before it is built.

    Raises
    ------
    GraphError
        With the number of states and the remedy.
    """
    count = estimate(shape)
    if count > most:
        many = f"{four_digits(count)}" if isfinite(count) else "infinitely many"
        msg = f"the Markov chain has {many} states, above the limit of {most:,}"
        msg = f"{msg}; use fewer jobs or less capacity, or do not set a method"
        raise GraphError(msg)


@lru_cache(maxsize=64)
def space_of(shape: StateStructure) -> StateSpace:
    """List all recurrent states.

    Raises
    ------
    For too many states, or several sets of states that are never left.
        For too many, or where several sets of states hold the network for ever.
    """
    check_size(shape)
    numbers: dict[State, int] = {start(shape): 0}
    todo, ways = list(numbers), []
    position = {move: k for k, move in enumerate(shape.moves)}
    while todo:
        state = todo.pop()
        for event in shape.events(state):
            if shape.longest(event.after) > shape.cap:
                continue
            if event.after not in numbers:
                numbers[event.after] = len(numbers)
                todo.append(event.after)
            ways.append((numbers[state], numbers[event.after], position[event.move], event.servers))
    table = np.array(ways, dtype=np.intp).reshape(-1, 4)
    return _recurrent(shape, tuple(numbers), table)


def _recurrent(
    shape: StateStructure, states: tuple[State, ...], ways: NDArray[np.intp]
) -> StateSpace:
    """Leave out transient states."""
    size = len(states)
    links = coo_array((np.ones(len(ways)), (ways[:, 0], ways[:, 1])), shape=(size, size))
    sets, label = connected_components(links, connection="strong")
    left = np.zeros(sets, bool)
    left[label[ways[label[ways[:, 0]] != label[ways[:, 1]], 0]]] = True
    lasting = np.flatnonzero(~left)
    if lasting.size != 1:
        msg = "the network has several deadlocks; give more capacity"
        raise GraphError(msg)
    kept = np.flatnonzero(label == lasting[0])
    new = np.full(size, -1, dtype=np.intp)
    new[kept] = np.arange(kept.size)
    inside = ways[(new[ways[:, 0]] >= 0) & (new[ways[:, 1]] >= 0)]
    source, target = new[inside[:, 0]], new[inside[:, 1]]
    named = tuple(states[k] for k in kept)
    count = np.array([state[0] for state in named], float)
    busy = np.array([shape.busy(state) for state in named], float)
    return StateSpace(named, source, target, inside[:, 2], inside[:, 3].astype(float), count, busy)


def start(shape: StateStructure) -> State:
    """An initial state: empty, or with a closed network's jobs wherever there is room.

    Raises
    ------
    GraphError
        For more jobs than places.
    """
    count, outside = list(shape.empty[0]), list(shape.empty[2])
    todo = {m.target for m in shape.moves if m.anew}
    here = set() if todo else set(range(len(shape.rooms)))  # stations that jobs visit
    while todo - here:
        here |= todo
        todo = {m.target for m in shape.moves if m.source in here}
    left = shape.population
    for k in sorted(sorted(here), key=lambda k: -shape.rooms[k][1]):
        window = shape.window_of(k)
        free = shape.rooms[k][1]
        if window is not None:
            stations = shape.windows[window].stations
            free = shape.windows[window].limit - sum(count[i] for i in stations)
        count[k] = int(min(left, free))
        left -= count[k]
    if left and shape.windows:
        target = min(targets_of(shape, 0), default=shape.windows[0].stations[0])
        outside[0] = (target,) * left
        left = 0
    if left:
        msg = f"only {sum(count)} of {shape.population} jobs have a place; give more capacity"
        raise GraphError(msg)
    return tuple(count), shape.empty[1], tuple(outside)
