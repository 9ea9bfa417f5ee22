"""The ways on which requests come to servers: minimum cuts through populations and pools."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from math import inf
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from headway.kinds import Amount
from headway.queueing.layers.decomposed.sources import Sources, Work
from headway.queueing.layers.numerics.cuts import leading, smallest_cut
from headway.records import dataclass


class Server(NamedTuple):
    """A processor or a task, by name."""

    name: str
    is_task: bool


Label: TypeAlias = tuple[str, object]
"""A source by its number, or the pool of threads of a task by its name."""


@dataclass(frozen=True)
class _Does:
    """The entries that a member or thread calls, and the processors that it uses."""

    asks: dict[str, Amount]
    at: set[str]


class Ways:
    """The ways on which requests come to servers, and the cuts through them.

    Parameters
    ----------
    sources
        The sources of a system.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources, self.system = sources, sources.system
        self._served = {
            work: sources.processor(work.entry)
            for works in sources.works
            for work in works
            if np.any(sources.use(work)[0])
        }
        self._does = self._own()
        self._edges: dict[Server, tuple[tuple[Any, Any], ...]] = {}
        self._cuts: dict[object, frozenset[Label]] = {}

    def label(self, source: int) -> Label:
        """The label of a source: for a second phase the pool of its task, whose threads run it."""
        own = self.sources.all[source].own
        if own is not None and own.second:
            return "pool", self.system.entries[own.entry].task
        return "source", source

    def is_at(self, work: Work, server: Server) -> bool:
        """Whether work is done at a server."""
        return not server.is_task and self._served.get(work) == server.name

    def cut(self, server: Server, members: Sequence[int], left: dict[str, int]) -> frozenset[Label]:
        """The populations and pools in a minimum cut between sources and a server."""
        if server not in self._edges:
            self._edges[server] = leading(self._all_edges(server), "to")
        edges = self._edges[server]
        room = [
            members[b[1]] if a == "from" else left[a[1]] if a[0] == "in" else inf for a, b in edges
        ]
        key = server, tuple(room)
        if key not in self._cuts:
            graph: dict[Hashable, dict[Hashable, float]] = {}
            for (a, b), most in zip(edges, room, strict=True):
                graph.setdefault(a, {})[b] = most
            self._cuts[key] = frozenset(
                self.label(b[1]) if a == "from" else ("pool", b[1])
                for a, b in smallest_cut(graph, "from", "to")
            )
        return self._cuts[key]

    def _all_edges(self, server: Server) -> Iterator[tuple[Any, Any]]:
        """Edges of the graph of ways to a server: from sources, and through pools."""
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
        """Tasks reached by requests for entries, also by forwarding, up to a server."""
        found: dict[str, None] = {}
        todo = list(entries)
        while todo:
            entry = self.system.entries[todo.pop()]
            found[entry.task] = None
            if entry.forwards and not self._is(entry.task, server):
                todo += entry.forwards
        return found

    def _own(self) -> dict[Label, "_Does"]:
        """Direct calls and processors of each source and each pool."""
        found: dict[Label, _Does] = {}
        for k, source in enumerate(self.sources.all):
            for work in self.sources.works[k]:
                task = self.system.entries[work.entry].task
                label: Label = ("source", k) if work == source.own else ("pool", task)
                does = found.setdefault(label, _Does({}, set()))
                does.asks.update(self.sources.calls(work.entry, second=work.second))
                does.at.update([self._served[work]] if work in self._served else [])
            if source.own is None:
                found["source", k] = _Does({source.entry: 1.0}, set())
        return found
