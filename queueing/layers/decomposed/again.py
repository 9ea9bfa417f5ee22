"""How soon a client asks the same pool again, from one call to the next (overtaking).

A step with Y calls on average has 1 + Y slices. After each slice it makes call x with probability
y_x / (1 + Y), or ends. Let a be the transform of a slice, and r_x that of the time of a call to
another task. From an answer of the pool, the time to the next call of the same step to that pool,
and the time to the end of a step that makes none, have the transforms

    g = a p / (1 - a sum p_x r_x),   h = a p_0 / (1 - a sum p_x r_x),

where p is the probability of a call to the pool, and p_0 that of the end. At s = 1 / S2 these are
the probabilities that the second phase is still running then, if it is exponential with mean S2.
The rest of the cycle follows after the end. Slices and calls are assumed to be exponential.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources, Work
from headway.queueing.layers.decomposed.works import State, Works
from headway.queueing.layers.flow import steps_of
from headway.queueing.layers.numerics.stations import NEVER, Column, Sums, stacked
from headway.queueing.playing.rows import IntArray
from headway.records import dataclass

BRIEF = 1e-30
"""As good as no time [s]."""

_SMALL = 1e-6  # a probability that makes no difference


@dataclass(frozen=True, eq=False)
class Asked:
    """What follows the answers to requests for entries, by row of the work.

    Parameters
    ----------
    known
        Share of the requests that are made by steps; others are forwarded, or come from outside.
    soon, left
        Probabilities that the same step asks the pool again before the second phase ends, and that
        the step ends without asking again, and before the second phase.
    first, passed
        The same for a step that begins.
    within
        Mean time until a step asks the pool or ends [s].
    over, none
        Probability that a step ends without asking again, and without asking at all.
    runs
        Mean number of steps that are done per request.
    some, second
        Probability that there is a second phase, and its mean if there is one [s]: with a squared
        coefficient of variation c2 above 1, a second phase is taken as 0 or exponential with mean
        S2 (1 + c2) / 2.
    rest
        Mean remaining time of a second phase whose caller waits for it [s].
    """

    known: FloatArray
    soon: FloatArray
    left: FloatArray
    first: FloatArray
    passed: FloatArray
    within: FloatArray
    over: FloatArray
    none: FloatArray
    runs: FloatArray
    some: FloatArray
    second: FloatArray
    rest: FloatArray

    def at(self, rows: IntArray) -> "Asked":
        """Some of them."""
        return Asked(*(getattr(self, field.name)[rows] for field in fields(self)))

    @staticmethod
    def between(away: FloatArray, means: Sequence[FloatArray]) -> FloatArray:
        """Mean time between steps [s], from that between requests: ``known`` and so on, summed.

        With W until a step asks or ends, v and n for ``over`` and ``none``, and O between steps,

            E A = W + v (O + B),   B = W + n (O + B),

        where B is from where a step begins to the next request.
        """
        known, within, over, none = means
        within, over, none = (one / np.maximum(known, NEVER) for one in (within, over, none))
        rest = (away - within) * (1 - none) / np.maximum(over, _SMALL) - within
        return np.asarray(np.maximum(rest, 0.0))

    def chance(self, between: FloatArray, other: FloatArray) -> FloatArray:
        """Probability that the second phase is found, by transforms of the time between steps.

        And of the whole time away, for requests that no step makes.
        """
        again = self.soon + self.left * between * self.first / (1 - self.passed * between)
        return np.asarray(self.known * again + (1 - self.known) * other)


@dataclass(frozen=True, eq=False)
class Behind:
    """Second phases left behind: their mean, the chance to meet one, and its mean rest E (S2 - A)+.

    Means are of all requests, of which some may have none.
    """

    mean: FloatArray
    chance: FloatArray
    rest: FloatArray

    def at(self, rows: np.ndarray) -> "Behind":
        """Some of them."""
        return Behind(self.mean[rows], self.chance[rows], self.rest[rows])


@dataclass(frozen=True, eq=False)
class _Call:
    """A call of a step to an entry of a pool, as probabilities after each slice.

    Parameters
    ----------
    caller, called
        Rows of the work.
    often
        Mean number of calls each time the caller's work is done.
    again, over
        Probability of a call to the same pool, and of the end.
    vary
        Whether the number of calls is geometric: then each slice may be the last; else 0, and there
        is a call.
    runs
        Times that the step is done per call to the pool.
    others
        Probabilities of calls to other tasks, by row of their work.
    slice
        Mean service time of a slice [s].
    """

    caller: int
    called: int
    often: Amount
    again: Amount
    over: Amount
    vary: float
    runs: Amount
    others: Mapping[int, Amount]
    slice: Amount


class Again:
    """All calls to pools that have second phases.

    Parameters
    ----------
    sources, works, column
        Of a system, and how a number becomes a row.
    """

    def __init__(self, sources: Sources, works: Works, column: Column) -> None:
        self.works = works
        calls = list(self._calls(sources))
        self.caller = np.array([one.caller for one in calls], int)
        self.called = np.array([one.called for one in calls], int)
        self.often = stacked([one.often for one in calls], column)
        self.again = stacked([one.again for one in calls], column)
        self.over = stacked([one.over for one in calls], column)
        self.vary = np.array([one.vary for one in calls])[:, np.newaxis]
        self.runs = stacked([one.runs for one in calls], column)
        self.slice = stacked([one.slice for one in calls], column)
        self.others = Sums([one.others for one in calls], column)
        to: list[dict[int, Amount]] = [{} for _ in works.all]
        for n, one in enumerate(calls):
            to[one.called][n] = 1.0
        self.to = Sums(to, column)
        self.shared = works.shared[self.caller]
        every = self.others.over(np.ones((len(self.others.rows), 1)))
        self.sent = np.maximum(1 - self.again - self.over - every, 0.0)

    def _calls(self, sources: Sources) -> Iterator[_Call]:
        entries, index = sources.system.entries, self.works.index
        pools = {entry.task for name, entry in entries.items() if sources.lasts(name)}
        for row, work in enumerate(self.works.all):
            speed = sources.system.processors[sources.processor(work.entry)].speed
            for step, times in steps_of(sources.flows[work.entry, work.second]):
                for name, mean in step.calls.items():
                    task, called = entries[name].task, Work(work.source, name)
                    if task not in pools or called not in index:
                        continue
                    same = {n: y for n, y in step.calls.items() if entries[n].task == task}
                    others = {
                        index[Work(work.source, n)]: y / step.slices
                        for n, y in step.calls.items()
                        if n not in same
                    }
                    runs = 1 / np.maximum(sum(same.values()), NEVER)
                    again, over = 1 / runs / step.slices, 1 / step.slices
                    if step.fixed:  # in the order of the file, so one after the other
                        again, over, others = 1 - runs, runs, {}
                    slice_ = step.demand / step.slices / speed
                    yield _Call(
                        row,
                        index[called],
                        times * mean,
                        again,
                        over,
                        float(not step.fixed),
                        runs,
                        others,
                        slice_,
                    )

    def of(self, now: State, alone: FloatArray) -> Asked:
        """What follows the answers to requests.

        Parameters
        ----------
        now
            The state.
        alone
            Mean second phases while their callers wait for them, by row of the first phase [s].
        """
        scv = now.spread / np.maximum(now.second**2, NEVER)
        longer = np.maximum((1 + scv) / 2, 1.0)
        second = now.second * longer
        lasting = 1 / longer, second, alone * longer
        if not self.called.size:  # all requests come from outside, or are forwarded
            return Asked(*(*np.zeros((9, *second.shape)), *lasting))
        least = np.maximum(second[self.called], BRIEF)
        delay = now.delays[self.caller]
        slice_ = np.where(self.shared, self.slice * delay, self.slice + delay * (self.slice > 0))
        rows, sums = self.others.rows, self.others.sums
        call = now.waits[rows] + now.mean[rows]
        passed, spent = self.others.over(np.array([outlasts(least[sums], call), call]))
        part = np.where(now.second[self.called] > 0, outlasts(least, slice_), 0.0)
        rest = part / (1 - part * (passed + self.sent))
        rate = (now.cycles * self.works.often)[self.caller] * self.often
        ends, vary = self.again + self.over, self.vary
        ways = (
            1.0,
            rest * self.again,
            rest * self.over,
            np.where(vary, rest * self.again, part),
            vary * rest * self.over,
            (slice_ + spent) / ends,
            self.over / ends,
            vary * self.over / ends,
            self.runs,
        )
        total, *others = self.to.of(np.array([rate * way for way in ways]))
        known = total / np.maximum(now.cycles * self.works.often, NEVER)
        means = [other / np.maximum(total, NEVER) for other in others]
        return Asked(*(known, *means, *lasting))


def outlasts(second: FloatArray, time: FloatArray) -> FloatArray:
    """Probability that an exponential second phase outlasts an exponential time, by their means.

    Examples
    --------
    >>> outlasts(np.array([2.0]), np.array([1.0])).round(12).tolist()
    [0.666666666667]
    """
    return np.asarray(second / (second + time))
