"""M/M/m whose clients return from an orbit: the exact chain of jobs present and clients away.

The state is the number n of jobs and the number o of clients in the orbit, each backing off for an
exponential time b. A client that finds all K places taken, or leaves the queue after an exponential
patience T, enters the orbit with probability h:

    (n, o) -> (n + 1, o)      lambda                  n < K
           -> (n + 1, o - 1)  o / b                   n < K
           -> (n, o + 1)      h lambda                n = K
           -> (n, o - 1)      (1 - h) o / b           n = K
           -> (n - 1, o)      min(n, m) / S + (1 - h) (n - m)+ / T
           -> (n - 1, o + 1)  h (n - m)+ / T

The orbit, and an unlimited queue, are cut off where less than 1e-10 of the time is spent beyond.

Source: Falin and Templeton, *Retrial Queues*, 1997, section 2.1; Mandelbaum, Massey, Reiman,
Stolyar and Rider, *Queue lengths and waiting times for multiserver queues with abandonment and
retrials*, Telecommunication Systems 21, 2002.
"""

from math import inf

import numpy as np
from scipy.sparse import coo_array, csc_array
from scipy.sparse.linalg import splu

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.records import dataclass

MOST_STATES = 100_000
"""Most states of the chain; it takes some seconds."""

BEYOND = 1e-10
"""Largest share of time spent in the last states that are kept."""

_FIRST = 32  # places in the orbit, and in an unlimited queue, at first


@dataclass(frozen=True)
class OrbitQueue:
    """M/M/m/K+M whose clients return from an orbit.

    Parameters
    ----------
    rate
        Requests [1/s].
    service_time, servers
        S [s] and m.
    places
        K, including jobs in service; infinite for no limit.
    patience
        Mean T [s]; infinite if jobs stay.
    backoff
        Mean b [s], above 0.
    persistence
        Probability h that a client returns.
    """

    rate: float
    service_time: float
    servers: int
    places: float
    patience: float
    backoff: float
    persistence: float


@dataclass(frozen=True)
class Orbit:
    """The means of the chain.

    Parameters
    ----------
    queue_length, away
        Mean jobs present, and mean clients backing off.
    served
        Answers [1/s].
    refused, left
        Attempts that find no place, and jobs that leave the queue unserved [1/s].
    busy
        Mean busy servers.
    states
        Number of states.
    beyond
        Share of time in the last states, which stand for all further ones.
    """

    queue_length: float
    away: float
    served: float
    refused: float
    left: float
    busy: float
    states: int
    beyond: float


def orbit_of(queue: OrbitQueue) -> Orbit:
    """Solve the chain, with as many states as it needs.

    Raises
    ------
    GraphError
        If 100,000 states are too few.

    Examples
    --------
    >>> found = orbit_of(OrbitQueue(1.0, 1.0, 1, 1, inf, 1.0, 0.0))  # M/M/1/1: half are lost
    >>> round(found.served, 12), round(found.refused, 12)
    (0.5, 0.5)
    """
    room = int(queue.places) if queue.places < inf else queue.servers + _FIRST
    away = _FIRST
    while (room + 1) * (away + 1) <= MOST_STATES:
        chances = _stationary(queue, room, away)
        edge = chances[:, -1].sum()
        over = chances[-1].sum() if queue.places == inf else 0.0
        if max(edge, over) < BEYOND:
            return _answers(queue, chances, float(max(edge, over)))
        away = 2 * away if edge >= BEYOND else away
        room = 2 * room if over >= BEYOND else room
    msg = f"retries keep more states busy than {MOST_STATES:,}; simulate"
    raise GraphError(msg)


def _stationary(queue: OrbitQueue, room: int, away: int) -> FloatArray:
    """Stationary probabilities, shape (jobs + 1, orbit + 1)."""
    shape = (room + 1, away + 1)
    n, o = (each.ravel() for each in np.indices(shape))
    full, back = n == room, o / queue.backoff
    leave, h = np.maximum(n - queue.servers, 0) / queue.patience, queue.persistence
    served = np.minimum(n, queue.servers) / queue.service_time
    moves = (
        (1, 0, np.where(full, 0.0, queue.rate)),
        (1, -1, np.where(full, 0.0, back)),
        (0, 1, np.where(full, h * queue.rate, 0.0)),
        (0, -1, np.where(full, (1 - h) * back, 0.0)),
        (-1, 0, served + (1 - h) * leave),
        (-1, 1, h * leave),
    )
    size = n.size
    source, target, speed = [], [], []
    for more, further, rates in moves:
        kept = (rates > 0) & (o + further <= away)
        source.append(np.flatnonzero(kept))
        target.append((n[kept] + more) * shape[1] + o[kept] + further)
        speed.append(rates[kept])
    rows, columns = np.concatenate(source), np.concatenate(target)
    values = np.concatenate(speed)
    leaves = np.bincount(rows, values, size)
    every = np.arange(size)
    generator = coo_array(
        (np.r_[values, -leaves], (np.r_[columns, every], np.r_[rows, every])), (size, size)
    ).tocsc()
    # the probability of the first state is fixed at 1, and all are normalised afterwards
    right = -generator[1:, [0]].toarray().ravel()
    rest = splu(csc_array(generator[1:, 1:])).solve(right)
    chances = np.maximum(np.r_[1.0, rest], 0.0)
    return np.asarray((chances / chances.sum()).reshape(shape), float)


def _answers(queue: OrbitQueue, chances: FloatArray, beyond: float) -> Orbit:
    n, o = np.arange(chances.shape[0]), np.arange(chances.shape[1])
    jobs, away = chances.sum(axis=1), chances.sum(axis=0)
    busy = float(jobs @ np.minimum(n, queue.servers))
    left = float(jobs @ np.maximum(n - queue.servers, 0)) / queue.patience
    refused = float(jobs[-1] * queue.rate + chances[-1] @ o / queue.backoff)
    refused = refused if queue.places < inf else 0.0
    return Orbit(
        float(jobs @ n),
        float(away @ o),
        busy / queue.service_time,
        refused,
        left,
        busy,
        chances.size,
        beyond,
    )
