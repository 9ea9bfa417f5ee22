"""How long a good state lasts by chance: the chain of jobs and clients away.

The chain of `headway.queueing.retries.away` does not tell retries of a request apart. A share q / h
of the retries is not the last of its request, as if each attempt failed with probability p: q = h
(1 - z^(r-1) / (1 + ... + z^(r-1))), z = h p.

For the end of a good state, p is that of the threshold between it and the bad state. With w = m (1
+ T / S) jobs waiting, new arrivals wait longer than the timeout T. A queue of m + w jobs may still
recover if clients retry much later; by m + 2 w jobs clients have had time to retry. So the mean
time lies between the mean passage times from an empty queue to more jobs than the one and than the
other. If the queue has no room for so many, as it drops old jobs, the mean time lies between the
passage times until it drops arrivals while so many clients are away as at the threshold, o_t = (x -
lambda) D for its rate of attempts x, and while sqrt(o_t o_b) are away, with o_b those of the bad
state.

Constant backoffs make clients that failed together retry together, which ends a state sooner.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil, inf, sqrt

import numpy as np
from numpy.typing import NDArray

from headway.queueing.flows.clients import Clients
from headway.queueing.playing.rows import IntArray
from headway.queueing.retries.attempts import Stability, State, per_request, states
from headway.queueing.retries.away import Asking, fullest, meeting, passage, room
from headway.queueing.retries.times import TimedQueue

MOST_STATES = 100_000
"""Most states of the chain that are solved; about a second."""

MEASURED = (
    "against simulations, 90 of 100 are within a factor of 2.1 of this range, the worst within one "
    "of 4.1"
)
"""The measured error of `lasting`: ``python -m tests.campaigns.lasting --count 120``."""

_DROPPING = "where servers drop what is old"

DROPPING_MEASURED = (
    f"against simulations, {_DROPPING}, 90 of 100 are within a factor of 1.7 of this range, the "
    "worst within one of 1.8"
)
"""As `MEASURED`: ``python -m tests.campaigns.lasting --seed 20000 --count 60``."""

LONGEST = 1e12
"""Time, in mean services of all servers, beyond which digits are lost and a state lasts for
ever.
"""

_ROOM = 3.0  # room for clients away, as a multiple of those at the threshold and of all jobs

Ends = NDArray[np.bool_]


def states_at(queue: TimedQueue, clients: Clients, load: float) -> tuple[State, ...]:
    """All steady states at a load [1/s]."""
    return states(load, clients, lambda rate: queue.at(rate).late, queue.saturation)


def is_lasting_known(queue: TimedQueue, clients: Clients) -> bool:
    """Whether the chain describes these: clients retry, without a budget, and none are refused.

    Who is refused retries sooner than who times out, while the queue is still full; with one mean
    time for both, the shares of time in the good and the bad state are far from simulated ones.
    """
    return bool(queue.places == inf == float(clients.retry_budget) and clients.returns)


def without_budget(clients: Clients) -> Clients:
    """The same clients without a retry budget: their good state lasts no longer."""
    return replace(clients, retry_budget=inf)


def times_measured(queue: TimedQueue) -> str:
    """The measured error of `lasting` at a queue, in words."""
    return MEASURED if queue.oldest == inf else DROPPING_MEASURED


def lasting(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> tuple[float, float] | None:
    """Bounds on the mean time that a good state lasts, from an empty queue [s].

    Parameters
    ----------
    queue, clients
        M/M/m with a timeout, and clients, for whom `is_lasting_known`.
    load
        Requests [1/s]; a load at which there are a good and a bad state.
    states
        All states at that load, in the order of their attempts.

    Returns
    -------
    The lower and the upper bound, infinite beyond `LONGEST`; None for too many states.

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
    """The lower bound of `lasting` alone, in a third of its computing time [s]."""
    return next(_times(queue, clients, load, states), None)


def _times(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> Iterator[float]:
    """Mean passage times to the sets of states that end a good one [s]; none if unknown.

    If the good state touches the bad one, it is itself the threshold.
    """
    threshold = next((one for one in states if one.stability is not Stability.STABLE), None)
    if threshold is None:  # too close to saturation to tell the threshold apart
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
    """The chain's requests and retries, if each attempt fails with probability ``late``."""
    persistence, retries = float(clients.persistence), float(clients.retries)
    again = persistence
    if retries < inf:
        ratio = persistence * late  # of 1, z, ..., z^(r-1), all but the last are retried once more
        again *= 1 - ratio ** (retries - 1) / (per_request(clients, late) - ratio**retries)
    return Asking(load, persistence, again, queue.timeout + float(clients.backoff))


def _grid(jobs: float, away: float) -> tuple[IntArray, IntArray]:
    """Numbers of jobs as a row, and of clients away as a column, up to these limits."""
    return np.arange(int(jobs) + 1), np.arange(ceil(away) + 1)[:, None]


def _time_to(queue: TimedQueue, asks: Asking, ends: Ends, start: tuple[int, int]) -> float:
    """Mean passage time to a set of states, of shape (away, jobs) [s]."""
    meet = meeting(queue, ends.shape[1] - 1)
    time = passage(meet, asks, ends, start)
    return time if 0 < time * meet.departs[-1] < LONGEST else inf
