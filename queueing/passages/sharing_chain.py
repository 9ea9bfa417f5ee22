"""Times of a job among several kinds that share servers with it: an absorbed Markov chain.

The chain holds how many of each kind are beside the job, and how many are elsewhere. Where these
are is taken as in equilibrium, given their numbers, which is exact where no more than two queues
are there. Numbers that are rare are left out; a chain with too many is not followed.

Source: Gordon and Newell, Operations Research 15(2), 1967, and Baskett, Chandy, Muntz and Palacios,
JACM 22(2), 1975 (the equilibrium); Jensen, Skandinavisk Aktuarietidskrift 36, 1953 (steps at a
constant pace). The conditional equilibrium is headway's own; docs/accuracy.md has what it costs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from headway.kinds import FloatArray
from headway.queueing.passages.class_numbers import Company, Sized
from headway.queueing.passages.sharing_states import FINEST, Among, Codes
from headway.queueing.times.laws import TimeLaw
from headway.queueing.times.uniformisation import law_of_steps, steps_out

BESIDE = (
    "percentiles assume that the other jobs are in equilibrium: up to the 99th within 2%, "
    "the 99.9th within 4% where measured"
)
MOST_WORK = 8e8
"""Moves between states times steps: a second, about."""

_LEFT_OUT = (FINEST, 2e-5, 2e-4)  # share of the time of the states that are left out
_QUICK = 3.0  # times faster than any service: coming back that need not be faster
_LITTLE = 0.1  # of the work, for which it is faster all the same
_STEPS = 14.0  # mean times that they last
_SLOWED = 3.0  # times that a visit may last among others
_MOVES = 2  # of each kind, from a state
_LEAST_MOVES = 2000.0  # that a step costs however few it makes

Edge: TypeAlias = tuple[Codes, Codes, FloatArray]
Places: TypeAlias = NDArray[np.intp]


def beside_law(company: Company, mean: float | None) -> TimeLaw | None:
    """How long a job takes among others; None if that would take too long to find out.

    Parameters
    ----------
    company
        The others, and the ways of the job.
    mean
        What it takes on average [s], to which the law is stretched by the little that it is off;
        None if that is not known.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Circle, Place
    >>> from headway.queueing.passages.aggregation import Comers
    >>> from headway.queueing.passages.class_numbers import Kind
    >>> one = np.ones(1)
    >>> alone = Circle((Place("cpu", 1.0, 1, 1),), one, 0 * one[None], one, 1, 0.0, 0.5, one)
    >>> others = Company(alone, (Kind((1.0,), (1.0,), 0.5, (Comers(0, 2.0),)),))
    >>> law = beside_law(others, mean=2.0)  # S / (1 - U)
    >>> law.mean
    2.0
    """
    if company.sized is None:
        return None
    for among, share in _ways(company, company.sized):
        law = _Chain(among, mean, share * MOST_WORK).law()
        if law is not None:
            return replace(law, notes=() if among.is_exact else (BESIDE,))
    return None


def _ways(company: Company, sized: Sized) -> Iterator[tuple[Among, float]]:
    """States to follow, the best first, and the share of the work that they are worth."""
    for left_out in _LEFT_OUT:
        among = Among(company, sized, left_out, _QUICK)
        if among.are_too_many:
            continue
        if left_out == FINEST and not among.is_unhurried:
            yield replace(among, quick=np.inf), _LITTLE
        yield among, 1.0


@dataclass(frozen=True, eq=False)
class _Chain:
    """Moves between the states of a job among others."""

    among: Among
    mean: float | None
    most: float

    def law(self) -> TimeLaw | None:
        """How long the job takes; None if that would take too long to find out."""
        among = self.among
        least = _MOVES * len(among.company.kinds) * len(among.states)
        if max(least, _LEAST_MOVES) * among.fastest * self._lasts > self.most:
            return None
        around = [edge for k in among.visited for edge in self._around(k)]
        moves = float(sum(len(edge[0]) for edge in around))
        fastest = self._speeds(around).max() + max(self._own_speed(k).max() for k in among.visited)
        steps = float(fastest) * self._lasts
        if max(moves, _LEAST_MOVES) * steps > self.most:
            return None
        if (moves + self._going()) * steps > self.most:
            return None
        left, pace = self._leaving([*around, *(e for k in among.visited for e in self._on(k))])
        law = law_of_steps(pace, left)
        return law if self.mean is None else law_of_steps(pace * law.mean / self.mean, left)

    @property
    def _lasts(self) -> float:
        """About how long the last of many jobs is inside [s]."""
        circle = self.among.circle
        return _STEPS * (_SLOWED * circle.mean if self.mean is None else self.mean)

    def _around(self, k: int) -> Iterator[Edge]:
        """What others do while the job is at a station."""
        at, place = self.among.at[k], self.among.circle.places[k]
        for stage in range(at.stages):
            source = self.among.code(k, at.beside + stage, at.others)
            for j in range(len(self.among.company.kinds)):
                yield from self._of_rest(k, j, source)
                if not place.is_delay:
                    yield from self._of_those_beside(k, j, source)
            if stage:
                yield (
                    source,
                    source - self.among.base,
                    np.full(len(source), at.stages / place.own_time),
                )

    def _of_rest(self, k: int, j: int, source: Codes) -> Iterator[Edge]:
        """Others of a kind come from elsewhere and from away, and go away from elsewhere."""
        at, ways, lanes = self.among.at[k], self.among.ways[j], self.among.circle.places[k].lanes
        share, apart = (1 / lanes if lanes else 0.0), np.ones(len(self.among.circle.places))
        apart[k] = 1 - share
        one, across = self.among.steps[j], self.among.steps[j] * self.among.base
        weights, there = self.among.elsewhere(k), self.among.numbers[at.others, j] > 0
        less, whole = weights[np.where(there, at.others - one, 0)], weights[at.others]
        speed = np.where(there & (whole > 0), less / np.where(whole > 0, whole, 1.0), 0.0)
        number = self.among.numbers[at.beside, j] + self.among.numbers[at.others, j]
        come = np.where(number < self.among.sized.most[j], self.among.sized.returns[j][number], 0.0)
        yield _some(source, across - one, float(apart @ ways.onward[:, k]) * share * speed)
        yield _some(source, -one, float(apart @ ways.out) * speed)
        yield _some(source, across, share * float(ways.back[k]) * come)
        yield _some(source, one, float(apart @ ways.back) * come)

    def _of_those_beside(self, k: int, j: int, source: Codes) -> Iterator[Edge]:
        """One of a kind is served and goes elsewhere or away, or comes back at once."""
        at, ways, time = self.among.at[k], self.among.ways[j], self.among.company.kinds[j].times[k]
        whole = float(ways.onward[k].sum() + ways.out[k])
        if whole > 0:
            one, across = self.among.steps[j], self.among.steps[j] * self.among.base
            again = float(ways.onward[k, k]) / self.among.circle.places[k].lanes / whole
            out = float(ways.out[k]) / whole
            rate = self.among.numbers[at.beside, j] * self.among.share(k)[at.beside] / time
            yield _some(source, one - across, rate * (1 - again - out))
            yield _some(source, -across, rate * out)

    def _own_speed(self, k: int) -> FloatArray:
        """How fast the job ends its service, or its last stage, in each state there."""
        at, place = self.among.at[k], self.among.circle.places[k]
        if place.is_delay:
            return np.full(len(at.others), at.stages / place.own_time)
        return np.asarray(self.among.share(k)[at.beside] / place.own_time)

    def _chance(self, k: int, target: int) -> float:
        """Of going there, but to the same queue, where nothing changes."""
        lanes = self.among.circle.places[k].lanes
        same = 1 / lanes if lanes and k == target else 0.0
        return float(self.among.circle.onward[k, target]) * (1 - same)

    def _going(self) -> float:
        """How many moves the job itself makes."""
        places = self.among.circle.places
        return float(
            sum(
                len(at.others)
                if places[target].is_delay
                else self.among.next(k, target).many(at.others).sum()
                for k, at in self.among.at.items()
                for target in self.among.visited
                if self._chance(k, target) > 0
            )
        )

    def _on(self, k: int) -> Iterator[Edge]:
        """The job itself goes on."""
        at = self.among.at[k]
        source, inside = self.among.code(k, at.beside, at.others), at.beside + at.others
        for target in self.among.visited:
            rate = self._own_speed(k) * self._chance(k, target)
            if not rate.any():
                continue
            if self.among.circle.places[target].is_delay:
                yield (
                    source,
                    self.among.code(target, self.among.at[target].stages - 1, inside),
                    rate,
                )
                continue
            following = self.among.next(k, target)
            many = following.many(at.others)
            who = np.repeat(np.arange(len(source)), many)
            first = np.cumsum(following.counts) - following.counts
            start = first[np.searchsorted(following.among, at.others)] - np.cumsum(many) + many
            which = np.arange(len(who)) + start[who]
            company = following.company[which]
            states = self.among.code(target, company, inside[who] - company)
            yield source[who], states, rate[who] * following.chances[which]

    def _speeds(self, edges: list[Edge]) -> FloatArray:
        """How fast states are left."""
        total = np.zeros(len(self.among.states))
        for source, _, rate in edges:
            total += np.bincount(self._places(source), rate, len(total))
        return total

    def _leaving(self, edges: list[Edge]) -> tuple[FloatArray, float]:
        """Chance of leaving at each step, and the pace of steps [1/s]."""
        size, exits = len(self.among.states), self._exits()
        starts, ends, rate = _onward(*self._within(edges), exits)
        total = np.bincount(starts, rate, size) + exits
        inside = np.where(total > 0, self._entries(), 0.0)
        inside /= inside.sum()
        pace, every = float(total.max()), np.arange(size)
        places = np.append(ends, every), np.append(starts, every)
        moves = csr_array(coo_array((np.append(rate, pace - total) / pace, places), (size, size)))
        return steps_out(moves, inside, exits / pace), pace

    def _within(self, edges: list[Edge]) -> tuple[Places, Places, FloatArray]:
        """Moves between states that are followed, by the places of these."""
        source, target, rate = (np.concatenate(each) for each in zip(*edges, strict=True))
        states = self.among.states
        ends = np.minimum(np.searchsorted(states, target), len(states) - 1)
        inside = states[ends] == target
        return np.searchsorted(states, source[inside]), ends[inside], rate[inside]

    def _places(self, codes: Codes) -> Places:
        return np.searchsorted(self.among.states, codes)

    def _exits(self) -> FloatArray:
        exits = np.zeros(len(self.among.states))
        for k, at in self.among.at.items():
            ends = self._places(self.among.code(k, at.beside, at.others))
            exits[ends] = self._own_speed(k) * self.among.circle.leaving[k]
        return exits

    def _entries(self) -> FloatArray:
        start = np.zeros(len(self.among.states))
        for k, at in self.among.at.items():
            code = self.among.code(k, at.beside + at.stages - 1, at.others)
            share = float(self.among.circle.entries[k]) / at.chances.sum()
            start[self._places(code)] = share * at.chances
        return np.asarray(start / start.sum())


def _some(source: Codes, more: int, rate: FloatArray) -> Edge:
    """Moves that change a code by so much, where they occur."""
    keep = rate > 0
    return source[keep], source[keep] + more, rate[keep]


def _onward(
    starts: Places, ends: Places, rate: FloatArray, exits: FloatArray
) -> tuple[Places, Places, FloatArray]:
    """Moves without those into states that nothing leaves, as all that follow are left out."""
    while True:
        goes_on = (np.bincount(starts, rate, len(exits)) + exits > 0)[ends]
        if goes_on.all():
            return starts, ends, rate
        starts, ends, rate = starts[goes_on], ends[goes_on], rate[goes_on]
