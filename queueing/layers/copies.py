"""Replicas of tasks and processors: one task for each copy, and the means per copy.

All numbers of a task or a processor are those of one copy. By default a call goes to any copy of
the called task with equal probability, as calls to replicas of a station do. With a fan-out f, copy
i of the caller calls the copies i f, ..., i f + f - 1 (modulo their number), each with the whole
mean number of calls: the fan-out of layered queueing networks. Copies of a task are placed on the
copies of its processor in equal blocks.

The results of the copies are averaged over their requests. If all copies are treated alike, as they
are unless fan-outs cross, the average is also the result of each copy.

Source: Franks and others, *Layered Queueing Network Solver and Simulator User Manual*, Replication.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount
from headway.queueing.layers.flow import Step, with_steps
from headway.queueing.layers.means import EntryMeans, LayeredMeans
from headway.queueing.layers.numerics.stations import NEVER
from headway.queueing.layers.parts import Entry, Task
from headway.queueing.layers.system import LayeredSystem

MOST_COPIES = 1_000
"""The largest number of copies of all tasks together, as each copy is solved as a task. Chosen."""


def has_copies(system: LayeredSystem) -> bool:
    """Whether any task has more than one copy, at any operating point."""
    return any(np.any(np.not_equal(task.replicas, 1)) for task in system.tasks.values())


def written_out(system: LayeredSystem) -> LayeredSystem:
    """The same system with a task for each copy.

    Parameters
    ----------
    system
        With the same number of copies at all of its operating points.

    Raises
    ------
    GraphError, InvalidParameter
        For too many copies, and for a fixed number of calls that does not divide among copies.

    Examples
    --------
    >>> from headway.queueing.layers.parts import Processor
    >>> two = LayeredSystem(
    ...     "two",
    ...     {"here": Processor(np.inf), "disk": Processor(replicas=2)},
    ...     {"users": Task("here", 3, clients=True), "store": Task("disk", replicas=2)},
    ...     {
    ...         "use": Entry("users", Step("use", 1.0, calls={"read": 3.0})),
    ...         "read": Entry("store", Step("read", 0.1)),
    ...     },
    ... )
    >>> list(written_out(two).tasks)
    ['users', 'store (1)', 'store (2)']
    >>> dict(written_out(two).entries["use"].calls())
    {'read (1)': 1.5, 'read (2)': 1.5}
    """
    counts = {name: int(task.replicas) for name, task in system.tasks.items()}
    if sum(counts.values()) > MOST_COPIES:
        msg = (
            f"{system.name}: {sum(counts.values()):,} copies of tasks are too many; there may be "
            f"{MOST_COPIES:,}"
        )
        raise GraphError(msg)
    processors = {
        copy: replace(one, replicas=1.0)
        for name, one in system.processors.items()
        for copy in _copies(name, int(one.replicas))
    }
    tasks: dict[str, Task] = {}
    entries: dict[str, Entry] = {}
    for name, task in system.tasks.items():
        places = _copies(task.processor, int(system.processors[task.processor].replicas))
        for i, copy in enumerate(_copies(name, counts[name])):
            place = places[i * len(places) // counts[name]]
            tasks[copy] = replace(task, processor=place, replicas=1.0, fan_out={})
            calls = _Calls(system, task, i)
            for called in system.entries_of[name]:
                own = _copies(called, counts[name])[i]
                entries[own] = calls.entry(copy, system.entries[called])
    return LayeredSystem(system.name, processors, tasks, entries)


def per_copy(means: LayeredMeans, system: LayeredSystem) -> LayeredMeans:
    """The means per copy, from the means of the system that was written out.

    Parameters
    ----------
    means
        Means of the system with a task for each copy.
    system
        The system before its copies were written out.
    """
    entries = {
        name: averaged([means.entries[copy] for copy in _copies(name, count)])
        for name, count in _counts(system)
    }
    return LayeredMeans(system, entries, means.approximation)


def averaged(copies: list[EntryMeans]) -> EntryMeans:
    """Mean throughput of a copy, and mean times over the requests of all copies.

    Examples
    --------
    >>> one = averaged([EntryMeans(1.0, 0.0, 2.0, 0.0), EntryMeans(3.0, 4.0, 2.0, 0.0)])
    >>> float(one.throughput), float(one.waiting_time), float(one.first_phase)
    (2.0, 3.0, 2.0)
    """
    if len(copies) == 1:
        return copies[0]
    whole = sum(one.throughput for one in copies)
    shares = [one.throughput / np.maximum(whole, NEVER) for one in copies]

    def mean(times: list[Amount]) -> Amount:
        return sum(share * time for share, time in zip(shares, times, strict=True))

    return EntryMeans(
        whole / len(copies),
        mean([one.waiting_time for one in copies]),
        mean([one.first_phase for one in copies]),
        mean([one.second_phase for one in copies]),
    )


def _counts(system: LayeredSystem) -> Iterator[tuple[str, int]]:
    """Entries, with the number of copies of their task."""
    for name, entry in system.entries.items():
        yield name, int(system.tasks[entry.task].replicas)


def _copies(name: str, count: int) -> list[str]:
    """Names of the copies: a single copy keeps the name of its task or processor."""
    return [name] if count == 1 else [f"{name} ({k})" for k in range(1, count + 1)]


class _Calls:
    """The calls of one copy of a task."""

    def __init__(self, system: LayeredSystem, task: Task, copy: int) -> None:
        self.system, self.task, self.copy = system, task, copy

    def entry(self, task: str, entry: Entry) -> Entry:
        """The entry of this copy of a task."""
        forwards = {
            copy: chance / len(chosen)
            for name, chance in entry.forwards.items()
            for chosen, _ in [self.chosen(name)]
            for copy in chosen
        }
        return replace(entry, task=task, flow=with_steps(entry.flow, self.step), forwards=forwards)

    def chosen(self, entry: str) -> tuple[list[str], float]:
        """Copies of an entry that this copy calls, and the share of the mean calls to each."""
        owner = self.system.entries[entry].task
        copies = _copies(entry, int(self.system.tasks[owner].replicas))
        if owner not in self.task.fan_out:
            return copies, 1 / len(copies)
        fan = int(self.task.fan_out[owner])
        return [copies[(self.copy * fan + k) % len(copies)] for k in range(fan)], 1.0

    def step(self, step: Step) -> Step:
        """The step with its calls spread over copies."""
        calls, sends = (self.spread(each, fixed=step.fixed) for each in (step.calls, step.sends))
        return replace(step, calls=calls, sends=sends)

    def spread(self, calls: Mapping[str, Amount], *, fixed: bool) -> dict[str, Amount]:
        found: dict[str, Amount] = {}
        for entry, mean in calls.items():
            chosen, share = self.chosen(entry)
            if fixed and np.any(np.mod(mean * share, 1)):
                owner = self.system.entries[entry].task
                msg = (
                    f"calls to {entry} choose any of {len(chosen)} replicas of {owner}, so their "
                    f"number at each is not fixed: leave fixed out, or give fan_out to {owner}"
                )
                raise GraphError(msg)
            found |= dict.fromkeys(chosen, mean * share)
        return found
