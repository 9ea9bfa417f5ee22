"""A layered system: tasks in layers, whose threads are held while they wait for lower layers."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from headway.kinds import Amount
from headway.queueing.layers.checks import (
    check_circles,
    check_copies,
    check_flow,
    check_meetings,
    check_names,
    check_numbers,
    check_time,
    check_use,
)
from headway.queueing.layers.flow import (
    Choice,
    Flow,
    Loop,
    Series,
    Step,
    Together,
    replies,
    steps_of,
)
from headway.queueing.layers.parts import Entry, Processor, Task
from headway.queueing.network.subject import Subject
from headway.records import dataclass


@dataclass(frozen=True)
class LayeredSystem:
    """Processors, tasks and entries by name, checked when it is made.

    Parameters
    ----------
    name
        Used in messages.
    processors, tasks, entries
        By name. Numbers are scalars, or arrays of operating points of one shape.

    Raises
    ------
    GraphError
        For what cannot run: names that are not there, entries that nobody calls, calls in a
        circle, probabilities that do not sum to 1, replies that are missing or come twice.

    Examples
    --------
    >>> web = Step("page", 0.01, calls={"read": 2.0})
    >>> system = LayeredSystem(
    ...     "shop",
    ...     {"users": Processor(np.inf), "cpu": Processor(), "disk": Processor()},
    ...     {
    ...         "users": Task("users", 5, 1.0, clients=True),
    ...         "web": Task("cpu", 2),
    ...         "database": Task("disk"),
    ...     },
    ...     {
    ...         "use": Entry("users", Step("use", calls={"page": 1.0})),
    ...         "page": Entry("web", web),
    ...         "read": Entry("database", Step("read", 0.005)),
    ...     },
    ... )
    >>> [sorted(layer) for layer in system.layers]
    [['users'], ['web'], ['database']]
    """

    name: str
    processors: Mapping[str, Processor]
    tasks: Mapping[str, Task]
    entries: Mapping[str, Entry]

    def __post_init__(self) -> None:
        check_numbers(self.processors, self.tasks, self.entries)
        check_names(self.processors, self.tasks, self.entries)
        check_meetings(self.tasks, self.entries)
        for name, entry in self.entries.items():
            check_flow(name, entry, self.owed[name], clients=self.tasks[entry.task].clients)
        check_copies(self.processors, self.tasks)
        check_circles(self.tasks, self.entries)
        check_use(self.name, self.tasks, self.entries)
        check_time(self.tasks, self.entries)

    def at_points(
        self,
        processors: Mapping[str, Processor],
        tasks: Mapping[str, Task],
        entries: Mapping[str, Entry],
    ) -> "LayeredSystem":
        """The system at some of its operating points, without checking it again."""
        made = object.__new__(LayeredSystem)
        vars(made).update(name=self.name, processors=processors, tasks=tasks, entries=entries)
        return made

    kinds: ClassVar[tuple[()]] = ()
    """Empty: a layered system has no classes of jobs at stations."""

    subject: ClassVar[Subject] = Subject.LAYERED
    """The kind of subject, for functions that look up methods."""

    @cached_property
    def found(self) -> dict[int, str]:
        """Needs of methods that the system does not meet, by need, with the reason."""
        return {}

    @cached_property
    def points(self) -> dict[int, "LayeredSystem"]:
        """Single operating points by number, kept as methods ask for them repeatedly."""
        return {}

    @cached_property
    def entries_of(self) -> dict[str, tuple[str, ...]]:
        """The entries of each task."""
        found: dict[str, list[str]] = {task: [] for task in self.tasks}
        for name, entry in self.entries.items():
            found[entry.task].append(name)
        return {task: tuple(own) for task, own in found.items()}

    @cached_property
    def meetings(self) -> dict[str, str]:
        """The meeting to which requests for an entry come, by entry, for those that meet others."""
        return {each: name for name, entry in self.entries.items() for each in entry.meets}

    @cached_property
    def asked(self) -> dict[str, tuple[str, ...]]:
        """The entries of each task that requests are for: all but meetings."""
        return {
            task: tuple(name for name in own if not self.entries[name].meets)
            for task, own in self.entries_of.items()
        }

    @cached_property
    def holding(self) -> dict[str, tuple[str, ...]]:
        """The entries of each task whose requests each hold a thread: a meeting, or all."""
        return {
            task: tuple(name for name in own if self.entries[name].meets) or own
            for task, own in self.entries_of.items()
        }

    @cached_property
    def owed(self) -> dict[str, tuple[str, ...]]:
        """For each entry, the entries whose requests its flow answers, at its end by default.

        A request that meets others is answered there, unless its own flow replies.
        """
        found = {}
        for name, entry in self.entries.items():
            own = () if name in self.meetings and not replies(entry.flow) else (name,)
            late = tuple(each for each in entry.meets if not replies(self.entries[each].flow))
            found[name] = late if entry.meets else own
        return found

    def onward(self, name: str) -> tuple[str, ...]:
        """Entries to which an entry makes requests, and the meeting to which its own come."""
        return (*self.entries[name].uses, *filter(None, [self.meetings.get(name)]))

    @cached_property
    def callers_first(self) -> tuple[str, ...]:
        """Entries in an order in which callers come before those that they call."""
        edges = [(name, other) for name in self.entries for other in self.onward(name)]
        import networkx as nx

        graph = nx.DiGraph(edges)
        graph.add_nodes_from(self.entries)
        return tuple(nx.lexicographical_topological_sort(graph))

    def answering(self, *, outside: bool) -> frozenset[str]:
        """Entries for whose answers somebody waits, and those that answer in their place.

        Parameters
        ----------
        outside
            Whether those who ask from outside count, besides who calls.
        """
        found = {other for entry in self.entries.values() for other, _ in entry.calls()}
        if outside:
            found |= {name for name, one in self.entries.items() if np.any(one.arrival_rate)}
        for name in self.callers_first:
            if name in found:
                found.update(self.entries[name].forwards)
        return frozenset(found)

    @cached_property
    def layers(self) -> tuple[frozenset[str], ...]:
        """Tasks by layer: clients and tasks called from outside only, then those they call."""
        depth = dict.fromkeys(self.tasks, 0)
        callers = (self.entries[name] for name in self.callers_first)
        above = [(each.task, self.entries[other].task) for each in callers for other in each.uses]
        for _ in range(len(self.tasks) - 1):
            before = dict(depth)
            for upper, lower in above:
                if upper != lower:
                    depth[lower] = max(depth[lower], depth[upper] + 1)
            if depth == before:  # all at once, unless tasks call each other in a circle
                break
        levels = sorted(set(depth.values()))
        return tuple(frozenset(t for t in depth if depth[t] == level) for level in levels)

    @cached_property
    def is_open(self) -> bool:
        """Whether any requests arrive from outside."""
        return any(np.any(np.asarray(e.arrival_rate) > 0) for e in self.entries.values())

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Shape of the operating points."""
        numbers = [
            *(n for p in self.processors.values() for n in (p.servers, p.speed, p.replicas)),
            *(n for t in self.tasks.values() for n in (t.threads, t.think_time, t.replicas)),
            *(n for t in self.tasks.values() for n in t.fan_out.values()),
            *_of_entries(self.entries),
        ]
        return np.broadcast_shapes(*map(np.shape, numbers))

    @cached_property
    def varies(self) -> bool:
        """Whether any number of an entry is an array over operating points."""
        return any(map(np.ndim, _of_entries(self.entries)))

    @cached_property
    def steps_at(self) -> dict[str, tuple[tuple[str, Step, Amount], ...]]:
        """The steps at each processor, as `steps` has them."""
        found: dict[str, list[tuple[str, Step, Amount]]] = {name: [] for name in self.processors}
        for each in self.steps():
            found[self.tasks[self.entries[each[0]].task].processor].append(each)
        return {name: tuple(each) for name, each in found.items()}

    def steps(self) -> Iterator[tuple[str, Step, Amount]]:
        """Every step, with its entry and the mean number of times that it is done per request."""
        for name, entry in self.entries.items():
            for step, times in steps_of(entry.flow):
                yield name, step, times


def _of_entries(entries: Mapping[str, Entry]) -> Iterator[Amount]:
    for entry in entries.values():
        yield from (entry.arrival_rate, *entry.forwards.values(), *_numbers(entry.flow))


def _numbers(flow: Flow) -> Iterator[Amount]:
    match flow:
        case Step():
            yield from (flow.demand, flow.scv, flow.think_time)
            yield from (*flow.calls.values(), *flow.sends.values())
        case Series(parts) | Together(parts):
            for part in parts:
                yield from _numbers(part)
        case Choice(ways):
            for chance, way in ways:
                yield chance
                yield from _numbers(way)
        case Loop(body, mean):
            yield mean
            yield from _numbers(body)
