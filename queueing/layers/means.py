"""Means of a layered system: those found for each entry, and others that follow from them."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount
from headway.queueing.layers.numerics.stations import NEVER
from headway.queueing.layers.system import LayeredSystem
from headway.records import dataclass


@dataclass(frozen=True)
class EntryMeans:
    """Means of the requests for an entry, each an array over the operating points.

    Parameters
    ----------
    throughput
        Requests served [1/s].
    waiting_time
        From the request until a thread takes it [s].
    first_phase
        From there to the answer [s]. For clients, a cycle without its think time.
    second_phase
        From the answer until the thread is free [s].

    Examples
    --------
    >>> one = EntryMeans(2.0, 0.1, 0.3, 0.2)
    >>> one.response_time, one.busy
    (0.4, 1.0)
    """

    throughput: Amount
    waiting_time: Amount
    first_phase: Amount
    second_phase: Amount

    @property
    def response_time(self) -> Amount:
        """Response time as the caller sees it, W + S1 [s]."""
        return self.waiting_time + self.first_phase

    @property
    def busy(self) -> Amount:
        """Mean threads busy with requests for this entry, X (S1 + S2)."""
        return self.throughput * (self.first_phase + self.second_phase)

    @property
    def queue_length(self) -> Amount:
        """Mean requests that wait for a thread, X W."""
        return self.throughput * self.waiting_time


@dataclass(frozen=True)
class LayeredMeans:
    """The means of a layered system.

    Parameters
    ----------
    system
        The system that was solved.
    entries
        Means of each entry, including entries of clients.
    approximation
        What is not exact, in words; empty for an exact solution.
    """

    system: LayeredSystem
    entries: Mapping[str, EntryMeans]
    approximation: str = ""

    def throughput(self, task: str) -> Amount:
        """Requests that a task serves, or cycles of clients [1/s]."""
        return sum(self.entries[name].throughput for name in self.system.holding[task])

    def busy(self, task: str) -> Amount:
        """Mean busy threads of a task; for clients, those who are not thinking."""
        return sum(self.entries[name].busy for name in self.system.holding[task])

    def utilisation(self, task: str) -> Amount:
        """Share of a task's threads that is busy; 0 if their number is infinite."""
        return self.busy(task) / self.system.tasks[task].threads

    def busy_servers(self, processor: str) -> Amount:
        """Mean busy servers of a processor, X D / speed, per copy of the processor."""
        place, busy = self.system.processors[processor], 0.0
        for name, step, times in self.system.steps_at[processor]:
            here = self.system.tasks[self.system.entries[name].task].replicas / place.replicas
            rate = self.entries[name].throughput * here
            busy = busy + rate * times * step.demand / place.speed
        return busy

    def use(self, processor: str) -> Amount:
        """Utilisation of a processor; the mean busy servers if their number is infinite."""
        busy = self.busy_servers(processor)
        servers = self.system.processors[processor].servers
        return np.where(np.isinf(servers), busy, busy / np.where(np.isinf(servers), 1.0, servers))

    def uses(self) -> dict[str, Amount]:
        """Utilisation of each pool of threads, except clients, and of each finite processor."""
        pools = {
            f"the threads of {name}": self.utilisation(name)
            for name, task in self.system.tasks.items()
            if not task.clients
        }
        return pools | {
            f"processor {name}": self.use(name)
            for name, one in self.system.processors.items()
            if not np.isinf(one.servers).any()
        }

    def busiest(self) -> Amount:
        """The largest utilisation of `uses`."""
        return np.max(np.broadcast_arrays(0.0, *self.uses().values()), axis=0)

    def endless(self, over: NDArray[np.bool_]) -> "LayeredMeans":
        """The same where waiting has no end at some operating points."""
        entries = {
            name: replace(one, waiting_time=np.where(over, np.inf, one.waiting_time))
            for name, one in self.entries.items()
        }
        return replace(self, entries=entries)

    def from_outside(self) -> "LayeredMeans":
        """The means of requests that follow from arrivals, without those of clients.

        Arrivals do not slow down when requests wait, so a pool or processor that they fill is
        saturated. Clients may fill what is left, as each comes again only after its answer.
        """
        system, flows = self.system, dict.fromkeys(self.system.entries, (0.0, 0.0))
        for source, counts in visits(system).items():
            task = system.tasks[system.entries[source].task]
            rate = self.entries[source].throughput if task.clients else 0.0
            rate = (rate + system.entries[source].arrival_rate) * task.replicas
            for name, count in counts.items():
                outside, every = flows[name]
                flow = rate * count
                flows[name] = outside + (0.0 if task.clients else flow), every + flow
        entries = dict(self.entries)
        for name, (outside, every) in flows.items():
            rate = self.entries[name].throughput * outside / np.maximum(every, NEVER)
            entries[name] = replace(entries[name], throughput=rate)
        return replace(self, entries=entries)


def visits(system: LayeredSystem) -> dict[str, dict[str, Amount]]:
    """Requests for each entry by source: for one cycle of clients, for one arrival from outside.

    Sources are entries of clients, and entries with arrivals. A meeting is counted with the first
    of the entries that it meets, as it is as frequent as each of them.

    Examples
    --------
    >>> from headway.queueing.layers.flow import Step
    >>> from headway.queueing.layers.parts import Entry, Processor, Task
    >>> two = LayeredSystem(
    ...     "two",
    ...     {"cpu": Processor()},
    ...     {"users": Task("cpu", 5, clients=True), "disk": Task("cpu")},
    ...     {
    ...         "use": Entry("users", Step("use", 0.1, calls={"read": 3.0})),
    ...         "read": Entry("disk", Step("read", 0.1)),
    ...     },
    ... )
    >>> visits(two)
    {'use': {'use': 1.0, 'read': 3.0}}
    """
    entries, found = system.entries, {}
    requests = {name: [*entries[name].requests()] for name in system.callers_first}
    for name, entry in entries.items():
        for first in entry.meets[:1]:
            requests[first].append((name, 1.0))
    for source, entry in entries.items():
        if system.tasks[entry.task].clients or np.any(entry.arrival_rate):
            count: dict[str, Amount] = dict.fromkeys(entries, 0.0)
            count[source] = 1.0
            for name, made in requests.items():
                for other, mean in made:
                    count[other] = count[other] + count[name] * mean
            found[source] = count
    return found
