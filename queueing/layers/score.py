"""A layered system as plain arrays for the event loop (its score), and the initial state.

Laws and streams of random numbers are those of instructions, then those of arrivals at entries;
further streams are for the order at each place. Places are tasks, then processors.
"""

from collections.abc import Iterator
from itertools import accumulate
from math import isinf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount
from headway.numerals import digits
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.ranks import keys_of
from headway.queueing.layers.parts import Processor, Task
from headway.queueing.layers.program import (
    Answer,
    Branch,
    Call,
    Gate,
    Instruction,
    Program,
    Send,
    Serve,
    Spawn,
    Tell,
    Wait,
    program_of,
)
from headway.queueing.layers.states.rows import (
    Clock,
    EntryRow,
    InstructionRow,
    Job,
    Journey,
    Kind,
    Order,
    PlaceRow,
    Queue,
    Tally,
    WayRow,
)
from headway.queueing.layers.system import LayeredSystem
from headway.queueing.playing.keys import key_of, streams_of
from headway.queueing.playing.laws import law_of
from headway.queueing.playing.rows import NONE, Event, IntArray, Law, RowArray, dtype_of, rows
from headway.records import dataclass

MOST_CLIENTS = 10**6
"""The largest number of clients; each takes some 200 bytes, and events at the start."""

_UNLIMITED = 2**62
_FULL = 1e-9  # probabilities that miss 1 by less than this count as 1
_SPARE = 64  # free jobs at the start
_JOURNEYS = 2**16  # response times that are collected from the state at a time
# instructions executed at one time before a loop is assumed, and more for each client
_STILL, _STILL_EACH = 1_000_000, 100


@dataclass(frozen=True, eq=False)
class LayeredScore:
    """The score: what is played, with each array in C order.

    Parameters
    ----------
    instructions, ways, laws, entries, places
        Arrays with rows of each class.
    clients
        Number of clients of each entry.
    rates
        Requests for each entry from outside [1/s].
    keys
        Key of each stream, from its name.
    """

    instructions: RowArray
    ways: RowArray
    laws: RowArray
    entries: RowArray
    places: RowArray
    clients: tuple[int, ...]
    rates: tuple[float, ...]
    keys: NDArray[np.uint64]


def score_of(system: LayeredSystem) -> LayeredScore:
    """The score of a system at one operating point.

    Raises
    ------
    GraphError
        For disciplines that cannot be simulated.
    InvalidParameter
        For several operating points, too many clients, and a fractional number of threads.
    """
    if system.shape not in ((), (1,)):
        msg = f"{system.name} has several operating points; simulate them one by one"
        raise InvalidParameter(msg)
    program, names = program_of(system), list(system.entries)
    tasks, processors = list(system.tasks), list(system.processors)
    entries = [_entry(system, program, tasks, name) for name in names]
    clients = [_clients(system, name) for name in names]
    if sum(clients) > MOST_CLIENTS:
        msg = (
            f"{system.name}: headway simulates up to {MOST_CLIENTS:,} clients, not "
            f"{sum(clients):,}; "
            "give it fewer, or solve it"
        )
        raise InvalidParameter(msg)
    places = [
        _task(n, t, len(tasks) + processors.index(t.processor)) for n, t in system.tasks.items()
    ]
    for meeting in set(system.meetings.values()):
        _let_meet(system, places[tasks.index(system.entries[meeting].task)], meeting)
    places += [_processor(name, one) for name, one in system.processors.items()]
    writing = _Writing(names, {name: len(tasks) + n for n, name in enumerate(processors)})
    instructions = [writing.instruction(one) for one in program.instructions]
    rates = [_number(system.entries[name].arrival_rate) for name in names]
    laws = [*map(_law, program.instructions), *(law_of(1 / r if r else 0.0, 1.0) for r in rates)]
    return LayeredScore(
        rows(InstructionRow, instructions),
        rows(WayRow, writing.ways),
        rows(Law, laws),
        rows(EntryRow, entries),
        rows(PlaceRow, places),
        tuple(clients),
        tuple(rates),
        np.array([key_of(name) for name in _streams(system, program)], np.uint64),
    )


def _number(value: Amount) -> float:
    return float(np.ravel(value)[0])


def _entry(system: LayeredSystem, program: Program, tasks: list[str], name: str) -> EntryRow:
    entry = system.entries[name]
    task = system.tasks[entry.task]
    thinks = task.clients and _number(task.think_time) > 0
    start = program.starts[name]
    row = EntryRow(tasks.index(entry.task), start, -entry.priority, int(task.clients), int(thinks))
    if name in system.meetings:
        row.meeting = list(system.entries).index(system.meetings[name])
    row.parties = len(entry.meets)
    return row


