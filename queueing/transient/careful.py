"""A step of the forward equations as long as its error allows, over the states that matter.

A window of numbers of jobs holds almost all probability, with room for more at both ends. A step of
two orders (`headway.queueing.transient.systems`) is tried over it, as long as the last one allows;
it counts where the orders differ by no more than they may,

    sum of |p_n - p'_n| (n + 1) / (E[N] + 1),

and likewise for the squares of what sums over the time. Where they differ by e and may by e_0, the
next is (e_0 / e)^(1/8) times as long: the lower order is 7. The kernel does all this at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, isqrt
from typing import NamedTuple

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.queueing.playing.rows import IntArray
from headway.queueing.transient.service import Service
from headway.queueing.transient.systems import poles_of_orders, step

OUTSIDE = 1e-11
"""Probability that a window of states leaves out at either end; chosen like `forward.ERROR`."""

MOST_STATES = 1_000_000
"""States beyond which a queue grows too long to follow; a limit of memory and patience."""

MARGIN = 8
"""States at the end of a window that are to have almost no probability."""

_FEWEST = 256  # numbers of jobs that are laid out at first


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


Seen = Callable[[FloatArray], FloatArray]
"""Of numbers of jobs: what sums over the time gain then (`headway.queueing.transient.systems`)."""


class Known:
    """How a queue serves each number of jobs, and what sums gain then, laid out as far as needed.

    Parameters
    ----------
    service, seen
        How it serves, and what sums gain, if any.
    """

    def __init__(self, service: Service, seen: Seen | None) -> None:
        self.service, self.seen = service, seen
        self.rates, self.gains, self.work = np.empty(0), np.empty(0), np.empty(0)

    def serves(self, service: Service, seen: Seen | None) -> bool:
        """Whether it is that of this service and these sums."""
        return seen is self.seen and (service is self.service or service == self.service)

    def up_to(self, most: int) -> tuple[FloatArray, FloatArray]:
        """Rates of service, and gains, of numbers of jobs below this one at the least."""
        if len(self.rates) < most:
            number = np.arange(max(most, 2 * len(self.rates), _FEWEST), dtype=float)
            self.rates = self.service.rates(number)
            if self.seen is not None:
                self.gains = np.ascontiguousarray(self.seen(number))
        return self.rates, self.gains

    def room(self, size: int) -> FloatArray:
        """Room to work in, which new memory takes longer to find than a step takes."""
        if len(self.work) < size:
            self.work = np.empty(2 * size)
        return self.work


class Limits(NamedTuple):
    """What a step must keep.

    Parameters
    ----------
    floor
        Jobs at which the queue is left for good; 0 for none.
    places
        Room for so many jobs.
    error, least
        Largest difference of the orders, and the length below which no step is shortened [s].
    """

    floor: int
    places: float
    error: float
    least: float


class Found(NamedTuple):
    """A step that was taken, or whose window was too narrow.

    Parameters
    ----------
    length, step
        How long it is, and how long the next may be [s].
    end, spent
        The state at its end, and the integral of the probabilities over it [s].
    is_narrow
        Whether there was probability at an end beyond which there are states: nothing counts.
    """

    length: float
    step: float
    end: Columns
    spent: Columns
    is_narrow: bool


def careful(
    state: Columns, known: Known, rate: float, first: float, left: float, limits: Limits, wider: int
) -> Found:
    """Take a step of at most so much time that is left, at first of so long a one.

    Parameters
    ----------
    state, known, rate
        Where it starts, how the queue serves, and the rate of arrivals [1/s].
    first, left
        The length to try first, and how much is left [s]; no step ends shortly before that.
    limits, wider
        What to keep, and how often the window was too narrow.

    Raises
    ------
    InvalidParameter
        For a queue that grows too long.
    """
    states, moments, columns = state.cells.shape
    room = _room(states, state.last, wider)
    most = states + 2 * room + 1
    rates, gains = known.up_to(max(state.last, limits.floor) + room + 1)
    poles, of_first = poles_of_orders()
    places = int(limits.places) if isfinite(limits.places) else -1
    window = np.array([state.first, states, limits.floor, places, wider, 0])
    times = np.array([first, left, limits.least, 0.0, OUTSIDE])
    row = moments * columns
    end, spent = np.empty(most * row), np.empty(most * columns)
    work = known.room(most * (row + 2 + (len(poles) + 1) * (4 + 2 * row)))
    cells = np.ascontiguousarray(state.cells)
    by = poles, of_first, MARGIN, moments, columns, limits.error
    careful_step(window, times, cells, rates, gains, rate, *by, end, spent, work)
    begin, states, *_, is_narrow = window.tolist()
    if begin + states > MOST_STATES:
        msg = f"the queue grows beyond {MOST_STATES:,} jobs; use --method simulation, or less load"
        raise InvalidParameter(msg)
    return Found(
        float(times[3]),
        float(times[0]),
        Columns(begin, end[: states * row].reshape(states, moments, columns)),
        Columns(begin, spent[: states * columns].reshape(states, 1, columns)),
        bool(is_narrow),
    )


@compiled
def careful_step(
    window: IntArray,
    times: FloatArray,
    state: FloatArray,
    rates: FloatArray,
    gains: FloatArray,
    rate: float,
    poles: FloatArray,
    of_first: int,
    margin: int,
    moments: int,
    columns: int,
    error: float,
    end: FloatArray,
    spent: FloatArray,
    work: FloatArray,
) -> None:
    """Write a step's end and integral, and into the window and times where and how long it is.

    Parameters
    ----------
    window
        First number of jobs and states, the floor, places (-1 without limit), how often the window
        was too narrow, and whether it is.
    times
        The step to try, what is left, the shortest, the length taken, and what is left outside.
    """
    del poles, of_first, margin, work  # the kernel's own
    floor, places, wider = window[2:5].tolist()
    old = Columns(int(window[0]), state.reshape(-1, moments, columns))
    now = old.within(*_range(old, floor, places, wider))
    number = np.arange(now.first, now.last)
    served, came = rates[number].copy(), np.full(len(number), rate)
    served[:1] *= now.first <= floor  # nothing leaves the window
    came[-1] = 0.0
    seen = gains.reshape(-1, 3, len(rates))[:, :, number]
    left, least = float(times[1]), float(times[2])
    while True:
        length = left if times[0] >= left else min(float(times[0]), left / 2)
        after, other, during = step(came, served, length, now.cells, seen)
        times[3] = length
        window[:2], window[5] = (now.first, len(number)), _is_narrow(now.first, after, window)
        if window[5]:
            break
        off = _difference(now, after, other)
        ratio = 0.9 * (error / max(off, 1e-300)) ** (1 / 8)
        times[0] = length * min(5.0, max(0.2, ratio))
        if not (off > error and length > least):
            np.maximum(after[:, 0], 0.0, out=after[:, 0])
            break
    end[: after.size], spent[: during.size] = after.ravel(), during.ravel()


def _room(states: int, last: int, wider: int) -> int:
    """Numbers of jobs to leave free at both ends of a window."""
    return max(2 * MARGIN, states // 10, isqrt(last)) * (wider + 1)


def _range(state: Columns, floor: int, places: int, wider: int) -> tuple[int, int]:
    """Numbers of jobs without those that have no probability, and with room for more."""
    chances, first = state.chances, state.first
    least = OUTSIDE * _summed(chances)
    kept = np.flatnonzero((np.cumsum(chances) > least) & (np.cumsum(chances[::-1])[::-1] > least))
    low, high = (first + kept[0], first + kept[-1] + 1) if len(kept) else (first, first + 1)
    room = _room(high - low, high, wider)
    last = high + room if places < 0 else min(high + room, places + 1)
    return int(max(floor, low - room)), int(max(last, floor + 1))


def _is_narrow(first: int, end: FloatArray, window: IntArray) -> bool:
    """Whether there is probability at an end beyond which there are states."""
    most, (floor, places) = OUTSIDE * max(len(end), 100), window[2:4].tolist()
    below, above = (np.abs(each[:, 0]).sum() > most for each in (end[:MARGIN], end[-MARGIN:]))
    has_more = places < 0 or first + len(end) <= places
    return bool((first > floor and below) or (has_more and above))


def _difference(now: Columns, end: FloatArray, other: FloatArray) -> float:
    """By how much two orders differ, summed in the kernel's order."""
    number, off = np.arange(now.first, now.last, dtype=float), np.abs(end - other)
    weight = (number + 1) / (_summed(number * now.chances) + 1)
    squares = range(2, end.shape[1], 2)
    wrong = [_summed(off[:, k]) / (1 + _summed(end[:, k])) for k in squares]
    return max(_summed(_together(off[:, 0]) * weight), *wrong, 0.0)


def _summed(values: FloatArray) -> float:
    """The sum, from the first on."""
    return float(np.cumsum(values)[-1])


def _together(columns: FloatArray) -> FloatArray:
    """The sum of columns; of one itself, as sums of single numbers take NumPy long."""
    return np.asarray(columns[:, 0] if columns.shape[1] == 1 else columns.sum(axis=1))
