"""The fixed point of approximate mean value analysis, by Newton's method.

The residence time of class c at station k, when everything else is given, is

    R_ck = (o_ck + g_ck (v_k + t_ck)) / (1 + g_ck X_c / N_c)

with v_k for what an arrival finds there, including itself. Two sets of equations remain, X_c (Z_c +
sum over k of R_ck) = N_c and v_k = w_k + sum over c of X_c R_ck. The first is diagonal in X, so a
step solves one linear system in v. If a step does not come nearer, the plain iteration X_c = N_c /
(Z_c + sum over k of R_ck) follows, which is slow if a station is nearly saturated but goes in the
right direction.
"""

from typing import NamedTuple, Protocol

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.compiled.library import compiled
from headway.records import dataclass

_CLOSE = ((100, 1e-11), (400, 1e-8), (1000, 1e-5))
"""Relative change at which it has converged, in its first steps and in later ones: slow cases
move along a direction in which the approximation itself hardly differs.
"""
_TOLERANCES = np.array([tolerance for steps, tolerance in _CLOSE for _ in range(steps)])
_LONGEST = 2.0  # logarithm of the largest factor of a step
_EAGER = 25  # steps in which a shortened step may soon be lengthened again
_SHORT = 1 / 64  # smallest part of a step that is taken
_PLAIN = 3  # plain steps before Newton's method
_ROUNDING = 1e-13  # error of a logarithm that is rounding only, and no sign of too long a step
_AT_ONCE = 2e8  # operations without checking for Ctrl-C, some 0.1 s


@dataclass(frozen=True)
class Iterate:
    """Throughputs X, numbers v found by an arrival, and queue lengths, at every point.

    Parameters
    ----------
    rate, found, queue
        Shapes (classes, points), (stations, points) and (classes, stations, points).
    """

    rate: FloatArray
    found: FloatArray
    queue: FloatArray


@dataclass(frozen=True)
class Linear:
    """Coefficients of the residence times near a state.

    Parameters
    ----------
    offset, gain
        o and g, shape (classes, stations, points) [s].
    least
        Residence time of a job without waiting, as `gain` [s].
    extra, slope
        w, shape (stations, points), and its derivative by X_c, as `gain`.
    """

    offset: FloatArray | float
    gain: FloatArray
    least: FloatArray
    extra: FloatArray
    slope: FloatArray | float


class Equations(Protocol):
    """A network: its constant numbers, and the coefficients at a state."""

    @property
    def think_time(self) -> FloatArray:
        """Z, shape (classes, points)."""
        ...

    @property
    def population(self) -> FloatArray:
        """N, shape (classes, points)."""
        ...

    @property
    def steady(self) -> Linear | None:
        """The coefficients, if they are the same numbers at every state; otherwise None."""
        ...

    def linear(self, state: Iterate) -> Linear:
        """The coefficients near a state."""
        ...


def settle(network: Equations, correction: FloatArray | float, state: Iterate) -> Iterate:
    """Find the fixed point.

    Parameters
    ----------
    network
        Think times, populations and coefficients.
    correction
        t, shape (classes, stations, points).
    state
        Where to start.

    Raises
    ------
    InvalidParameter
        If the steps do not converge.
    """
    course = np.ones(state.rate.shape[1]), np.full(state.rate.shape[1], np.inf)
    near = network.steady
    if near is None:
        state, rests = _steps(network, correction, state, _TOLERANCES, 0, course)
    else:
        state, rests = _steadily(network, near, correction, state, course)
    if not rests:
        raise InvalidParameter("the approximation did not converge; use another method")
    return state


_Course = tuple[FloatArray, FloatArray]
"""The part of a step that each point takes, and its last error; shape (points,)."""


def _steps(
    network: Equations,
    correction: FloatArray | float,
    state: Iterate,
    tolerances: FloatArray,
    first: int,
    course: _Course,
) -> tuple[Iterate, bool]:
    """Take at most as many steps as there are tolerances; the state, and whether it converged."""
    part, worst = course
    for step, tolerance in enumerate(tolerances.tolist(), first):
        around = _NextSteps(network, correction, state)
        if step > _PLAIN:
            longer = np.minimum(part * (2 if step < _EAGER else 1.05), 1)
            nearer = around.miss < np.maximum(worst, _ROUNDING)
            part[:] = np.where(nearer, longer, np.maximum(part / 2, _SHORT))
        worst[:] = around.miss
        following = around.plain() if step < _PLAIN else around.newton(part)
        moved = _moved(network, state, following)
        state = following
        if moved <= tolerance * part.min():
            return state, True
    return state, False


class _Steady(NamedTuple):
    """Equations whose coefficients are the same at every state."""

    think_time: FloatArray
    population: FloatArray
    steady: Linear

    def linear(self, state: Iterate) -> Linear:  # noqa: ARG002 - an `Equations`
        return self.steady


def _steadily(
    network: Equations,
    near: Linear,
    correction: FloatArray | float,
    state: Iterate,
    course: _Course,
) -> tuple[Iterate, bool]:
    """Take the steps for coefficients that are the same at every state, stopping for Ctrl-C."""
    classes, stations, points = shape = state.queue.shape
    shift = np.empty(shape)
    shift[:] = correction
    numbers = near.gain, near.least, near.extra, shift, network.think_time, network.population
    gain, least, extra, shift, think_time, jobs = map(np.ascontiguousarray, numbers)
    given = gain, least, extra, shift, think_time, jobs
    now = Iterate(*(np.array(part, order="C") for part in (state.rate, state.found, state.queue)))
    work = np.empty((points + 4) * (classes + 1) * (stations + 1) + stations**2)
    once, rests = points * stations * (stations + 40) * (classes + stations), np.zeros(1)
    stride = max(1, int(_AT_ONCE / max(once, 1)))
    for first in range(0, _TOLERANCES.size, stride):
        some = _TOLERANCES[first : first + stride]
        _steady_steps(*given, some, first, now.rate, now.found, now.queue, *course, rests, work)
        if rests[0]:
            break
    return now, bool(rests[0])


