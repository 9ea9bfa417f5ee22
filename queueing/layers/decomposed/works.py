"""All work of a layered system as rows, and its times and rates at a step of the iteration."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources, Work
from headway.queueing.layers.decomposed.views import Views
from headway.queueing.layers.parts import Processor, is_unlimited
from headway.records import dataclass


class Works:
    """All work of a system as rows.

    Parameters
    ----------
    sources, views
        The sources of a system, and its views.
    """

    def __init__(self, sources: Sources, views: Views) -> None:
        column = views.column
        self.all = tuple(work for works in sources.works for work in works)
        self.index = {work: row for row, work in enumerate(self.all)}
        self.source = np.array([work.source for work in self.all], int)
        often = [sources.works[work.source][work] for work in self.all]
        self.often = np.stack(list(map(column, often)))
        uses = [sources.use(work) for work in self.all]
        self.slices = np.stack([column(slices) for slices, _ in uses])
        self.busy = np.stack([column(time) for _, time in uses])
        second = {s.entry: self.index[s.own] for s in sources.all if s.own and s.own.second}
        self.lasting = bool(second)
        self.second = np.array([second.get(work.entry, 0) for work in self.all], int)
        self.lasts = np.array([[float(work.entry in second)] for work in self.all])
        shared = [_shares(sources.system.processors[sources.processor(w.entry)]) for w in self.all]
        self.shared = np.array(shared, bool).reshape(-1, 1)

    def first_phases(self, work: Work) -> list[Work]:
        """First phases before a second phase, by the sources that ask for it."""
        if not work.second:
            return []
        each = (Work(source, work.entry) for source in range(int(self.source.max()) + 1))
        return [first for first in each if first in self.index]

    def rows(self, visits: Mapping[Work, Amount]) -> dict[int, Amount]:
        """The rows of some work, with how often it is done."""
        return {self.index[work]: often for work, often in visits.items()}


def _shares(processor: Processor) -> bool:
    return processor.discipline.shares or is_unlimited(processor.servers)


@dataclass(frozen=True, eq=False)
class State:
    """Times and rates of all work at a step of the iteration, each of shape (works, points).

    Parameters
    ----------
    cycles
        Cycles of the source of the work [1/s].
    delays
        At its processor: the stretch if servers are shared, or the wait before each slice [s].
    waits
        Waits for the thread that does it [s].
    mean, variance
        Mean [s] and variance [s^2] of its time.
    first
        Mean of its own time [s], also where ``mean`` includes the second phase.
    second, spread
        Mean [s] and variance [s^2] of the second phase after it.
    """

    cycles: FloatArray
    delays: FloatArray
    waits: FloatArray
    mean: FloatArray
    variance: FloatArray
    first: FloatArray
    second: FloatArray
    spread: FloatArray

    @cached_property
    def stays(self) -> FloatArray:
        """Of each work: how often it is done, then its time, its time squared, and its stay, 1/s.

        The stay begins with the wait for a thread. Shape (4, works, points).
        """
        square = self.variance + self.mean**2
        each = np.array([np.ones_like(square), self.mean, square, self.waits + self.mean])
        return np.asarray(self.cycles * each)

    @cached_property
    def held(self) -> FloatArray:
        """Mean threads that are held by the first phase of each work, shape (works, points)."""
        return self.cycles * self.first

    @cached_property
    def whole(self) -> "State":
        """The same with the second phase counted as part of each work."""
        return replace(self, mean=self.mean + self.second, variance=self.variance + self.spread)
