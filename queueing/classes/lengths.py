"""What is found of closed classes, and what open ones and delays leave them."""

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
        The method used and what is not exact about it.
    throughput
        Shape (closed classes, points) [1/s].
    queue_length
        Shape (closed classes, stations, points).
    open_growth
        Mean number of open jobs for each server they hold, shape (stations, points).
    working
        Of stations whose speed varies, the mean share of their servers that works: for closed
        classes, shape as `queue_length`; for open ones over the work they bring, shape (stations,
        points).
    open_stay
        Response times per visit where they follow from no growth, shape as `Network.demand`
        has it [s].
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
        """Give those of a network without closed classes."""
        none = np.zeros((0, *open_growth.shape))
        return cls(Method.EXACT, "", none[:, 0], none, open_growth)


def thinking(network: Network) -> FloatArray:
    """Time of closed classes without queueing, thinking and at delays."""
    closed, rest = ~network.is_open, network.is_delay[:, None]
    resting = np.where(rest, network.demand[closed], 0.0).sum(axis=1)
    return np.asarray(network.think_time[closed] + resting)


def queueing_demands(network: Network) -> FloatArray:
    """Demands of closed classes where they queue."""
    return np.where(network.is_delay[:, None], 0.0, network.demand[~network.is_open])


def with_delays(network: Network, rate: FloatArray, queue: FloatArray) -> FloatArray:
    """Fill in the numbers at delays, X D."""
    resting = rate[:, None] * network.demand[~network.is_open]
    return np.where(network.is_delay[:, None], resting, queue)


def free_share(network: Network, load: FloatArray) -> FloatArray:
    """Share of a server that open classes leave, shape (stations, points)."""
    return np.where(network.is_delay[:, None], 1.0, 1 - load / network.servers)
