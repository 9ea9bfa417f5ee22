"""How long a bad state lasts, by simulating bad states attempt by attempt.

A queue that drops old requests has a bad state that ends by chance. What ends it depends on when
clients ask again: with constant timeouts, those whose attempts failed together come back together.
No chain with few states follows that, so such states are simulated. Each begins with a rush: over
one life of a request, as many more requests come as there are attempts in the bad state. It ends
when an attempt finds a free server and no more other clients are about to ask again than at the
threshold, and counts from three lives after the rush on. If their times are about memoryless, k
states that ended in a total time X give the mean X / k with a standard error of 1 / sqrt(k), and
the mean is with 95% at least X / g, where a gamma variable of shape k + 1 is below g with 95%.

As jobs are served in turn, an attempt's wait is known when it comes: the time until the first
server is free for it, if the times at which each server will be free are kept up to date.
"""

from heapq import heappop, heappush, heapreplace
from math import ceil, inf

import numpy as np
from scipy.special import gammaincinv

from headway.kinds import FloatArray
from headway.numerals import significant
from headway.queueing.compiled.library import compiled
from headway.queueing.flows.clients import Clients
from headway.queueing.playing.chance import drawn, sample
from headway.queueing.playing.keys import key_of, streams_of
from headway.queueing.playing.laws import law_of
from headway.queueing.playing.rows import (
    IntArray,
    Law,
    Stream,
    read_rows,
    rows,
    write_rows,
)
from headway.queueing.retries.attempts import Stability, State, per_request
from headway.queueing.retries.lasting import LASTING, NEAR, crossing
from headway.queueing.retries.times import TimedQueue
from headway.records import dataclass

SEED = 1

ENOUGH = 100
"""Bad states that are simulated until they end, if that takes at most `MOST` attempts."""

MOST = 5_000_000
"""Most attempts that are simulated at a load; about half a second."""

FEWEST = 10
"""Bad states that must have ended for a mean to be stated; of fewer it may be half or twice."""

LIVES = 3
"""Lives of a request after a rush from which on a bad state counts."""

LOADS_MEASURED = "against simulations, 90 of 100 are within 2%, the worst within 3%"
"""The measured error of `staying_from`: ``python -m tests.campaigns.staying_loads --seed 2000``.
"""

_FEW = 30
"""Bad states that are to end at each load that `staying_from` tries. Chosen."""

