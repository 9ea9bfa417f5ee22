"""How many jobs are at a queue at each time: the forward equations of M(t)/M(t)/m(t)/K.

With the arrival rate lambda and the rate of service mu_n with n jobs there, the probabilities p_n
of 0, 1... jobs follow

    d p_n / dt = lambda p_(n-1) - (lambda + mu_n) p_n + mu_(n+1) p_(n+1).

Rates are constant over pieces of time. Within a piece steps of an L-stable approximant of
order 9 (`headway.queueing.transient.systems`) are as long as one of order 7 differs by no more than
`ERROR` in the probabilities, weighted by the number there. Each needs five systems with three
diagonals, over the states in which there is any probability. So a slow day takes few steps, however
fast the servers. Several starts are followed side by side, in columns, and with each the moments of
a time average.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.erlang.birth_death import weights
from headway.queueing.transient.service import Service
from headway.queueing.transient.systems import step as step_of

ERROR = 1e-8
"""Largest difference of a step by two orders; chosen so that means are within 1e-6."""

OUTSIDE = 1e-11
"""Probability that a window of states leaves out at either end; chosen like `ERROR`."""

MOST_STATES = 1_000_000
"""States beyond which a queue grows too long to follow; a limit of memory and patience."""

_MARGIN = 8
"""States at the end of a window that are to have almost no probability."""


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


@dataclass(frozen=True)
class Columns:
    """Probabilities of several starts side by side, each with moments of a time average or without.

    Parameters
    ----------
    first
        Fewest jobs.
    cells
        By number of jobs, moment (the probability, and mean and mean square of each sum over the
        time where the number is so), and start.
    """

    first: int
    cells: FloatArray

    @property
    def chances(self) -> FloatArray:
        """Probabilities of the numbers of jobs, of all starts."""
        return _together(self.cells[:, 0])

    @property
    def last(self) -> int:
        """The number of jobs after the most."""
        return self.first + len(self.cells)

    def within(self, first: int, last: int) -> "Columns":
        """The same from one number up to another, without it; 0 where nothing is known."""
        if (first, last) == (self.first, self.last):
            return self
        wide = np.zeros((last - first, *self.cells.shape[1:]))
        low, high = max(first, self.first), min(last, self.last)
        if low < high:
            wide[low - first : high - first] = self.cells[low - self.first : high - self.first]
        return Columns(first, wide)

    def fit(self, floor: int, places: float, wider: int = 0) -> "Columns":
        """Cut what has no probability, and leave room for more at both ends."""
        chances, first = self.chances, self.first
        least = OUTSIDE * chances.sum()
        kept = np.flatnonzero(
            (np.cumsum(chances) > least) & (np.cumsum(chances[::-1])[::-1] > least)
        )
        low, high = (first + kept[0], first + kept[-1] + 1) if len(kept) else (first, first + 1)
        room = max(2 * _MARGIN, (high - low) // 10, int(np.sqrt(high))) * (wider + 1)
        last = int(max(min(high + room, places + 1), floor + 1))
        if last > MOST_STATES:
            msg = (
                f"the queue grows beyond {MOST_STATES:,} jobs; use --method simulation, or less "
                "load"
            )
            raise InvalidParameter(msg)
        return self.within(max(floor, low - room), last)

    def is_narrow(self, floor: int, places: float) -> bool:
        """Whether there is probability at an end beyond which there are states."""
        most = OUTSIDE * max(len(self.cells), 100)
        ends = (self.cells[:_MARGIN, 0], self.cells[-_MARGIN:, 0])
        below, above = (np.abs(end).sum() > most for end in ends)
        return bool((self.first > floor and below) or (self.last <= places and above))


Seen = Callable[[FloatArray], FloatArray]
"""Of numbers of jobs: what sums over the time gain then (`headway.queueing.transient.systems`)."""


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

    def through(
        self, piece: Piece, state: Columns, seen: Seen | None = None
    ) -> Iterator[tuple[float, Columns, Columns]]:
        """Follow a piece: length of each step, integral of the probabilities [s], and its end."""
        places, left, wider = piece.service.places, piece.length, 0
        now = state.fit(self.floor, places)
        if self.before != (piece.rate, piece.service):
            self.step = min(self.step, _first_step(piece, now))
        self.before = piece.rate, piece.service
        while left > 0:
            length = left if self.step >= left else min(self.step, left / 2)
            end, spent, error = self._tried(now, piece, length, seen)
            if end.is_narrow(self.floor, places):
                wider += 1
                now = now.fit(self.floor, places, wider)
                self.step = length / 2 if wider > 3 else self.step
                continue
            ratio = 0.9 * (self.error / max(error, 1e-300)) ** (1 / 8)
            self.step = length * min(5.0, max(0.2, ratio))
            if error > self.error and length > 1e-9 * piece.length:
                continue
            wider = 0
            left = 0.0 if length == left else left - length
            now = end
            np.maximum(end.cells[:, 0], 0.0, out=end.cells[:, 0])
            yield length, spent, now
            now = now.fit(self.floor, places)

    def _tried(
        self, now: Columns, piece: Piece, length: float, seen: Seen | None
    ) -> tuple[Columns, Columns, float]:
        """The end of a step, the integral over it, and by how much another order differs."""
        number = np.arange(now.first, now.last, dtype=float)
        served = piece.service.rates(number)
        if now.first > self.floor:
            served[0] = 0.0  # nothing leaves the window
        came = np.full(len(number), piece.rate)
        came[-1] = 0.0
        by = None if seen is None else seen(number)
        end, other, spent = step_of(came, served, length, now.cells, by)
        chances, off = now.chances, end - other
        weight = (number + 1) / (dot(number, chances) + 1)
        error = dot(_together(np.abs(off[:, 0])), weight)
        if seen is not None:
            squares, wrong = (
                cells[:, 2::2].sum(axis=0).sum(axis=1) for cells in (end, np.abs(off))
            )
            error = max(error, float((wrong / (1 + squares)).max()))
        first = now.first
        return Columns(first, end), Columns(first, spent[:, None]), error


def _together(columns: FloatArray) -> FloatArray:
    """The sum of columns; of one itself, as sums of single numbers take NumPy long."""
    return np.asarray(columns[:, 0] if columns.shape[1] == 1 else columns.sum(axis=1))


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
