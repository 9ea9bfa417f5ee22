"""Rows of a score and of a state: each class is a row of an array, and a struct of ``events.h``.

The fields are in the order of the struct; whole numbers are int64, others float64.
"""

from dataclasses import dataclass
from enum import IntEnum
from math import inf

from headway.queueing.playing.rows import NONE


class Order(IntEnum):
    """The order of service at a station."""

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
    """Where a job is that is at no queue; a client waits, or is away before a retry."""

    THINKING = -1
    COMING = -2
    AT_GATE = -3
    UNUSED = -4
    ASKING = -5
    AWAY = -6


class Breaker(IntEnum):
    """The state of a class's circuit breaker."""

    CLOSED = 0
    OPEN = 1
    HALF_OPEN = 2


class Reason(IntEnum):
    """Why a call stopped: the time or number of events is reached, an array is full, or a loop."""

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
    """A class of jobs: whether it is closed, thinks, and makes rounds; its priority; its clients.

    If clients may give up (``asks``), each client has a row among the jobs, in addition to that of
    its attempt. An attempt leaves lines by the law of patience if ``impatient``, and after a
    timeout; ``notices`` says whether servers then stop. Each client may retry ``retries`` times,
    with a probability of ``returns``, if there is a token: a first attempt adds ``budget`` tokens,
    and at most ``purse`` are kept. The backoff follows a law; it grows by ``factor`` from retry to
    retry, and ``jitter`` spreads it to either side.

    A circuit breaker keeps the last ``outcomes`` of the class's attempts, from ``outcome`` on in
    an array; none means that there is no breaker. It opens when these are as many and ``opens`` of
    them are failures, for a time ``open_for``; then ``probes`` pass, of which ``reopens`` failures
    open it again.
    """

    closed: int = 0
    waits: int = 0
    rounds: int = 0
    priority: int = 1
    asks: int = 0
    impatient: int = 0
    notices: int = 0
    retries: int = 0
    outcome: int = 0
    outcomes: int = 0
    opens: int = 0
    probes: int = 0
    reopens: int = 0
    timeout: float = inf
    returns: float = 1.0
    budget: float = inf
    purse: float = inf
    factor: float = 1.0
    jitter: float = 0.0
    open_for: float = 0.0


@dataclass(slots=True)
class Source:
    """Arrivals of a class at a station, or where the class enters; single, or in batches.

    Sizes of batches come from a table, or are geometric: ``more`` is the probability of a further
    job.
    """

    class_: int
    station: int = NONE
    size: int = 0
    sizes: int = 0
    more: float = 0.0


@dataclass(slots=True)
class Way:
    """A route from a station, with cumulative probabilities; without a station a journey ends."""

    chance: float
    class_: int
    station: int


@dataclass(slots=True)
class Branch:
    """A branch of a fork, and the number of parts that it receives."""

    station: int
    parts: int


@dataclass(slots=True)
class Size:
    """A size of batches, with cumulative probabilities."""

    chance: float
    jobs: int


@dataclass(slots=True)
class Clock:
    """Time, and counts; `unused` is the first job of the pool that is not in use."""

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
    """A queue: its jobs, in lines; and what was counted since the start of a window.

    ``gone`` jobs have left a line, but keep their place in it until that reaches the head.
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
    """A job of the pool: its class and journey, its place, its links in lines, and its visit.

    For an attempt, ``peer`` is the client, whose visit is ``asked`` as long as it waits for the
    attempt. For a client, ``peer`` is the attempt, ``left`` the number of retries left,
    ``entering`` where it enters, ``key`` the next backoff over the first, and ``asked`` the phase
    of the breaker that let its attempt through.
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
    """The gate of a region: jobs inside, jobs that wait, and counts."""

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
    """Journeys of a class: started, ended and lost, and their total time.

    If clients may give up: requests and attempts, attempts withdrawn by clients, attempts that
    ended after their client had gone, and requests given up; tokens for retries; and the work in
    attempts answered in time, and in others.

    Of a circuit breaker: its state, and the number of its phase, in which so many attempts passed,
    were told to it and failed; the place of the next outcome; how often it opened, and the attempts
    that it refused; until when it is open, up to when that is counted, and the time open.
    """

    started: int = 0
    ended: int = 0
    lost: int = 0
    requests: int = 0
    attempts: int = 0
    withdrawn: int = 0
    late: int = 0
    given_up: int = 0
    breaker: int = Breaker.CLOSED
    phase: int = 0
    passed: int = 0
    told: int = 0
    failed: int = 0
    place: int = 0
    openings: int = 0
    refused: int = 0
    taken: float = 0.0
    tokens: float = inf
    useful: float = 0.0
    wasted: float = 0.0
    until: float = 0.0
    since: float = 0.0
    open: float = 0.0


@dataclass(slots=True)
class Journey:
    """A finished journey: the class in which it began, and its time."""

    class_: int = 0
    time: float = 0.0