_LEAST = 100_000  # attempts for each load, so that its rushes are over
# shares of the way between two loads to try first, and relative precision of the load
_UP = (0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_CLOSE = 3e-3
_EARLY = 0.1  # share of the states that outlast `LIVES` below which all count from the rush on
_GAP, _SERVICE, _BACKOFF = range(3)
_KEYS = np.array([key_of(name) for name in ("gap", "service", "backoff")], np.uint64)
_LONG = 1000  # most attempts over which a life is summed
_ROOM = 4  # room for clients away, as a multiple of the rush
_OF_RUSH = 10  # attempts until a bad state counts, as a multiple of the rush


@dataclass(frozen=True)
class Outages:
    """Bad states that were simulated at a load.

    Parameters
    ----------
    time
        How long they lasted, together [s].
    ended
        How many of them ended.

    Examples
    --------
    >>> Outages(600.0, 20).mean, round(Outages(600.0, 0).least, 1)
    (30.0, 200.3)
    """

    time: float
    ended: int

    @property
    def mean(self) -> float | None:
        """Mean time that a bad state lasts [s]; None if too few ended."""
        return self.time / self.ended if self.ended >= FEWEST else None

    @property
    def least(self) -> float:
        """Time below which the mean is in 5 of 100 cases [s]."""
        return self.time / float(gammaincinv(self.ended + 1, 0.95))

    @property
    def error(self) -> float:
        """Relative error of the mean in 95 of 100 cases; infinite if none ended."""
        return 1.96 / self.ended**0.5 if self.ended else inf


def outages(
    queue: TimedQueue,
    clients: Clients,
    load: float,
    states: tuple[State, ...],
    *,
    enough: int = ENOUGH,
    most: int = MOST,
) -> Outages | None:
    """Simulate bad states at a queue that drops old jobs.

    Parameters
    ----------
    queue, clients
        M/M/m with a timeout, and its clients, without a retry budget.
    load, states
        Requests [1/s], and all states at that load, in the order of their attempts.
    enough, most
        The number of bad states that are to end, and the most attempts that are simulated.

    Returns
    -------
    The states simulated; None if there is no other state than a bad one, if nothing is dropped, and
    if so many clients are away that the attempts do not suffice.

    Examples
    --------
    >>> from headway.queueing.retries.attempts import states
    >>> queue, asks = TimedQueue(0.008, 4, 0.1, oldest=0.1), Clients(timeout=0.1, retries=3)
    >>> found = states(300.0, asks, lambda rate: queue.at(rate).late, queue.saturation)
    >>> 1 < outages(queue, asks, 300.0, found, enough=10).mean < 30
    True
    """
    bad = states[-1]
    threshold = next((s for s in reversed(states) if s.stability is not Stability.STABLE), None)
    if threshold is None or queue.oldest == inf:
        return None
    delay = queue.timeout + float(clients.backoff)
    away = (threshold.rate - load) * delay
    life = _life(clients)
    rush = ceil(bad.rate * life) + 10
    if _OF_RUSH * rush > MOST:
        return None
    gap, service = law_of(1 / load, 1.0), law_of(queue.service_time, 1.0)
    laws = gap, service, law_of(float(clients.backoff), float(clients.backoff_scv))
    how = float(clients.persistence), float(clients.backoff_factor), float(clients.jitter)
    ends = queue.timeout, queue.oldest, away, (1 + LIVES) * life
    found = np.zeros(4)
    _bad_states(
        rows(Law, laws).view(np.int64),
        streams_of(_KEYS, SEED, 0).view(np.int64),
        np.array([*ends, *how, float(clients.retries), life]),
        np.array([rush, most, enough]),
        np.zeros(queue.servers),
        np.zeros(3 * (_ROOM * rush + 1000), np.int64),
        found,
    )
    time, ended, whole, early = found.tolist()
    if ended < _EARLY * early:
        return Outages(whole, int(ended + early))
    return Outages(time, int(ended)) if time else None


def staying_from(
    queue: TimedQueue, clients: Clients, between: tuple[float, float], requests: float = LASTING
) -> float | None:
    """The lowest load at which a bad state lasts for so many requests on average [1/s].

    Parameters
    ----------
    queue, clients
        As for `outages`.
    between
        Loads between which there are a good and a bad state [1/s].
    requests
        Mean number of requests until it ends.

    Returns
    -------
    The load; the upper end of the range if it lasts for fewer at all lower loads; None if nothing
    is dropped, and if `MOST` attempts do not tell.

    Examples
    --------
    >>> queue, asks = TimedQueue(0.008, 4, 0.1, oldest=0.1), Clients(timeout=0.1, retries=3)
    >>> 300 < staying_from(queue, asks, (262.85, 464.0)) < 350
    True
    """

    def mean(
        queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
    ) -> float | None:
        attempts = 1.5 * _FEW * requests * per_request(clients, states[-1].late)
        most = ceil(min(max(attempts, _LEAST), MOST))
        found = outages(queue, clients, load, states, enough=_FEW, most=most)
        if found is None:
            return None
        enough = found.ended >= FEWEST or found.time * load >= FEWEST * requests
        return found.time / max(found.ended, 0.5) if enough else None

    if queue.oldest == inf:
        return None
    low, high = between[0] * (1 + NEAR), between[1] * (1 - NEAR)
    loads = [low, *(low + share * (high - low) for share in _UP)]
    return crossing(queue, clients, mean, requests, loads, between, _CLOSE)


def simulated(found: Outages) -> str:
    r"""How many bad states were simulated, and how well their mean is known, in words.

    Examples
    --------
    >>> print(simulated(Outages(600.0, 100)), simulated(Outages(600.0, 0)), sep="\n")
    mean of 100 that were simulated, within 20% in 95 of 100 cases
    none ended in 600 s that were simulated; on average it lasts longer than said in 95 of 100 cases
    """
    if found.mean is not None:
        off = significant(100 * found.error, 2)
        return f"mean of {found.ended} that were simulated, within {off}% in 95 of 100 cases"
    ended = str(found.ended) if found.ended else "none"
    return (
        f"{ended} ended in {significant(found.time, 2)} s that were simulated; on average it lasts "
        "longer than said in 95 of 100 cases"
    )


def _life(clients: Clients) -> float:
    """How long a request lives if each of its attempts fails [s]."""
    attempts = np.arange(min(ceil(per_request(clients, 1.0)), _LONG))
    backoffs = float(clients.backoff) * float(clients.backoff_factor) ** attempts
    return float((float(clients.timeout) + backoffs).sum())


@compiled
def _bad_states(
    laws: IntArray,
    streams: IntArray,
    numbers: FloatArray,
    counts: IntArray,
    free: FloatArray,
    events: IntArray,
    found: FloatArray,
) -> None:
    """Simulate bad states one after another, until enough of them have ended.

    Parameters
    ----------
    laws, streams
        Rows of the gaps between requests, of services and of backoffs, and a stream for each.
    numbers
        Timeout, and age at which jobs are dropped [s]; most clients away when a state ends; time
        after which it counts [s]; persistence, factor of further backoffs, jitter, and retries;
        length of the rush [s].
    counts
        Further requests of the rush, most attempts in all, and the states that are to end.
    free, events
        Work space: a number for each server, and rows of events for all clients away.
    found
        Result: how long states lasted after the time from which they count [s], and how many of
        these ended; how long all lasted [s], and how many ended before.
    """
    state = _BadState(read_rows(Law, laws), read_rows(Stream, streams), numbers.tolist())
    state.room = len(events) // 3
    more, most, enough = counts.tolist()
    left, settled = most, float(numbers[3])
    while left > 0 and found[1] < enough and found[3] < 10 * enough:
        left = state.play(more, left, len(free))
        ends = left >= 0
        found[2] += state.now
        if state.now > settled:
            found[0] += state.now - settled
            found[1] += ends
        else:
            found[3] += ends
    write_rows(Stream, streams, state.stream)


class _BadState:
    """One bad state after another; what random numbers need, and the clients away."""

    table: tuple[float, ...] = ()

    def __init__(self, law: list[Law], stream: list[Stream], numbers: list[float]) -> None:
        self.law, self.stream, self.now = law, stream, 0.0
        self.timeout, self.oldest, self.away, _, *self.how, self.retries, self.rush = numbers
        self.clients: list[tuple[float, int, int]] = []
        self.number = self.room = 0

    def play(self, more: int, left: int, servers: int) -> int:
        """Play from a rush on; the attempts left at the end, -1 if there was none before."""
        self.clients, self.number, free = [], 0, [0.0] * servers
        after = sample(self, _GAP)
        while left > 0:
            left -= 1
            made = 0
            if self.clients and self.clients[0][0] < after:
                self.now, _, made = heappop(self.clients)
            else:
                self.now = after
                after += sample(self, _GAP)
                for _ in range(more):
                    self.leave(self.now + self.rush * drawn(self, _BACKOFF), 0)
                more = 0
            if free[0] <= self.now and len(self.clients) <= self.away:
                return left
            self.attempt(made, free)
        return -1

    def attempt(self, made: int, free: list[float]) -> None:
        """An attempt of a client who made some before; ``free`` is a heap."""
        wait = max(free[0] - self.now, 0.0)
        fails = min(wait, self.timeout)
        if wait <= self.oldest:
            takes = wait + sample(self, _SERVICE)
            heapreplace(free, self.now + takes)
            if takes <= self.timeout:
                return
            fails = self.timeout
        persistence, factor, jitter = self.how
        if made >= self.retries or (persistence < 1 and drawn(self, _BACKOFF) >= persistence):
            return
        pause = sample(self, _BACKOFF)
        if factor != 1:
            pause *= factor**made
        if jitter > 0:
            pause *= 1 + jitter * (2 * drawn(self, _BACKOFF) - 1)
        self.leave(self.now + fails + pause, made + 1)

    def leave(self, until: float, made: int) -> None:
        """A client goes away until it asks again."""
        if len(self.clients) >= self.room:
            raise ValueError("bad_states: room for the clients away")
        heappush(self.clients, (until, self.number, made))
        self.number += 1
