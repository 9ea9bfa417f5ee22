"""How many jobs are at a queue at each time: the forward equations of M(t)/M(t)/m(t)/K.

With the arrival rate lambda and the rate of service mu_n with n jobs there, the probabilities p_n
of 0, 1... jobs follow

    d p_n / dt = lambda p_(n-1) - (lambda + mu_n) p_n + mu_(n+1) p_(n+1).

Rates are constant over pieces of time. Within a piece steps of an L-stable approximant of
order 9 are as long as one of order 7 differs by no more than `ERROR` in the probabilities, weighted
by the number there (`headway.queueing.transient.careful`). Each needs five systems with three
diagonals, over the states in which there is any probability. So a slow day takes few steps, however
fast the servers. Several starts are followed side by side, in columns, and with each the moments of
a time average.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.erlang.birth_death import weights
from headway.queueing.transient.careful import (
    MOST_STATES,
    OUTSIDE,
    Columns,
    Known,
    Limits,
    Seen,
    careful,
)
from headway.queueing.transient.service import Service

ERROR = 1e-8
"""Largest difference of a step by two orders; chosen so that means are within 1e-6."""


@dataclass(frozen=True)
class Piece:
    """A time in which nothing changes.

    Parameters
    ----------
    length
        [s].
    rate
        Of arrivals [1/s].
    service
        How the queue serves.
    """

    length: float
    rate: float
    service: Service


@dataclass(frozen=True)
class Numbers:
    """Probabilities of numbers of jobs, or what they sum to over a time.

    Parameters
    ----------
    first
        Fewest jobs.
    chances
        Of so many, one more, two more...
    """

    first: int
    chances: FloatArray

    @property
    def numbers(self) -> FloatArray:
        """The numbers of jobs."""
        return np.arange(self.first, self.first + len(self.chances), dtype=float)

    @property
    def mean(self) -> float:
        """Mean number."""
        return float(self.numbers @ self.chances)

    def within(self, first: int, last: int) -> "Numbers":
        """The same from one number up to another, without it; 0 where nothing is known."""
        wide = np.zeros(last - first)
        low, high = max(first, self.first), min(last, self.first + len(self.chances))
        if low < high:
            wide[low - first : high - first] = self.chances[low - self.first : high - self.first]
        return Numbers(first, wide)


@dataclass(frozen=True)
class Step:
    """A step in time.

    Parameters
    ----------
    length
        How long it lasts [s].
    spent
        The integral of the probabilities over it [s].
    end
        The probabilities at its end.
    is_last
        Whether its piece ends there.
    """

    length: float
    spent: Numbers
    end: Numbers
    is_last: bool


def total(parts: Sequence[Numbers]) -> Numbers:
    """The sum of several.

    Examples
    --------
    >>> total([exactly(1), exactly(3)]).chances.tolist()
    [1.0, 0.0, 1.0]
    """
    first = min(one.first for one in parts)
    whole = np.zeros(max(one.first + len(one.chances) for one in parts) - first)
    for one in parts:
        whole[one.first - first : one.first - first + len(one.chances)] += one.chances
    return Numbers(first, whole)


def exactly(number: int) -> Numbers:
    """So many jobs for certain.

    Examples
    --------
    >>> exactly(3).mean
    3.0
    """
    return Numbers(number, np.ones(1))


def steady(rate: float, service: Service) -> Numbers | None:
    """The numbers in a steady state; None where there is none.

    Examples
    --------
    >>> round(steady(5.0, Service(0.1)).mean, 9)  # M/M/1: rho / (1 - rho)
    1.0
    """
    if rate >= service.fastest and not np.isfinite(service.places):
        return None
    if rate == 0:
        return exactly(0)
    top = 64
    while True:
        top = int(min(top, service.places))
        numbers = np.arange(1, top + 1, dtype=float)
        chances = weights(rate / service.rates(numbers))
        chances = np.asarray(chances / chances.sum())
        if top >= service.places or (chances[-1] < OUTSIDE**2 or top > MOST_STATES):
            break
        top *= 2
    kept = np.flatnonzero(np.cumsum(chances[::-1])[::-1] > OUTSIDE)
    return Numbers(0, chances[: kept[-1] + 1]) if len(kept) else exactly(0)


class Follower:
    """Follows columns from piece to piece, with steps as long as the last ones allow.

    Parameters
    ----------
    floor
        Jobs at which the queue is left for good; 0 for none.
    error
        Largest difference of a step by two orders.
    """

    def __init__(self, floor: int = 0, error: float = ERROR) -> None:
        self.floor, self.error, self.step = floor, error, inf
        self.before: tuple[float, Service] | None = None
        self.known: Known | None = None

    def through(
        self, piece: Piece, state: Columns, seen: Seen | None = None
    ) -> Iterator[tuple[float, Columns, Columns]]:
        """Follow a piece: length of each step, integral of the probabilities [s], and its end."""
        left, wider = piece.length, 0
        if self.before != (piece.rate, piece.service):
            self.step = min(self.step, _first_step(piece, state))
        self.before = piece.rate, piece.service
        if self.known is None or not self.known.serves(piece.service, seen):
            self.known = Known(piece.service, seen)
        limits = Limits(self.floor, piece.service.places, self.error, 1e-9 * piece.length)
        while left > 0:
            found = careful(state, self.known, piece.rate, self.step, left, limits, wider)
            self.step = found.step
            if found.is_narrow:
                wider += 1
                self.step = found.length / 2 if wider > 3 else self.step
                continue
            wider = 0
            left = 0.0 if found.length == left else left - found.length
            state = found.end
            yield found.length, found.spent, state


def dot(one: FloatArray, other: FloatArray) -> float:
    """Their product; not by BLAS, whose threads wait for each other longer than this takes."""
    return float(np.einsum("i,i", one, other))


def _first_step(piece: Piece, now: Columns) -> float:
    """A step to try after a change: some events, or a little of the piece [s]."""
    chances = now.chances
    mean = dot(np.arange(now.first, now.last, dtype=float), chances)
    served = float(piece.service.rates(np.array([mean + 1]))[0])
    return max(10 / (piece.rate + served), 1e-3 * piece.length)


def forward(pieces: Iterable[Piece], start: Numbers, floor: int = 0) -> Iterator["Step"]:
    """Follow the numbers of jobs step by step.

    Parameters
    ----------
    pieces
        One after the other, each taken when the steps of the one before have been.
    start
        Numbers at the start.
    floor
        Jobs at which the queue is left for good: what comes down to fewer is no longer counted, as
        for the time until it is first so short. 0 for none.

    Yields
    ------
    Steps, which end where pieces do.

    Raises
    ------
    InvalidParameter
        For a queue that grows too long.

    Examples
    --------
    >>> from math import exp
    >>> *_, last = forward([Piece(2.0, 0.0, Service(1.0))], exactly(1))
    >>> abs(last.end.mean - exp(-2.0)) < 1e-9
    True
    """
    follower, state = Follower(floor), Columns(start.first, start.chances[:, None, None])
    for piece in pieces:
        left = piece.length
        for length, spent, end in follower.through(piece, state):
            left = left - length
            state = end
            numbers = Numbers(end.first, end.cells[:, 0, 0])
            yield Step(length, Numbers(spent.first, spent.cells[:, 0, 0]), numbers, left == 0)
