"""A step of the forward equations, as long as its error allows, over the states that matter.

A window of numbers of jobs holds almost all probability, with some room at both ends. A step is
computed by approximants of two orders (`headway.queueing.transient.systems`) over the window, at
first as long as the last step allows. It is accepted if the two orders differ by no more than the
tolerance e_0 in

    sum of |p_n - p'_n| (n + 1) / (E[N] + 1),

and in the same sum for second moments of sums over time. If the difference is e, the next step is
(e_0 / e)^(1/8) times as long, as the lower order is 7. The kernel does all of this in one call.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
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
"""Probability left outside a window at either end; chosen like `forward.ERROR`."""

MOST_STATES = 1_000_000
"""Numbers of jobs above which a queue is refused as too long; a limit of memory and patience."""

MARGIN = 8
"""States at the ends of a window that must have almost no probability."""

_FEWEST = 256  # numbers of jobs tabulated at first


@dataclass(frozen=True)
class Columns:
    """Probabilities from several starts side by side, with or without moments of time averages.

    Parameters
    ----------
    first
        Smallest number of jobs.
    cells
        Values by number of jobs, moment and start: the probability, then the mean and the mean
        square of each sum over time, on the event that this number of jobs is present.
    """

    first: int
    cells: FloatArray

    @property
    def chances(self) -> FloatArray:
        """Probabilities of the numbers of jobs, for all starts."""
        return _column_sum(self.cells[:, 0])

    @property
    def last(self) -> int:
        """One more than the largest number of jobs."""
        return self.first + len(self.cells)

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Sum of the probabilities, each times the number of jobs and 1; of the other moments."""
        number = np.arange(self.first + 1, self.last + 1)[:, None]
        of_numbers = float((self.cells[:, 0] * number).sum())
        return of_numbers, float(np.abs(self.cells[:, 1:]).sum())

    def within(self, first: int, last: int) -> "Columns":
        """The same for numbers from ``first`` to below ``last``; 0 where nothing was known."""
        if (first, last) == (self.first, self.last):
            return self
        wide = np.zeros((last - first, *self.cells.shape[1:]))
        low, high = max(first, self.first), min(last, self.last)
        if low < high:
            wide[low - first : high - first] = self.cells[low - self.first : high - self.first]
        return Columns(first, wide)


Seen = Callable[[FloatArray], FloatArray]
"""What sums over time gain, by number of jobs (`headway.queueing.transient.systems`)."""


class Known:
    """Service rates and gains of sums by number of jobs, tabulated as far as needed.

    Parameters
    ----------
    service, seen
        The service, and the gains of sums if there are any.
    """

    def __init__(self, service: Service, seen: Seen | None) -> None:
        self.service, self.seen = service, seen
        self.rates, self.gains, self.work = np.empty(0), np.empty(0), np.empty(0)

    def serves(self, service: Service, seen: Seen | None) -> bool:
        """Whether the table is for this service and these sums."""
        return seen is self.seen and (service is self.service or service == self.service)

    def up_to(self, most: int) -> tuple[FloatArray, FloatArray]:
        """Service rates and gains for numbers of jobs up to at least this one."""
        if len(self.rates) < most:
            number = np.arange(max(most, 2 * len(self.rates), _FEWEST), dtype=float)
            self.rates = self.service.rates(number)
            if self.seen is not None:
                self.gains = np.ascontiguousarray(self.seen(number))
        return self.rates, self.gains

    def room(self, size: int) -> FloatArray:
        """Work space of at least this size, reused as allocating it takes longer than a step."""
        if len(self.work) < size:
            self.work = np.empty(2 * size)
        return self.work


class Limits(NamedTuple):
    """The limits of a step.

    Parameters
    ----------
    floor
        Number of jobs below which the queue is left for good; 0 for none.
    places
        Largest number of jobs.
    error, least
        Largest difference between the orders, and length below which no step is shortened [s].
    """

    floor: int
    places: float
    error: float
    least: float


class Found(NamedTuple):
    """A step that was taken, or one whose window was too narrow.

    Parameters
    ----------
    length, step
        Its length, and the length to try next [s].
    end, spent
        The state at its end, and the integral of the probabilities over the step [s].
    is_narrow
        Whether probability reached an end of the window that has states beyond; the step is void.
    """

    length: float
    step: float
    end: Columns
    spent: Columns
    is_narrow: bool


