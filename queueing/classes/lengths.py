"""Results for closed classes, and the capacity that open classes leave them."""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.records import dataclass


@dataclass(frozen=True)
class Lengths:
    """Throughputs and queue lengths of closed classes.

    Parameters
    ----------
    method, approximation
        The method, and what is not exact about it.
    throughput
        Shape (closed classes, points) [1/s].
    queue_length
        Shape (closed classes, stations, points).
    open_growth
        Mean number of open jobs per server that they hold, shape (stations, points).
    working
        For stations of varying speed, the mean share of their servers that works: for closed
        classes, with the shape of `queue_length`; for open ones, divided by their offered work,
        shape (stations, points).
    open_stay
        Response times per visit if they do not follow from `open_growth`, shape as `Network.demand`
        [s].
    """

    method: Method
    approximation: str
    throughput: FloatArray
    queue_length: FloatArray
    open_growth: FloatArray
    working: tuple[FloatArray, FloatArray] | None = None
    open_stay: FloatArray | None = None

    @classmethod
    def without_jobs(cls, open_growth: FloatArray) -> "Lengths":
        """The results of a network without closed classes."""
        none = np.zeros((0, *open_growth.shape))
        return cls(Method.EXACT, "", none[:, 0], none, open_growth)


def thinking(network: Network) -> FloatArray:
    """Time of closed classes without queueing: thinking and at delays."""
    closed, rest = ~network.is_open, network.is_delay[:, None]
    resting = np.where(rest, network.demand[closed], 0.0).sum(axis=1)
    return np.asarray(network.think_time[closed] + resting)


def queueing_demands(network: Network) -> FloatArray:
    """Demands of closed classes at queues."""
    return np.where(network.is_delay[:, None], 0.0, network.demand[~network.is_open])


def with_delays(network: Network, rate: FloatArray, queue: FloatArray) -> FloatArray:
    """Fill in the mean numbers at delays, X D."""
    resting = rate[:, None] * network.demand[~network.is_open]
    return np.where(network.is_delay[:, None], resting, queue)


def free_share(network: Network, load: FloatArray) -> FloatArray:
    """Share of a server that open classes leave, shape (stations, points)."""
    return np.where(network.is_delay[:, None], 1.0, 1 - load / network.servers)
