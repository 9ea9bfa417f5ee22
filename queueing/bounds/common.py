"""The form of bounds, and the numbers that they are computed from."""

from collections.abc import Sequence

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount, FloatArray, check_count, check_not_negative, check_positive, plain
from headway.queueing.flows.laws import interactive_response_time
from headway.records import dataclass


@dataclass(frozen=True)
class Bounds:
    """Limits between which a closed network's throughput and response time lie.

    Parameters
    ----------
    throughput_lower, throughput_upper
        Limits of X [1/s].
    response_time_lower, response_time_upper
        Limits of R = N / X - Z [s].
    """

    throughput_lower: Amount
    throughput_upper: Amount
    response_time_lower: Amount
    response_time_upper: Amount


def read_demands(
    demands: Sequence[Amount], population: Amount, think_time: Amount
) -> tuple[Amount, Amount, Amount]:
    """Check demands, population and think time; as arrays, demands (stations, points...)."""
    if len(demands) == 0:
        raise GraphError("bounds need a station; add one")
    for value in demands:
        check_not_negative("demand", value)
    check_count("population", population)
    check_not_negative("think_time", think_time)
    jobs, think = np.asarray(population, float), np.asarray(think_time, float)
    given = np.broadcast_arrays(*(np.asarray(value, float) for value in demands), jobs, think)
    demand = np.array(given[: len(demands)])
    if not (demand.max(axis=0) > 0).all():
        raise InvalidParameter("all demands are 0; bounds need a positive one")
    return demand, jobs, think


def read_servers(servers: Sequence[Amount] | None, demand: FloatArray) -> Amount:
    """Servers in the shape of the demands; 1 each by default."""
    if servers is None:
        return np.ones(demand.shape)
    if len(servers) != len(demand):
        msg = f"servers has {len(servers)} entries for {len(demand)} stations; give one for each"
        raise InvalidParameter(msg)
    for value in servers:
        check_positive("servers", np.where(np.isinf(value), 1.0, value))
    each = [np.broadcast_to(np.asarray(value, float), demand.shape[1:]) for value in servers]
    return np.array(each)


def in_order(lower: Amount, upper: Amount, jobs: Amount, think: Amount) -> Bounds:
    """Put the limits in order: rounding may have exchanged equal ones."""
    lower = np.minimum(lower, upper)
    slow, fast = (interactive_response_time(jobs, rate, think) for rate in (lower, upper))
    return Bounds(plain(lower), plain(upper), plain(fast), plain(slow))
