"""How long states last, by simulating good and bad ones attempt by attempt.

Where there are a good and a bad state, chance ends both. What ends them depends on when clients
retry: with constant timeouts, those whose attempts failed together come back together. No chain
with few states follows that, so states are simulated.

A bad state begins with a rush: over one life of a request, as many more requests come as there are
attempts in the bad state. It ends when an attempt finds a free server and no more other clients are
about to ask again than at the threshold, and counts from three lives after the rush on. A queue
that refuses and drops nothing keeps growing in its bad state, which therefore has no end.

A good state begins with an empty queue. It ends when half-way as many clients are about to ask
again from the threshold to the bad state; or, if the queue of the bad state grows, when an attempt
has to wait 4 (S + T) + 40 S / m, long after all attempts fail.

If the times of states are about memoryless, k that ended in a total time X give the mean X / k with
a standard error of 1 / sqrt(k), and the mean is with 95% at least X / g, where a gamma variable of
shape k + 1 is below g with 95%.

As jobs are served in turn, an attempt's wait is known when it comes: the time until the first
server is free for it, if the times at which each server will be free are kept up to date. Those who
wait are those who have not begun.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush, heapreplace
from itertools import pairwise
from math import ceil, inf, log

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv

from headway.kinds import FloatArray
from headway.numerals import significant
from headway.queueing.compiled.library import compiled
from headway.queueing.flows.clients import FIRST, Clients
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
from headway.queueing.retries.lasting import states_at
from headway.queueing.retries.times import TimedQueue
from headway.records import dataclass

SEED = 1

ENOUGH = 100
"""States that are simulated until they end, if that takes at most `MOST` attempts."""

MOST = 5_000_000
"""Most attempts that are simulated at a load; about half a second."""

FEWEST = 10
"""States that must have ended for a mean to be stated; of fewer it may be half or twice."""

LIVES = 3
"""Lives of a request after a rush from which on a bad state counts."""

STAYING_MEASURED = "against simulations, 90 of 100 are within 2%, the worst within 3%"
"""The measured error of `staying_from`: ``python -m tests.campaigns.staying_loads --seed 2000``.
"""

LASTING_MEASURED = "against simulations, 90 of 100 are within 4%, the worst within 14%"
"""The measured error of `lasting_up_to`: ``python -m tests.campaigns.tipping_loads --seed 7000``.
"""

LASTING = 10_000
"""Requests for which a state has to last to be reported. Over fewer its means can hardly be
measured, as they vary by several per cent. Chosen.
"""

NEAR = 1e-6
"""Relative precision of a load that lies inside a range."""

_FEW = 30
"""States that are to end at each load that is tried. Chosen."""

_LEAST = 100_000  # attempts for each load, so that its rushes are over
# shares of the way between two loads, and of a load, to try first; relative precision of the load
_UP = (0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_DOWN = (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
_CLOSE = 3e-3
_WAITS, _TURNS = 4.0, 40.0  # a wait at which a growing queue has left its good state
_EARLY = 0.1  # share of the states that outlast `LIVES` below which all count from the rush on
_GAP, _SERVICE, _BACKOFF = range(3)
_KEYS = np.array([key_of(name) for name in ("gap", "service", "backoff")], np.uint64)
_LONG = 1000  # most attempts over which a life is summed
_ROOM = 4  # room for clients away, as a multiple of the rush
_OF_RUSH = 10  # attempts until a bad state counts, as a multiple of the rush


@dataclass(frozen=True)
class Lives:
    """States that were simulated at a load.

    Parameters
    ----------
    time
        How long they lasted, together [s].
    ended
        How many of them ended.

    Examples
    --------
    >>> Lives(600.0, 20).mean, round(Lives(600.0, 0).least, 1)
    (30.0, 200.3)
    """

    time: float
    ended: int

    @property
    def mean(self) -> float | None:
        """Mean time that a state lasts [s]; None if too few ended."""
        return self.time / self.ended if self.ended >= FEWEST else None

    @property
    def least(self) -> float:
        """Time below which the mean is in 5 of 100 cases [s]."""
        return self.time / float(gammaincinv(self.ended + 1, 0.95))

    @property
    def error(self) -> float:
        """Relative error of the mean in 95 of 100 cases; infinite if none ended."""
        return 1.96 / self.ended**0.5 if self.ended else inf


def bad_lives(
    queue: TimedQueue,
    clients: Clients,
    load: float,
    states: tuple[State, ...],
    *,
    enough: int = ENOUGH,
    most: int = MOST,
) -> Lives | None:
    """Simulate bad states.

    Parameters
    ----------
    queue, clients
        M/M/m with a timeout, and its clients.
    load, states
        Requests [1/s], and all states at that load, in the order of their attempts.
    enough, most
        The number of states that are to end, and the most attempts that are simulated.

    Returns
    -------
    The states simulated; None if there is no other state than a bad one, if the queue of the bad
    one grows, and if so many clients are away that the attempts do not suffice.

    Examples
    --------
    >>> from headway.queueing.retries.attempts import states
    >>> queue, asks = TimedQueue(0.008, 4, 0.1, oldest=0.1), Clients(timeout=0.1, retries=3)
    >>> found = states(300.0, asks, lambda rate: queue.at(rate).late, queue.saturation)
    >>> 1 < bad_lives(queue, asks, 300.0, found, enough=10).mean < 30
    True
    """
    threshold, life = _threshold(states), _life(clients)
    if threshold is None or states[-1].grows:
        return None
    rush = ceil(states[-1].rate * life) + 10
    if _OF_RUSH * rush > MOST:
        return None
    away = _away(queue, clients, load, threshold)
    ends = away, inf, inf, (1 + LIVES) * life, life
    return _simulated(queue, clients, load, ends, (rush, most, enough), rush)


def good_lives(
    queue: TimedQueue,
    clients: Clients,
    load: float,
    states: tuple[State, ...],
    *,
    enough: int = ENOUGH,
    most: int = MOST,
) -> Lives | None:
    """Simulate good states.

    Parameters
    ----------
    queue, clients, load, states, enough, most
        As for `bad_lives`.

    Returns
    -------
    The states simulated; None if there is no other state than a good one, and if so many clients
    are away that the attempts do not suffice.

    Examples
    --------
    >>> from headway.queueing.retries.attempts import states
    >>> queue, asks = TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3)
    >>> found = states(440.0, asks, lambda rate: queue.at(rate).late, queue.saturation)
    >>> 20 < good_lives(queue, asks, 440.0, found).mean < 60
    True
    """
    threshold, bad, life = _threshold(states), states[-1], _life(clients)
    if threshold is None:
        return None
    crowd = ceil(bad.rate * life) + 10
    if _OF_RUSH * crowd > MOST:
        return None
    wait = (
        _WAITS * (queue.service_time + queue.timeout) + _TURNS * queue.service_time / queue.servers
    )
    many = sum(_away(queue, clients, load, one) for one in (threshold, bad)) / 2
    ends = (-1.0, inf, wait, 0.0, 0.0) if bad.grows else (-1.0, many, inf, 0.0, 0.0)
    return _simulated(queue, clients, load, ends, (0, most, enough), crowd)


def _simulated(
    queue: TimedQueue,
    clients: Clients,
    load: float,
    ends: tuple[float, ...],
    counts: tuple[int, int, int],
    crowd: int,
) -> Lives | None:
    """Simulate states that end in some way, with about so many clients away at most."""
    gap, service = law_of(1 / load, 1.0), law_of(queue.service_time, 1.0)
    laws = gap, service, law_of(float(clients.backoff), float(clients.backoff_scv))
    how = float(clients.persistence), float(clients.backoff_factor), float(clients.jitter)
    purse = float(clients.retry_tokens)
    tokens = float(clients.retries), float(clients.retry_budget), purse, min(FIRST, purse)
    waiting = queue.places - queue.servers
    found = np.zeros(4)
    _lives(
        rows(Law, laws).view(np.int64),
        streams_of(_KEYS, SEED, 0).view(np.int64),
        np.array([queue.timeout, queue.oldest, *ends, *how, *tokens, waiting]),
        np.array(counts),
        np.zeros(queue.servers),
        np.zeros(max(int(waiting), 1) if waiting < inf else 1),
        np.zeros(3 * (_ROOM * crowd + 1000), np.int64),
        found,
    )
    time, ended, whole, early = found.tolist()
    if ended < _EARLY * early:
        return Lives(whole, int(ended + early))
    return Lives(time, int(ended)) if time else None


def _threshold(states: tuple[State, ...]) -> State | None:
    """The state between the good one and the bad one; the good one itself if they touch."""
    return next((one for one in reversed(states) if one.stability is not Stability.STABLE), None)


def _away(queue: TimedQueue, clients: Clients, load: float, state: State) -> float:
    """Mean number of clients in a state whose attempt is known to fail, or who back off.

    Attempts that are refused fail at once, others at their timeout. Without a budget, it is known
    at once whether a client retries, and only those who do are counted.
    """
    retried = state.rate - load
    refused = queue.at(state.rate).dropped / state.late if queue.places < inf else 0.0
    failing = retried if float(clients.retry_budget) == inf else state.rate * state.late
    made = np.arange(min(ceil(per_request(clients, 1.0)), _LONG))
    weights = (float(clients.persistence) * state.late) ** made[:-1] if len(made) > 1 else [1.0]
    pauses = float(clients.backoff) * float(clients.backoff_factor) ** made[: len(weights)]
    pause = float(np.average(pauses, weights=weights)) if np.sum(weights) else float(pauses[0])
    return failing * (1 - refused) * queue.timeout + retried * pause


def staying_from(
    queue: TimedQueue, clients: Clients, between: tuple[float, float], requests: float = LASTING
) -> float | None:
    """The lowest load at which a bad state lasts for so many requests on average [1/s].

    Parameters
    ----------
    queue, clients
        As for `bad_lives`.
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
    if queue.loses_none:
        return None
    low, high = between[0] * (1 + NEAR), between[1] * (1 - NEAR)
    loads = [low, *(low + share * (high - low) for share in _UP)]
    return _crossing(queue, clients, (bad_lives, -1), requests, loads, between)


