"""The other jobs that can be at a server, as an arriving job sees them.

A job that arrives at a server holds threads of the tasks above. It sees the system without itself:
one member fewer of its source, and one thread fewer of each of those tasks (the arrival theorem,
assumed for systems with pools). If no thread of a task is left, no other job can come through it.

The others are divided into classes by how many can be there at once: a minimum cut between sources
and server, through populations and pools of threads. Two tasks of one thread each let two jobs
through if they are in the same layer, and one if one task calls the other, as both threads are then
held by the same client (interlock). A pool behind a part of the cut that lets far more in is a
class of its own: of many clients that use a single thread, one can be at its processor.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from math import isinf
from typing import TypeAlias

import numpy as np

from headway.kinds import Amount
from headway.queueing.layers.decomposed.sources import Source, Sources, Work
from headway.queueing.layers.decomposed.ways import Label, Server, Ways
from headway.queueing.layers.numerics.pools import HIGHEST, MANY
from headway.records import dataclass

CROWD = 200
"""Members that stand for an unlimited source, whose rate is kept."""

_WIDE = 2
"""Members per thread beyond which the threads of a pool behind a class are a class of their own.

With fewer members both classes together would have too many. Chosen.
"""

Shares: TypeAlias = Mapping[Work, Amount]
"""How often each piece of work is done in a cycle of its source."""


@dataclass(frozen=True)
class Callers:
    """Those who call a pool of threads.

    Parameters
    ----------
    count, in_all
        Members of their sources, beside the arriving job and in all.
    pools
        Tasks through whose threads they call, if these are fewer.
    above, above_in_all
        These threads beside those that the arriving job holds, and in all; 0 without such pools.
    task
        The task of the pool; "" for a source that is called by nobody.
    """

    count: Amount
    in_all: Amount
    pools: tuple[str, ...] = ()
    above: Amount = 0
    above_in_all: Amount = 0
    task: str = ""


@dataclass(frozen=True)
class Class:
    """A class of jobs, with a limit on how many can be at a server at once.

    Parameters
    ----------
    most
        Most members that can be there beside the arriving job.
    population
        Number of members in all.
    visits
        Their work there: at a processor the work itself, at a task the work that waits for a
        thread.
    barred
        Their work in tasks whose last thread the arriving job holds: while that job is there, no
        member does this work.
    pool
        Whether they come through a pool of threads, so that its threads are the members.
    inner
        Whether these threads are held by members of another class there.
    callers
        Those who call these threads, where their number says more than that of the threads.
    """

    most: Amount
    population: Amount
    visits: Shares
    barred: Shares = field(default_factory=dict)
    pool: bool = False
    inner: bool = False
    callers: Callers | None = None


Classes: TypeAlias = tuple[Class, ...]
"""The classes met at a server."""


def together(classes: Classes) -> Amount:
    """Most members at a server at once; those of an inner pool are members of another class too."""
    return sum(one.most for one in classes if not one.inner)


_Way: TypeAlias = tuple[Label | None, str]
"""Part of a cut, None before it, and the task of the smallest pool behind it, or ""."""

_Part: TypeAlias = tuple[tuple[Label, str], Work, Amount, bool]
"""A way through the cut, the work behind it, how often it is done, and if that is possible."""


class OthersAt:
    """Classes of other jobs at every server, for each arriving job, at one point.

    Parameters
    ----------
    ways
        The ways of a system.
    threads, members
        Number of threads of each task, and of members of each source.
    """

    def __init__(self, ways: Ways, threads: Mapping[str, float], members: Sequence[float]) -> None:
        self.ways, self.sources, self.system = ways, ways.sources, ways.system
        self.threads, self.members = threads, members
        endless = any(isinf(members[k]) for k, one in enumerate(self.sources.all) if not one.own)
        clients = sum(threads[name] for name, task in self.system.tasks.items() if task.clients)
        self.crowd = CROWD if endless else int(clients)
        # limited to the number of members, as more are never in use
        self._threads = {name: int(min(most, self.crowd)) for name, most in threads.items()}
        self._known: dict[object, tuple[Class, ...]] = {}
        self._callers: dict[object, Callers] = {}

    def of(self, server: Server, source: int, held: frozenset[str]) -> tuple[Class, ...]:
        """Classes of others at a server, for a job of a source that holds threads of tasks."""
        limiting = self.limiting(held)
        key = server, source, limiting
        if key not in self._known:
            self._known[key] = tuple(self._classes(server, source, limiting))
        return self._known[key]

    def limiting(self, held: frozenset[str]) -> frozenset[str]:
        """Of some tasks those whose threads can all be in use."""
        return frozenset(task for task in held if self.threads[task] <= self.crowd)

    def _members(self, source: int) -> int:
        return int(min(self.members[source], self.crowd))

    def _classes(self, server: Server, source: int, held: frozenset[str]) -> Iterator[Class]:
        left = {task: threads - (task in held) for task, threads in self._threads.items()}
        members = [self._members(k) - (k == source) for k in range(len(self.sources.all))]
        self._share_threads(members, left)
        cut = self.ways.cut(server, members, left)
        gone = {self.ways.label(k) for k, most in enumerate(members) if most == 0}
        room: dict[Label, int] = {("source", k): most for k, most in enumerate(members)}
        room |= {("pool", task): most for task, most in left.items()}
        found: dict[tuple[Label, str], dict[Work, Amount]] = {}
        barred: dict[Label, dict[Work, Amount]] = {}
        for k in range(len(members)):
            if self.ways.label(k) in gone and self.ways.label(k)[0] == "pool":
                continue
            for (label, pool), work, visits, can_be in self._parted(k, server, cut, left):
                is_inner = bool(pool) and source >= 0 and room[label] > _WIDE * left[pool]
                part = label, pool if is_inner else ""
                into = found.setdefault(part, {}) if can_be else barred.setdefault(label, {})
                into[work] = into.get(work, 0.0) + visits
        for (label, pool), visits in found.items():
            if pool and label not in gone:
                behind = (label, "") in found
                one = Class(left[pool], self._threads[pool], visits, pool=True, inner=behind)
                yield self._called(one, pool, source, held, alone=len(found) == 1)
            elif label not in gone:
                kind, which = label
                own = barred.get(label, {})
                if kind == "pool":
                    name = str(which)
                    one = Class(room[label], self._threads[name], visits, own, pool=True)
                    yield self._called(one, name, source, held, alone=len(found) == 1)
                else:
                    k = int(str(which))
                    endless = isinf(self.members[k])
                    callers = Callers(MANY, MANY) if endless else None
                    yield Class(room[label], self._members(k), visits, own, callers=callers)

    def _called(
        self, one: Class, pool: str, source: int, held: frozenset[str], *, alone: bool
    ) -> Class:
        """The class of the threads of a pool, with those who call it where that says more.

        It does not for one thread, and for threads that no others wait for. Clients are counted
        twice as callers of several pools that meet here, unless most are from outside.
        """
        task = self.system.tasks[pool]
        if task.clients or isinf(self.threads[pool]) or one.population == 1:
            return one
        key = pool, source, held
        if key not in self._callers:
            self._callers[key] = self.callers(*key)
        callers = self._callers[key]
        is_known = alone or callers.in_all >= MANY
        more = (callers.above or callers.count) > one.most
        return replace(one, callers=callers) if is_known and more else one

    def callers(self, pool: str, source: int = -1, held: frozenset[str] = frozenset()) -> Callers:
        """Those who call a pool, beside an arriving job which holds some threads."""
        sources = self.sources.all
        every = [int(min(members, MANY)) for members in self.members]
        threads = {name: int(min(most, MANY)) for name, most in self.threads.items()}
        left = {n: m - (n in held) for n, m in threads.items()}
        members = [m - (k == source) for k, m in enumerate(every)]
        who = [
            k
            for k, one in enumerate(sources)
            if self.ways.label(k) != ("pool", pool)
            and not one.visits.keys().isdisjoint(self.system.entries_of[pool])
        ]
        self._share_threads(members, left)
        self._share_threads(every, threads)
        cut = self.ways.cut(Server(pool, is_task=True), members, left)
        pools = tuple(str(name) for kind, name in cut if kind == "pool")
        count, in_all = (sum(each[k] for k in who) for each in (members, every))
        above, above_in_all = (
            sum(m[str(name)] if kind == "pool" else n[int(str(name))] for kind, name in cut)
            for m, n in ((left, members), (threads, every))
        )
        if not pools or above >= min(count, HIGHEST):
            return Callers(count, in_all, task=pool)
        if in_all < MANY:
            # clients fill the pools above, if any, whose threads then come and go like clients
            return Callers(above, above_in_all, task=pool)
        return Callers(count, in_all, pools, above, above_in_all, pool)

    def _share_threads(self, members: list[int], left: dict[str, int]) -> None:
        """Replace the members of second phases by the threads that run them."""
        for k in range(len(members)):
            kind, name = self.ways.label(k)
            members[k] = left[str(name)] if kind == "pool" else members[k]

    def _parted(
        self, k: int, server: Server, cut: frozenset[Label], left: dict[str, int]
    ) -> Iterator[_Part]:
        """The work of a source at a server, by the part of the cut through which it comes.

        Work behind the last thread of a task, held by the arriving job, is marked as impossible
        (False); requests forwarded from there no longer hold that thread.
        """
        source, start = self.sources.all[k], self.ways.label(k)
        first: _Way = (start if start in cut else None), ""
        asked = _Asked()
        asked.add(self._requests(source), first, 1.0)
        if source.own is not None and self.ways.is_at(source.own, server):
            yield (start, ""), source.own, 1.0, True
        for entry in self.system.callers_first:
            work, task, ways = Work(k, entry), self.system.entries[entry].task, asked.ways(entry)
            is_there = bool(ways) and self.ways.is_at(work, server)
            for way, often in ways:
                label, pool = way
                if server.is_task and task == server.name:
                    yield (label or start, pool), work, often, True
                elif left[task] <= 0:
                    yield (label or start, pool), work, often, False
                    asked.add(self.system.entries[entry].forwards, way, often)
                else:
                    within = self._through(way, task, cut, left)
                    if is_there:
                        yield (within[0] or start, within[1]), work, often, True
                    asked.add(self.sources.calls(entry), within, often)
                    asked.add(self.system.entries[entry].forwards, way, often)

    def _through(self, way: _Way, task: str, cut: frozenset[Label], left: dict[str, int]) -> _Way:
        """The way of a request that has been given a thread of a task."""
        label, pool = way
        if label is None:
            return (("pool", task) if ("pool", task) in cut else None), ""
        return label, task if not pool or left[task] < left[pool] else pool

    def _requests(self, source: Source) -> dict[str, Amount]:
        """Direct requests of a member in a cycle: its own calls, or one request from outside."""
        if source.own is None:
            return {source.entry: 1.0}
        return self.sources.calls(source.entry, second=source.own.second)


class _Asked:
    """Requests for entries, by the way on which they came."""

    def __init__(self) -> None:
        self._often: dict[str, dict[_Way, Amount]] = {}

    def add(self, requests: Mapping[str, Amount], way: _Way, often: Amount) -> None:
        """Add the requests of something that happens ``often`` times."""
        for entry, mean in requests.items():
            into = self._often.setdefault(entry, {})
            into[way] = into.get(way, 0.0) + often * mean

    def ways(self, entry: str) -> list[tuple[_Way, Amount]]:
        """How often an entry is requested on each way."""
        return list(self._often.get(entry, {}).items())


def think_between(sources: Sources, one: Class) -> Amount:
    """Think time between cycles if the class is one population of clients; otherwise 0."""
    of = {work.source for work in one.visits}
    if len(of) != 1:
        return 0.0
    source = sources.all[of.pop()]
    alone = np.equal(source.population, one.population)
    think = sources.system.tasks[sources.system.entries[source.entry].task].think_time
    return think if np.all(alone) else np.where(alone, think, 0.0)
