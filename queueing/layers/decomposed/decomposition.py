"""Layered systems by decomposition: each server in turn, as a station with the jobs that come.

Each processor and each pool of threads is a station of its own, visited by a few classes
(`headway.queueing.layers.decomposed.others`), which are away for as long as the rest of their cycle
takes. The station is solved exactly as a product form (`headway.queueing.layers.numerics.finite`),
with corrections for service in order of arrival. Its waiting times lengthen the cycles of others,
and this is repeated until nothing changes: the method of layers (Rolia and Sevcik, IEEE TSE 21(8),
1995), with interlock as in Franks and others, IEEE TSE 35(2), 2009, but found by minimum cuts.
docs/explanation/layers.md derives it.
"""

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.capacities import Capacities
from headway.queueing.layers.decomposed.cycles import Cycles
from headway.queueing.layers.decomposed.phases import Phases
from headway.queueing.layers.decomposed.sources import Sources
from headway.queueing.layers.decomposed.structures import Others, structures
from headway.queueing.layers.decomposed.views import Views
from headway.queueing.layers.decomposed.waits import Pools, Processors
from headway.queueing.layers.decomposed.works import State, Works
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.numerics.newton import by_newton, columns
from headway.queueing.layers.numerics.settling import PATIENCE, Settling
from headway.queueing.layers.numerics.stations import NEVER, Sums
from headway.queueing.layers.points import at
from headway.queueing.layers.system import LayeredSystem

STEPS = 800
"""Steps after which the iteration is given up."""

_LAST = 50
"""Last steps in all of which a server must be overloaded for a point to count as saturated."""

_SETTLED = 1e-9  # relative change of all waiting times in a step
_NEAR = 0.3  # largest relative change at which Newton's method is tried once patience has run out
_AGAIN = 100  # steps between tries of Newton's method from any distance
_FEW = 8  # with this many points or fewer, settled ones are not left out
_SMALL = 1e-6  # delay that does not matter, relative to the longest demand


