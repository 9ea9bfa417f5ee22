"""Rows of a score and of a state: each class is a row of an array, and a struct of ``events.h``.

The fields have the order of the struct; whole numbers are int64, others float64.
"""

from dataclasses import dataclass
from enum import IntEnum
from math import inf

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
    """Where a job is that is at no queue; a client asks, or is away before it asks again."""

    THINKING = -1
    COMING = -2
    AT_GATE = -3
    UNUSED = -4
    ASKING = -5
    AWAY = -6


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
    oldest: float = inf
    by_turn: float = 0.0
    by_priority: float = 0.0
    by_work: float = 0.0
    then_turn: float = 0.0
    then_priority: float = 0.0
    then_work: float = 0.0


@dataclass(slots=True)
class Class:
    """A class of jobs: whether it is closed, thinks, makes rounds; its priority; and its clients.

    Where clients may give up (``asks``), each has a row among the jobs, beside that of its attempt.
    They leave lines by the law of patience if ``impatient``, and after a timeout; ``notices`` is
    whether servers then stop. Each may ask so many times again (``retries``), with a chance of
    ``returns``, if there is a token: a first attempt brings ``budget`` of them, and at most
    ``purse`` are kept. It backs off by a law, ``factor`` times as long from time to time, spread by
    ``jitter`` to each side.
    """

    closed: int = 0
    waits: int = 0
    rounds: int = 0
    priority: int = 1
    asks: int = 0
    impatient: int = 0
    notices: int = 0
    retries: int = 0
    timeout: float = inf
    returns: float = 1.0
    budget: float = inf
    purse: float = inf
    factor: float = 1.0
    jitter: float = 0.0


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
    """A queue: who is there, in lines of jobs; and what was counted since the start of a window.

    Of those who left a line, ``gone`` still have their place there, until it comes to the head.
    """

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
    gone: int = 0
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
    """A job of the pool: its class and journey, where it is, its links in lines, and its visit.

    Of an attempt ``peer`` is the client, whose visit is ``asked`` as long as it waits for it. Of a
    client it is the attempt, ``left`` are the times that it may ask again, ``entering`` says where,
    and ``key`` is how many times as long as at first it backs off next.
    """

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
    peer: int = NONE
    entering: int = NONE
    lined: int = 0
    waited: int = 0
    began: float = 0.0
    came: float = 0.0
    work: float = 0.0
    spent: float = 0.0
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
    """Journeys of a class: started, ended, lost, and the time that they took.

    Where clients may give up: requests and attempts, attempts that clients took back, those that
    ended for nobody, and requests that were given up; tokens for retries; and the work in attempts
    that were answered in time, and in others.
    """

    started: int = 0
    ended: int = 0
    lost: int = 0
    requests: int = 0
    attempts: int = 0
    withdrawn: int = 0
    late: int = 0
    given_up: int = 0
    taken: float = 0.0
    tokens: float = inf
    useful: float = 0.0
    wasted: float = 0.0


@dataclass(slots=True)
class Journey:
    """A journey that ended: the class in which it began, and its time."""

    class_: int = 0
    time: float = 0.0
