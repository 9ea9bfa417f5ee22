"""How long a good state lasts by chance: the chain of jobs, and of clients who will ask again.

An attempt that meets n jobs fails with chance p_n, whatever comes later (the law of its wait), and
its client asks again a timeout and a backoff later, D on average. With n jobs there, o clients who
will ask again, lambda requests a second and mu_n = min(n, m) mu,

    (n, o) -> (n + 1, o)      lambda (1 - h p_n) + q p_n o / D
           -> (n + 1, o + 1)  lambda h p_n
           -> (n + 1, o - 1)  (1 - q p_n) o / D
           -> (n - 1, o)      mu_n.

Two things are approximate: D is taken as exponential, and retries are not told apart, of which a
share q / h is not the last of its request, as it would be at the threshold between the good state
and the bad one, where each attempt fails with chance p: q = h (1 - z^(r-1) / (1 + ... + z^(r-1))),
z = h p. The mean time until more than N jobs are there, from an empty start, solves the chain's
linear equations. With w = m (1 + T / S) jobs waiting newcomers wait for longer than the timeout T.
A queue of N = m + w jobs may still recover, where clients come back long after; one of m + 2 w jobs
has had time for them to come back. So a state lasts between the times to the two.

Constant backoffs bring those who failed together back together, which ends a state sooner.
"""

from collections.abc import Iterator
from math import ceil, inf, log

import numpy as np
from scipy.optimize import brentq
from scipy.sparse import coo_array
from scipy.sparse.linalg import splu

from headway.kinds import FloatArray
from headway.queueing.flows.clients import Clients
from headway.queueing.retries.attempts import Stability, State, states
from headway.queueing.retries.followed import failing
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

LONGEST = 1e12
"""Mean services of all servers beyond which a time is only rounding, and said to be endless."""

LASTING = 10_000
"""Requests for which a good state is to last, to be an answer: over fewer its means can hardly be
measured, as they vary by several per cent. Chosen."""

_DOWN = (0.98, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)  # of a load, to begin with
_NEAR, _CLOSE = 1e-6, 1e-4  # of loads, to be inside a range, and to be found
_ROOM = 3.0  # times the clients away at the threshold, that there is room for; and all jobs


def is_lasting_known(queue: TimedQueue, clients: Clients) -> bool:
    """Whether the chain is that of a queue: nothing is dropped, and nobody counts retries."""
    return bool(queue.oldest == inf and float(clients.retry_budget) == inf and clients.returns)


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
    found = tuple(_times(queue, clients, load, states, ends=2))
    return (found[0], found[1]) if found else None


def lasting_at_least(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...]
) -> float | None:
    """The least of `lasting` alone, in a third of the time [s]."""
    return next(_times(queue, clients, load, states, ends=1), None)


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

    def beyond(load: float) -> float:
        found = states(load, clients, lambda rate: queue.at(rate).late, queue.saturation)
        time = lasting_at_least(queue, clients, load, found)
        if time is None:
            raise _Unknown
        return log(min(time * load, 1e6 * requests) / requests)

    low, high = between[0] * (1 + _NEAR), between[1] * (1 - _NEAR)
    try:
        if beyond(high) >= 0:
            return between[1]
        for share in _DOWN:  # as there are fewer states near the upper load
            load = max(low, share * between[1])
            if beyond(load) >= 0:
                return float(brentq(beyond, load, high, rtol=_CLOSE))
            high = load
    except _Unknown:
        return None
    return between[0]


class _Unknown(Exception):
    """Too many states."""


def _times(
    queue: TimedQueue, clients: Clients, load: float, states: tuple[State, ...], ends: int
) -> Iterator[float]:
    """Mean times until the first of the queues that end a state [s]; none where none is known.

    Where the good state touches the bad one, the threshold is the state itself.
    """
    threshold = next((one for one in states if one.stability is not Stability.STABLE), None)
    if threshold is None:  # so close to saturation that no number tells it apart
        return
    wait = queue.servers * (1 + queue.timeout / queue.service_time)
    jobs = [queue.servers + ceil(turns * wait) for turns in (1, 2)]
    delay = queue.timeout + float(clients.backoff)
    away = ceil(_ROOM * (threshold.rate - load) * delay + jobs[-1])
    if away * jobs[-1] <= MOST_STATES:
        for most in jobs[:ends]:
            yield _time_to(most, queue, clients, load, threshold.late, away)


def _time_to(
    jobs: int, queue: TimedQueue, clients: Clients, load: float, late: float, away: int
) -> float:
    """Mean time until there are more jobs than so many, with so many clients away at most [s]."""
    met = np.arange(jobs + 1)
    fails = failing(queue, met)
    first, again = _shares(clients, late)
    departs = np.minimum(met, queue.servers) / queue.service_time
    delay = queue.timeout + float(clients.backoff)
    time = _passage(load, first * fails, again * fails, departs, delay, away)
    return time if 0 < time * departs[-1] < LONGEST else inf


def _shares(clients: Clients, late: float) -> tuple[float, float]:
    """Shares of the first attempts that fail, and of others, after which clients ask again."""
    persistence, retries = float(clients.persistence), float(clients.retries)
    if retries == inf:
        return persistence, persistence
    ratios = (persistence * late) ** np.arange(retries)
    return persistence, persistence * float(1 - ratios[-1] / ratios.sum())


def _passage(
    load: float,
    first: FloatArray,
    again: FloatArray,
    departs: FloatArray,
    delay: float,
    away: int,
) -> float:
    """Mean time from 0 jobs and nobody away until there are more than jobs met [s].

    Parameters
    ----------
    load, delay
        Requests [1/s], and the mean time that clients are away [s].
    first, again
        Chances that first attempts, and others, fail and are repeated, shape (jobs,).
    departs
        Rates of departures, shape (jobs,) [1/s].
    away
        Most clients away.
    """
    n = np.tile(np.arange(len(departs)), away + 1)
    o = np.repeat(np.arange(away + 1), len(departs))
    back, wide = o / delay, len(departs)
    joins = np.where(o < away, load * first[n], 0.0)
    moves = (
        (1, load - joins + back * again[n]),
        (wide + 1, joins),
        (1 - wide, back * (1 - again[n])),
        (-1, departs[n]),
    )
    every = np.arange(n.size)
    rows, columns, values = [every], [every], [np.sum([rates for _, rates in moves], axis=0)]
    for step, rates in moves:
        inside = np.flatnonzero((rates > 0) & ((n < wide - 1) | (step == -1)))
        rows.append(inside)
        columns.append(inside + step)
        values.append(-rates[inside])
    value, row, column = map(np.concatenate, (values, rows, columns))
    leaves = coo_array((value, (row, column)), (n.size, n.size)).tocsc()
    return float(splu(leaves, permc_spec="MMD_AT_PLUS_A").solve(np.ones(n.size))[0])
