"""Operating points of one structure, and the other jobs that can be at servers there.

Who can be at a server follows from minimum cuts through pools and populations, so it depends on the
numbers of threads and clients (`headway.queueing.layers.decomposed.others`). Points at which the
same classes meet are solved together, though these have other numbers of members at each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.kinds import Amount, FloatArray
from headway.queueing.layers.decomposed.others import (
    Callers,
    Class,
    Classes,
    OthersAt,
    Shares,
    together,
)
from headway.queueing.layers.decomposed.sources import Sources
from headway.queueing.layers.decomposed.views import MANY_CLIENTS
from headway.queueing.layers.decomposed.ways import Server, Ways
from headway.queueing.layers.flow import Together, parts_within
from headway.queueing.layers.parts import is_unlimited
from headway.queueing.layers.points import at
from headway.queueing.layers.system import LayeredSystem


class Others:
    """Classes of other jobs at every server, for each arriving job, at all points.

    Parameters
    ----------
    each
        The others by their numbers, which have the same classes.
    kinds
        For each point, which of these are there.
    points
        Indices of these points among those of the sources that the others have.

    Attributes
    ----------
    count
        Number of points.
    """

    def __init__(
        self, each: Sequence[OthersAt], kinds: NDArray[np.intp], points: NDArray[np.intp]
    ) -> None:
        self.count = points.size
        used, self._kinds = np.unique(kinds, return_inverse=True)
        self._each, self._points = [each[k] for k in used], points
        sizes = np.bincount(self._kinds)
        self._at = np.split(np.argsort(self._kinds, kind="stable"), np.cumsum(sizes)[:-1])
        self._known: dict[object, Classes] = {}

    def at(self, points: int | NDArray[np.intp]) -> "Others":
        """The others at some of the points."""
        some = np.atleast_1d(points)
        return Others(self._each, self._kinds[some], self._points[some])

    def of(self, server: Server, source: int, held: frozenset[str]) -> Classes:
        """Classes of others at a server, for a job of a source that holds threads of tasks."""
        key = server, source, self._each[0].limiting(held)
        if key not in self._known:
            found = [one.of(server, source, held) for one in self._each]
            self._known[key] = tuple(map(self._class, zip(*found, strict=True)))
        return self._known[key]

    def callers(self, pool: str) -> Callers:
        """Those who call a pool."""
        return self._callers([one.callers(pool) for one in self._each])

    def _class(self, each: Sequence[Class]) -> Class:
        callers = [one.callers for one in each if one.callers]
        return replace(
            each[0],
            most=self._number([one.most for one in each]),
            population=self._number([one.population for one in each]),
            visits=self._shares([one.visits for one in each]),
            barred=self._shares([one.barred for one in each]),
            callers=self._callers(callers) if callers else None,
        )

    def _callers(self, each: Sequence[Callers]) -> Callers:
        return replace(
            each[0],
            count=self._number([one.count for one in each]),
            in_all=self._number([one.in_all for one in each]),
            above=self._number([one.above for one in each]),
            above_in_all=self._number([one.above_in_all for one in each]),
        )

    def _shares(self, each: Sequence[Shares]) -> Shares:
        return {work: self._share([one[work] for one in each]) for work in each[0]}

    def _number(self, each: Sequence[Amount]) -> Amount:
        """A number of each kind of point, at all points."""
        return each[0] if len(set(each)) == 1 else np.array(each)[self._kinds]

    def _share(self, each: Sequence[Amount]) -> Amount:
        """A number of each kind of point, which may itself depend on the point, at all points."""
        if not any(np.ndim(one) for one in each):
            return self._number(each)
        found = np.empty(self.count)
        for one, at_ in zip(each, self._at, strict=True):
            found[at_] = np.ravel(one)[self._points[at_]] if np.ndim(one) else one
        return found


def structures(system: LayeredSystem) -> Iterator[tuple[NDArray[np.intp], Sources, Others]]:
    """The points of each structure, in flat order, with their sources and the others there."""
    for points in _alike(system):
        sources = Sources(at(system, points))
        for some, others in _same_classes(sources, points.size):
            own = sources if some.size == points.size else Sources(at(sources.system, some))
            yield points[some], own, others


def _alike(system: LayeredSystem) -> list[NDArray[np.intp]]:
    """Points at which the same numbers are 0, 1 or unlimited, where that matters.

    And at which there are as many views, and as many servers where branches meet.
    """
    tasks, processors = system.tasks.values(), system.processors.values()
    rows: list[Amount] = [
        *(np.less_equal(one.threads, MANY_CLIENTS) for one in tasks if one.clients),
        *(np.greater(one.arrival_rate, 0) for one in system.entries.values()),
        *(np.greater(step.demand, 0) for _, step, _ in system.steps()),
    ]
    for number in (*(one.threads for one in tasks), *(one.servers for one in processors)):
        rows += [np.equal(number, 1), np.isinf(number)]
    if any(isinstance(p, Together) for e in system.entries.values() for p in parts_within(e.flow)):
        rows += [one.servers for one in processors]
    various = [row for row in rows if np.ndim(row)]
    columns = max(int(np.prod(system.shape)), 1)
    if not various:
        return [np.arange(columns)]
    first, kinds = distinct_columns(_table(system, various, columns))
    return [np.flatnonzero(kinds == k) for k in range(first.size)]


def _table(system: LayeredSystem, rows: Sequence[Amount], columns: int) -> FloatArray:
    """Numbers at all points, shape (rows, points)."""
    each = (np.broadcast_to(np.asarray(one, float), system.shape).reshape(-1) for one in rows)
    return np.stack([np.broadcast_to(one, columns) for one in each])


def _same_classes(sources: Sources, columns: int) -> Iterator[tuple[NDArray[np.intp], Others]]:
    """Points at which the same classes meet, and the others there."""
    system = sources.system
    threads = _table(system, [one.threads for one in system.tasks.values()], columns)
    members = _table(system, [one.population for one in sources.all], columns)
    first, kinds = distinct_columns(threads)
    ways, points = Ways(sources), np.arange(kinds.size)
    each = [
        OthersAt(ways, dict(zip(system.tasks, own, strict=True)), all_)
        for own, all_ in zip(threads.T[first].tolist(), members.T[first].tolist(), strict=True)
    ]
    if len(each) == 1:
        yield points, Others(each, kinds, points)
        return
    meetings = tuple(dict.fromkeys(_meetings(sources)))
    found: dict[object, list[int]] = {}
    for k, one in enumerate(each):
        found.setdefault(_structure(one, meetings), []).append(k)
    for alike in found.values():
        some = np.flatnonzero(np.isin(kinds, alike))
        yield some, Others(each, kinds[some], some)


def _meetings(sources: Sources) -> Iterator[tuple[Server, int, frozenset[str]]]:
    """Who may come to which server, with the tasks whose threads it holds."""
    system = sources.system
    for k, works in enumerate(sources.works):
        for work in works:
            place = sources.processor(work.entry)
            if not is_unlimited(system.processors[place].servers):
                server = Server(place, is_task=False)
                yield from ((server, k, held) for held in sources.held(work))
        for stacks, asked, _ in sources.requests(k):
            for task in dict.fromkeys(system.entries[name].task for name in asked):
                server = Server(task, is_task=True)
                if not is_unlimited(system.tasks[task].threads):
                    yield server, -1, frozenset()
                    yield from ((server, k, held) for held in stacks)


def _structure(
    others: OthersAt, meetings: Sequence[tuple[Server, int, frozenset[str]]]
) -> tuple[object, ...]:
    """What must be the same where classes are solved together: who meets, but for the numbers."""
    found: list[object] = [others.limiting(frozenset(others.threads))]
    for server, source, held in meetings:
        classes = others.of(server, source, held)
        waits = server.is_task and together(classes) >= others.threads[server.name]
        found.append((waits, tuple(map(_kind, classes))))
    return tuple(found)


def _kind(one: Class) -> tuple[object, ...]:
    callers = one.callers and (one.callers.pools, one.callers.task)
    of = tuple(one.visits), tuple(one.barred)
    return *of, one.pool, one.inner, callers, one.most < one.population
