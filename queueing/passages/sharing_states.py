"""States of a job among several kinds that share servers with it, and what it finds next.

Numbers of kinds are held as codes, which add up as they do. Those that are rare are left out.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.passages.class_numbers import Company, Sized
from headway.queueing.passages.passage import Circle

STAGES = 10, 160
"""Exponential stages that stand for a constant time: the least, and the most if they are free."""

FINEST = 1e-9
"""Share of the time of the states that are left out, where all the others can be followed."""

_MOST_PAIRS = 2_000_000
_STAGED = 20_000  # states at a delay
_RARE = 3e-4  # of the likeliest number that is found at the next station
_UNLIKELY = 1e-9
_NONE = 1e-12  # of a flow: rounding

Codes: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class At:
    """States at a station: who is beside the job, who elsewhere, chances when it comes.

    At a delay, those beside it count as elsewhere, and it has so many stages to go through.
    """

    beside: Codes
    others: Codes
    chances: FloatArray
    stages: int


@dataclass(frozen=True)
class Ways:
    """Flows of a kind between stations, to where it is away, and from there [1/s]."""

    onward: FloatArray
    out: FloatArray
    back: FloatArray
    is_unhurried: bool


@dataclass(frozen=True)
class Next:
    """Whom the job finds at its next station, for each of those elsewhere that are in `among`."""

    among: Codes
    rows: NDArray[np.intp]
    company: Codes
    chances: FloatArray

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """How many may be found."""
        return np.bincount(self.rows, minlength=len(self.among))

    def many(self, others: Codes) -> NDArray[np.intp]:
        """The same, of some of those elsewhere."""
        return np.asarray(self.counts[np.searchsorted(self.among, others)])


@dataclass(frozen=True, eq=False)
class Among:
    """States of a job among others.

    Parameters
    ----------
    company, sized
        The others, and weights of their numbers.
    left_out
        Share of the time of the states that are left out.
    quick
        Times faster than any service: as fast as others are seen to come back at most.
    """

    company: Company
    sized: Sized
    left_out: float
    quick: float

    @property
    def circle(self) -> Circle:
        """Ways of the job."""
        return self.company.circle

    @property
    def is_exact(self) -> bool:
        """Whether the job is followed without anything taken for granted, or left out."""
        places = self.circle.places
        if self.left_out > FINEST or any(place.is_delay for place in places):
            return False
        return sum(place.lanes for place in places) <= 2 and self.is_unhurried

    @property
    def is_unhurried(self) -> bool:
        """Whether all who go away are seen to."""
        return all(ways.is_unhurried for ways in self.ways)

    @cached_property
    def visited(self) -> list[int]:
        """Stations that the job comes to."""
        return [int(k) for k in np.flatnonzero(self.circle.own_visits > 0)]

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """Of each kind, by code, shape (codes, kinds)."""
        shape = [n + 1 for n in self.sized.most]
        return np.indices(shape).reshape(len(shape), -1).T.astype(np.int64)

    @cached_property
    def steps(self) -> list[int]:
        """What one more of each kind adds to a code."""
        shape = [n + 1 for n in self.sized.most]
        return [int(np.prod(shape[j + 1 :])) for j in range(len(shape))]

    @property
    def base(self) -> int:
        """More than any code of numbers."""
        return max(len(self.numbers), STAGES[1])

    def code(self, k: int, beside: Codes | int, others: Codes) -> Codes:
        """Number of a state; at a delay its stages to come stand for those beside the job."""
        return np.asarray((k * self.base + beside) * self.base + others)

    @cached_property
    def states(self) -> Codes:
        """All of them, in order."""
        parts = [
            self.code(k, at.beside + stage, at.others)
            for k, at in self.at.items()
            for stage in range(at.stages)
        ]
        return np.sort(np.concatenate(parts))

    @cached_property
    def at(self) -> dict[int, At]:
        """States at each station that the job comes to."""
        return {k: at for k, at in self._places.items() if at is not None}

    @property
    def are_too_many(self) -> bool:
        """Whether there are so many that they are not even looked at."""
        return None in self._places.values()

    @cached_property
    def _places(self) -> dict[int, At | None]:
        return {k: self._at(k) for k in self.visited}

    def share(self, k: int) -> FloatArray:
        """Of a server that each of those has who are at a queue with the job, by code."""
        return np.asarray(
            np.minimum(1.0, self.circle.places[k].servers / (self.numbers.sum(axis=1) + 1))
        )

    def elsewhere(self, k: int) -> FloatArray:
        """Weights of those elsewhere while the job is at a station, by code."""
        return self._weights(() if self.circle.places[k].is_delay else (k,))

    @cached_property
    def _kept(self) -> dict[tuple[int, ...], FloatArray]:
        return {}

    def _weights(self, without: tuple[int, ...]) -> FloatArray:
        if without not in self._kept:
            self._kept[without] = self.sized.elsewhere(without).ravel()
        return self._kept[without]

    def _at(self, k: int) -> At | None:
        """Those that make up all but a little of the time; None for too many to look at."""
        coming, elsewhere = self.sized.coming.ravel(), self.elsewhere(k)
        if self.circle.places[k].is_delay:
            chances = elsewhere * coming
            kept = _heaviest(chances, self.left_out)
            return At(0 * kept, kept, chances[kept], self._stages(k, len(kept)))
        here, share = self.sized.here(k).ravel(), self.share(k)
        beside = _heaviest(here * self.sized.rest(k).ravel() / share, self.left_out)
        others = _heaviest(elsewhere * self.sized.behind(k).ravel(), self.left_out)
        if len(beside) * len(others) > _MOST_PAIRS:
            return None
        fits = self._fit(beside, others)
        total = np.where(fits, beside[:, None] + others, 0)
        chances = np.where(fits, here[beside][:, None] * elsewhere[others] * coming[total], 0.0)
        kept = _heaviest((chances / share[beside][:, None]).ravel(), self.left_out)
        row, column = np.divmod(kept, len(others))
        return At(beside[row], others[column], chances.ravel()[kept], 1)

    def _fit(self, beside: Codes, others: Codes) -> NDArray[np.bool_]:
        """Whether no kind is there more often than is counted with, of each pair."""
        fits = np.ones((len(beside), len(others)), bool)
        for j, most in enumerate(self.sized.most):
            fits &= self.numbers[beside, j][:, None] + self.numbers[others, j] <= most
        return fits

    def _stages(self, k: int, count: int) -> int:
        """Stages of a constant time, more where they are no faster than services are."""
        free = int(self.fastest * self.circle.places[k].own_time)
        least, most = STAGES
        return min(max(least, min(free, most)), max(least, _STAGED // count))

    @cached_property
    def fastest(self) -> float:
        """Fastest service [1/s]."""
        queues = [k for k, place in enumerate(self.circle.places) if not place.is_delay]
        places = self.circle.places
        own = max((1 / places[k].own_time for k in queues if k in self.visited), default=0.0)
        times = [(k, kind.times[k]) for kind in self.company.kinds for k in queues]
        return max([own, *(places[k].servers / time for k, time in times if time > 0)])

    @cached_property
    def ways(self) -> tuple[Ways, ...]:
        """Of each kind."""
        return tuple(self._ways(j) for j in range(len(self.company.kinds)))

    def _ways(self, j: int) -> Ways:
        kind = self.company.kinds[j]
        flow = kind.flow * np.array(kind.visits)
        onward = flow[:, None] * self.circle.onward * (flow > 0)
        gone, come = (flow - onward.sum(axis=axis) for axis in (1, 0))
        gone, come = (np.where(each > _NONE * flow, each, 0.0) for each in (gone, come))
        likely = self.sized.of_kind(j) > _UNLIKELY
        fast = float(come.sum() * self.sized.returns[j][likely].max(initial=0.0))
        counted = min(1.0, self.quick * self.fastest / fast) if fast else 0.0
        at_once = np.outer(gone, come) / (come.sum() or 1.0)
        settled = not fast or counted == 1.0
        return Ways(onward + (1 - counted) * at_once, counted * gone, counted * come, settled)

    @cached_property
    def _nexts(self) -> dict[tuple[int, int], Next]:
        return {}

    def next(self, k: int, target: int) -> Next:
        """Whom the job finds that goes from one station to another."""
        if (k, target) not in self._nexts:
            self._nexts[k, target] = self._next_company(k, target)
        return self._nexts[k, target]

    def _next_company(self, k: int, target: int) -> Next:
        without = (target,) if self.circle.places[k].is_delay else (k, target)
        rest, here = self._weights(without), self.sized.here(target).ravel()
        among, beside = np.unique(self.at[k].others), np.unique(self.at[target].beside)
        fits = np.ones((len(among), len(beside)), bool)
        for j in range(len(self.sized.most)):
            fits &= self.numbers[among, j][:, None] >= self.numbers[beside, j]
        left = np.where(fits, among[:, None] - beside, 0)
        chances = np.where(fits, here[beside] * rest[left], 0.0)
        rare = _RARE if self.left_out > FINEST else 0.0
        chances[chances < rare * chances.max(axis=1, keepdims=True)] = 0.0
        whole = chances.sum(axis=1, keepdims=True)
        chances = chances / np.where(whole > 0, whole, 1.0)
        rows, columns = np.nonzero(chances)
        return Next(among, rows, beside[columns], chances[rows, columns])


def _heaviest(weights: FloatArray, left_out: float) -> Codes:
    """The heaviest that make up all but a share."""
    order = np.argsort(weights)
    below = np.cumsum(weights[order])
    return np.sort(order[below > left_out * below[-1]]).astype(np.int64)
