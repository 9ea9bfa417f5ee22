"""The score and the state of the event loop as objects, and the pool of its jobs."""

from collections.abc import Sequence
from itertools import takewhile

from headway.queueing.layers.states.rows import (
    Clock,
    EntryRow,
    InstructionRow,
    Job,
    Journey,
    PlaceRow,
    Queue,
    Tally,
    WayRow,
)
from headway.queueing.playing.lines import append
from headway.queueing.playing.rows import (
    NONE,
    Event,
    IntArray,
    Law,
    Stream,
    read_rows,
    write_rows,
)


class Play:
    """The arrays of a score and a state as objects, one for each row.

    Parameters
    ----------
    score, state
        The arrays, with rows as flat int64.
    """

    def __init__(self, score: Sequence[IntArray], state: Sequence[IntArray]) -> None:
        self.instruction: list[InstructionRow] = read_rows(InstructionRow, score[0])
        self.way: list[WayRow] = read_rows(WayRow, score[1])
        self.law: list[Law] = read_rows(Law, score[2])
        self.entry: list[EntryRow] = read_rows(EntryRow, score[3])
        self.place: list[PlaceRow] = read_rows(PlaceRow, score[4])
        self.table: list[float] = []
        self.clock: Clock = read_rows(Clock, state[0])[0]
        self.queue: list[Queue] = read_rows(Queue, state[1])
        self.tally: list[Tally] = read_rows(Tally, state[2])
        self.job: list[Job] = read_rows(Job, state[3])
        self.at: list[int] = state[4].tolist()
        self.event: list[Event] = read_rows(Event, state[5])
        self.stream: list[Stream] = read_rows(Stream, state[6])
        self.journey: list[Journey] = read_rows(Journey, state[7])
        self.tasks = len(list(takewhile(lambda place: place.processor != NONE, self.place)))
        self.now: float = self.clock.now
        self.hole = False

    def write(self, state: Sequence[IntArray]) -> None:
        """Write the objects back to the state."""
        write_rows(Clock, state[0], [self.clock])
        write_rows(Queue, state[1], self.queue)
        write_rows(Tally, state[2], self.tally)
        write_rows(Job, state[3], self.job)
        state[4][:] = self.at
        write_rows(Event, state[5], self.event)
        write_rows(Stream, state[6], self.stream)
        write_rows(Journey, state[7], self.journey)


# The pool of jobs, and the line of tokens that can go on


def take(p: Play, entry: int) -> int:
    """Take a new job, for a request or a token."""
    j = p.clock.unused
    p.clock.unused = p.job[j].next
    p.clock.jobs += 1
    p.job[j] = Job(entry, thread=j)
    return j


def drop(p: Play, j: int) -> None:
    """Give a job back to the pool."""
    p.job[j].spawned, p.job[j].next = NONE, p.clock.unused
    p.clock.unused = j
    p.clock.jobs -= 1


def ready(p: Play, j: int) -> None:
    """Put a token into the line of those that can go on."""
    p.clock.first, p.clock.last = append(p, p.clock.first, p.clock.last, j)


def go_on(p: Play, j: int) -> None:
    """Put a token into the line of those that can go on, at its next instruction."""
    p.job[j].address += 1
    ready(p, j)
