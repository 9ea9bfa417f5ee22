"""Who makes requests in a layered system, and how often they come where.

A source is a population whose members do one thing after the other: clients, the second phases of
an entry, which go on while the caller does something else, or requests that arrive from outside or
are sent, of which there is no end. A member holds a thread of every task below whose entries it
is (its stack), and is at one place at a time.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import TypeAlias

import numpy as np

from headway.kinds import Amount
from headway.queueing.layers.flow import (
    Choice,
    Flow,
    Series,
    Together,
    parts_within,
    replies,
    steps_of,
)
from headway.queueing.layers.numerics.stations import NEVER
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass

NOTHING = Series(())
"""A flow that does nothing."""


def phases(flow: Flow) -> tuple[Flow, Flow]:
    """What is done before the answer, and behind it.

    Examples
    --------
    >>> from headway.queueing.layers.flow import Reply, Step
    >>> before, after = phases(Series((Step("look"), Reply(), Step("note"))))
    >>> [step.name for step, _ in steps_of(before)], [step.name for step, _ in steps_of(after)]
    (['look'], ['note'])
    """
    if not replies(flow):
        return flow, NOTHING
    match flow:
        case Series(parts):
            at = next(k for k, part in enumerate(parts) if replies(part))
            before, after = phases(parts[at])
            return Series((*parts[:at], before)), Series((after, *parts[at + 1 :]))
        case Choice(ways):
            both = [(chance, phases(way)) for chance, way in ways]
            return (
                Choice(tuple((chance, before) for chance, (before, _) in both)),
                Choice(tuple((chance, after) for chance, (_, after) in both)),
            )
    return NOTHING, NOTHING


def no_phases(system: LayeredSystem) -> str:
    """Which entry has no phases of its own, one behind the other, in one line; empty if none.

    Where one of several branches replies, the others are done before and behind the answer.
    """
    for name, entry in system.entries.items():
        for part in parts_within(entry.flow):
            if isinstance(part, Together) and (part.behind or replies(part)):
                what = "replies inside branches at once"
                if part.behind:
                    what = "has branches that wait for others"
                return (
                    f"entry {name} {what}, which layers taken one by one cannot follow; use method "
                    "chain, or simulation"
                )
    return ""


@dataclass(frozen=True)
class Work:
    """What is done for an entry, in its second phase or not, for a source by its number."""

    source: int
    entry: str
    second: bool = False


Stacks: TypeAlias = Mapping[frozenset[str], Amount]
"""Tasks of which threads are held, with the share of visits."""

MOST_STACKS = 8
"""Ways to an entry that are told apart; chosen."""


@dataclass(frozen=True)
class Source:
    """A source of requests.

    Parameters
    ----------
    entry
        What a member does in a cycle: the entry of clients, the second phase of an entry, or to
        request one from outside.
    own
        What a member does itself; None outside.
    population
        Members; infinite outside.
    visits
        Requests for each entry that follow from a cycle.
    stacks
        Of each entry that it visits, the tasks of which a member holds a thread when it asks, with
        the share of its visits; where there are many ways, those that it surely holds.
    """

    entry: str
    own: Work | None
    population: float
    visits: Mapping[str, Amount]
    stacks: Mapping[str, Stacks]


class Sources:
    """The sources of a system, and what they do at its servers.

    Parameters
    ----------
    system
        Its numbers may be arrays of operating points; threads and servers are scalars.
    """

    def __init__(self, system: LayeredSystem) -> None:
        self.system = system
        self.flows: dict[tuple[str, bool], Flow] = {}
        for name, entry in system.entries.items():
            self.flows[name, False], self.flows[name, True] = phases(entry.flow)
        self._calls = {phase: _calls(flow) for phase, flow in self.flows.items()}
        self.sent = {called for entry in system.entries.values() for called, _ in entry.sends()}
        self.all = tuple(
            self._source(k, name, population, second=second)
            for k, (name, second, population) in enumerate(self._found())
        )
        self.works = tuple(dict(self._works(k)) for k in range(len(self.all)))
        self.of: dict[str, list[int]] = {}
        for k, source in enumerate(self.all):
            self.of.setdefault(source.entry, []).append(k)

    def _found(self) -> Iterator[tuple[str, bool, float]]:
        """The entry of each source, whether it is a second phase, and its population."""
        for name in self.system.callers_first:
            entry = self.system.entries[name]
            task = self.system.tasks[entry.task]
            if task.clients:
                yield name, False, float(task.threads)
            elif np.any(entry.arrival_rate) or name in self.sent:
                yield name, False, inf
            if self.lasts(name):
                yield name, True, float(task.threads)

    def _source(self, number: int, name: str, population: float, *, second: bool) -> Source:
        task = self.system.entries[name].task
        inside = second or self.system.tasks[task].clients
        own = Work(number, name, second) if inside else None
        asked = self.calls(name, second=second) if inside else {name: 1.0}
        start = frozenset({task} if second else ())
        ways: dict[str, dict[frozenset[str], Amount]] = {
            called: {start: mean} for called, mean in asked.items()
        }
        for each in self.system.callers_first:
            if each in ways:
                ways[each] = _few(ways[each])
                passed = self.system.entries[each].forwards
                for stack, often in ways[each].items():
                    below = stack | {self.system.entries[each].task}
                    for held, onward in ((below, self.calls(each)), (stack, passed)):
                        for called, mean in onward.items():
                            into = ways.setdefault(called, {})
                            into[held] = into.get(held, 0.0) + often * mean
        visits = {called: sum(each.values()) for called, each in ways.items()}
        stacks = {
            called: {
                held: often / np.maximum(visits[called], NEVER) for held, often in each.items()
            }
            for called, each in ways.items()
        }
        return Source(name, own, population, visits, stacks)

    def lasts(self, entry: str) -> bool:
        """Whether an entry has a second phase."""
        return next(steps_of(self.flows[entry, True]), None) is not None

    def calls(self, entry: str, *, second: bool = False) -> dict[str, Amount]:
        """Mean calls of a phase, by entry."""
        return self._calls[entry, second]

    def use(self, work: Work) -> tuple[Amount, Amount]:
        """Mean slices at the processor and their time in all [s], of work once done."""
        slices: Amount = 0.0
        time: Amount = 0.0
        speed = self.system.processors[self.processor(work.entry)].speed
        for step, times in steps_of(self.flows[work.entry, work.second]):
            slices = slices + times * step.slices * np.not_equal(step.demand, 0)
            time = time + times * step.demand / speed
        return slices, time

    def processor(self, entry: str) -> str:
        """Where the steps of an entry run."""
        return self.system.tasks[self.system.entries[entry].task].processor

    def _works(self, number: int) -> Iterator[tuple[Work, Amount]]:
        """All that a source does, with how often in a cycle."""
        source = self.all[number]
        if source.own is not None:
            yield source.own, 1.0
        yield from ((Work(number, name), visits) for name, visits in source.visits.items())

    def held(self, work: Work) -> Stacks:
        """Tasks of which a thread is held where work is done, with the share of each way."""
        own = self.all[work.source].own
        task = self.system.entries[work.entry].task
        if work == own:
            return {frozenset({task} if work.second else ()): 1.0}
        stacks = self.all[work.source].stacks[work.entry]
        return {stack | {task}: share for stack, share in stacks.items()}


def _few(ways: dict[frozenset[str], Amount]) -> dict[frozenset[str], Amount]:
    """Ways to an entry, or what all of them share where they are many."""
    if len(ways) <= MOST_STACKS:
        return ways
    return {frozenset.intersection(*ways): sum(ways.values())}


def _calls(flow: Flow) -> dict[str, Amount]:
    """Mean calls of a flow, by entry."""
    found: dict[str, Amount] = {}
    for step, times in steps_of(flow):
        for called, mean in step.calls.items():
            found[called] = found.get(called, 0.0) + times * mean
    return found
