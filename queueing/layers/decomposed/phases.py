"""How long each phase holds a thread, for all entries and sources at once.

A step with Y calls and messages on average has 1 + Y slices with mean w and variance v. Let E1 and
E2 be the sums of the means and of the mean squares of the times of its calls. For geometric numbers
of calls,

    E T = (1 + Y) w + E1,   Var T = (1 + Y) (v + w (2 E1 + Y w)) + E2 + E1^2,               (1)

as a geometric number of mean Y of times with mean m and mean square s adds the variance Y (s - m^2)
+ Y (1 + Y) m^2. Fixed numbers of calls add variances only. Times between steps are added by the
flow (`headway.queueing.layers.numerics.moments`).

Steps are rows of arrays, one for each source that uses them. A phase without calls is of the lowest
level, and each level takes the answers of the levels below it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.siblings import Siblings
from headway.queueing.layers.decomposed.sources import Sources, Work
from headway.queueing.layers.decomposed.works import Works
from headway.queueing.layers.flow import (
    Choice,
    Flow,
    Loop,
    Reply,
    Series,
    Step,
    Together,
    parts_within,
    steps_of,
)
from headway.queueing.layers.numerics.moments import Moments, in_series, k_th, mixture
from headway.queueing.layers.numerics.stations import Column, Sums, stacked
from headway.records import dataclass


@dataclass(frozen=True, eq=False)
class _Phase:
    """A phase of an entry.

    Parameters
    ----------
    entry, second
        The entry, and whether it is its second phase.
    flow
        The flow of the phase.
    level
        Level of the phase, above the levels of all that it calls or forwards to.
    asking
        Sources that use it.
    """

    entry: str
    second: bool
    flow: Flow
    level: int
    asking: tuple[int, ...]


class Phases:
    """All phases of a system.

    Parameters
    ----------
    sources, works, column
        The sources of a system, their work, and the function from a number to a row.
    """

    def __init__(self, sources: Sources, works: Works, column: Column) -> None:
        self.sources, self.works = sources, works
        found = sorted(self._found(), key=lambda one: one.level)
        steps = [(one, step) for one in found for step, _ in steps_of(one.flow)]
        self.steps = _Steps(sources, works, column, steps)
        self.levels = []
        done = 0
        for _, each in groupby(found, key=lambda one: one.level):
            level = _Level(self, list(each), done, column)
            self.levels.append(level)
            done = level.steps.stop

    def _found(self) -> Iterator[_Phase]:
        """Phases used by any source, each after those that it calls."""
        levels: dict[str, int] = {}
        for name in self.sources.system.callers_first[::-1]:
            for second in (False, True):
                passed = () if second else self.sources.system.entries[name].forwards
                called = (*self.sources.calls(name, second=second), *passed)
                level = max((1 + levels[of] for of in called), default=0)
                asking = tuple(
                    k
                    for k in range(len(self.sources.all))
                    if Work(k, name, second) in self.works.index
                )
                if not second:
                    levels[name] = level
                if asking:
                    flow = self.sources.flows[name, second]
                    yield _Phase(name, second, flow, level, asking)

    def times(self, delays: FloatArray, waits: FloatArray) -> Moments:
        """Mean and variance of all phases, by row.

        Parameters
        ----------
        delays, waits
            Delays at processors and waits for threads, as in `State`.
        """
        time = Moments(np.zeros_like(delays), np.zeros_like(delays))
        # from a request to its answer, with an exponential wait: mean, mean squared, and variance
        answers = np.zeros((3, *delays.shape))
        alone = self.steps.alone(delays)
        for level in self.levels:
            level.add(time, answers, delays, waits, alone)
        return time


@dataclass(frozen=True, eq=False)
class _Alone:
    """Times of steps without their calls: mean and variance, and (1 + Y) w, by step."""

    mean: FloatArray
    variance: FloatArray
    work: FloatArray


class _Steps:
    """All steps, with a row for each source that uses the phase."""

    def __init__(
        self,
        sources: Sources,
        works: Works,
        column: Column,
        steps: Sequence[tuple[_Phase, Step]],
    ) -> None:
        self.works = works
        self.rows = np.array([row for phase, _ in steps for row in rows_of(works, phase)], int)
        if not steps:
            return
        sizes = [len(phase.asking) for phase, _ in steps]

        def each(numbers: Iterable[Amount]) -> FloatArray:
            """Numbers of steps as rows."""
            return np.repeat(stacked(list(numbers), column), sizes, axis=0)

        processors = sources.system.processors
        speeds = each(processors[sources.processor(one.entry)].speed for one, _ in steps)
        self.slices = each(step.slices for _, step in steps)
        self.slice = each(step.demand for _, step in steps) / speeds / self.slices
        self.scv = each(step.scv for _, step in steps)
        self.think = each(step.think_time for _, step in steps)
        self.served = np.not_equal(self.slice, 0)
        self.vary = each(0.0 if step.fixed else 1.0 for _, step in steps)
        self.shared = works.shared[self.rows]

    def alone(self, delays: FloatArray) -> _Alone:
        """The part of (1) that does not depend on calls."""
        if not self.rows.size:
            return _Alone(*3 * [np.zeros((0, delays.shape[1]))])
        delay = delays[self.rows]
        waits = delay * self.served
        slice_ = np.where(self.shared, self.slice * delay, self.slice + waits)
        spread = np.where(self.shared, self.scv * slice_**2, self.scv * self.slice**2 + waits**2)
        work = self.slices * slice_
        again = self.vary * work * (self.slices - 1) * slice_
        return _Alone(self.think + work, self.think**2 + self.slices * spread + again, work)


class _Level:
    """The phases that call only phases of lower levels."""

    def __init__(self, all_: Phases, phases: list[_Phase], done: int, column: Column) -> None:
        works = all_.works
        self.rows = np.array([row for one in phases for row in rows_of(works, one)], int)
        steps = [(one, step) for one in phases for step, _ in steps_of(one.flow)]
        self.steps = slice(done, done + sum(len(one.asking) for one, _ in steps))
        rows = [replace(one, flow=_in_rows(one.flow, column)) for one in phases]
        self.flows = None if all(map(_is_step, phases)) else rows
        self.forks = [
            [
                Siblings(all_.sources, works, column, part, _works_of(one))
                for part in parts_within(one.flow)
                if isinstance(part, Together)
            ]
            for one in phases
        ]
        calls = [
            {works.index[Work(k, of)]: mean for of, mean in step.calls.items()}
            for one, step in steps
            for k in one.asking
        ]
        self.calls = Sums(calls, column) if any(calls) else None
        self.vary = all_.steps.vary[self.steps] if steps else None
        entries = all_.sources.system.entries
        passed = [
            {} if one.second else {works.index[Work(k, of)]: p for of, p in on.items()}
            for one in phases
            for on in (entries[one.entry].forwards,)
            for k in one.asking
        ]
        self.passed = Sums(passed, column) if any(passed) else None

    def add(
        self,
        time: Moments,
        answers: FloatArray,
        delays: FloatArray,
        waits: FloatArray,
        alone: _Alone,
    ) -> None:
        """Write the times of these phases, and the times from a request for them to its answer."""
        found = self._steps(answers, alone)
        if self.flows is not None:
            found = self._by_flows(self.flows, found, delays, waits, time.mean)
        time.mean[self.rows], time.variance[self.rows] = found.mean, found.variance
        if self.passed:
            mean, square, variance = self.passed.at(answers)
            chance = self.passed.weights
            found = Moments(
                found.mean + self.passed.over(mean),
                found.variance + self.passed.over(variance + (1 - chance) * square),
            )
        wait = waits[self.rows]
        once = wait + found.mean
        answers[:, self.rows] = once, once**2, wait**2 + found.variance

    def _steps(self, answers: FloatArray, alone: _Alone) -> Moments:
        """Mean and variance of steps by (1)."""
        mean, variance = alone.mean[self.steps], alone.variance[self.steps]
        if not self.calls:
            return Moments(mean, variance)
        first, squares, spreads = self.calls.of(answers)
        work = alone.work[self.steps]
        between = self.vary * (2 * work * first + squares + first**2)
        return Moments(mean + first, variance + spreads + between)

    def _by_flows(
        self,
        phases: list[_Phase],
        steps: Moments,
        delays: FloatArray,
        waits: FloatArray,
        mean: FloatArray,
    ) -> Moments:
        """Times of phases from the times of their steps, and those of lower phases."""
        done, found = 0, []
        for phase, forks in zip(phases, self.forks, strict=True):
            parts = []
            for _ in steps_of(phase.flow):
                at = slice(done, done + len(phase.asking))
                parts.append(Moments(steps.mean[at], steps.variance[at]))
                done = at.stop
            none = np.zeros((len(phase.asking), steps.mean.shape[1]))
            slower = [partial(one.slower, delays=delays, waits=waits, mean=mean) for one in forks]
            found.append(time_of(phase.flow, parts, Moments(none, none), slower))
        means, variances = ([getattr(one, of) for one in found] for of in ("mean", "variance"))
        return Moments(np.concatenate(means), np.concatenate(variances))


def _is_step(phase: _Phase) -> bool:
    return isinstance(phase.flow, Step)


def _in_rows(flow: Flow, column: Column) -> Flow:
    """The flow with the probabilities of its choices and the means of its loops as rows."""
    match flow:
        case Series(parts):
            return Series(tuple(_in_rows(part, column) for part in parts))
        case Choice(ways):
            return Choice(tuple((column(chance), _in_rows(way, column)) for chance, way in ways))
        case Together(branches):
            return replace(flow, branches=tuple(_in_rows(each, column) for each in branches))
        case Loop(body, mean):
            return Loop(_in_rows(body, column), column(mean))
    return flow


def _works_of(phase: _Phase) -> list[Work]:
    """The work of a phase, for each source that uses it."""
    return [Work(k, phase.entry, phase.second) for k in phase.asking]


def rows_of(works: Works, phase: _Phase) -> list[int]:
    """Rows of the work of a phase, one for each source that uses it."""
    return [works.index[work] for work in _works_of(phase)]


def time_of(
    flow: Flow,
    steps: Iterable[Moments],
    none: Moments,
    slower: Iterable[Callable[[list[Moments]], FloatArray]],
) -> Moments:
    """How long a flow takes a thread.

    Parameters
    ----------
    flow
        The flow.
    steps
        Times of its steps, in the order of `headway.queueing.layers.flow.steps_of`.
    none
        A time of 0 in the shape of the others.
    slower
        How much longer the branches of each fork take by each other, in the order in which forks
        stand, as in `k_th`.
    """
    each, of_forks = iter(steps), iter(slower)

    def of(part: Flow) -> Moments:
        match part:
            case Step():
                return next(each)
            case Series(parts):
                return in_series(map(of, parts), none)
            case Choice(ways):
                return mixture([(chance, of(way)) for chance, way in ways])
            case Loop(body, mean):
                return of(body).times(mean)
            case Together(branches, needed):
                by_each_other = next(of_forks)
                times = [of(one) for one in branches]
                return k_th(times, needed, by_each_other(times))
            case Reply():
                return none

    return of(flow)
