"""How many jobs are at a queue at each time: the forward equations of M(t)/M(t)/m(t)/K.

With the arrival rate lambda and the rate of service mu_n with n jobs there, the probabilities p_n
of 0, 1... jobs follow

    d p_n / dt = lambda p_(n-1) - (lambda + mu_n) p_n + mu_(n+1) p_(n+1).

Rates are constant over pieces of time. Within a piece steps of an L-stable approximant of
order 9 (`headway.queueing.transient.pade`) are as long as one of order 7 differs by no more than
`ERROR` in the probabilities, weighted by the number there. Each needs five systems with three
diagonals, over the states in which there is any probability. So a slow day takes few steps, however
fast the servers.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.erlang.birth_death import weights
from headway.queueing.transient.pade import pade
from headway.queueing.transient.service import Service

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


class _Window:
    """The states that are followed, those below the first and above the last left out."""

    def __init__(self, now: Numbers, floor: int) -> None:
        self.now = now
        self.floor = floor  # what falls to it is gone

    def fit(self, places: float, *, wider: int = 0) -> None:
        """Cut what has no probability, and leave room for more at both ends."""
        chances, first = self.now.chances, self.now.first
        total = chances.sum()
        kept = np.flatnonzero(
            (np.cumsum(chances) > OUTSIDE * total)
            & (np.cumsum(chances[::-1])[::-1] > OUTSIDE * total)
        )
        low, high = (first + kept[0], first + kept[-1] + 1) if len(kept) else (first, first + 1)
        room = max(2 * _MARGIN, (high - low) // 3, int(np.sqrt(high))) * (wider + 1)
        last = int(min(high + room, places + 1))
        if last > MOST_STATES:
            msg = (
                f"the queue grows beyond {MOST_STATES:,} jobs; use --method simulation, or less "
                "load"
            )
            raise InvalidParameter(msg)
        self.now = self.now.within(max(self.floor, low - room), last)

    def is_narrow(self, chances: FloatArray, places: float) -> bool:
        """Whether a step brought probability to an end of the window."""
        most = OUTSIDE * max(len(chances), 100)
        first, last = self.now.first, self.now.first + len(chances)
        below = first > self.floor and np.abs(chances[:_MARGIN]).sum() > most
        return bool(below or (last <= places and np.abs(chances[-_MARGIN:]).sum() > most))


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
    window, step = _Window(start, floor), inf
    before: Piece | None = None
    for piece in pieces:
        left, wider = piece.length, 0
        window.fit(piece.service.places)
        if before is None or (before.rate, before.service) != (piece.rate, piece.service):
            step = min(step, _first_step(piece, window.now))
        before = piece
        while left > 0:
            length = left if step >= left else min(step, left / 2)
            systems = _Systems(window.now, piece, floor)
            end, spent, error = systems.step(length)
            if window.is_narrow(end, piece.service.places):
                wider += 1
                window.fit(piece.service.places, wider=wider)
                step = length / 2 if wider > 3 else step
                continue
            ratio = 0.9 * (ERROR / max(error, 1e-300)) ** (1 / 8)
            step = length * min(5.0, max(0.2, ratio))
            if error > ERROR and length > 1e-9 * piece.length:
                continue
            first, wider = window.now.first, 0
            left = 0.0 if length == left else left - length
            window.now = Numbers(first, np.maximum(end, 0.0))
            yield Step(length, Numbers(first, spent), window.now, left == 0)
            window.fit(piece.service.places)


def _first_step(piece: Piece, now: Numbers) -> float:
    """A step to try after a change: some events, or a little of the piece [s]."""
    served = float(piece.service.rates(np.array([now.mean + 1]))[0])
    return max(10 / (piece.rate + served), 1e-3 * piece.length)


class _Systems:
    """The linear systems of a step, over the states of a window."""

    def __init__(self, now: Numbers, piece: Piece, floor: int) -> None:
        self.now = now
        count = len(now.chances)
        served = piece.service.rates(now.numbers)
        if now.first > 0 and now.first > floor:
            served[0] = 0.0  # nothing leaves the window
        came = np.full(count, piece.rate)
        came[-1] = 0.0
        self.down, self.up = served[1:], came[:-1]
        self.out = served + came
        self.weight = (now.numbers + 1) / (float(now.numbers @ now.chances) + 1)

    def step(self, length: float) -> tuple[FloatArray, FloatArray, float]:
        """The end of a step, the integral over it, and by how much another order differs."""
        end, spent = self._sums(5, length)
        other, _ = self._sums(4, length)
        return end, spent, float(np.abs(end - other) @ self.weight)

    def _sums(self, degree: int, length: float) -> tuple[FloatArray, FloatArray]:
        from scipy.linalg.lapack import dgtsv, zgtsv

        sums, whole = np.zeros(len(self.out)), np.zeros(len(self.out))
        by = pade(degree)
        if len(self.out) == 1:  # the floor's own: nobody comes, nobody goes
            return self.now.chances, length * self.now.chances
        for pole, weight in zip(by.poles, by.weights, strict=True):
            real = pole.imag == 0
            theta = pole.real if real else pole
            solve = dgtsv if real else zgtsv
            *_, found, _ = solve(
                length * self.up, -length * self.out - theta, length * self.down, self.now.chances
            )
            sums += (weight * found).real
            whole += (weight / pole * found).real
        return sums, length * whole
