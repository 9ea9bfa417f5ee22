"""Rows of a layered system that is played: each class is a row, and a struct of ``layers.h``.

The fields have the order of the struct; whole numbers are int64, others float64.
"""

from dataclasses import dataclass
from enum import IntEnum

from headway.queueing.playing.rows import NONE


class Kind(IntEnum):
    """Kinds of instruction (`headway.queueing.layers.program`)."""

    SERVE = 0
    WAIT = 1
    CALL = 2
    SEND = 3
    BRANCH = 4
    SPAWN = 5
    ANSWER = 6
    DONE = 7
    GATE = 8
    TELL = 9


class Order(IntEnum):
    """Who is next at a place."""

    IN_TURN = 0
    RANKED = 1
    AT_RANDOM = 2
    SHARED = 3


class Reason(IntEnum):
    """Why a call stops: the end, so many events, no room for jobs or times, or an endless loop."""

    OVER = 0
    MORE = 1
    CROWDED = 2
    RECORDED = 3
    ENDLESS = 4


@dataclass(slots=True)
class InstructionRow:
    """An instruction: the place, entry or ways that it names, and how many branches it needs.

    And whether it is drawn which way is taken first, or whether a thread goes on before whom it
    answers.
    """

    kind: int
    place: int = NONE
    entry: int = NONE
    way: int = 0
    ways: int = 0
    needed: int = 0
    drawn: int = 0


def orders(instruction: InstructionRow) -> int:
    """Orders in which branches may begin: any of them first, then forwards or backwards."""
    if not instruction.drawn:
        return 1
    return 2 * instruction.ways if instruction.ways > 2 else instruction.ways


def in_order(instruction: InstructionRow, order: int) -> list[int]:
    """Rows of its ways in one of these orders, by number.

    Examples
    --------
    >>> three = InstructionRow(Kind.SPAWN, way=10, ways=3, drawn=1)
    >>> [in_order(three, order) for order in range(orders(three))][1:4]
    [[11, 12, 10], [12, 10, 11], [10, 12, 11]]
    """
    step = 1 if order < instruction.ways else -1
    return [
        instruction.way + (order + step * n) % instruction.ways for n in range(instruction.ways)
    ]


@dataclass(slots=True)
class WayRow:
    """A way, with cumulated chances: to an address, or on to an entry."""

    chance: float
    target: int


@dataclass(slots=True)
class EntryRow:
    """An entry: its task, first address and rank; whether it is of clients, who think first."""

    task: int
    start: int
    rank: int
    clients: int
    thinks: int


@dataclass(slots=True)
class PlaceRow:
    """A task, with its processor, or a processor: who is served, and how many."""

    order: int
    interrupts: int
    servers: int
    processor: int = NONE
    rank: int = 0
    by_turn: float = 0.0
    by_priority: float = 0.0
    by_work: float = 0.0
    then_turn: float = 0.0
    then_priority: float = 0.0
    then_work: float = 0.0


@dataclass(slots=True)
class Clock:
    """Time, and what was counted; the line of tokens that go on now."""

    now: float = 0.0
    events: int = 0
    scheduled: int = 0
    spawned: int = 0
    size: int = 0
    unused: int = NONE
    jobs: int = 0
    first: int = NONE
    last: int = NONE
    recorded: int = 0
    still: int = 0
    most_still: int = 0
    reason: int = Reason.MORE


@dataclass(slots=True)
class Queue:
    """A place: who is served and who waits; of a task, the use of its processor."""

    serving: int = 0
    waiting: int = 0
    come: int = 0
    first: int = NONE
    last: int = NONE
    served_first: int = NONE
    since: float = 0.0
    each: float = 0.0
    used: int = 0
    used_since: float = 0.0
    worked: float = 0.0


@dataclass(slots=True)
class Tally:
    """An entry: requests that wait, threads before and after the answer; what was counted."""

    waiting: int = 0
    first: int = 0
    second: int = 0
    begun: int = 0
    answered: int = 0
    ended: int = 0
    since: float = 0.0
    waiting_area: float = 0.0
    first_area: float = 0.0
    second_area: float = 0.0


@dataclass(slots=True)
class Job:
    """A request, then the first token of the thread that serves it; or a further token."""

    entry: int = 0
    address: int = NONE
    thread: int = 0
    caller: int = NONE
    source: int = NONE
    tokens: int = 0
    answered: int = 0
    parent: int = NONE
    asked: int = NONE
    spawned: int = NONE
    left: int = 0
    next: int = NONE
    previous: int = NONE
    child: int = NONE
    turn: int = 0
    born: float = 0.0
    work: float = 0.0
    key: float = 0.0
    second: float = 0.0


@dataclass(slots=True)
class Journey:
    """A response time: of a client's cycle, or of a request from outside."""

    entry: int = 0
    time: float = 0.0


class Ending(IntEnum):
    """Why a search of states stops.

    All are known, or so many more; an array is full, or that of cells; there are too many; or
    something goes on without end in no time.
    """

    WHOLE = 0
    SOME = 1
    FULL = 2
    NARROW = 3
    MANY = 4
    STILL = 5


@dataclass(slots=True)
class Search:
    """States that were found, those whose moves are known, moves and words; how many are enough."""

    states: int = 0
    explored: int = 0
    moves: int = 0
    words: int = 0
    listed: int = 0
    most: int = 0
    reason: int = Ending.SOME


@dataclass(slots=True)
class Cell:
    """A request, which becomes the first token of the thread that serves it; or a further token."""

    entry: int = 0
    address: int = NONE
    thread: int = 0
    caller: int = NONE
    parent: int = NONE
    tokens: int = 0
    left: int = 0
    position: int = 0
    next: int = NONE
    previous: int = NONE
    alike: int = 1
    children: int = 0
    first: int = NONE
    last: int = NONE
    younger: int = NONE
    elder: int = NONE
    word: int = 0


@dataclass(slots=True)
class Line:
    """A place: how many are served there, and who waits."""

    serving: int = 0
    waiting: int = 0
    first: int = NONE
    last: int = NONE
