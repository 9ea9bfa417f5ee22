"""Finite-capacity regions as flow-equivalent servers, approximate for any product-form network."""

from collections.abc import Sequence

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.queueing.blocking.answers import WindowAnswer
from headway.queueing.closed.solve_closed import solve_closed
from headway.queueing.stations.base import Station
from headway.records import dataclass


@dataclass(frozen=True)
class Equivalent:
    """The flow-equivalent server of a region: its throughput by the number of jobs inside.

    Parameters
    ----------
    rates
        Throughput with 1, 2... jobs inside [1/s], shape (limit,); with more, the others wait
        outside, and the last value holds.
    queues
        Mean number at each of its stations with 0, 1... jobs inside, shape (stations, limit + 1).
    working
        Utilisation of each station, with as many jobs inside.
    """

    rates: FloatArray
    queues: FloatArray
    working: FloatArray

    @property
    def limit(self) -> int:
        """Largest number of jobs inside."""
        return self.rates.size


def flow_equivalent(stations: Sequence[Station], visits: Sequence[float], limit: int) -> Equivalent:
    """Short-circuit a region: solve it as a closed network of 1, 2... jobs.

    Parameters
    ----------
    Its stations, of kinds with a product form.
        Its stations, of kinds with a product form.
    visits
        Mean visits to each station by a job that enters the region.
    limit
        Largest number of jobs inside, a whole number from 1.

    Raises
    ------
    GraphError
        For a station without a product form.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> flow_equivalent([MM1(0.1), MM1(0.1)], [1.0, 1.0], limit=2).rates.round(6).tolist()
    [5.0, 6.666667]

    References
    ----------
    Chandy, Herzog and Woo, IBM J. Res. Dev. 19(1), 1975; Lazowska et al., 1984, chapter 9.
    """
    inside = solve_closed(stations, visits, np.arange(1.0, limit + 1))
    queues, working = (
        np.pad(np.asarray(each), ((0, 0), (1, 0)))
        for each in (inside.queue_length, inside.utilisation)
    )
    return Equivalent(np.asarray(inside.throughput, float), queues, working)


@dataclass(frozen=True)
class RegionState:
    """A region as a part of its network.

    Parameters
    ----------
    answer
        The results of the region.
    queues, working
        Mean number and utilisation of each of its stations, shape (stations,).
    chance
        Probability of 0, 1... jobs inside or waiting outside, shape (numbers,).
    """

    answer: WindowAnswer
    queues: FloatArray
    working: FloatArray
    chance: FloatArray


def open_window(region: Equivalent, rate: float) -> RegionState:
    """A region with Poisson arrivals: a birth-death process.

    Parameters
    ----------
    region
        The region, by `flow_equivalent`.
    rate
        Arrival rate [1/s], below its throughput when it is full.

    Raises
    ------
    Saturated
        For a higher arrival rate.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = flow_equivalent([MM1(0.1)], [1.0], limit=1)  # M/M/1
    >>> round(open_window(one, 5.0).answer.waiting_time, 12)
    0.1
    """
    share = rate / region.rates[-1]
    if not share < 1:
        raise Saturated(
            "more jobs arrive than the region can pass; reduce the arrival rate or raise its limit"
        )
    weights = np.concatenate([[1.0], np.cumprod(rate / region.rates)])
    weights[-1] /= 1 - share
    chance = weights / weights.sum()
    outside = float(chance[-1] * share / (1 - share))
    return _region_state(region, chance, outside, rate)


def closed_window(region: Equivalent, coming: FloatArray) -> RegionState:
    """A region in a closed network: a birth-death process.

    Parameters
    ----------
    region
        The region, by `flow_equivalent`.
    coming
        Arrival rate while 0, 1... N - 1 jobs are inside or waiting outside [1/s], shape (N,).

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = flow_equivalent([MM1(1.0)], [1.0], limit=1)
    >>> closed_window(one, np.array([2.0, 1.0])).chance.tolist()
    [0.2, 0.4, 0.4]
    """
    many = coming.size
    rates = region.rates[np.minimum(np.arange(many), region.limit - 1)]
    logs = np.concatenate([[0.0], np.cumsum(np.log(coming) - np.log(rates))])
    weights = np.exp(logs - logs.max())
    chance = weights / weights.sum()
    outside = float(chance @ np.maximum(np.arange(many + 1) - region.limit, 0))
    folded = np.zeros(region.limit + 1)
    np.add.at(folded, np.minimum(np.arange(many + 1), region.limit), chance)
    return _region_state(region, folded, outside, float(chance[1:] @ rates), chance)


def _region_state(
    region: Equivalent,
    inside: FloatArray,
    outside: float,
    rate: float,
    chance: FloatArray | None = None,
) -> RegionState:
    taken = float(inside @ np.arange(inside.size))
    answer = WindowAnswer(
        throughput=rate,
        utilisation=taken / region.limit,
        full=float(inside[-1]),
        queue_length=outside,
        waiting_time=outside / rate if rate else 0.0,
    )
    means = region.queues @ inside, region.working @ inside
    return RegionState(answer, *means, inside if chance is None else chance)
