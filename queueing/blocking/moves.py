"""Transitions of a network with blocking: a job moves, and blocked or waiting jobs follow."""

from collections.abc import Iterator
from dataclasses import field
from math import inf
from typing import NamedTuple, TypeAlias

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.network.blocking import Blocking, BlockingNetwork, Room, Window
from headway.records import dataclass

OUT = -1
"""The destination of jobs that leave an open network."""

State: TypeAlias = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]
"""Jobs at each station; for each station, where each job that it blocks is held; for each
region, the station that each job outside waits for. The last two in order of arrival.
"""


class Move(NamedTuple):
    """A route from a station (or from outside) to another (or out).

    ``anew`` marks a job of a closed network that begins a new cycle: it enters its region from
    outside.
    """

    source: int
    target: int
    anew: bool = False


class Transition(NamedTuple):
    """A move in a state: the number of servers that make it, and the next state."""

    move: Move
    servers: int
    after: State


@dataclass(frozen=True)
class StateStructure:
    """What determines the states of a network, whatever its rates.

    Parameters
    ----------
    rooms
        Servers, places and blocking of each station; in a closed network, thinking is the last one.
    moves
        Routes with a probability above 0.
    windows
        The regions.
    population
        Jobs of a closed network, or 0.
    cap
        Largest number of jobs listed in an unlimited queue of an open network.
    """

    rooms: tuple[tuple[float, float, Blocking], ...]
    moves: tuple[Move, ...]
    windows: tuple[Window, ...] = ()
    population: int = 0
    cap: float = field(default=inf)

    @property
    def empty(self) -> State:
        """The state without any jobs."""
        return (0,) * len(self.rooms), ((),) * len(self.rooms), ((),) * len(self.windows)

    def window_of(self, station: int) -> int | None:
        """The number of the region that a station is in; None if it is in none."""
        return next((k for k, w in enumerate(self.windows) if station in w.stations), None)

    def busy(self, state: State) -> list[int]:
        """Working servers by station, without blocked ones."""
        count, blocked, _ = state
        stopped = [0] * len(count)
        for queue in blocked:
            for source in queue:
                stopped[source] += 1
        return [
            int(min(n, room[0])) - h for n, room, h in zip(count, self.rooms, stopped, strict=True)
        ]

    def events(self, state: State) -> Iterator[Transition]:
        """All transitions out of a state."""
        busy = self.busy(state)
        for move in self.moves:
            servers = busy[move.source] if move.source != OUT else 1
            if servers:
                after = self.moved(state, move)
                if after != state:
                    yield Transition(move, servers, after)

    def moved(self, state: State, move: Move) -> State:
        """The state after a job has completed service or arrived, and moved."""
        board = _Board(self, state)
        board.move(move)
        return board.state

    def longest(self, state: State) -> int:
        """Length of the longest unlimited queue."""
        free = [n for k, n in enumerate(state[0]) if self.endless(k)]
        return max([*free, *map(len, state[2])], default=0)

    def endless(self, station: int) -> bool:
        """Whether the number of jobs at a station is unlimited, in an open network."""
        return self.rooms[station][1] == inf and self.window_of(station) is None


class _Board:
    """A state that is changed as jobs move."""

    def __init__(self, shape: StateStructure, state: State) -> None:
        self.shape = shape
        self.count = list(state[0])
        self.blocked = [list(queue) for queue in state[1]]
        self.outside = [list(queue) for queue in state[2]]

    @property
    def state(self) -> State:
        """The present state."""
        return (
            tuple(self.count),
            tuple(map(tuple, self.blocked)),
            tuple(map(tuple, self.outside)),
        )

    def move(self, move: Move) -> None:
        """Move a job to its next station, or block it."""
        source, target, anew = move
        if target == OUT:
            self._depart(source)
            return
        window = self.shape.window_of(target)
        if window is not None and (anew or source == OUT or source not in self._inside(window)):
            if source != OUT:
                self._depart(source)
            self.outside[window].append(target)
            self._admit(window)
        elif target != source:
            self._to_station(source, target)

    def _inside(self, window: int) -> tuple[int, ...]:
        return self.shape.windows[window].stations

    def _to_station(self, source: int, target: int) -> None:
        """Move a job on if there is a place, or lose it; otherwise block it, or serve it again."""
        _, places, blocking = self.shape.rooms[target]
        free = self.count[target] < places
        if free:
            self.count[target] += 1
        if free or source == OUT or blocking is Blocking.LOST:
            if source != OUT:
                self._depart(source)
        elif blocking is Blocking.AFTER_SERVICE:
            self.blocked[target].append(source)

    def _depart(self, station: int) -> None:
        """Free a place; the first job waiting for it moves up, which may free another place."""
        self.count[station] -= 1
        if self.blocked[station]:
            first = self.blocked[station].pop(0)
            self.count[station] += 1
            self._depart(first)
        window = self.shape.window_of(station)
        if window is not None:
            self._admit(window)

    def _admit(self, window: int) -> None:
        inside = sum(self.count[k] for k in self._inside(window))
        while self.outside[window] and inside < self.shape.windows[window].limit:
            self.count[self.outside[window].pop(0)] += 1
            inside += 1


@dataclass(frozen=True)
class Rates:
    """The structure of the states, and the rate at which one server makes each move [1/s]."""

    shape: StateStructure
    rate: dict[Move, float]
    service: FloatArray


def rates_of(network: BlockingNetwork) -> Rates:
    """The moves of a network, and their rates.

    Parameters
    ----------
    network
        Open or closed; thinking becomes a further station, the last.

    Examples
    --------
    >>> network = BlockingNetwork((Room(0.5),), np.zeros((1, 1)), np.ones(1), population=2)
    >>> rates_of(network).rate
    {Move(source=0, target=0, anew=True): 2.0}
    """
    check_times(network)
    rooms, places = list(network.rooms), range(len(network.rooms))
    onward, leaving, entry = network.onward, network.leaving, network.entry
    chances = {Move(i, j): float(onward[i, j]) for i in places for j in places}
    if not network.closed:
        chances |= {Move(i, OUT): float(leaving[i]) for i in places}
    elif network.think_time:
        think = len(rooms)
        rooms.append(Room(network.think_time, servers=inf))
        chances |= {Move(i, think): float(leaving[i]) for i in places}
        chances |= {Move(think, j): float(entry[j]) for j in places}
    else:
        anew = {Move(i, j, anew=True): float(leaving[i] * entry[j]) for i in places for j in places}
        chances |= anew
    service = np.array([1 / room.service_time for room in rooms])
    rate = {m: chance * float(service[m.source]) for m, chance in chances.items() if chance > 0}
    if not network.closed:
        coming = network.arrival_rate * np.asarray(network.entry)
        rate |= {Move(OUT, k): float(r) for k, r in enumerate(coming) if r > 0}
    kinds = tuple((room.servers, room.places, room.blocking) for room in rooms)
    shape = StateStructure(kinds, tuple(rate), network.windows, network.population)
    return Rates(shape, rate, service)


def check_times(network: BlockingNetwork) -> None:
    """Refuse service times of 0, which no Markov chain represents."""
    for name, room in zip(network.called, network.rooms, strict=True):
        if not room.service_time > 0:
            msg = (
                f"{name}: its service time is 0, which a Markov chain cannot represent; "
                "remove the station"
            )
            raise GraphError(msg)
