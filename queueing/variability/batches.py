"""A queue at which jobs arrive in batches, M^X/G/1 and M^X/M/m: exact means.

Batches of X jobs arrive as a Poisson process of rate lambda / E[X]; lambda is the rate of jobs. At
one server a job waits for the work that it finds, and for the jobs ahead of it in its batch
(Chaudhry and Templeton, *A First Course in Bulk Queues*, 1983, section 3.2; Kleinrock, *Queueing
Systems*, vol. 1, 1975, section 4.5):

    W = (lambda E[S**2] + (E[X**2] / E[X] - 1) E[S]) / (2 (1 - rho)).

At m servers with exponential service, each number of jobs is crossed as often upwards as downwards,
and the mean number of busy servers is a = lambda S:

    min(n + 1, m) p(n + 1) = (a / E[X]) sum over k <= n of p(k) P(X > n - k),
    sum over n < m of (m - n) p(n) = m - a.

The first m - 1 of these give p(0) ... p(m - 1), all sums of positive terms. The derivative of their
generating function at 1 then has the mean number of jobs:

    L = (sum over n < m of n (m - n) p(n) + a (1 + (E[X**2] / E[X] - 1) / 2)) / (m - a).
"""

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, is_symbolic, plain
from headway.queueing.flows.batch_sizes import BatchSizes

MOST_SERVERS = 10_000
"""Most servers for the recursion, whose sums have m**2 / 2 terms."""

_NOBODY = 1e-12  # stands for an offered load of 0, where the wait has its limit


def batch_wait(
    sizes: BatchSizes, rate: Amount, service_time: Amount, scv: Amount, servers: Amount
) -> Amount:
    """Mean wait of a job in M^X/G/1, or in M^X/M/m [s].

    Parameters
    ----------
    sizes
        Sizes of the batches.
    rate
        Rate of jobs, lambda [1/s].
    service_time, scv
        E[S] [s], and the squared coefficient of variation of S, 1 for several servers.
    servers
        Number of servers m.

    Returns
    -------
    A number, or an array over points; infinite from saturation on.

    Raises
    ------
    GraphError
        For several servers if service is not exponential or numbers are symbols; and for more than
        10,000 servers.

    Examples
    --------
    >>> round(batch_wait(BatchSizes(constant=2.0), 0.5, 1.0, 1.0, 1.0), 6)
    2.0
    """
    numbers = (rate, service_time, scv, servers, sizes.mean)
    if not is_symbolic(servers) and bool(np.all(np.asarray(servers) == 1)):
        return _at_one(sizes, rate, service_time, scv)
    if is_symbolic(*numbers):
        msg = "batches that arrive at several servers have no closed form; solve with numbers"
        raise GraphError(msg)
    if np.any(np.asarray(scv) != 1):
        msg = (
            "batches that arrive at several servers have a known wait where service is "
            "exponential; make it an MMm, or simulate"
        )
        raise GraphError(msg)
    return plain(_at_several(sizes, *np.broadcast_arrays(*_floats(rate, service_time, servers))))


def _floats(*values: Amount) -> list[FloatArray]:
    return [np.asarray(value, float) for value in values]


def _at_one(sizes: BatchSizes, rate: Amount, service_time: Amount, scv: Amount) -> Amount:
    load, beside = rate * service_time, sizes.second / sizes.mean - 1
    work = service_time * (load * (1 + scv) + beside) / 2
    if is_symbolic(work, load):
        return work / (1 - load)
    free = np.maximum(1 - np.asarray(load, float), 0.0)
    with np.errstate(divide="ignore"):
        return plain(np.where(free > 0, work / free, np.inf))


def _at_several(
    sizes: BatchSizes, rate: FloatArray, service_time: FloatArray, servers: FloatArray
) -> FloatArray:
    """Each point separately, by its number of servers."""
    load = np.maximum(rate * service_time, _NOBODY)
    shape = np.broadcast_shapes(load.shape, np.shape(sizes.mean))
    load, time, count = (np.broadcast_to(v, shape).ravel() for v in (load, service_time, servers))
    most = int(count.max(initial=1))
    if most > MOST_SERVERS:
        msg = f"batches that arrive at more than {MOST_SERVERS:,} servers: simulate"
        raise GraphError(msg)
    mean = np.broadcast_to(np.asarray(sizes.mean, float), shape).ravel()
    beside = np.broadcast_to(np.asarray(sizes.second / sizes.mean - 1, float), shape).ravel()
    shares = _shares(load / mean, _tails(sizes, most, shape), count, most)  # p(n) / p(0)
    numbers = np.arange(most)[:, None]
    free = np.maximum(count - numbers, 0.0) * shares
    first = np.maximum(count - load, 0.0) / free.sum(axis=0)
    spare = np.maximum(count - load, 0.0)
    total = first * (numbers * free).sum(axis=0) + load * (1 + beside / 2)
    with np.errstate(divide="ignore"):
        wait = np.where(spare > 0, time * (total / spare / load - 1), np.inf)
    return wait.reshape(shape)


def _shares(each: FloatArray, tails: FloatArray, count: FloatArray, most: int) -> FloatArray:
    """p(n) / p(0) for n < m, shape (most, points)."""
    shares = np.zeros((most, each.size))
    shares[0] = 1.0
    for n in range(most - 1):
        up = each * (shares[: n + 1] * tails[n::-1]).sum(axis=0)
        shares[n + 1] = np.where(n + 1 < count, up / (n + 1), 0.0)
    return shares


def _tails(sizes: BatchSizes, most: int, shape: tuple[int, ...]) -> FloatArray:
    """P(X > j) for j < most, shape (most, points)."""
    beyond = np.arange(most)[:, None]
    points = int(np.prod(shape))
    if sizes.geometric is not None:
        more = np.broadcast_to(1 - 1 / np.asarray(sizes.geometric, float), shape).ravel()
        return np.asarray(more**beyond, float)
    if sizes.constant is not None:
        size = np.broadcast_to(np.asarray(sizes.constant, float), shape).ravel()
        return np.asarray(size > beyond, float)
    tail = sum(chance * (size > beyond) for size, chance in sizes.table)
    return np.broadcast_to(np.asarray(tail, float), (most, points))