def _clients(system: LayeredSystem, name: str) -> int:
    task = system.entries[name].task
    if not system.tasks[task].clients:
        return 0
    number = _number(system.tasks[task].threads)
    if isinf(number):
        msg = f"clients {task} are infinitely many; give their number, or an entry an arrival rate"
        raise InvalidParameter(msg)
    return _thread_count(f"clients {task}", number)


def _thread_count(name: str, number: float) -> int:
    if isinf(number):
        return _UNLIMITED
    if number != round(number) or number < 1:
        msg = f"{name}: {digits(number)} cannot be simulated; give a whole number of 1 or more"
        raise InvalidParameter(msg)
    return round(number)


def _task(name: str, task: Task, processor: int) -> PlaceRow:
    if task.discipline.shares or task.discipline.interrupts or task.discipline.by_size:
        msg = (
            f"task {name}: requests cannot get threads by discipline {task.discipline}; "
            "take fcfs, priority or siro"
        )
        raise GraphError(msg)
    place = PlaceRow(
        Order.IN_TURN, 0, _thread_count(f"threads of task {name}", _number(task.threads))
    )
    place.processor, place.rank = processor, -task.priority
    return _ordered(place, name, task.discipline)


def _let_meet(system: LayeredSystem, place: PlaceRow, meeting: str) -> None:
    """Rank the requests of a task that meet, so that those set aside can return to their turns."""
    if place.order == Order.AT_RANDOM:
        one = system.entries[meeting]
        msg = (
            f"task {one.task}: requests for {' and '.join(one.meets)} meet, and cannot get its "
            "thread in random order; take discipline fcfs or priority"
        )
        raise GraphError(msg)
    place.meets = 1
    if place.order == Order.IN_TURN:
        place.order, place.by_turn = Order.RANKED, 1.0


def _processor(name: str, processor: Processor) -> PlaceRow:
    servers = _thread_count(f"servers of processor {name}", _number(processor.servers))
    place = PlaceRow(Order.IN_TURN, 0, servers)
    if servers == _UNLIMITED:
        return place
    if processor.discipline.shares:
        place.order = Order.SHARED
        return place
    return _ordered(place, name, processor.discipline)


def _ordered(place: PlaceRow, name: str, discipline: Discipline) -> PlaceRow:
    if discipline.at_random:
        place.order = Order.AT_RANDOM
    elif discipline.rank is not None:
        place.order, place.interrupts = Order.RANKED, int(discipline.interrupts)
        first, second = keys_of(name, discipline)
        place.by_turn, place.by_priority, place.by_work = first
        place.then_turn, place.then_priority, place.then_work = second
    return place


class _Writing:
    """Instruction rows as they are written, with the ways of instructions."""

    def __init__(self, entries: list[str], processors: dict[str, int]) -> None:
        self.entries = {name: n for n, name in enumerate(entries)}
        self.processors = processors
        self.ways: list[WayRow] = []

    def instruction(self, instruction: Instruction) -> InstructionRow:
        """The row of an instruction."""
        match instruction:
            case Serve(processor):
                return InstructionRow(Kind.SERVE, self.processors[processor])
            case Call(entry):
                return InstructionRow(Kind.CALL, entry=self.entries[entry])
            case Send(entry):
                return InstructionRow(Kind.SEND, entry=self.entries[entry])
            case Branch(ways):
                return self._ways(Kind.BRANCH, list(ways))
            case Answer(forwards, drawn, entry):
                row = self._ways(Kind.ANSWER, [(p, self.entries[name]) for p, name in forwards])
                row.drawn, row.entry = int(drawn), self.entries.get(entry, NONE)
                return row
            case Wait():
                return InstructionRow(Kind.WAIT)
        return self._of_branches(instruction)

    def _of_branches(self, instruction: Instruction) -> InstructionRow:
        """The row of an instruction that starts, ends or joins branches."""
        match instruction:
            case Spawn(starts, needed, drawn):
                row = self._ways(Kind.SPAWN, [(0.0, start) for start in starts])
                row.needed, row.drawn = needed, int(drawn)
                return row
            case Gate(needed):
                return InstructionRow(Kind.GATE, needed=needed)
            case Tell(gates, drawn):
                row = self._ways(Kind.TELL, [(0.0, gate) for gate in gates])
                row.drawn = int(drawn)
                return row
        return InstructionRow(Kind.DONE)

    def _ways(self, kind: Kind, ways: list[tuple[float, int]]) -> InstructionRow:
        row = InstructionRow(kind, way=len(self.ways), ways=len(ways))
        sums = list(accumulate(chance for chance, _ in ways))
        full = bool(sums) and abs(sums[-1] - 1) <= _FULL
        for total, (_, target) in zip(sums, ways, strict=True):
            self.ways.append(WayRow(1.0 if full and total >= 1 - _FULL else total, target))
        return row


