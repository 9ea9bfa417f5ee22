"""Times of a job that is followed with what is where it is: an absorbed Markov chain.

The chain holds the departures that the job waits for, how many of the others are with it, and how
many are not thinking. Where the rest of these are is taken as in equilibrium, given their number,
which is exact where no more than two queues are there.

Source: Gordon and Newell, Operations Research 15(2), 1967 (the equilibrium); Jensen, Skandinavisk
Aktuarietidskrift 36, 1953 (steps at a constant pace). The conditional equilibrium is headway's own;
what it costs is measured in docs/accuracy.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from headway.kinds import FloatArray
from headway.queueing.passages.passage import Circle, Place, Queue
from headway.queueing.times.laws import ComplexArray, TimeLaw
from headway.queueing.times.uniformisation import FEW, law_of_steps, steps_out

STAGES = 10
"""Exponential stages that stand for a constant time that only some jobs spend."""

MOST_WORK = 3e9
"""Moves between states times steps: some seconds."""

_BUILT = 50.0  # steps that take as long as to find out the moves
_REST = (1e-9, 1e-6)  # chance of numbers of others that are left out: of one class, of several
_QUICK = 3.0  # times faster than any service: thinking that need not be faster
_SHORT = 0.02  # of the others' service time
_NONE = 1e-12  # of a flow: rounding

Numbers: TypeAlias = NDArray[np.intp]


@dataclass(frozen=True)
class States:
    """States of a job: at a station, waiting for departures, with others there and in all.

    At a delay, `waits` are its stages to come, and nobody is with it.
    """

    station: Numbers
    waits: Numbers
    beside: Numbers
    others: Numbers

    def where(self, mask: NDArray[np.bool_]) -> "States":
        """Some of them."""
        return States(*(each[mask] for each in self.columns))

    def moved(self, waits: int = 0, beside: int = 0, others: int = 0) -> "States":
        """The same with some more of each."""
        return States(self.station, self.waits + waits, self.beside + beside, self.others + others)

    @property
    def columns(self) -> tuple[Numbers, ...]:
        """All four."""
        return self.station, self.waits, self.beside, self.others

    def codes(self, base: int) -> Numbers:
        """A number for each state."""
        code = self.station
        for each in self.columns[1:]:
            code = code * base + each
        return code

    @classmethod
    def joined(cls, parts: "list[States]") -> "States":
        """All of several."""
        columns = zip(*(part.columns for part in parts), strict=True)
        return cls(*(np.concatenate(each) for each in columns))


Edge: TypeAlias = tuple[States, States, FloatArray]


@dataclass(frozen=True)
class Followed:
    """The chain of a job in a circle.

    Parameters
    ----------
    circle
        The network, all of whose stations take time; delays that everybody spends are better
        left out.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> again = Circle(
    ...     (Place("a", 1.0, 1, 1),), one, 0.5 * one[None], 0.5 * one, 2, 0.0, 0.5, 2 * one
    ... )
    >>> round(Followed(again).law().mean, 6)  # two services, of two jobs each
    4.0
    """

    circle: Circle

    def law(self) -> TimeLaw:
        """How long the job takes; stretched to its mean time, which is known."""
        steps = self.leaving()
        law = law_of_steps(self.pace, steps)
        return law_of_steps(self.pace * law.mean / self.circle.mean, steps)

    @property
    def can_be_followed(self) -> bool:
        """Whether that is a matter of seconds."""
        steps = self.pace * self.circle.mean * -log(FEW) / 2
        return self.moves * (steps + _BUILT) <= MOST_WORK

    @property
    def kept(self) -> range:
        """Its stations."""
        return range(len(self.circle.places))

    @cached_property
    def numbers(self) -> FloatArray:
        """Chances of 0, 1, 2... of the others at stations with a queue."""
        if not self.circle.rests:
            return np.append(np.zeros(self.circle.others), 1.0)
        inside = self._series({})
        chances = inside * self.circle.at_delays(len(inside))[::-1, 0]
        return np.asarray(chances / chances.sum())

    @cached_property
    def bounds(self) -> tuple[int, int]:
        """Least and largest number of the others that is counted with."""
        below, rest = np.cumsum(self.numbers), _REST[self.circle.outside is not None]
        kept = np.flatnonzero((below > rest) & (below - self.numbers < 1 - rest))
        return int(kept[0]), int(kept[-1])

    @property
    def moves(self) -> float:
        """About how many moves there are."""
        low, high = self.bounds
        states = (high + 1) ** 2 * (high - low + 1) / 2 * len(self.kept)
        return states * (3 + len(self.kept) / 3)

    def _series(self, without: dict[int, int]) -> FloatArray:
        """Weights of 0, 1, 2... others at the queues, but for so many lanes of some."""
        series: ComplexArray | FloatArray = np.zeros((self.circle.others + 1, 1))
        series[0] = 1.0
        for k, queue in enumerate(self.circle.queues):
            if queue is not None:
                series = queue.times(series, queue.place.lanes - without.get(k, 0))
        return np.asarray(series[:, 0].real)

    @cached_property
    def _visits(self) -> FloatArray:
        """Flow of the others through each station with a queue [1/s]."""
        queues = np.array([not place.is_delay for place in self.circle.places])
        return np.asarray(self.circle.throughput * self.circle.others_visits * queues)

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """Flow from each station to where nobody waits, and from there to each [1/s]."""
        direct = self._visits[:, None] * self.circle.onward * (self._visits > 0)
        gone, come = (self._visits - direct.sum(axis=axis) for axis in (1, 0))
        floor = _NONE * self._visits
        return np.where(gone > floor, gone, 0.0), np.where(come > floor, come, 0.0)

    @property
    def is_unhurried(self) -> bool:
        """Whether all who go to think are seen to."""
        return not self.circle.rests or self._thinking == 1

    @cached_property
    def _thinking(self) -> float:
        """Share of those who go to think that is seen to: of few who think but shortly, less."""
        if not self.circle.rests:
            return 0.0
        fast = float(self._ends[1].sum()) * self._fastest
        return min(1.0, _QUICK * self._own_pace / fast) if fast else 1.0

    @cached_property
    def flows(self) -> FloatArray:
        """Flow of the others between stations with a queue [1/s]; some think for no time."""
        gone, come = self._ends
        direct = self._visits[:, None] * self.circle.onward * (self._visits > 0)
        at_once = np.outer(gone, come) / (come.sum() or 1.0)
        return np.asarray(direct + (1 - self._thinking) * at_once)

    @property
    def out(self) -> FloatArray:
        """Flow from each station to where nobody waits [1/s]; as much comes back to all of them."""
        return self._thinking * self._ends[0]

    @property
    def back(self) -> FloatArray:
        """Flow to each station from where nobody waits [1/s]."""
        return np.asarray(self._thinking * self._ends[1])

    @property
    def _fastest(self) -> float:
        """How fast others come back at most, over the flow assumed."""
        low, high = (self.circle.others - bound for bound in self.bounds)
        return float(self.circle.returning[high : low + 1].max())

    @cached_property
    def _own_pace(self) -> float:
        """Fastest service [1/s]."""
        places = self.circle.places
        others = max(p.servers / p.time for p in places)
        return max(others, *((STAGES if p.is_delay else 1) / _slowed(p) for p in places))

    @cached_property
    def states(self) -> States:
        """All states, in the order of their codes."""
        states = States.joined([self._at(k) for k in self.kept])
        order = np.argsort(states.codes(self._base))
        return States(*(each[order] for each in states.columns))

    @property
    def _base(self) -> int:
        return self.circle.others + STAGES + 1

    def _at(self, k: int) -> States:
        beside, others, most = self._pairs(k)
        if self.circle.places[k].is_delay:
            others = np.arange(self.bounds[0], self.bounds[1] + 1)
            beside, most = 0 * others, 0 * others + STAGES - 1
        waits = np.concatenate([np.arange(m + 1) for m in most])
        every = np.repeat(beside, most + 1), np.repeat(others, most + 1)
        return States(np.full(len(waits), k), waits, *every)

    def _pairs(self, k: int) -> tuple[Numbers, Numbers, Numbers]:
        """Others beside the job, others in all, and how many departures it waits for at most."""
        low, high = self.bounds
        each = np.arange(low, high + 1)
        others = np.repeat(each, each + 1)
        beside = np.concatenate([np.arange(n + 1) for n in each])
        return beside, others, np.maximum(beside - self.circle.places[k].servers + 1, 0)

    @cached_property
    def pace(self) -> float:
        """Of steps [1/s]: no state is left faster."""
        come = float(self.back.sum()) * self._fastest
        elsewhere = max(float(self._speed({k: 1}).max()) for k in self.kept)
        return self._own_pace + come + elsewhere * float(self.flows.sum() + self.out.sum())

    def leaving(self) -> FloatArray:
        """Chance of leaving at each step."""
        moves, share = self._moves()
        return steps_out(moves, self._entries(), share)

    def _entries(self) -> FloatArray:
        entries, start, count = self.circle.entries, np.zeros(len(self.states.waits)), self.bounds
        for k in self.kept:
            others = np.arange(count[0], count[1] + 1)
            rows, states, chances = self._on_arrival(k, others, others, {})
            some = entries[k] * self.numbers[others][rows] * chances
            np.add.at(start, self._places(states), some)
        return np.asarray(start / start.sum())

    def _places(self, states: States) -> Numbers:
        codes = self.states.codes(self._base)
        return np.asarray(np.searchsorted(codes, states.codes(self._base)))

    def _moves(self) -> tuple[csr_array, FloatArray]:
        """Chances of a step, transposed, and of leaving."""
        edges = [edge for k in self.kept for edge in self._edges(k)]
        low, high = self.bounds
        edges = [_counted(edge, low, high) for edge in edges]
        source = np.concatenate([self._places(edge[0]) for edge in edges])
        target = np.concatenate([self._places(edge[1]) for edge in edges])
        rate, size = np.concatenate([edge[2] for edge in edges]), len(self.states.waits)
        ends = np.flatnonzero(self.states.waits == 0)
        exits = np.zeros(size)
        stations = self.states.station[ends]
        exits[ends] = self._own_speed(stations) * self.circle.leaving[stations]
        stay = self.pace - np.bincount(source, rate, size) - exits
        every = np.arange(size)
        places = np.append(target, every), np.append(source, every)
        moves = coo_array((np.append(rate, stay) / self.pace, places), (size, size))
        return csr_array(moves), exits / self.pace

    def _own_speed(self, stations: Numbers) -> FloatArray:
        places = self.circle.places
        speeds = [(STAGES if p.is_delay else 1) / _slowed(p) for p in places]
        return np.array(speeds)[stations]

    def _edges(self, k: int) -> Iterator[Edge]:
        states = self.states.where(self.states.station == k)
        queue = self.circle.queues[k]
        yield from self._of_rest(k, states)
        if queue is None:
            staged = states.where(states.waits > 0)
            speed = STAGES / _slowed(self.circle.places[k])
            yield staged, staged.moved(waits=-1), np.full(len(staged.waits), speed)
        else:
            yield from self._of_those_beside(k, queue, states)
        yield from self._on(k, states.where(states.waits == 0))

    def _of_rest(self, k: int, states: States) -> Iterator[Edge]:
        """Others come from elsewhere and from thinking, and go to think from elsewhere."""
        lanes = self.circle.places[k].lanes
        share = 1 / lanes if lanes else 0.0
        elsewhere = np.ones(len(self.circle.places))
        elsewhere[k] = 1 - share
        away = self.circle.returning[self.circle.others - states.others]
        speed = self._speed({k: 1} if lanes else {})[states.others - states.beside]
        here = float(elsewhere @ self.flows[:, k]) * share
        yield states, states.moved(beside=1), here * speed
        yield states, states.moved(others=-1), float(elsewhere @ self.out) * speed
        yield states, states.moved(beside=1, others=1), share * self.back[k] * away
        yield states, states.moved(others=1), float(elsewhere @ self.back) * away

    def _speed(self, without: dict[int, int]) -> FloatArray:
        """How fast so many jobs flow elsewhere, over the flow that is assumed."""
        series = self._series(without)
        return np.append(0.0, series[:-1]) / np.where(series > 0, series, 1.0)

    def _of_those_beside(self, k: int, queue: Queue, states: States) -> Iterator[Edge]:
        """One that is with the job is served and goes back to the end, elsewhere or to think."""
        servers, time = queue.place.servers, queue.place.time
        waiting = states.waits > 0
        busy = np.where(waiting, servers, np.minimum(states.beside, servers - 1)) / time
        whole = float(self.flows[k].sum() + self.out[k])
        again = float(self.flows[k, k]) / queue.place.lanes / whole
        out = float(self.out[k]) / whole
        for on, passed in ((waiting, -1), (~waiting, 0)):
            some, rate = states.where(on), busy[on]
            if passed:
                yield some, some.moved(waits=passed), rate * again
            yield some, some.moved(passed, -1), rate * (1 - again - out)
            yield some, some.moved(passed, -1, -1), rate * out

    def _on(self, k: int, states: States) -> Iterator[Edge]:
        """The job itself goes on."""
        speed, place = self._own_speed(states.station), self.circle.places[k]
        for target in self.kept:
            rate = speed * float(self.circle.onward[k, target])
            if target == k and place.lanes:
                servers = place.servers
                waits = np.maximum(states.beside - servers + 1, 0)
                same = States(states.station, waits, states.beside, states.others)
                yield states, same, rate / place.lanes
                rate = rate * (1 - 1 / place.lanes)
            if rate.any():
                elsewhere = states.others - states.beside
                without = {k: 1} if place.lanes else {}
                rows, arrived, chances = self._on_arrival(target, states.others, elsewhere, without)
                keep = chances > 0
                rows = rows[keep]
                columns = States(*(each[rows] for each in states.columns))
                yield columns, arrived.where(keep), rate[rows] * chances[keep]

    def _on_arrival(
        self, k: int, others: Numbers, elsewhere: Numbers, without: dict[int, int]
    ) -> tuple[Numbers, States, FloatArray]:
        """What a job finds that comes to a station, of those elsewhere: rows, states, chances."""
        queue = self.circle.queues[k]
        if queue is None:
            rows = np.arange(len(others))
            staged = States(np.full(len(rows), k), 0 * rows + STAGES - 1, 0 * rows, others)
            return rows, staged, np.ones(len(rows))
        rows = np.repeat(np.arange(len(others)), elsewhere + 1)
        beside = np.concatenate([np.arange(e + 1) for e in elsewhere])
        own, whole = queue.weights(self.circle.others + 1), self._series(without)
        rest = self._series({**without, k: without.get(k, 0) + 1})
        total = elsewhere[rows]
        chances = own[beside] * rest[total - beside] / whole[total]
        waits = np.maximum(beside - queue.place.servers + 1, 0)
        return rows, States(np.full(len(rows), k), waits, beside, others[rows]), chances


def _slowed(place: Place) -> float:
    """Service time of the job [s], longer where it is so short that it hardly matters."""
    return max(place.own_time, _SHORT * place.time)


def _counted(edge: Edge, low: int, high: int) -> Edge:
    """Without moves that do not occur, or out of the numbers that are counted with."""
    source, target, rate = edge
    room = (target.others >= low) & (target.others <= high) & (target.beside <= target.others)
    keep = room & (target.beside >= 0) & (rate > 0)
    return source.where(keep), target.where(keep), rate[keep]