def careful(
    state: Columns, known: Known, rate: float, first: float, left: float, limits: Limits, wider: int
) -> Found:
    """Take one step: of length ``first`` if its error allows, and at most ``left``.

    Parameters
    ----------
    state, known, rate
        The state at its start, the table of the queue, and the arrival rate [1/s].
    first, left
        Length to try first, and time left [s]; no step ends shortly before the end.
    limits, wider
        The limits, and how often the window has been too narrow.

    Raises
    ------
    InvalidParameter
        For a queue that grows too long, and where more jobs are there than now find places.
    """
    state = _placed(state, limits.places)
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


_BEYOND = (
    0.1  # probability of jobs beyond places that have become fewer, up to which they go: chosen
)


def _placed(state: Columns, places: float) -> Columns:
    """The state without jobs beyond the places, as these become fewer; few may be there."""
    if state.last <= places + 1:
        return state
    most = int(places) + 1
    beyond = float(state.chances[max(most - state.first, 0) :].sum())
    if beyond > _BEYOND * _summed(state.chances):
        msg = (
            f"its places become {int(places):,} while more jobs than that are there; let servers "
            "leave at a lower load, or let more jobs wait"
        )
        raise InvalidParameter(msg)
    return state.within(state.first, most)


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
    """Write the end and integral of a step, and its window and length.

    Parameters
    ----------
    window
        First number of jobs, number of states, floor, places (-1 for no limit), and how often the
        window was too narrow; then whether it is now.
    times
        Step to try, time left, shortest step, then the length taken; and probability left outside.
    """
    del poles, of_first, margin, work  # used by the kernel only
    floor, places, wider = window[2:5].tolist()
    old = Columns(int(window[0]), state.reshape(-1, moments, columns))
    now = old.within(*_range(old, floor, places, wider))
    number = np.arange(now.first, now.last)
    served, came = rates[number].copy(), np.full(len(number), rate)
    served[:1] *= now.first <= floor  # nothing enters the window from outside
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
    """Numbers of jobs to leave as room at both ends of a window."""
    return max(2 * MARGIN, states // 10, isqrt(last)) * (wider + 1)


def _range(state: Columns, floor: int, places: int, wider: int) -> tuple[int, int]:
    """Numbers of jobs with probability, and room at both ends."""
    chances, first = state.chances, state.first
    least = OUTSIDE * _summed(chances)
    kept = np.flatnonzero((np.cumsum(chances) > least) & (np.cumsum(chances[::-1])[::-1] > least))
    low, high = (first + kept[0], first + kept[-1] + 1) if len(kept) else (first, first + 1)
    room = _room(high - low, high, wider)
    last = high + room if places < 0 else min(high + room, places + 1)
    return int(max(floor, low - room)), int(max(last, floor + 1))


def _is_narrow(first: int, end: FloatArray, window: IntArray) -> bool:
    """Whether probability reached an end of the window that has states beyond."""
    most, (floor, places) = OUTSIDE * max(len(end), 100), window[2:4].tolist()
    below, above = (np.abs(each[:, 0]).sum() > most for each in (end[:MARGIN], end[-MARGIN:]))
    has_more = places < 0 or first + len(end) <= places
    return bool((first > floor and below) or (has_more and above))


def _difference(now: Columns, end: FloatArray, other: FloatArray) -> float:
    """The difference between two orders, summed in the kernel's order."""
    number, off = np.arange(now.first, now.last, dtype=float), np.abs(end - other)
    weight = (number + 1) / (_summed(number * now.chances) + 1)
    squares = range(2, end.shape[1], 2)
    wrong = [_summed(off[:, k]) / (1 + _summed(end[:, k])) for k in squares]
    return max(_summed(_column_sum(off[:, 0]) * weight), *wrong, 0.0)


def _summed(values: FloatArray) -> float:
    """The sum, added in order."""
    return float(np.cumsum(values)[-1])


def _column_sum(columns: FloatArray) -> FloatArray:
    """The sum of columns; a single one is returned as it is, as its sum takes NumPy long."""
    return np.asarray(columns[:, 0] if columns.shape[1] == 1 else columns.sum(axis=1))