def lasting_up_to(
    queue: TimedQueue, clients: Clients, between: tuple[float, float], requests: float = LASTING
) -> float | None:
    """The highest load at which a good state lasts for so many requests on average [1/s].

    Parameters
    ----------
    queue, clients, between, requests
        As for `staying_from`.

    Returns
    -------
    The load; the lower end of the range if it lasts for fewer at all higher loads; None if `MOST`
    attempts do not tell.

    Examples
    --------
    >>> queue, asks = TimedQueue(1.0, 2, 3.5), Clients(timeout=3.5, retries=3)
    >>> 0.5 < lasting_up_to(queue, asks, (0.5, 1.1815)) < 0.6  # long before no good state is left
    True
    """
    low, high = between[0] * (1 + NEAR), between[1] * (1 - NEAR)
    loads = [high, *(max(low, share * between[1]) for share in _DOWN)]
    return _crossing(queue, clients, (good_lives, 0), requests, loads, between[::-1])


_Kind = tuple[Callable[..., Lives | None], int]
"""States that are simulated, and their place in the row of all states at a load."""


def _crossing(
    queue: TimedQueue,
    clients: Clients,
    of: _Kind,
    requests: float,
    loads: list[float],
    ends: tuple[float, float],
) -> float | None:
    """The load from which a state lasts for so many requests, along a row of loads [1/s].

    The first of ``ends`` if it does so at the first load; the last if it does so at none; None if
    it is not known.
    """

    def beyond(load: float) -> float:
        found = _of_requests(queue, clients, load, of, requests)
        if found is None:
            raise _Unknown
        return log(found.time * load / max(found.ended, 0.5) / requests)

    try:
        if beyond(loads[0]) >= 0:
            return ends[0]
        for before, load in pairwise(loads):
            if beyond(load) >= 0:
                return brentq(beyond, min(before, load), max(before, load), rtol=_CLOSE)
    except _Unknown:
        return None
    return ends[1]


