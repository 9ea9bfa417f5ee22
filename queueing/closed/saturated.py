"""A closed network beyond saturation: an open one, fed by its slowest station.

With N jobs and one station slower than all others, the jobs elsewhere are distributed as in an open
network with throughput m / D, given that they are at most N - m. Once the probability of more is
below any rounding error, the condition makes no difference.

Source: Denning and Buzen, ACM Computing Surveys 10(3), 1978, for the asymptote.
"""

from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.erlang.formulas import erlang_c
from headway.records import dataclass

_NEGLIGIBLE = 40.0  # exp(-40) is far below a rounding error


@dataclass(frozen=True)
class SinglePoint:
    """A closed network of servers at one operating point.

    Parameters
    ----------
    demand
        Service demands D, shape (stations,), not all 0 [s].
    queues
        Number of separate queues of each station, shape (stations,).
    think_time
        Time Z without queueing, delays included [s].
    population
        Jobs N.
    servers
        Servers m at each queue, shape (stations,); single ones by default.
    """

    demand: FloatArray
    queues: NDArray[np.intp]
    think_time: float
    population: int
    servers: FloatArray | None = None

    @property
    def share(self) -> FloatArray:
        """Demand of a job for each separate queue, shape (stations,) [s]."""
        return self.demand / self.queues

    @property
    def each(self) -> FloatArray:
        """Servers at each queue, shape (stations,)."""
        return np.ones(self.demand.shape) if self.servers is None else self.servers


def is_saturated(network: SinglePoint) -> bool:
    """Whether the slowest station is always fully busy, up to a rounding error.

    For any s > 1 the probability of n jobs or more elsewhere is at most E s**n / s**n (Chernoff).
    There E s**n = exp(a (s - 1)) for a jobs thinking, times (1 - r) / (1 - s r) for each queue with
    utilisation r. With s = 1 + (1 / r - 1) / 2, r being the largest, that is 2 at most. A pool of m
    servers with a jobs in service has at most exp(a (s - 1)) (1 + 1 / (1 - s r)), as 1/p_0 is at
    least e**a, and at s a at most e**(s a) times that. One more factor is for the queue whose
    length is computed.

    Parameters
    ----------
    network
        Servers at one operating point.

    Examples
    --------
    >>> demand, queues = np.array([1.0, 0.5]), np.ones(2, int)
    >>> [is_saturated(SinglePoint(demand, queues, 0.0, n)) for n in (50, 500)]
    [False, True]
    """
    servers = network.each
    share = network.share / servers
    slowest = int(share.argmax())
    fastest, last = float(share[slowest]), servers[slowest]
    shared = fastest
    if network.queues[slowest] == 1:
        share[slowest] = 0.0
        shared = float(share.max())
    step = min(1.0, (fastest - shared) / (2 * shared)) if shared else 1.0
    if step <= 0:
        return False
    pool = servers > 1
    pool[slowest] = False
    busy = network.demand[pool].sum() / fastest
    exponent = (network.population - last) * log1p(step)
    exponent -= (network.think_time / fastest + busy) * step
    factors = log(2) * (network.queues.sum() - pool.sum())
    largest = log(1 + 2 / (1 - shared / fastest)) if pool.any() else 0.0
    return bool(exponent - factors - largest * (pool.sum() + 1) > _NEGLIGIBLE)


def saturated(network: SinglePoint) -> tuple[FloatArray, FloatArray]:
    """Throughput, shape (1,), and queue lengths, shape (stations, 1), of a saturated network.

    X = min m / D; elsewhere as in an open network, with the other jobs at the slowest station.

    Parameters
    ----------
    network
        Servers at one operating point.

    Examples
    --------
    >>> network = SinglePoint(np.array([1.0, 0.5]), np.ones(2, int), 3.0, population=500)
    >>> [values.tolist() for values in saturated(network)]
    [[1.0], [[496.0], [1.0]]]
    """
    slowest = (network.share / network.each).argmax()
    rate = network.each[[slowest]] / network.demand[[slowest]]
    load = network.share * rate
    load[slowest] = 0.0
    lengths = network.queues * _present(network.each, load)
    lengths[slowest] = network.population - network.think_time * rate[0] - lengths.sum()
    return rate, lengths[:, None]


def _present(servers: FloatArray, load: FloatArray) -> FloatArray:
    """Mean number at M/M/m: a + C(m, a) a / (m - a), which is a / (1 - a) for one server."""
    waits, pool = load / servers, (servers > 1) & (load > 0)  # C(1, a) = a, C(m, 0) = 0
    if pool.any():
        waits[pool] = erlang_c(servers[pool], load[pool])
    return np.asarray(load + waits * load / (servers - load))
