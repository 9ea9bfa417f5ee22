"""What a layered system is made of: processors, tasks on them, and the entries that tasks offer."""

from collections.abc import Iterator, Mapping
from dataclasses import field

from headway.kinds import Amount
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.layers.flow import Flow, steps_of
from headway.records import dataclass


@dataclass(frozen=True)
class Processor:
    """A device that runs the steps of tasks.

    Parameters
    ----------
    servers
        How many there are, 1 or more; infinity for a delay.
    discipline
        Who is served; by default all share the servers.
    speed
        By which demands are divided, above 0.
    replicas
        Copies of it, each with so many servers, 1 or more.
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
        Where its steps run.
    threads
        How many there are, 1 or more; infinity for no limit. Of clients, how many there are.
    think_time
        Mean time from an answer to the next request, for clients [s], 0 or more.
    clients
        Whether its threads are clients: they serve nobody, and begin anew when they are done.
    discipline
        In which order requests get a thread.
    priority
        Of its steps at the processor, and of its requests in queues; the highest number first.
    replicas
        Copies of it, each with so many threads, or clients, and a queue of its own; a multiple of
        those of its processor.
    fan_out
        By task: how many of its copies each copy calls, with the mean number given to each. A task
        that is not here has its calls shared at random among all of its copies.
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
        Whose threads serve it.
    flow
        What a thread does for a request. Without a reply in it, the reply is at its end.
    arrival_rate
        Requests from outside, for whose answer nobody in the system waits [1/s], 0 or more.
    forwards
        Probability that a request is passed on to another entry in place of a reply; that entry
        answers whoever waits. What is left of 1 is answered here.
    priority
        Of requests for this entry in the queue for a thread.
    """

    task: str
    flow: Flow
    arrival_rate: Amount = 0.0
    forwards: Mapping[str, Amount] = field(default_factory=dict)
    priority: int = 1

    def calls(self) -> Iterator[tuple[str, Amount]]:
        """Entries whose reply a thread waits for, with the mean number for a request."""
        for step, times in steps_of(self.flow):
            yield from ((called, times * mean) for called, mean in step.calls.items())

    def sends(self) -> Iterator[tuple[str, Amount]]:
        """Entries to which it sends messages without waiting, with the mean number."""
        for step, times in steps_of(self.flow):
            yield from ((called, times * mean) for called, mean in step.sends.items())

    def requests(self) -> Iterator[tuple[str, Amount]]:
        """Requests that follow from one, by entry: calls, messages, and what is forwarded."""
        yield from self.calls()
        yield from self.sends()
        yield from self.forwards.items()

    @property
    def uses(self) -> tuple[str, ...]:
        """Every entry that gets requests from here."""
        return tuple(dict(self.requests()))
