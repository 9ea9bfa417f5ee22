"""A score and a state as objects, and the indices of the streams of random numbers."""

from collections.abc import Sequence
from math import log
from typing import Any

from headway.models.simulating.playing.rows import (
    Branch,
    Class,
    Clock,
    Crowd,
    Gate,
    Job,
    Journey,
    Queue,
    Size,
    Source,
    Station,
    Way,
)
from headway.queueing.playing.chance import drawn
from headway.queueing.playing.rows import (
    Event,
    Law,
    Stream,
    read_rows,
    write_rows,
)


class Play:
    """A score and a state as objects, one per row."""

    def __init__(self, score: Sequence[Any], state: Sequence[Any]) -> None:
        self.station: list[Station] = read_rows(Station, score[0])
        self.class_: list[Class] = read_rows(Class, score[1])
        self.source: list[Source] = read_rows(Source, score[2])
        self.law: list[Law] = read_rows(Law, score[3])
        self.row: list[int] = score[4].tolist()
        self.way: list[Way] = read_rows(Way, score[5])
        self.speed: list[float] = score[6].tolist()
        self.pace: list[float] = score[7].tolist()
        self.visits: list[float] = score[8].tolist()
        self.branch: list[Branch] = read_rows(Branch, score[9])
        self.home: list[int] = score[10].tolist()
        self.size: list[Size] = read_rows(Size, score[11])
        self.table: list[float] = score[12].tolist()
        self.clock: Clock = read_rows(Clock, state[0])[0]
        self.queue: list[Queue] = read_rows(Queue, state[1])
        self.job: list[Job] = read_rows(Job, state[2])
        self.server: list[int] = state[3].tolist()
        self.at: list[int] = state[4].tolist()
        self.event: list[Event] = read_rows(Event, state[5])
        self.stream: list[Stream] = read_rows(Stream, state[6])
        self.gate: list[Gate] = read_rows(Gate, state[7])
        self.crowd: list[Crowd] = read_rows(Crowd, state[8])
        self.journey: list[Journey] = read_rows(Journey, state[9])
        self.left: list[int] = state[10].tolist()
        self.outcome: list[int] = state[11].tolist()
        self.stations, self.classes = len(self.station), len(self.class_)
        self.sources, self.queues = len(self.source), len(self.queue)
        self.laws, self.rows = len(self.law), len(self.row) - 1
        self.now: float = self.clock.now
        self.hole = False

    def write(self, state: Sequence[Any]) -> None:
        """Write the state back into its arrays."""
        write_rows(Clock, state[0], [self.clock])
        write_rows(Queue, state[1], self.queue)
        write_rows(Job, state[2], self.job)
        state[3][:], state[4][:] = self.server, self.at
        write_rows(Event, state[5], self.event)
        write_rows(Stream, state[6], self.stream)
        write_rows(Gate, state[7], self.gate)
        write_rows(Crowd, state[8], self.crowd)
        write_rows(Journey, state[9], self.journey)
        state[10][:], state[11][:] = self.left, self.outcome


def rounds_stream(p: Play, class_: int) -> int:
    """The stream for the rounds of a class."""
    return p.laws + p.rows + class_


def choice_stream(p: Play, station: int) -> int:
    """The stream for choices among the queues of a station."""
    return p.laws + p.rows + p.classes + station


def order_stream(p: Play, station: int) -> int:
    """The stream for the order of service at a station."""
    return choice_stream(p, station) + p.stations


def size_stream(p: Play, source: int) -> int:
    """The stream for the sizes of a source's batches."""
    return order_stream(p, p.stations) + source


def batch_size(p: Play, number: int) -> int:
    """Size of a source's next batch: k or more with probability more**(k - 1), or by a table."""
    source = p.source[number]
    if source.more > 0:
        return 1 + int(log(drawn(p, size_stream(p, number))) / log(source.more))
    if source.sizes == 1:
        return p.size[source.size].jobs
    chance = drawn(p, size_stream(p, number))
    k, last = source.size, source.size + source.sizes - 1
    while k < last and chance >= p.size[k].chance:
        k += 1
    return p.size[k].jobs