@compiled
def _steady_steps(
    gain: FloatArray,
    least: FloatArray,
    extra: FloatArray,
    correction: FloatArray,
    think_time: FloatArray,
    population: FloatArray,
    tolerances: FloatArray,
    first: int,
    rate: FloatArray,
    found: FloatArray,
    queue: FloatArray,
    part: FloatArray,
    worst: FloatArray,
    rests: FloatArray,
    work: FloatArray,  # noqa: ARG001 - in which the kernel calculates
) -> None:
    """Take steps from number `first` on until `rests` is 1, without offset or slope.

    Parameters
    ----------
    gain, least, extra
        As in `Linear`.
    correction
        t, shape (classes, stations, points).
    think_time, population
        Z and N, shape (classes, points).
    rate, found, queue
        As in `Iterate`: the start, then the result.
    part, worst
        As in `_Course`; both are updated.
    """
    network = _Steady(think_time, population, Linear(0.0, gain, least, extra, 0.0))
    state = Iterate(rate.copy(), found.copy(), queue.copy())
    state, rests[0] = _steps(network, correction, state, tolerances, first, (part, worst))
    rate[:], found[:], queue[:] = state.rate, state.found, state.queue


class _NextSteps:
    """The equations at a state, and the next states from there."""

    def __init__(self, network: Equations, correction: FloatArray | float, state: Iterate) -> None:
        self.state, self.network = state, network
        self.linear = near = network.linear(state)
        some = np.maximum(network.population, 1)
        self.bottom = 1 + near.gain * (state.rate / some)[:, None]
        top = near.offset + near.gain * (state.found + correction)
        self.residence = np.maximum(top / self.bottom, near.least)
        self.queue = state.rate[:, None] * self.residence
        self.cycle = network.think_time + self.residence.sum(axis=1)
        self.offered = near.extra + self.queue.sum(axis=0)
        served = np.where(network.population > 0, state.rate * self.cycle / some, 1.0)
        self.missed_jobs, self.missed_found = np.log(served), np.log(state.found / self.offered)
        self.miss = np.maximum(
            np.abs(self.missed_jobs).max(axis=0), np.abs(self.missed_found).max(axis=0, initial=0)
        )

    def plain(self) -> Iterate:
        """The next state by plain iteration, with throughputs from the residence times."""
        rate = self.network.population / np.where(self.cycle > 0, self.cycle, 1.0)
        queue = rate[:, None] * self.residence
        return Iterate(rate, self.linear.extra + queue.sum(axis=0), queue)

    def newton(self, part: FloatArray) -> Iterate:
        """The next state by Newton's method, with the equations made linear in the logarithms."""
        state, near = self.state, self.linear
        cycle = np.where(self.cycle > 0, self.cycle, 1.0)
        # a job that does not wait is not slowed by others either
        waits = self.residence > near.least
        own = self.residence / np.where(waits, self.bottom, 1.0)
        slow = np.where(waits, near.gain / self.bottom, 0.0)
        steep = (self.network.think_time + own.sum(axis=1)) / cycle
        steep = np.where(steep > 0, steep, 1.0)
        by_found = slow * (state.found / cycle[:, None])
        by_rate = (own + near.slope) * (state.rate / steep)[:, None] / self.offered
        system = np.matmul(by_rate.transpose(2, 1, 0), by_found.transpose(2, 0, 1))
        among = np.arange(len(state.found))
        stiff = 1 - state.found * (state.rate[:, None] * slow).sum(axis=0) / self.offered
        system[:, among, among] += stiff.T
        wanted = self.missed_found + (by_rate * self.missed_jobs[:, None]).sum(axis=0)
        try:
            found = -np.linalg.solve(system, wanted.T[..., None])[..., 0].T
        except np.linalg.LinAlgError:  # at a state where the equations are singular
            return self.plain()
        rate = -(self.missed_jobs + (by_found * found).sum(axis=1)) / steep
        return self._moved(rate, found, part)

    def _moved(self, rate: FloatArray, found: FloatArray, part: FloatArray) -> Iterate:
        """Take a part of a step in logarithms, limited to a factor in each number."""
        longest = np.maximum(np.abs(rate).max(axis=0), np.abs(found).max(axis=0, initial=0))
        part = part * np.minimum(1, _LONGEST / np.maximum(longest, _LONGEST))
        faster = self.state.rate * np.exp(part * rate)
        longer = self.state.found * np.exp(part * found)
        queue = self.state.queue + part * (faster[:, None] * self.residence - self.state.queue)
        return Iterate(faster, longer, queue)


def _moved(network: Equations, state: Iterate, following: Iterate) -> float:
    """The largest relative change of throughputs and queue lengths."""
    some = np.maximum(network.population, 1)[:, None]
    faster = np.abs(following.rate - state.rate) / np.maximum(following.rate, 1e-300)
    longer = np.abs(following.found - state.found) / following.found
    shifted = np.abs(following.queue - state.queue) / some
    return max(float(part.max(initial=0.0)) for part in (faster, longer, shifted))