def by_layers(system: LayeredSystem) -> LayeredMeans:
    """Solve a layered system by decomposition; an approximation.

    Parameters
    ----------
    system
        Numbers may be arrays over operating points.

    Raises
    ------
    GraphError
        If it does not settle, and for disciplines with priorities.

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
    answers = _settled(system)
    return _means(system, answers.reshape(*answers.shape[:2], *system.shape))


def _means(system: LayeredSystem, answers: FloatArray) -> LayeredMeans:
    """Means of entries from the array of `_Decomposition.numbers`."""
    each = zip(system.entries, answers, strict=True)
    return LayeredMeans(system, {name: EntryMeans(*numbers) for name, numbers in each})


def _settled(system: LayeredSystem) -> FloatArray:
    """The numbers of entries at all points, shape (entries, numbers of each, points).

    Points of one structure are solved together.
    """
    answers = np.zeros((len(system.entries), 4, max(int(np.prod(system.shape)), 1)))
    for points, sources, others in structures(system):
        answers[..., points] = _of_one_structure(sources, others)
    return answers


def _of_one_structure(sources: Sources, others: Others) -> FloatArray:
    """Iterate until nothing changes; points that have settled are left out on the way.

    If more arrives from outside than a server can serve, waits need not settle: a point where this
    is so in each of the last steps is saturated, whatever its waits.
    """
    system, part = sources.system, _Decomposition(sources, others, others.count)
    left = np.arange(others.count)
    answers = np.zeros((len(system.entries), 4, left.size))
    known, settling = part.start, Settling(part.small)
    is_open, nearest = np.ones(left.size, bool), np.full(left.size, _NEAR)
    full = np.full(left.size, system.is_open)
    for step in range(STEPS):
        now = part.now(known)
        full = _still_full(full, step, part, now)
        found = part.after(now)
        change = np.abs(found - known) / (np.abs(found) + part.small)
        largest = change.max(axis=0, initial=0.0)
        done = is_open & (largest < _SETTLED)
        if done.any():
            answers[..., left[done]] = part.numbers(now)[..., done]
            is_open = is_open & ~done
        if not is_open.any():
            return answers
        near = largest < nearest
        tried = is_open & (near | (step % _AGAIN == 0)) & (step >= PATIENCE)
        closer = {k: part.closer(k, known[:, k]) for k in np.flatnonzero(tried).tolist()}
        nearest = np.where(tried & near, largest / 2, nearest)
        known = settling.step(known, found) if step else found
        for k, better in closer.items():
            known[:, k] = known[:, k] if better is None else better
        if 2 * np.count_nonzero(is_open) <= left.size > _FEW:
            left = left[is_open]
            fewer = part.at(np.flatnonzero(is_open), left.size)
            if fewer is None:
                answers[..., left] = _settled(at(system, left))
                return answers
            part, known = fewer, settling.keep(known, is_open)
            full, nearest = full[is_open], nearest[is_open]
            is_open = is_open[is_open]
    if full[is_open].all():
        answers[..., left[is_open]] = part.numbers(now)[..., is_open]
        return answers
    msg = f"{system.name}: its layers have not settled after {STEPS} steps; simulate it"
    raise GraphError(msg)


def _still_full(
    full: NDArray[np.bool_], step: int, part: "_Decomposition", now: State
) -> NDArray[np.bool_]:
    """Points at which a server was overloaded in each of the last steps."""
    if step < STEPS - _LAST or not full.any():
        return full
    busiest = _means(part.system, part.numbers(now)).from_outside().busiest()
    return np.asarray(full & (np.ravel(busiest) >= 1))


class _Decomposition:
    """The map of the fixed-point iteration, from delays and waits to new ones, at some points.

    There is a column for each, or several for a single one.
    """

    def __init__(self, sources: Sources, others: Others, columns: int) -> None:
        self.system, self.sources, self.others = sources.system, sources, others
        self.points = columns
        self.views = Views(self.sources, self._column)
        self.works = Works(self.sources, self.views)
        self.phases = Phases(self.sources, self.works, self.views.column)
        self.cycles = Cycles(self.sources, self.works, self.views.column)
        wide = self.views.count * self.points
        self.delays = np.where(self.works.shared, 1.0, np.zeros((1, wide)))
        self.waits = np.zeros_like(self.delays)
        mean = self.phases.times(self.delays, self.waits).mean
        alone = self.cycles.of(mean)[0][self.works.source], mean
        self.capacities = Capacities(self.sources, others, self.works, self.views.column, alone)
        given = self.sources, others, self.works, self.views, self.capacities
        self.processors, self.pools = Processors(*given), Pools(*given)
        steps = self.system.steps()
        longest = np.max([self._column(step.demand) for _, step, _ in steps], axis=0)
        self.small = np.where(longest > 0, _SMALL * longest, _SMALL)
        self._read_entries()

    def _column(self, value: Amount) -> FloatArray:
        array = np.asarray(value, float)
        if array.ndim == 0:
            return np.full(self.points, array)
        shape = np.broadcast_shapes(array.shape, self.system.shape)  # () where its numbers agree
        spread = np.broadcast_to(array, shape).reshape(-1)
        return np.asarray(np.broadcast_to(spread, self.points))

    def _read_entries(self) -> None:
        """The rows of work in the first phase of each entry; for clients it is their cycle."""
        of: dict[str, dict[int, Amount]] = {name: {} for name in self.system.entries}
        for row, work in enumerate(self.works.all):
            if not work.second:
                of[work.entry][row] = 1.0
        self.first = Sums(list(of.values()), self.views.column)
        self.lasting = [next(iter(rows), 0) for rows in of.values()]

    def at(self, points: int | NDArray[np.intp], columns: int) -> "_Decomposition | None":
        """The same at some points; None if delays and waits there belong to other work.

        For instance if none of these points has calls of some kind.
        """
        sources = Sources(at(self.system, points))
        found = _Decomposition(sources, self.others.at(points), columns)
        mine, theirs = (
            (one.works.all, one.processors.rows.tolist(), one.pools.rows.tolist())
            for one in (self, found)
        )
        return found if mine == theirs else None

    @property
    def start(self) -> FloatArray:
        """Delays and waits without contention."""
        return self._known(self.delays[self.processors.rows], self.waits[self.pools.rows])

    def _known(self, delays: FloatArray, waits: FloatArray) -> FloatArray:
        """Delays and waits of all views as one array of unknowns, shape (numbers, points)."""
        return np.concatenate([one.reshape(-1, self.points) for one in (delays, waits)])

    def now(self, known: FloatArray) -> State:
        """Times of all phases and rates of all work, from delays and waits."""
        served, asked = self.processors.rows, self.pools.rows
        both = known.reshape(-1, self.delays.shape[1])
        self.delays[served], self.waits[asked] = np.split(both, [len(served)])
        time = self.phases.times(self.delays, self.waits)
        mean, variance = time.mean, time.variance
        second, spread = (self.works.lasts * each[self.works.second] for each in (mean, variance))
        cycles, self.requests = self.cycles.of(mean)
        cycles = cycles[self.works.source]
        return State(cycles, self.delays, self.waits, mean, variance, mean, second, spread)

    def after(self, now: State) -> FloatArray:
        """New delays and waits, from these times and rates."""
        served, asked = self.processors.rows, self.pools.rows
        delays, alone, freed = now.delays[served], now.second, self.capacities.of(now)
        if served.size:
            delays, alone = self.processors.delays(now, freed)
        waits = self.pools.waits(now, freed, alone) if asked.size else now.waits[asked]
        return self._known(delays, waits)

    def closer(self, point: int, known: FloatArray) -> FloatArray | None:
        """Delays and waits at one point by Newton's method; None if it fails."""
        alone = self.at(point, columns(len(known)))
        if alone is None:
            return None
        small = float(alone.small[0])
        return by_newton(lambda x: alone.after(alone.now(x)), known, small, _SETTLED / 10)

    def numbers(self, now: State) -> FloatArray:
        """Request rates of entries [1/s], mean waits for a thread, and means of both phases [s]."""
        rates = now.cycles * self.works.often
        sums = self.first.of(np.array([rates * now.waits, rates * now.mean]))
        wait, first = sums / np.maximum(self.requests, NEVER)
        found = np.stack([self.requests, wait, first, now.second[self.lasting]], axis=1)
        return found[..., : self.points]  # the first view, in which no client is left out