class _Unknown(Exception):
    """So many attempts do not tell how long a state lasts."""


def _of_requests(
    queue: TimedQueue, clients: Clients, load: float, of: _Kind, requests: float
) -> Lives | None:
    """States of a kind, as many as tell whether they last for so many requests; None if not."""
    lives, place = of
    found = states_at(queue, clients, load)
    attempts = 1.5 * _FEW * requests * per_request(clients, found[place].late)
    most = ceil(min(max(attempts, _LEAST), MOST))
    each = lives(queue, clients, load, found, enough=_FEW, most=most)
    if each is None or (each.ended < FEWEST and each.time * load < FEWEST * requests):
        return None
    return each


def brief(queue: TimedQueue, clients: Clients, load: float) -> Lives | None:
    """Good states that last for fewer than `LASTING` requests on average; None if they do not.

    Parameters
    ----------
    queue, clients, load
        As for `bad_lives`.

    Examples
    --------
    >>> queue, asks = TimedQueue(0.008, 1, 0.02), Clients(timeout=0.02, retries=3)
    >>> brief(queue, asks, 40.0).mean < 10_000 / 40.0
    True
    >>> brief(TimedQueue(0.008, 4, 0.1), asks, 300.0) is None
    True
    """
    found = _of_requests(queue, clients, load, (good_lives, 0), LASTING)
    return found if found and found.mean and found.mean * load < LASTING else None