def _law(instruction: Instruction) -> Law:
    match instruction:
        case Serve(_, mean, scv):
            return law_of(mean, scv)
        case Wait(mean):
            return law_of(mean, 1.0)
    return Law()


def _streams(system: LayeredSystem, program: Program) -> Iterator[str]:
    """The name of each stream, in order: what it draws."""
    for address, entry in enumerate(program.entries):
        yield f"instruction {address - program.starts[entry]} of {entry}"
    yield from (f"arrivals of {name}" for name in system.entries)
    yield from (f"order at task {name}" for name in system.tasks)
    yield from (f"order at {name}" for name in system.processors)


@dataclass
class LayeredState:
    """The state of a simulation.

    Parameters
    ----------
    clock
        Time and counts, a single row.
    queues, tallies, jobs, streams, journeys
        Rows of each class: for places, entries, requests and tokens, streams, and ended response
        times.
    at, events
        Position of each owner's event in the calendar, and the calendar. Owners are entries, places
        and jobs.
    """

    clock: RowArray
    queues: RowArray
    tallies: RowArray
    jobs: RowArray
    at: IntArray
    events: RowArray
    streams: RowArray
    journeys: RowArray

    def grow(self, count: int) -> None:
        """Make room for more jobs."""
        had = len(self.jobs)
        fresh = np.repeat(rows(Job, [Job()]), count)
        fresh["next"] = np.arange(had + 1, had + count + 1)
        fresh["next"][-1] = self.clock["unused"][0]
        self.clock["unused"] = had
        self.jobs = np.concatenate((self.jobs, fresh))
        self.at = np.concatenate((self.at, np.full(count, NONE)))
        self.events = np.concatenate((self.events, np.zeros(count, self.events.dtype)))

    def forget(self) -> None:
        """Reset all counts to 0."""
        for name in ("begun", "answered", "ended", "waiting_area", "first_area", "second_area"):
            self.tallies[name] = 0
        self.queues["worked"] = 0


def opening(score: LayeredScore, seed: int, replica: int) -> LayeredState:
    """The state at time 0: clients start, and entries with arrivals have their first one scheduled.

    Parameters
    ----------
    score
        The score to play.
    seed, replica
        Seed and replica of the random numbers.
    """
    entries, places, clients = len(score.entries), len(score.places), sum(score.clients)
    state = LayeredState(
        rows(Clock, [Clock(most_still=_STILL + _STILL_EACH * clients)]),
        rows(Queue, [Queue()] * places),
        rows(Tally, [Tally()] * entries),
        rows(Job),
        np.full(entries + places, NONE),
        np.zeros(entries + places, dtype_of(Event)),
        streams_of(score.keys, seed, replica),
        np.zeros(_JOURNEYS, dtype_of(Journey)),
    )
    state.grow(clients + max(_SPARE, int(score.instructions["ways"].max()) + 1))
    jobs, clock = state.jobs[:clients], state.clock
    jobs["entry"] = np.repeat(np.arange(entries), score.clients)
    jobs["thread"] = np.arange(clients)
    clock["unused"] = clock["jobs"] = clients
    if clients:  # all clients are in the line of tokens that can go on
        jobs["next"][-1] = NONE
        clock["first"], clock["last"] = 0, clients - 1
    sources = np.flatnonzero(score.rates)
    state.events["owner"][: len(sources)] = sources
    state.events["time"][: len(sources)] = 0.0
    state.events["number"][: len(sources)] = np.arange(len(sources))
    state.at[sources] = np.arange(len(sources))
    clock["size"] = clock["scheduled"] = len(sources)
    return state


def arguments(score: LayeredScore, state: LayeredState, until: float, most: int) -> tuple[Any, ...]:
    """Arguments of `play_program`: arrays, rows as flat int64; a time, a number of events."""
    arrays = (
        *(score.instructions, score.ways, score.laws, score.entries, score.places),
        *(state.clock, state.queues, state.tallies, state.jobs),
        *(state.at, state.events, state.streams, state.journeys),
    )
    flat = (array.view(np.int64) if array.dtype.names else array for array in arrays)
    return (*flat, until, most)
