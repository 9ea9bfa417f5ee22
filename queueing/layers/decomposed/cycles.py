"""Cycle rates of all sources, and the request rates of all entries that follow from them.

Clients begin a cycle after their think time, outside sources at their arrival rate and with each
message, and the second phase of an entry after each answer.
"""

from collections.abc import Mapping

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.sources import Sources
from headway.queueing.layers.decomposed.works import Works
from headway.queueing.layers.numerics.stations import Column, stacked


class Cycles:
    """The rates of all sources of a system.

    Parameters
    ----------
    sources, works, column
        The sources of a system, their work, and the function from a number to a row.
    """

    def __init__(self, sources: Sources, works: Works, column: Column) -> None:
        self.sources, self.column = sources, column
        system = sources.system
        number = {name: n for n, name in enumerate(system.entries)}
        own = {k: one.own for k, one in enumerate(sources.all) if one.own and not one.own.second}
        self.clients = list(own)
        self.entries = [number[work.entry] for work in own.values()]
        self.rows = [works.index[work] for work in own.values()]
        tasks = [system.tasks[system.entries[work.entry].task] for work in own.values()]
        self.think = stacked([task.think_time for task in tasks], column)
        self.population = stacked([task.threads for task in tasks], column)
        self.visits = np.stack([self._visits(one.visits) for one in sources.all])
        self.arrivals = {name: column(one.arrival_rate) for name, one in system.entries.items()}
        self.sends = {
            name: [(other, column(times)) for other, times in one.sends()]
            for name, one in system.entries.items()
        }
        others = {
            name: [k for k in sources.of.get(name, ()) if k not in own]
            for name in system.callers_first
        }
        self.others = [
            (name, number[name], each) for name, each in others.items() if each or self.sends[name]
        ]

    def _visits(self, visits: Mapping[str, Amount]) -> FloatArray:
        """Visits of one cycle of a source to all entries."""
        names = self.sources.system.entries
        return np.stack([self.column(visits.get(name, 0.0)) for name in names])

    def of(self, mean: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Cycle rates of sources and request rates of entries [1/s], from mean times of work."""
        points = mean.shape[1]
        cycles = np.zeros((len(self.sources.all), points))
        requests = np.zeros((self.visits.shape[1], points))
        if self.clients:
            each = self.population / (self.think + mean[self.rows])
            cycles[self.clients] = requests[self.entries] = each
            requests += (self.visits[self.clients] * each[:, np.newaxis]).sum(axis=0)
        sent = dict.fromkeys(self.sources.sent, np.zeros(points))
        for name, number, others in self.others:
            for k in others:
                outside = self.sources.all[k].own is None
                arrivals = self.arrivals[name] + sent.get(name, 0.0)
                cycles[k] = arrivals if outside else requests[number]
                requests += self.visits[k] * cycles[k]
            for other, times in self.sends[name]:
                sent[other] = sent[other] + requests[number] * times
        return cycles, requests
