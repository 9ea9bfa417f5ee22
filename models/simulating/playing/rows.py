"""Rows of a score and of a state: each class is a row of an array, and a struct of ``events.h``.

The fields have the order of the struct; whole numbers are int64, others float64.
"""

from dataclasses import dataclass
from enum import IntEnum

from headway.queueing.playing.rows import NONE


class Order(IntEnum):
    """Who is served at a station."""

    AT_ONCE = 0
    IN_TURN = 1
    RANKED = 2
    AT_RANDOM = 3
    SHARED = 4
    FORK = 5


class Fate(IntEnum):
    """The fate of a job from another station that finds a queue full."""

    LOST = 0
    AFTER_SERVICE = 1
    REPETITIVE = 2


class Choice(IntEnum):
    """How a job chooses among the queues of a station."""

    RANDOM = 0
    SHORTEST = 1
    TWO_CHOICES = 2
    ROUND_ROBIN = 3


class Where(IntEnum):
    """Where a job is that is at no queue."""

    THINKING = -1
    COMING = -2
    AT_GATE = -3
    UNUSED = -4


class Reason(IntEnum):
    """Why a call stopped: time is up, enough events, jobs or journeys fill their arrays, a loop."""

    DONE = 0
    MORE = 1
    CROWDED = 2
    RECORDED = 3
    ENDLESS = 4


@dataclass(slots=True)
class Station:
    """A station of a score."""

    queue: int = 0
    queues: int = 1
    choice: int = Choice.RANDOM
    order: int = Order.IN_TURN
    interrupts: int = 0
    servers: int = 1
    places: int = 2**62
    blocking: int = Fate.LOST
    region: int = NONE
    speed: int = 0
    speeds: int = 0
    pace: int = NONE
    any_server: int = 0
    branch: int = 0
    branches: int = 0
    needed: int = 0
    crew: float = 1.0
    share: float = 1.0
    period: float = 0.0
    by_turn: float = 0.0
    by_priority: float = 0.0
    by_work: float = 0.0
    then_turn: float = 0.0
    then_priority: float = 0.0
    then_work: float = 0.0


@dataclass(slots=True)
class Class:
    """A class of jobs: whether it is closed, thinks, makes rounds; and its priority."""

    closed: int = 0
    waits: int = 0
    rounds: int = 0
    priority: int = 1


@dataclass(slots=True)
class Source:
    """Arrivals of a class at a station, or where the class enters; single, or in batches.

    Sizes of batches are those of a table, or geometric: ``more`` is the chance that one more job
    comes with the others.
    """

    class_: int
    station: int = NONE
    size: int = 0
    sizes: int = 0
    more: float = 0.0


@dataclass(slots=True)
class Way:
    """A way from a station, with cumulated chances; without a station a journey ends."""

    chance: float
    class_: int
    station: int


@dataclass(slots=True)
class Branch:
    """A branch of a fork, and how many parts go there."""

    station: int
    parts: int


@dataclass(slots=True)
class Size:
    """A size of batches, with cumulated chances."""

    chance: float
    jobs: int


@dataclass(slots=True)
class Clock:
    """Time, and what was counted; `unused` is the first job of the pool that is not in use."""

    now: float = 0.0
    events: int = 0
    scheduled: int = 0
    visits: int = 0
    size: int = 0
    unused: int = NONE
    jobs: int = 0
    kept: int = 0
    recorded: int = 0
    still: int = 0
    reason: int = Reason.MORE


@dataclass(slots=True)
class Queue:
    """A queue: who is there, in lines of jobs; and what was counted since the start of a window."""

    present: int = 0
    serving: int = 0
    waiting: int = 0
    first: int = NONE
    last: int = NONE
    served_first: int = NONE
    held: int = 0
    held_first: int = NONE
    held_last: int = NONE
    come: int = 0
    served: int = 0
    lost: int = 0
    since: float = 0.0
    each: float = 0.0
    rest: float = -1.0
    worked: float = 0.0
    present_area: float = 0.0
    used_area: float = 0.0
    held_area: float = 0.0
    stayed: float = 0.0
    allotted: float = 0.0


@dataclass(slots=True)
class Job:
    """A job of the pool: its class and journey, where it is, its links in lines, and its visit."""

    class_: int = 0
    born: int = 0
    begun: int = 0
    number: int = 0
    round: int = 0
    queue: int = Where.UNUSED
    target: int = NONE
    anew: int = 0
    held: int = 0
    server: int = NONE
    next: int = NONE
    previous: int = NONE
    child: int = NONE
    turn: int = 0
    visit: int = NONE
    request: int = NONE
    asked: int = 0
    left: int = 0
    began: float = 0.0
    came: float = 0.0
    work: float = 0.0
    key: float = 0.0
    second: float = 0.0


@dataclass(slots=True)
class Gate:
    """The gate of a region: who is inside, who waits, and what was counted."""

    limit: int
    inside: int = 0
    waiting: int = 0
    first: int = NONE
    last: int = NONE
    entered: int = 0
    since: float = 0.0
    waiting_area: float = 0.0
    inside_area: float = 0.0
    full: float = 0.0


@dataclass(slots=True)
class Crowd:
    """Journeys of a class: started, ended, lost, and the time that they took."""

    started: int = 0
    ended: int = 0
    lost: int = 0
    taken: float = 0.0


@dataclass(slots=True)
class Journey:
    """A journey that ended: the class in which it began, and its time."""

    class_: int = 0
    time: float = 0.0
