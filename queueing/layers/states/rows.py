"""Rows of arrays for layered systems: each class is a row, and a struct of ``layers.h``.

The fields are in the order of the struct; whole numbers are int64, others float64.
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
    """Order of service at a place."""

    IN_TURN = 0
    RANKED = 1
    AT_RANDOM = 2
    SHARED = 3


class Reason(IntEnum):
    """Why a call stops: the end, the most events, no free jobs or times, an endless loop."""

    OVER = 0
    MORE = 1
    CROWDED = 2
    RECORDED = 3
    ENDLESS = 4


@dataclass(slots=True)
class InstructionRow:
    """An instruction: its place, entry or ways, and the number of branches that it needs.

    The entry of an answer in a meeting is that whose request is answered.
    And whether it is random which way is taken first, or whether a thread goes on before the caller
    that it answers.
    """

    kind: int
    place: int = NONE
    entry: int = NONE
    way: int = 0
    ways: int = 0
    needed: int = 0
    drawn: int = 0


def orders(instruction: InstructionRow) -> int:
    """Number of orders in which branches may start: any first, forwards or backwards."""
    if not instruction.drawn:
        return 1
    return 2 * instruction.ways if instruction.ways > 2 else instruction.ways


def in_order(instruction: InstructionRow, order: int) -> list[int]:
    """Rows of an instruction's ways in one of these orders, by its number.

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
    """A way, with its cumulated probability: to an address, or on to an entry."""

    chance: float
    target: int


@dataclass(slots=True)
class EntryRow:
    """An entry: its task, first address and rank; and whether it is of clients, who think first.

    And the meeting to which its requests come, or the number of entries of which one meets all.
    """

    task: int
    start: int
    rank: int
    clients: int
    thinks: int
    meeting: int = NONE
    parties: int = 0


@dataclass(slots=True)
class PlaceRow:
    """A task and its processor, or a processor: order of service, and its capacity.

    And whether requests for a task's entries meet.
    """

    order: int
    interrupts: int
    servers: int
    processor: int = NONE
    rank: int = 0
    meets: int = 0
    by_turn: float = 0.0
    by_priority: float = 0.0
    by_work: float = 0.0
    then_turn: float = 0.0
    then_priority: float = 0.0
    then_work: float = 0.0


@dataclass(slots=True)
class Clock:
    """Time and counts, and the line of tokens that can go on now."""

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
    """A place: jobs served and waiting; for a task, also the use of its processor.

    And the requests that have come to its meeting, with their number, and those that wait until
    it is over.
    """

    serving: int = 0
    waiting: int = 0
    come: int = 0
    first: int = NONE
    last: int = NONE
    served_first: int = NONE
    met: int = NONE
    parties: int = 0
    aside: int = NONE
    since: float = 0.0
    each: float = 0.0
    used: int = 0
    used_since: float = 0.0
    worked: float = 0.0


@dataclass(slots=True)
class Tally:
    """An entry: waiting requests, threads before and after the answer, and counts."""

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
    """A request, which becomes the first token of the thread that serves it; or another token."""

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

    All states are known; the requested number was explored; an array is full, or the cells are;
    there are too many states; or something goes on for ever in no time.
    """

    WHOLE = 0
    SOME = 1
    FULL = 2
    NARROW = 3
    MANY = 4
    STILL = 5


@dataclass(slots=True)
class Search:
    """Numbers of states found and explored, of moves and words; and the limit of states."""

    states: int = 0
    explored: int = 0
    moves: int = 0
    words: int = 0
    listed: int = 0
    most: int = 0
    reason: int = Ending.SOME


@dataclass(slots=True)
class Cell:
    """A request, which becomes the first token of the thread that serves it; or another token."""

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
    """A place: number of jobs served there, and the waiting ones."""

    serving: int = 0
    waiting: int = 0
    first: int = NONE
    last: int = NONE
