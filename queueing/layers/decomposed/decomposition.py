"""Layered systems by decomposition: every server with those who can come to it, in turn.

Each processor and each pool of threads is a station of its own, to which a few classes come
(`headway.queueing.layers.decomposed.others`), away for as long as the rest of their cycle takes.
It is solved exactly as a product form (`headway.queueing.layers.numerics.finite`), with corrections
for service in order of arrival; its waiting times make the cycles longer, and so on until nothing
changes (the method of layers: Rolia and Sevcik, IEEE TSE 21(8), 1995; with interlock as Franks and
others, IEEE TSE 35(2), 2009, found here by cuts). docs/explanation/layers.md derives it.
"""

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.cycles import Cycles
from headway.queueing.layers.decomposed.others import Others
from headway.queueing.layers.decomposed.phases import Phases
from headway.queueing.layers.decomposed.sources import Sources
from headway.queueing.layers.decomposed.waits import Pools, Processors, State, Works
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.numerics.settling import Settling
from headway.queueing.layers.numerics.stations import NEVER
from headway.queueing.layers.system import LayeredSystem

STEPS = 800
"""Steps after which it has not settled."""

_SETTLED = 1e-9  # relative change of all waiting times in a step
_SMALL = 1e-6  # a delay that makes no difference, over the longest demand


def by_layers(system: LayeredSystem) -> LayeredMeans:
    """Solve a layered system by decomposition; an approximation.

    Parameters
    ----------
    system
        Numbers may be arrays of operating points, but threads, servers and populations.

    Raises
    ------
    GraphError
        Where it does not settle, and for disciplines that look at priorities.

    Examples
    --------
    >>> from headway.queueing.layers.flow import Step
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> one = LayeredSystem(
    ...     "one",
    ...     {"here": Processor()},
    ...     {"users": Task("here", 2, 2.0, clients=True)},
    ...     {"use": Entry("users", Step("use", 0.5))},
    ... )
    >>> by_layers(one).throughput("users").round(9).tolist()  # which is exact here
    0.769230769
    """
    ordered = {name: one.discipline for name, one in system.processors.items()}
    ordered |= {f"task {name}": one.discipline for name, one in system.tasks.items()}
    for name, discipline in ordered.items():
        if discipline.by_priority or discipline.by_size:
            msg = f"{name}: layers are not solved under discipline {discipline}; simulate it"
            raise GraphError(msg)
    return _Decomposition(system).solved()


class _Decomposition:
    """Waiting times as they become known."""

    def __init__(self, system: LayeredSystem) -> None:
        self.system = system
        self.sources = Sources(system)
        self.points = max(int(np.prod(system.shape)), 1)
        others = Others(self.sources)
        self.works = Works(self.sources, self._column)
        given = self.sources, others, self.works, self._column
        self.processors, self.pools = Processors(*given), Pools(*given)
        self.phases = Phases(self.sources, self.works, self._column)
        longest = max(float(np.max(step.demand)) for _, step, _ in system.steps())
        self.small = _SMALL * longest or _SMALL
        self.delays = np.where(self.works.shared, 1.0, np.zeros((1, self.points)))
        self.waits = np.zeros_like(self.delays)
        self.cycles = Cycles(self.sources, self.works, self._column)

    def _column(self, value: Amount) -> FloatArray:
        array = np.asarray(value, float)
        if array.ndim == 0:
            return np.full(self.points, array)
        spread = np.broadcast_to(array, self.system.shape).reshape(-1)
        return np.asarray(np.broadcast_to(spread, self.points))

    def solved(self) -> LayeredMeans:
        """Go round until nothing changes."""
        settling = Settling(self.small)
        served, asked = self.processors.rows, self.pools.rows
        if not served.size + asked.size:
            return self._means(self._now())
        known: FloatArray | None = None
        for _ in range(STEPS):
            now = self._now()
            delays = self.processors.delays(now) if served.size else now.delays[served]
            waits = self.pools.waits(now) if asked.size else now.waits[asked]
            found = np.concatenate([delays, waits])
            if known is not None:
                if np.max(np.abs(found - known) / (np.abs(found) + self.small)) < _SETTLED:
                    return self._means(now)
                found = settling.step(known, found)
            known = found
            self.delays[served], self.waits[asked] = np.split(found, [len(served)])
        msg = f"{self.system.name}: its layers have not settled after {STEPS} steps; simulate it"
        raise GraphError(msg)

    def _now(self) -> State:
        """Times of all phases, those of called entries first, and how often they are."""
        time = self.phases.times(self.delays, self.waits)
        mean, variance = time.mean, time.variance
        second, spread = (self.works.lasts * each[self.works.second] for each in (mean, variance))
        cycles, self.requests = self.cycles.of(mean)
        cycles = cycles[self.works.source]
        return State(cycles, self.delays, self.waits, mean, variance, mean, second, spread)

    def _means(self, now: State) -> LayeredMeans:
        entries = {}
        rates = now.cycles * self.works.often
        for number, (name, entry) in enumerate(self.system.entries.items()):
            rate = self.requests[number]
            rows = [r for r, w in enumerate(self.works.all) if w.entry == name and not w.second]
            per = np.maximum(rate, NEVER)
            wait = (rates[rows] * now.waits[rows]).sum(axis=0) / per
            first = (rates[rows] * now.mean[rows]).sum(axis=0) / per
            second = now.second[rows[0]] if rows else np.zeros(self.points)
            if self.system.tasks[entry.task].clients:
                first = now.mean[rows[0]]
            means = (rate, wait, first, second)
            entries[name] = EntryMeans(*(np.reshape(one, self.system.shape) for one in means))
        return LayeredMeans(self.system, entries)
