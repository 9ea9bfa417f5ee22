"""Probabilities of the number of jobs over time: forward equations of M(t)/M(t)/m(t)/K.

With the arrival rate lambda and the service rate mu_n at n jobs, the probabilities p_n of 0, 1...
jobs satisfy

    d p_n / dt = lambda p_(n-1) - (lambda + mu_n) p_n + mu_(n+1) p_(n+1).

Rates are constant over pieces of time. Within a piece, a step by an L-stable approximant of order 9
is as long as its difference from one of order 7 stays below `ERROR`, in probabilities weighted by
the number of jobs (`headway.queueing.transient.careful`). Each step solves five tridiagonal systems
over the states with any probability, so a slowly changing day takes few steps, however fast its
servers. Several starts are followed side by side as columns, each with the moments of a time
average.
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
"""Largest difference between two orders in a step; chosen so that means are within 1e-6."""


@dataclass(frozen=True)
class Piece:
    """A piece of time in which nothing changes.

    Parameters
    ----------
    length
        Length [s].
    rate
        Arrival rate [1/s].
    service
        How the queue serves.
    """

    length: float
    rate: float
    service: Service


@dataclass(frozen=True)
class Numbers:
    """Probabilities of numbers of jobs, or integrals of them over time.

    Parameters
    ----------
    first
        Smallest number of jobs.
    chances
        Its probability, then those of one job more, two more...
    """

    first: int
    chances: FloatArray

    @property
    def numbers(self) -> FloatArray:
        """The numbers of jobs."""
        return np.arange(self.first, self.first + len(self.chances), dtype=float)

    @property
    def mean(self) -> float:
        """The mean number."""
        return float(self.numbers @ self.chances)

    def within(self, first: int, last: int) -> "Numbers":
        """The same for numbers from ``first`` to below ``last``; 0 where nothing was known."""
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
        Length [s].
    spent
        The integral of the probabilities over the step [s].
    end
        The probabilities at its end.
    is_last
        Whether a piece ends with it.
    """

    length: float
    spent: Numbers
    end: Numbers
    is_last: bool


def total(parts: Sequence[Numbers], weights: Sequence[float] = ()) -> Numbers:
    """The sum of several sets of probabilities, each times its weight if there are any.

    Examples
    --------
    >>> total([exactly(1), exactly(3)]).chances.tolist()
    [1.0, 0.0, 1.0]
    """
    first = min(one.first for one in parts)
    whole = np.zeros(max(one.first + len(one.chances) for one in parts) - first)
    for one, weight in zip(parts, weights or [1.0] * len(parts), strict=True):
        whole[one.first - first : one.first - first + len(one.chances)] += weight * one.chances
    return Numbers(first, whole)


def exactly(number: int) -> Numbers:
    """A number of jobs that is certain.

    Examples
    --------
    >>> exactly(3).mean
    3.0
    """
    return Numbers(number, np.ones(1))


def steady(rate: float, service: Service) -> Numbers | None:
    """The numbers of jobs in steady state; None if there is none.

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
    """Follows columns through pieces of time, with each step as long as the last one allows.

    Parameters
    ----------
    floor
        Number of jobs below which the queue is left for good; 0 for none.
    error
        Largest difference between two orders in a step.
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
    """The scalar product; not by BLAS, whose threads wait for each other longer than it takes."""
    return float(np.einsum("i,i", one, other))


def _first_step(piece: Piece, now: Columns) -> float:
    """A first step to try after a change: the time of some events, or a part of the piece [s]."""
    chances = now.chances
    mean = dot(np.arange(now.first, now.last, dtype=float), chances)
    served = float(piece.service.rates(np.array([mean + 1]))[0])
    return max(10 / (piece.rate + served), 1e-3 * piece.length)


def forward(pieces: Iterable[Piece], start: Numbers, floor: int = 0) -> Iterator["Step"]:
    """Follow the probabilities of the numbers of jobs step by step.

    Parameters
    ----------
    pieces
        Pieces of time, each taken only once the steps of the one before have been.
    start
        Probabilities at the start.
    floor
        Number of jobs below which the queue is left for good, for the time until it is first so
        short; 0 for none.

    Yields
    ------
    Steps; each piece ends with one.

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
