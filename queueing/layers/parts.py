"""The parts of a layered system: processors, tasks on them, and the entries that tasks offer."""

from collections.abc import Iterator, Mapping
from dataclasses import field

import numpy as np

from headway.kinds import Amount
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import Flow, steps_of
from headway.records import dataclass


def is_unlimited(number: Amount) -> bool:
    """Whether a number of servers or threads is unlimited, as it is at all points or at none."""
    return bool(np.isinf(number).any())


@dataclass(frozen=True)
class Processor:
    """A device that runs the steps of tasks.

    Parameters
    ----------
    servers
        Number of servers, 1 or more; infinite for a delay.
    discipline
        Queueing discipline; by default all jobs share the servers.
    speed
        Factor that demands are divided by, above 0.
    replicas
        Number of copies, each with so many servers, 1 or more.
    """

    servers: Amount = 1.0
    discipline: Discipline = Discipline.SHARING
    speed: Amount = 1.0
    replicas: Amount = 1.0


@dataclass(frozen=True)
class Task:
    """A pool of threads that serve the same entries.

    Parameters
    ----------
    processor
        The processor that its steps run on.
    threads
        Number of threads, 1 or more; infinite for no limit. For clients, their number.
    think_time
        Mean time from an answer to the next request, for clients [s], 0 or more.
    clients
        Whether its threads are clients: they serve no requests, and start a new cycle after each.
    discipline
        Order in which waiting requests get a thread.
    priority
        Of its steps at the processor, and of its requests in queues; higher numbers go first.
    replicas
        Number of copies, each with so many threads or clients and a queue of its own; a multiple of
        the copies of its processor.
    fan_out
        For each called task, how many of its copies one copy calls, each with the whole mean number
        of calls. Calls to a task that is not listed go to any of its copies at random.
    """

    processor: str
    threads: Amount = 1.0
    think_time: Amount = 0.0
    clients: bool = False
    discipline: Discipline = Discipline.FCFS
    priority: int = 1
    replicas: Amount = 1.0
    fan_out: Mapping[str, Amount] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A service that a task offers.

    Parameters
    ----------
    task
        The task whose threads serve it.
    flow
        What a thread does for a request. If it has no reply, the reply is at its end.
    arrival_rate
        Requests from outside, which nobody in the system waits for [1/s], 0 or more.
    forwards
        Probability that a request is passed on to another entry instead of answered; that entry
        then answers the caller. With the remaining probability it is answered here.
    priority
        Of requests for this entry in the queue for a thread.
    meets
        For a meeting, which nobody calls: the other entries of its task. When the thread has done
        the flow of each of them once, for one request each, it does this flow for all of these
        requests, and answers those that it has not answered. Until then it takes no second request
        for any of them. Empty for other entries.
    """

    task: str
    flow: Flow
    arrival_rate: Amount = 0.0
    forwards: Mapping[str, Amount] = field(default_factory=dict)
    priority: int = 1
    meets: tuple[str, ...] = ()

    def calls(self) -> Iterator[tuple[str, Amount]]:
        """Entries called with a reply that the thread waits for, and the mean calls per request."""
        for step, times in steps_of(self.flow):
            yield from ((called, times * mean) for called, mean in step.calls.items())

    def sends(self) -> Iterator[tuple[str, Amount]]:
        """Entries sent messages without waiting, and the mean messages per request."""
        for step, times in steps_of(self.flow):
            yield from ((called, times * mean) for called, mean in step.sends.items())

    def requests(self) -> Iterator[tuple[str, Amount]]:
        """Mean requests made per request, by entry: calls, messages and forwarded requests."""
        yield from self.calls()
        yield from self.sends()
        yield from self.forwards.items()

    @property
    def uses(self) -> tuple[str, ...]:
        """Every entry to which this one makes requests."""
        return tuple(dict(self.requests()))
