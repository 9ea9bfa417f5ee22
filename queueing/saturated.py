"""A closed network of single servers past saturation: an open one, fed by its slowest queue.

With N jobs and one queue slower than all others, what is not at that queue is distributed
as in an open network with throughput 1 / D, given that it is N at most. Once the chance of
more than N is below any rounding error, the condition makes no difference.

Source: Denning and Buzen, ACM Computing Surveys 10(3), 1978, for the asymptote.
"""

from dataclasses import dataclass
from math import log, log1p

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray

_NEGLIGIBLE = 40.0  # exp(-40) is far below a rounding error


@dataclass(frozen=True)
class SinglePoint:
    """A closed network of single servers at one operating point.

    Parameters
    ----------
    demand
        Service demands D, shape (stations,), not all 0 [s].
    queues
        Separate queues each is split into, shape (stations,).
    think_time
        Time Z without queueing, delays included [s].
    population
        Jobs N.
    """

    demand: FloatArray
    queues: NDArray[np.intp]
    think_time: float
    population: int

    @property
    def share(self) -> FloatArray:
        """Demand of a job for each separate queue, shape (stations,) [s]."""
        return self.demand / self.queues


def is_saturated(network: SinglePoint) -> bool:
    """Tell whether the slowest queue is never empty, but for less than a rounding error.

    For any s > 1 the chance of N jobs or more elsewhere is at most E s**n / s**N (Chernoff).
    There E s**n = exp(a (s - 1)) for a jobs thinking, times (1 - r) / (1 - s r) for each queue
    with utilisation r. With s = 1 + (1 / r - 1) / 2, r being the largest, that is 2 at most. One
    factor more stands for the queue whose length is asked for.

    Parameters
    ----------
    network
        Single servers at one operating point.

    Examples
    --------
    >>> demand, queues = np.array([1.0, 0.5]), np.ones(2, int)
    >>> [is_saturated(SinglePoint(demand, queues, 0.0, n)) for n in (50, 500)]
    [False, True]
    """
    shares = np.repeat(network.share, network.queues)
    *others, slowest = sorted(shares.tolist())
    second = others[-1] if others else 0.0
    step = min(1.0, (slowest - second) / (2 * second)) if second else 1.0
    exponent = (network.population - 1) * log1p(step) - network.think_time / slowest * step
    return exponent - len(shares) * log(2) > _NEGLIGIBLE


def saturated(network: SinglePoint) -> tuple[FloatArray, FloatArray]:
    """Throughput, shape (1,), and queue lengths, shape (stations, 1), of a saturated network.

    X = 1 / max D; Q_k = X D_k / (1 - X D_k) elsewhere, and the rest at the slowest queue.

    Parameters
    ----------
    network
        Single servers at one operating point.

    Examples
    --------
    >>> network = SinglePoint(np.array([1.0, 0.5]), np.ones(2, int), 3.0, population=500)
    >>> [values.tolist() for values in saturated(network)]
    [[1.0], [[496.0], [1.0]]]
    """
    slowest = network.share.argmax()
    rate = 1 / network.demand[[slowest]]
    busy = network.share * rate
    busy[slowest] = 0.0
    lengths = network.queues * busy / (1 - busy)
    lengths[slowest] = network.population - network.think_time * rate[0] - lengths.sum()
    return rate, lengths[:, None]
