"""The sources of requests in a layered system, and how often their requests come to each entry.

A source is a population whose members do one thing after another: clients; the second phases of an
entry, which go on while the caller does something else; or requests that arrive from outside or are
sent as messages, whose number is unlimited. A member holds a thread of every task that it has
entered (its stack), and is at one place at a time.
"""

from collections.abc import Iterator, Mapping
from math import inf
from typing import NamedTuple, TypeAlias

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
from headway.queueing.layers.meetings import no_lone_requests
from headway.queueing.layers.numerics.stations import NEVER
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass

NOTHING = Series(())
"""A flow that does nothing."""


def phases(flow: Flow) -> tuple[Flow, Flow]:
    """The flow before the answer, and the flow after it (first and second phase).

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
    """The entry that has no separate first and second phase, in one line; empty if all have.

    If one of several parallel branches replies, the other branches run before and after the answer;
    so do those that are not waited for, and they hold the thread.
    """
    for name, entry in system.entries.items():
        limited = np.any(np.isfinite(system.tasks[entry.task].threads))
        for part in parts_within(entry.flow):
            if isinstance(part, Together) and (what := _beyond_phases(part, limited=bool(limited))):
                return (
                    f"entry {name} {what}, which layers solved one at a time cannot follow; use "
                    "method chain, or simulation"
                )
    return no_lone_requests(system)


def _beyond_phases(fork: Together, *, limited: bool) -> str:
    """What branches do that is neither before nor after an answer; empty if nothing."""
    if fork.behind:
        return "has branches that wait for others"
    if replies(fork):
        return "replies inside branches at once"
    if limited and fork.needed < len(fork.branches):
        return "has branches that hold its thread after others have ended"
    return ""


class Work(NamedTuple):
    """What a source, by its number, does for an entry in its first or second phase."""

    source: int
    entry: str
    second: bool = False


Stacks: TypeAlias = Mapping[frozenset[str], Amount]
"""Sets of tasks whose threads are held, each with its share of visits."""

MOST_STACKS = 8
"""Most ways to an entry that are kept apart; chosen."""


@dataclass(frozen=True)
class Source:
    """A source of requests.

    Parameters
    ----------
    entry
        The entry of its cycle: that of clients, that of a second phase, or the entry requested from
        outside.
    own
        The work of a member itself; None for requests from outside.
    population
        Number of members; infinite from outside.
    visits
        Mean requests for each entry per cycle.
    stacks
        For each entry visited, the sets of tasks whose threads a member holds when it asks, with
        their shares of visits; if there are too many ways, only the tasks held on all of them.
    """

    entry: str
    own: Work | None
    population: Amount
    visits: Mapping[str, Amount]
    stacks: Mapping[str, Stacks]


class Sources:
    """The sources of a system, and their work.

    Parameters
    ----------
    system
        The system; its numbers may be arrays over operating points. Threads and servers are
        unlimited at all of them or at none.
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

    def _found(self) -> Iterator[tuple[str, bool, Amount]]:
        """The entry of each source, whether it is a second phase, and its population."""
        for name in self.system.callers_first:
            entry = self.system.entries[name]
            task = self.system.tasks[entry.task]
            if task.clients:
                yield name, False, task.threads
            elif np.any(entry.arrival_rate) or name in self.sent:
                yield name, False, inf
            if self.lasts(name):
                yield name, True, task.threads

    def _source(self, number: int, name: str, population: Amount, *, second: bool) -> Source:
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
        """Mean slices at the processor, and their total time [s], when work is done once."""
        slices: Amount = 0.0
        time: Amount = 0.0
        speed = self.system.processors[self.processor(work.entry)].speed
        for step, times in steps_of(self.flows[work.entry, work.second]):
            slices = slices + times * step.slices * np.not_equal(step.demand, 0)
            time = time + times * step.demand / speed
        return slices, time

    def processor(self, entry: str) -> str:
        """The processor on which the steps of an entry run."""
        return self.system.tasks[self.system.entries[entry].task].processor

    def _works(self, number: int) -> Iterator[tuple[Work, Amount]]:
        """All work of a source, with how often it is done per cycle."""
        source = self.all[number]
        if source.own is not None:
            yield source.own, 1.0
        yield from ((Work(number, name), visits) for name, visits in source.visits.items())

    def requests(self, number: int) -> Iterator[tuple[Stacks, Mapping[str, Amount], Amount]]:
        """Requests of a source: the tasks held on each way, the entries, and how often it is so."""
        source = self.all[number]
        if source.own is None:
            yield {frozenset(): 1.0}, {source.entry: 1.0}, 1.0
        for work, often in self.works[number].items():
            yield self.held(work), self.calls(work.entry, second=work.second), often
            if work != source.own:
                yield source.stacks[work.entry], self.system.entries[work.entry].forwards, often

    def held(self, work: Work) -> Stacks:
        """Sets of tasks whose threads are held while work is done, with the share of each way."""
        own = self.all[work.source].own
        task = self.system.entries[work.entry].task
        if work == own:
            return {frozenset({task} if work.second else ()): 1.0}
        stacks = self.all[work.source].stacks[work.entry]
        return {stack | {task}: share for stack, share in stacks.items()}


def _few(ways: dict[frozenset[str], Amount]) -> dict[frozenset[str], Amount]:
    """The ways to an entry; if there are too many, a single one with the tasks common to all."""
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
