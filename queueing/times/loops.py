"""Jobs that come back to stations of single exponential servers: how long until they are through.

Visits of a job are not independent where it comes back: who finds long queues finds them again.
A job is followed with the number ahead of it and the number of others in the loop, which come and
go; where these others are is taken as in equilibrium, given their number. That is exact for one
station and, by Little's law, for the mean. The chain is followed step by step (uniformisation)
until few are left, and geometrically from there on.

Source: Gordon and Newell, Operations Research 15(2), 1967 (the equilibrium); Jensen, Skandinavisk
Aktuarietidskrift 36, 1953 (uniformisation). The conditional equilibrium is headway's own; what it
costs is measured in docs/accuracy.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from headway.kinds import Amount, FloatArray
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw, Transform

BUSIEST = 0.85
"""Utilisation up to which the chain itself is followed."""

_CALMER = 0.75  # where, beside BUSIEST, shapes are known from which busier ones are extrapolated
_HASTE = 0.05  # share of the time in the loop by which quick services may be slowed
_REST = 1e-8  # chance of more others than the chain has room for
_FEW = 1e-5  # share of jobs still inside when the steps end
_LAST = 50  # steps that the ratio of the steps beyond is taken from
_AT_ONCE = 64  # powers of a transform
_MOST_WORK = 1e9  # states times steps

_Edges = tuple[Amount, Amount, FloatArray]


@dataclass(frozen=True)
class Loop:
    """Stations of single servers that jobs go to and fro between.

    Parameters
    ----------
    service_times, queues
        Mean service time [s] and number of like queues, one of them chosen at random.
    rates
        Visits to each station [1/s].
    entries
        Share of jobs that come into the loop there.
    onward
        Chances of going from station to station; what is missing leaves the loop.

    Examples
    --------
    >>> one = np.ones(1)
    >>> loop = Loop(one, one, rates=0.5 * one, entries=one, onward=np.array([[0.9]]))
    >>> round(float(loop.busy[0]), 12), round(loop.through, 12)
    (0.5, 0.05)
    """

    service_times: FloatArray
    queues: FloatArray
    rates: FloatArray
    entries: FloatArray
    onward: FloatArray

    @property
    def busy(self) -> FloatArray:
        """Utilisation of each station."""
        return np.asarray(self.rates * self.service_times / self.queues)

    @property
    def out(self) -> FloatArray:
        """Chance of leaving the loop after each station."""
        return np.asarray(np.maximum(1 - self.onward.sum(axis=1), 0.0))

    @property
    def through(self) -> float:
        """Jobs that come and leave [1/s]."""
        return float(self.rates @ self.out)

    def scaled(self, factor: float) -> "Loop":
        """The same loop with other rates."""
        return replace(self, rates=self.rates * factor)

    @property
    def visits(self) -> FloatArray:
        """Mean visits to each station of a job that enters at each, shape (entries, stations)."""
        return np.asarray(np.linalg.inv(np.eye(len(self.rates)) - self.onward), float)

    def means(self, service_times: FloatArray) -> FloatArray:
        """Mean time in the loop by where one enters [s], if services took so long."""
        return np.asarray(self.visits @ (service_times / (1 - self.busy)))


def loop_laws(loop: Loop) -> list[list[TimeLaw]] | None:
    """How long jobs stay that enter a loop here and leave it there.

    Parameters
    ----------
    loop
        With no station saturated.

    Returns
    -------
    A law for each station of entry and each of exit, of those who leave there: None if the chain
    is too large to be followed.

    Examples
    --------
    >>> one = np.ones(1)
    >>> loop = Loop(one, one, rates=0.5 * one, entries=one, onward=np.array([[0.9]]))
    >>> round(float(loop_laws(loop)[0][0].mean), 3)
    20.0
    """
    most = float(loop.busy.max())
    if most <= BUSIEST:
        return _laws(loop, loop)
    near, far = (_laws(loop, loop.scaled(level / most)) for level in (BUSIEST, _CALMER))
    if near is None or far is None:
        return None
    further = (most - BUSIEST) / (BUSIEST - _CALMER)
    return [
        [_extrapolated(one, other, further) for one, other in zip(*rows, strict=True)]
        for rows in zip(near, far, strict=True)
    ]


def _extrapolated(near: TimeLaw, far: TimeLaw, further: float) -> TimeLaw:
    """Go on in a straight line from one shape through another."""

    def law(s: ComplexArray) -> ComplexArray:
        return near.transform(s) + further * (near.transform(s) - far.transform(s))

    return TimeLaw((Piece(0.0, law),), near.mean)


def _laws(loop: Loop, followed: Loop) -> list[list[TimeLaw]] | None:
    """Laws from the chain at `followed`'s rates, stretched to the means at the loop's own."""
    chain = _Chain(followed)
    if not chain.can_be_followed:
        return None
    chances, means = loop.visits * loop.out, loop.means(loop.service_times)
    stretch = means / followed.means(chain.times)
    steps = chain.leaving()
    return [
        [_law(chain.rate / stretch[i], steps[:, i, j], chances[i, j]) for j in range(len(means))]
        for i in range(len(means))
    ]


def _law(rate: float, steps: FloatArray, chance: float) -> TimeLaw:
    """The law of those who leave somewhere; of no time where nobody does."""
    if chance <= 0 or steps[-1] <= 0:
        return TimeLaw((Piece(0.0, np.ones_like),), 0.0)
    return law_of_steps(rate, steps)


def law_of_steps(rate: float, steps: FloatArray) -> TimeLaw:
    """A time of exponential steps, as many as `steps` has chances for, the last ones going on.

    Parameters
    ----------
    rate
        Of the steps [1/s].
    steps
        Chances of 1, 2, 3... steps in proportion, 50 at least; the last above 0.

    Examples
    --------
    >>> round(law_of_steps(1.0, 0.5 ** np.arange(1, 60)).mean, 9)
    2.0
    """
    ratio = min(float((steps[-1] / steps[-_LAST]) ** (1 / (_LAST - 1))), 1 - 1e-9)
    beyond = float(steps[-1]) * ratio / (1 - ratio)
    total = float(steps.sum()) + beyond
    mean = float(steps @ np.arange(1, len(steps) + 1)) + beyond * (len(steps) + 1 / (1 - ratio))
    law = _stepwise(rate, steps / total, beyond / total, ratio)
    return TimeLaw((Piece(0.0, law),), mean / total / rate)


def _stepwise(rate: float, shares: FloatArray, beyond: float, ratio: float) -> Transform:
    filled = np.zeros(-(-len(shares) // _AT_ONCE) * _AT_ONCE)
    filled[: len(shares)] = shares
    blocks = filled.reshape(-1, _AT_ONCE)

    def law(s: ComplexArray) -> ComplexArray:
        step = rate / (rate + s)
        tail = beyond * step ** len(shares) * (1 - ratio) * step / (1 - ratio * step)
        powers = step ** np.arange(1, _AT_ONCE + 1)[:, None]
        sums = np.einsum("ij,jk->ik", blocks, powers)  # not @: threads cost more than they give
        total = np.zeros_like(s)
        for block in sums[::-1]:
            total = total * powers[-1] + block
        return np.asarray(total + tail)

    return law


class _Chain:
    """States (station, others in the loop, those of them ahead), from entry to exit."""

    def __init__(self, loop: Loop) -> None:
        self.loop = loop
        self.ways = _ways(loop.busy, loop.queues, _room(loop))
        self.most = len(self.ways) - 1
        self.others, self.ahead = np.tril_indices(self.most + 1)

    @property
    def can_be_followed(self) -> bool:
        """Whether that is a matter of seconds."""
        mean = float(self.loop.means(self.times).max())
        steps = self.rate * mean * -log(_FEW)
        return self._size * len(self.times) * steps <= _MOST_WORK

    @cached_property
    def times(self) -> FloatArray:
        """Service times [s], quick ones slowed where that hardly matters: it saves steps."""
        loop = self.loop
        slow = loop.entries @ loop.visits @ (1 / (1 - loop.busy))
        least = _HASTE * (loop.entries @ loop.means(loop.service_times)) / slow
        return np.maximum(loop.service_times, least)

    @cached_property
    def rate(self) -> float:
        """Of steps [1/s]: no state is left faster."""
        return float((1 / self.times).max()) + 2 * self.loop.through / float(self.loop.busy.max())

    @property
    def _size(self) -> int:
        return (self.most + 1) * (self.most + 2) // 2

    def leaving(self) -> FloatArray:
        """Chance of leaving at each step, shape (steps, entries, exits)."""
        moves = self._moves()
        share = self.loop.out / (self.times * self.rate)
        exits = np.concatenate([station + self._first(0) for station in self._starts()])
        exits = exits.reshape(len(share), -1)
        used = np.flatnonzero(self.loop.entries)
        inside: FloatArray = self._entries()[:, used]
        left: list[FloatArray] = []
        fewest = 2 * (_LAST + len(share))  # every exit can be reached, and the ratio has settled
        while len(left) < fewest or inside.sum(axis=0).max() > _FEW:
            left.append(share[:, None] * inside[exits].sum(axis=1))
            inside = moves @ inside
        steps = np.zeros((len(left), len(share), len(share)))
        steps[:, used] = np.stack(left).swapaxes(1, 2)
        return steps

    def _starts(self) -> list[int]:
        return [k * self._size for k in range(len(self.loop.rates))]

    def _first(self, ahead: int) -> FloatArray:
        """Places of the states with so many ahead, within a station, by number of others."""
        n = np.arange(ahead, self.most + 1)
        return np.asarray(n * (n + 1) // 2 + ahead)

    def _found(self, station: int) -> FloatArray:
        """Chance that of `others` so many are at one queue of the station, in equilibrium."""
        u = self.loop.busy[station]
        without = _ways_without(self.ways, u)
        chance = u**self.ahead * without[self.others - self.ahead] / self.ways[self.others]
        return np.asarray(chance)

    def _entries(self) -> FloatArray:
        """Where one is who enters at each station, shape (states, entries)."""
        chances = (self.ways / self.ways.sum())[self.others]
        entries = np.zeros((self._size * len(self.loop.rates), len(self.loop.rates)))
        for k, start in enumerate(self._starts()):
            entries[start : start + self._size, k] = chances * self._found(k)
        return entries

    def _moves(self) -> csr_array:
        """Chances of a step, transposed."""
        edges = [e for k in range(len(self.loop.rates)) for e in self._edges(k)]
        source, target, rate = (np.concatenate(part) for part in zip(*edges, strict=True))
        size = self._size * len(self.loop.rates)
        moves = coo_array((rate / self.rate, (target, source)), (size, size)).tocsr()
        out = moves.sum(axis=0)
        for k, start in enumerate(self._starts()):
            share = self.loop.out[k] / (self.times[k] * self.rate)
            out[start + self._first(0)] += share
        return csr_array(moves + diags_array(1 - out))

    def _edges(self, k: int) -> Iterator[_Edges]:
        start, n, a = self._starts()[k], self.others, self.ahead
        here = start + np.arange(self._size)
        mu, out = 1 / self.times[k], float(self.loop.out[k])
        room, someone = n < self.most, a > 0
        yield here[room], (here + n + 1)[room], np.full(room.sum(), self.loop.through)
        yield here[someone], (here - n - 1)[someone], np.full(someone.sum(), mu * out)
        yield here[someone], (here - 1)[someone], np.full(someone.sum(), mu * (1 - out))
        yield self._departures(k)
        for target, chance in enumerate(self.loop.onward[k]):
            if chance > 0:
                found = self._found(target) * mu * chance
                yield (
                    start + self._first(0)[n],
                    self._starts()[target] + np.arange(self._size),
                    found,
                )

    def _departures(self, k: int) -> _Edges:
        """Others leave the loop from elsewhere, as fast as the rest in equilibrium would."""
        loop, n, a = self.loop, self.others, self.ahead
        flow = loop.rates * loop.out
        elsewhere = float(flow.sum() - flow[k] / loop.queues[k])
        some = n > a
        speed = np.append(0.0, self.ways[:-1] / self.ways[1:])[n - a] * elsewhere
        here = self._starts()[k] + np.arange(self._size)
        return here[some], (here - n)[some], speed[some]


def _room(loop: Loop) -> int:
    """Others in the loop that are not exceeded but with a chance of `_REST`."""
    most = 16
    while True:
        ways = _ways(loop.busy, loop.queues, most)
        empty = float(np.prod((1 - loop.busy) ** loop.queues))
        reached = np.flatnonzero(1 - empty * np.cumsum(ways) <= _REST)
        if len(reached):
            return int(reached[0])
        most *= 2


def _ways(busy: FloatArray, queues: FloatArray, most: int) -> FloatArray:
    """Weight of n = 0..most jobs in all queues, relative to none."""
    ways = np.zeros(most + 1)
    ways[0] = 1.0
    for u, count in zip(busy, queues, strict=True):
        for _ in range(int(count)):
            for n in range(1, most + 1):
                ways[n] += u * ways[n - 1]
    return ways


def _ways_without(ways: FloatArray, u: float) -> FloatArray:
    """The same without one of the queues."""
    return np.append(ways[0], ways[1:] - u * ways[:-1])
