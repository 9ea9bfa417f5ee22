"""How long a good state lasts by chance, and a bad one: the chain of jobs and clients away.

The chain of `headway.queueing.retries.away` does not tell retries apart. Of them a share q / h is
not the last of its request, as it would be where each attempt fails with chance p:
q = h (1 - z^(r-1) / (1 + ... + z^(r-1))), z = h p.

A good state ends as p is that of the threshold between it and the bad one. With w = m (1 + T / S)
jobs waiting newcomers wait for longer than the timeout T. A queue of m + w jobs may still recover,
where clients come back long after; one of m + 2 w jobs has had time for them to come back. So a
state lasts between the mean times from an empty start until more jobs than these are there. Where
the queue has no room for so many, as it drops what is old, it lasts between the times until it
drops newcomers while so many clients are away as at the threshold, o_t = (x - lambda) D of its
attempts x, and as many as the square root of o_t o_b, those of the bad state.

A bad state without drops has a queue that grows on, and lasts. With drops its queue is full and
o_b clients are away, p is its own, and it lasts until nobody waits and no more than o_t clients are
away.

Constant backoffs bring those who failed together back together, which ends a state sooner.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from math import ceil, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from headway.queueing.flows.clients import Clients
from headway.queueing.playing.rows import IntArray
from headway.queueing.retries.attempts import Stability, State, per_request, states
from headway.queueing.retries.away import Asking, fullest, meeting, passage, room
from headway.queueing.retries.times import TimedQueue

MOST_STATES = 100_000
"""States up to which the chain is solved; about a second."""

MEASURED = (
    "beside simulations 90 of 100 are within a factor of 2.1 of this range, the worst within one "
    "of 4.1"
)
"""How far the range of `lasting` is off: ``python -m tests.campaigns.lasting --count 120``."""

LOADS_MEASURED = "beside simulations 90 of 100 are within 11%, the worst within 21%"
"""How far `lasting_up_to` is off: ``python -m tests.campaigns.tipping_loads --seed 7000``."""

_DROPPING = "where servers drop what is old"

DROPPING_MEASURED = (
    f"beside simulations, {_DROPPING}, 90 of 100 are within a factor of 1.7 of this range, the "
    "worst within one of 1.8"
)
"""The same there: ``python -m tests.campaigns.lasting --seed 20000 --count 60``."""

DROPPING_LOADS_MEASURED = (
    f"beside simulations, {_DROPPING}, 90 of 100 are within 10%, the worst within 13%"
)
"""The same there: ``python -m tests.campaigns.tipping_loads --seed 20000 --count 40``."""

STAYING_MEASURED = (
    "beside simulations 90 of 100 are within a factor of 12.8, the worst within one of 23.8"
)
"""How far `staying` is off: ``python -m tests.campaigns.staying_loads --count 100``."""

STAYING_LOADS_MEASURED = "beside simulations 90 of 100 are within 13%, the worst within 16%"
"""How far `staying_from` is off, by the same."""

LONGEST = 1e12
"""Mean services of all servers beyond which a time is only rounding, and said to be endless."""

LASTING = 10_000
"""Requests for which a state is to last, to be an answer: over fewer its means can hardly be
measured, as they vary by several per cent. Chosen."""

_DOWN = (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)  # of a load, to begin with
_UP = (0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # between two loads
_NEAR, _CLOSE = 1e-6, 1e-4  # of loads, to be inside a range, and to be found
_ROOM = 3.0  # times the clients away at the threshold, that there is room for; and all jobs
_SPREAD = 6.0  # standard deviations of the clients away in the bad state, that there is room for
_FEW = 10.0  # more, where they are few

Ends = NDArray[np.bool_]


def states_at(queue: TimedQueue, clients: Clients, load: float) -> tuple[State, ...]:
    """All states that last at a load [1/s]."""
    return states(load, clients, lambda rate: queue.at(rate).late, queue.saturation)


def is_lasting_known(clients: Clients) -> bool:
    """Whether the chain is that of clients: they ask again, and nobody counts retries."""
    return bool(float(clients.retry_budget) == inf and clients.returns)


def without_budget(clients: Clients) -> Clients:
    """The same if nobody counted retries: a good state of theirs lasts no longer."""
    return replace(clients, retry_budget=inf)


def times_measured(queue: TimedQueue) -> str:
    """How far the range of `lasting` is off, in words."""
    return MEASURED if queue.oldest == inf else DROPPING_MEASURED


def loads_measured(queue: TimedQueue) -> str:
    """How far `lasting_up_to` is off, in words."""
    return LOADS_MEASURED if queue.oldest == inf else DROPPING_LOADS_MEASURED


def lasting(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> tuple[float, float] | None:
    """Mean times between which a good state lasts, from an empty start [s].

    Parameters
    ----------
    queue, clients
        M/M/m with a timeout, and clients for whom `is_lasting_known`.
    load
        Requests [1/s], at which a good and a bad state last.
    states
        All at that load, in the order of their attempts.

    Returns
    -------
    The least and the most, infinite beyond `LONGEST`; None for too many states.

    Examples
    --------
    >>> from headway.queueing.retries.attempts import states
    >>> queue, asks = TimedQueue(0.008, 4, 0.1), Clients(timeout=0.1, retries=3)
    >>> found = states(440.0, asks, lambda rate: queue.at(rate).late, queue.saturation)
    >>> least, most = lasting(queue, asks, 440.0, found)
    >>> 30 < least < most < 60
    True
    """
    found = tuple(_times(queue, clients, load, states))
    return (found[0], found[1]) if len(found) > 1 else None


def lasting_at_least(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> float | None:
    """The least of `lasting` alone, in a third of the time [s]."""
    return next(_times(queue, clients, load, states), None)


def staying(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> float | None:
    """Mean time that a bad state lasts at a queue that drops what is old [s].

    Parameters
    ----------
    queue, clients, load, states
        As of `lasting`.

    Returns
    -------
    The time, infinite beyond `LONGEST`; None for too many states, and where nothing is dropped.

    Examples
    --------
    >>> from headway.queueing.retries.attempts import states
    >>> queue, asks = TimedQueue(0.008, 4, 0.1, oldest=0.1), Clients(timeout=0.1, retries=3)
    >>> found = states(300.0, asks, lambda rate: queue.at(rate).late, queue.saturation)
    >>> 1 < staying(queue, asks, 300.0, found) < 30
    True
    """
    bad = states[-1]
    threshold = next((s for s in reversed(states) if s.stability is not Stability.STABLE), None)
    if threshold is None or queue.oldest == inf:
        return None
    asks = _asking(queue, clients, load, bad.late)
    away, down = ((one.rate - load) * asks.delay for one in (threshold, bad))
    most = down + _SPREAD * sqrt(down * (1 + per_request(clients, bad.late))) + _FEW
    if fullest(queue) * most > MOST_STATES:
        return None
    n, o = _grid(fullest(queue), most)
    ends = (n < queue.servers) & (o <= away)
    return _time_to(queue, asks, ends, (round(down), int(fullest(queue))))


def lasting_up_to(
    queue: TimedQueue, clients: Clients, between: tuple[float, float], requests: float = LASTING
) -> float | None:
    """Highest load at which a good state lasts for so many requests on average [1/s].

    Parameters
    ----------
    queue, clients
        As of `lasting`.
    between
        Loads between which a good and a bad state last [1/s].
    requests
        How many come until it ends, by the least of `lasting`.

    Returns
    -------
    The load, at most the upper of the two; None for too many states.

    Examples
    --------
    >>> queue, asks = TimedQueue(1.0, 2, 3.5), Clients(timeout=3.5, retries=3)
    >>> round(lasting_up_to(queue, asks, (0.5, 1.1815)), 2)  # long before no good state is left
    0.63
    """
    low, high = between[0] * (1 + _NEAR), between[1] * (1 - _NEAR)
    loads = [high, *(max(low, share * between[1]) for share in _DOWN)]
    return _crossing(queue, clients, lasting_at_least, requests, loads, (between[1], between[0]))


def staying_from(
    queue: TimedQueue, clients: Clients, between: tuple[float, float], requests: float = LASTING
) -> float | None:
    """Lowest load at which a bad state lasts for so many requests on average [1/s].

    Parameters
    ----------
    queue, clients, between
        As of `lasting_up_to`; the queue drops what is old.
    requests
        How many come until it ends, by `staying`.

    Returns
    -------
    The load, the upper of the two where it does not last for so many below; None for too many
    states, and where nothing is dropped.

    Examples
    --------
    >>> queue, asks = TimedQueue(0.008, 4, 0.1, oldest=0.1), Clients(timeout=0.1, retries=3)
    >>> 300 < staying_from(queue, asks, (262.85, 464.0)) < 350
    True
    """
    low, high = between[0] * (1 + _NEAR), between[1] * (1 - _NEAR)
    loads = [low, *(low + share * (high - low) for share in _UP)]
    return _crossing(queue, clients, staying, requests, loads, between)


_Law = Callable[[TimedQueue, Clients, float, tuple[State, ...]], float | None]


def _crossing(
    queue: TimedQueue,
    clients: Clients,
    law: _Law,
    requests: float,
    loads: list[float],
    ends: tuple[float, float],
) -> float | None:
    """The load from which on a state lasts for so many requests, along some loads [1/s].

    The first of the ends where it does at the first of the loads, and the last where it never does.
    """

    def beyond(load: float) -> float:
        time = law(queue, clients, load, states_at(queue, clients, load))
        if time is None:
            raise _Unknown
        return log(min(time * load, 1e6 * requests) / requests)

    try:
        if beyond(loads[0]) >= 0:
            return ends[0]
        for before, load in pairwise(loads):
            if beyond(load) >= 0:
                return float(brentq(beyond, min(before, load), max(before, load), rtol=_CLOSE))
    except _Unknown:
        return None
    return ends[1]


class _Unknown(Exception):
    """Too many states."""


def _times(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> Iterator[float]:
    """Mean times until the first of the states that end a good one [s]; none where none is known.

    Where the good state touches the bad one, the threshold is the state itself.
    """
    threshold = next((one for one in states if one.stability is not Stability.STABLE), None)
    if threshold is None:  # so close to saturation that no number tells it apart
        return
    asks = _asking(queue, clients, load, threshold.late)
    away = (threshold.rate - load) * asks.delay
    wait = queue.servers * (1 + queue.timeout / queue.service_time)
    jobs = [queue.servers + ceil(turns * wait) + 1 for turns in (1, 2)]
    if jobs[-1] <= room(queue):
        marks = [(each, 0.0) for each in jobs]
        most = [_ROOM * away + jobs[-1]] * 2
    else:
        down = (states[-1].rate - load) * asks.delay
        marks = [(int(room(queue)), each) for each in (away, sqrt(away * down))]
        most = [_ROOM * each + fullest(queue) for _, each in marks]
    if marks[-1][0] * most[-1] > MOST_STATES:
        return
    for (enough, least), each in zip(marks, most, strict=True):
        n, o = _grid(enough if least == 0 else fullest(queue), each)
        yield _time_to(queue, asks, (n >= enough) & (o >= least), (0, 0))


def _asking(queue: TimedQueue, clients: Clients, load: float, late: float) -> Asking:
    """Who asks, where each attempt fails with a chance."""
    persistence, retries = float(clients.persistence), float(clients.retries)
    again = persistence
    if retries < inf:
        ratios = (persistence * late) ** np.arange(retries)
        again *= float(1 - ratios[-1] / ratios.sum())
    return Asking(load, persistence, again, queue.timeout + float(clients.backoff))


def _grid(jobs: float, away: float) -> tuple[IntArray, IntArray]:
    """Numbers of jobs in a row, and of clients away in a column, up to so many."""
    return np.arange(int(jobs) + 1), np.arange(ceil(away) + 1)[:, None]


def _time_to(queue: TimedQueue, asks: Asking, ends: Ends, start: tuple[int, int]) -> float:
    """Mean time until the chain comes to some states, shape (away, jobs) [s]."""
    meet = meeting(queue, ends.shape[1] - 1)
    time = passage(meet, asks, ends, start)
    return time if 0 < time * meet.departs[-1] < LONGEST else inf