def simulated(found: Lives) -> str:
    r"""How many states were simulated, and how well their mean is known, in words.

    Examples
    --------
    >>> print(simulated(Lives(600.0, 100)), simulated(Lives(600.0, 0)), sep="\n")
    mean of 100 simulated cases, within 20% in 95 of 100 cases
    none ended in 600 s of simulation; its mean is longer than stated in 95 of 100 cases
    """
    if found.mean is not None:
        off = significant(100 * found.error, 2)
        return f"mean of {found.ended} simulated cases, within {off}% in 95 of 100 cases"
    ended = str(found.ended) if found.ended else "none"
    return (
        f"{ended} ended in {significant(found.time, 2)} s of simulation; its mean is longer than "
        "stated in 95 of 100 cases"
    )


def _life(clients: Clients) -> float:
    """How long a request lives if each of its attempts fails [s]."""
    attempts = np.arange(min(ceil(per_request(clients, 1.0)), _LONG))
    backoffs = float(clients.backoff) * float(clients.backoff_factor) ** attempts
    return float((float(clients.timeout) + backoffs).sum())


@compiled
def _lives(
    laws: IntArray,
    streams: IntArray,
    numbers: FloatArray,
    counts: IntArray,
    free: FloatArray,
    begins: FloatArray,
    events: IntArray,
    found: FloatArray,
) -> None:
    """Simulate states one after another, until enough of them have ended.

    Parameters
    ----------
    laws, streams
        Rows of the gaps between requests, of services and of backoffs, and a stream for each.
    numbers
        Timeout, and age at which jobs are dropped [s]; most clients away when a bad state ends; the
        clients away, and the wait [s], at which a good one does; time after which a state counts,
        and length of the rush [s]; persistence, factor of further backoffs, jitter, and retries;
        retry budget, its largest number of tokens, and those at the start; places to wait.
    counts
        Further requests of the rush, most attempts in all, and the states that are to end.
    free, begins, events
        Work space: a number for each server, and for each place to wait if these are limited; rows
        of events for all clients away.
    found
        Result: how long states lasted after the time from which they count [s], and how many of
        these ended; how long all lasted [s], and how many ended before.
    """
    play = _Life(read_rows(Law, laws), read_rows(Stream, streams), numbers.tolist())
    play.room = len(events) // 3
    if len(begins) < play.waiting < inf:
        raise ValueError("lives: room for those who wait")
    more, left, enough = counts.tolist()
    while left > 0 and found[1] < enough and found[3] < 10 * enough:
        left, ends = play.play(more, left, len(free))
        found[2] += play.now
        if play.now > play.settled:
            found[0] += play.now - play.settled
            found[1] += ends
        else:
            found[3] += ends
    write_rows(Stream, streams, play.stream)


