"""All work of a layered system, row by row, and what is known of it at a step."""

from collections.abc import Mapping
from dataclasses import replace
from math import isinf

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources, Work
from headway.queueing.layers.decomposed.views import Views
from headway.queueing.layers.parts import Processor
from headway.records import dataclass


class Works:
    """All work of a system, row by row.

    Parameters
    ----------
    sources, views
        Of a system.
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

    def rows(self, visits: Mapping[Work, Amount]) -> dict[int, Amount]:
        """Numbers of some work by its row."""
        return {self.index[work]: often for work, often in visits.items()}


def _shares(processor: Processor) -> bool:
    return processor.discipline.shares or isinf(processor.servers)


@dataclass(frozen=True, eq=False)
class State:
    """What is known of all work at a step, of the shape (works, points).

    Parameters
    ----------
    cycles
        Of its source [1/s].
    delays
        At its processor: a stretch where servers are shared, or a wait before each slice [s].
    waits
        For the thread that does it [s].
    mean, variance
        Of its time [s].
    first
        Mean of its time alone [s], where ``mean`` is of more.
    second, spread
        Mean and variance of the second phase behind it [s].
    """

    cycles: FloatArray
    delays: FloatArray
    waits: FloatArray
    mean: FloatArray
    variance: FloatArray
    first: FloatArray
    second: FloatArray
    spread: FloatArray

    @property
    def whole(self) -> "State":
        """With the second phase as a part of each work."""
        return replace(self, mean=self.mean + self.second, variance=self.variance + self.spread)
