"""Who else can be at a server, as the one who comes sees it.

Whoever comes to a server holds threads of the tasks above. It sees what there would be without
it: a member less of its source, and a thread less of each of those tasks (the arrival theorem,
taken for systems with pools). Where no thread is left, nobody else passes.

The others are parted into classes of those that can be there at once: a smallest cut between the
sources and the server, through populations and pools of threads. Two tasks of one thread each, in
the same layer, let two in; one below the other lets one in, as the same client is in both
(interlock).
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import field
from math import inf, isinf
from typing import Any, TypeAlias

import numpy as np

from headway.kinds import Amount
from headway.queueing.layers.decomposed.sources import Source, Sources, Work
from headway.queueing.layers.numerics.cuts import leading, smallest_cut
from headway.records import dataclass

CROWD = 200
"""Members by which a source without end is represented; its rate is kept."""

Shares: TypeAlias = Mapping[Work, Amount]
"""How often work is done in a cycle of its source."""


@dataclass(frozen=True)
class Class:
    """Some of whom only so many can be at a server at once.

    Parameters
    ----------
    most
        How many can be there beside the one who comes.
    population
        How many there are in all.
    visits
        What they do there: at a processor the work, in front of a task the work behind the queue.
    barred
        Work of theirs in tasks of which the one who comes holds the last thread: while it is
        there, none of them does this.
    pool
        Whether they come through a pool, whose threads are its members.
    """

    most: int
    population: int
    visits: Shares
    barred: Shares = field(default_factory=dict)
    pool: bool = False


@dataclass(frozen=True)
class Server:
    """A processor or a task, by name."""

    name: str
    is_task: bool


_Label: TypeAlias = tuple[str, object]
"""A source by its number, or the pool of a task by its name."""

_Part: TypeAlias = tuple[_Label, Work, Amount, bool]
"""Work behind a part of a cut, how often it is done, and whether it can be."""


@dataclass(frozen=True)
class _Does:
    """Entries that are called, and processors that are used."""

    asks: dict[str, Amount]
    at: set[str]


class Others:
    """Classes of the others at every server, for each that comes.

    Parameters
    ----------
    sources
        Of a system.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources, self.system = sources, sources.system
        endless = any(isinf(one.population) for one in sources.all if one.own is None)
        clients = sum(task.threads for task in self.system.tasks.values() if task.clients)
        self.crowd = CROWD if endless else int(clients)
        self._known: dict[object, tuple[Class, ...]] = {}
        self._served = {
            work: sources.processor(work.entry)
            for works in sources.works
            for work in works
            if np.any(sources.use(work)[0])
        }
        self._does = self._own()
        self._ways: dict[Server, tuple[tuple[Any, Any], ...]] = {}
        self._cuts: dict[object, frozenset[_Label]] = {}

    def of(self, server: Server, source: int, held: frozenset[str]) -> tuple[Class, ...]:
        """Classes of the others at a server, for one of a source that holds threads of tasks."""
        limiting = frozenset(t for t in held if self.system.tasks[t].threads <= self.crowd)
        key = server, source, limiting
        if key not in self._known:
            self._known[key] = tuple(self._classes(server, source, limiting))
        return self._known[key]

    def _threads(self, task: str) -> int:
        """Threads of a task, of which no more are ever needed than there are members."""
        return int(min(float(self.system.tasks[task].threads), self.crowd))

    def _members(self, source: int) -> int:
        return int(min(self.sources.all[source].population, self.crowd))

    def _label(self, source: int) -> _Label:
        """Second phases are done by the threads of their task."""
        own = self.sources.all[source].own
        if own is not None and own.second:
            return "pool", self.system.entries[own.entry].task
        return "source", source

    def _classes(self, server: Server, source: int, held: frozenset[str]) -> Iterator[Class]:
        left = {task: self._threads(task) - (task in held) for task in self.system.tasks}
        members = [self._members(k) - (k == source) for k in range(len(self.sources.all))]
        for k in range(len(members)):
            kind, name = self._label(k)
            members[k] = left[str(name)] if kind == "pool" else members[k]
        cut = self._cut(server, members, left)
        found: dict[_Label, dict[Work, Amount]] = {}
        barred: dict[_Label, dict[Work, Amount]] = {}
        gone = {self._label(k) for k, most in enumerate(members) if most == 0}
        for k in range(len(members)):
            if self._label(k) in gone and self._label(k)[0] == "pool":
                continue
            for label, work, visits, can_be in self._parted(k, server, cut, left):
                into = (found if can_be else barred).setdefault(label, {})
                into[work] = into.get(work, 0.0) + visits
        for label, visits in found.items():
            if label in gone:
                continue
            which, without = str(label[1]), barred.get(label, {})
            if label[0] == "pool":
                yield Class(left[which], self._threads(which), visits, without, pool=True)
            else:
                k = int(which)
                yield Class(members[k], self._members(k), visits, without)

    def _cut(self, server: Server, members: list[int], left: dict[str, int]) -> frozenset[_Label]:
        """The populations and pools of a smallest cut before a server."""
        if server not in self._ways:
            self._ways[server] = leading(self._edges(server), "to")
        edges = self._ways[server]
        room = [
            members[b[1]] if a == "from" else left[a[1]] if a[0] == "in" else inf for a, b in edges
        ]
        key = server, tuple(room)
        if key not in self._cuts:
            graph: dict[Hashable, dict[Hashable, float]] = {}
            for (a, b), most in zip(edges, room, strict=True):
                graph.setdefault(a, {})[b] = most
            self._cuts[key] = frozenset(
                self._label(b[1]) if a == "from" else ("pool", b[1])
                for a, b in smallest_cut(graph, "from", "to")
            )
        return self._cuts[key]

    def _edges(self, server: Server) -> Iterator[tuple[Any, Any]]:
        """Ways to a server: of sources, and through pools."""
        for k in range(len(self.sources.all)):
            yield "from", ("source", k)
        for label, does in self._does.items():
            start = label
            if label[0] == "pool":
                yield ("in", label[1]), ("out", label[1])
                start = "out", label[1]
            asked = self._asked(does.asks, server)
            if server.name in (asked if server.is_task else does.at):
                yield start, "to"
            yield from ((start, ("in", task)) for task in asked if not self._is(task, server))

    def _is(self, task: str, server: Server) -> bool:
        return server.is_task and task == server.name

    def _asked(self, entries: Iterable[str], server: Server) -> dict[str, None]:
        """Tasks that are asked by requests for entries, or get them passed on before a server."""
        found: dict[str, None] = {}
        todo = list(entries)
        while todo:
            entry = self.system.entries[todo.pop()]
            found[entry.task] = None
            if entry.forwards and not self._is(entry.task, server):
                todo += entry.forwards
        return found

    def _own(self) -> dict[_Label, "_Does"]:
        """What a member of each source does itself, and a thread of each pool."""
        found: dict[_Label, _Does] = {}
        for k, source in enumerate(self.sources.all):
            for work in self.sources.works[k]:
                task = self.system.entries[work.entry].task
                label: _Label = ("source", k) if work == source.own else ("pool", task)
                does = found.setdefault(label, _Does({}, set()))
                does.asks.update(self.sources.calls(work.entry, second=work.second))
                does.at.update([self._served[work]] if work in self._served else [])
            if source.own is None:
                found["source", k] = _Does({source.entry: 1.0}, set())
        return found

    def _is_at(self, work: Work, server: Server) -> bool:
        return not server.is_task and self._served.get(work) == server.name

    def _parted(
        self, k: int, server: Server, cut: frozenset[_Label], left: dict[str, int]
    ) -> Iterator[_Part]:
        """What a source does at a server, by the part of the cut through which it comes.

        And what it does behind the last thread of a task, which is held: that cannot be (False),
        but what was forwarded from there holds that thread no more.
        """
        source, start = self.sources.all[k], self._label(k)
        first = start if start in cut else None
        asked = _Asked()
        asked.add(self._requests(source), first, 1.0)
        if source.own is not None and self._is_at(source.own, server):
            yield first or start, source.own, 1.0, True
        for entry in self.system.callers_first:
            work, task, ways = Work(k, entry), self.system.entries[entry].task, asked.ways(entry)
            is_there = bool(ways) and self._is_at(work, server)
            for label, often in ways:
                if server.is_task and task == server.name:
                    yield label or start, work, often, True
                elif left[task] <= 0:
                    yield label or start, work, often, False
                    asked.add(self.system.entries[entry].forwards, label, often)
                else:
                    within = label or (("pool", task) if ("pool", task) in cut else None)
                    if is_there:
                        yield within or start, work, often, True
                    asked.add(self.sources.calls(entry), within, often)
                    asked.add(self.system.entries[entry].forwards, label, often)

    def _requests(self, source: Source) -> dict[str, Amount]:
        """What a member requests in a cycle: by calls of its own, or from outside."""
        if source.own is None:
            return {source.entry: 1.0}
        return self.sources.calls(source.entry, second=source.own.second)


class _Asked:
    """Requests for entries by the part of a cut that they came through, if any yet."""

    def __init__(self) -> None:
        self._often: dict[str, dict[_Label | None, Amount]] = {}

    def add(self, requests: Mapping[str, Amount], label: _Label | None, often: Amount) -> None:
        """Add requests that follow from something so often."""
        for entry, mean in requests.items():
            into = self._often.setdefault(entry, {})
            into[label] = into.get(label, 0.0) + often * mean

    def ways(self, entry: str) -> list[tuple[_Label | None, Amount]]:
        """How often an entry is requested, by part."""
        return list(self._often.get(entry, {}).items())