class _Life:
    """One state after another; what random numbers need, and the clients away."""

    table: tuple[float, ...] = ()

    def __init__(self, law: list[Law], stream: list[Stream], numbers: list[float]) -> None:
        self.law, self.stream, self.now = law, stream, 0.0
        self.timeout, self.oldest, self.few, self.many, self.long, *numbers = numbers
        self.settled, self.rush, *self.how, self.retries = numbers[:6]
        self.budget, self.purse, self.first, self.waiting = numbers[6:]
        self.clients: list[tuple[float, int, int]] = []
        self.begins: deque[float] = deque()
        self.number = self.room = 0
        self.tokens = inf

    def play(self, more: int, left: int, servers: int) -> tuple[int, bool]:
        """Play one to its end, or until no attempts are left; the attempts left, and if it ended.

        ``free`` is a heap of the times at which each server is free.
        """
        self.clients, self.number, free = [], 0, [0.0] * servers
        self.begins.clear()
        self.tokens, after = self.first, sample(self, _GAP)
        while left > 0:
            left -= 1
            made = 0
            if self.clients and self.clients[0][0] < after:
                self.now, _, made = heappop(self.clients)
                if made < 0:
                    if self.tokens >= 1 and self.retry(self.now, ~made):
                        self.tokens -= 1
                    continue
            else:
                self.now = after
                after += sample(self, _GAP)
                for _ in range(more):
                    self.leave(self.now + self.rush * drawn(self, _BACKOFF), 0)
                more = 0
            if made == 0 and self.budget < inf:
                self.tokens = min(self.tokens + self.budget, self.purse)
            wait, away = max(free[0] - self.now, 0.0), len(self.clients)
            if (wait == 0 and away <= self.few) or away >= self.many or wait >= self.long:
                return left, True
            self.attempt(made, wait, free)
        return left, False

    def attempt(self, made: int, wait: float, free: list[float]) -> None:
        """An attempt, after so many of the same request."""
        if wait > 0 and self.waiting < inf and not self.finds_place(wait):
            after = 0.0
        elif wait <= self.oldest:
            takes = wait + sample(self, _SERVICE)
            heapreplace(free, self.now + takes)
            if takes <= self.timeout:
                return
            after = self.timeout
        else:
            after = min(wait, self.timeout)
        if self.budget < inf:
            self.leave(self.now + after, ~made)
        else:
            self.retry(self.now + after, made)

    def finds_place(self, wait: float) -> bool:
        """Whether an attempt that has to wait finds a place to do so."""
        while self.begins and self.begins[0] <= self.now:
            self.begins.popleft()
        if len(self.begins) >= self.waiting:
            return False
        self.begins.append(self.now + wait)
        return True

    def retry(self, time: float, made: int) -> bool:
        """Whether a client whose attempt failed at a time backs off to retry."""
        persistence, factor, jitter = self.how
        if made >= self.retries or (persistence < 1 and drawn(self, _BACKOFF) >= persistence):
            return False
        pause = sample(self, _BACKOFF)
        if factor != 1:
            pause *= factor**made
        if jitter > 0:
            pause *= 1 + jitter * (2 * drawn(self, _BACKOFF) - 1)
        self.leave(time + pause, made + 1)
        return True

    def leave(self, until: float, owner: int) -> None:
        """A client goes away; its attempts are ~owner until it has noticed that the last failed."""
        if len(self.clients) >= self.room:
            raise ValueError("lives: room for the clients away")
        heappush(self.clients, (until, self.number, owner))
        self.number += 1
