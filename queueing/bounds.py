"""Bounds on a closed network's throughput and response time, without solving it.

Everything takes arrays: demands are a sequence over stations of numbers or arrays over
operating points, which population and think time broadcast with. Bounds other than the
asymptotic ones are for single servers (and delays, which belong to the think time).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount, FloatArray, check_count, check_not_negative, check_positive, plain
from headway.queueing.flows.laws import interactive_response_time, knee_population
from headway.queueing.stations.base import Station


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


def asymptotic_bounds(
    demands: Sequence[Amount],
    population: Amount,
    think_time: Amount = 0.0,
    servers: Sequence[Amount] | None = None,
) -> Bounds:
    """Limits by no waiting at all, by the bottleneck, and by waiting behind everybody.

    N / (Z + sum D (1 + (N-1)/m)) <= X <= min(min m/D, N / (Z + sum D))

    Parameters
    ----------
    demands
        Service demand D of a job at each station [s], 0 or more.
    population
        Jobs N, whole numbers of 1 or more.
    think_time
        Z [s], 0 or more.
    servers
        Servers m of each station; 1 each by default.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> bounds = asymptotic_bounds([0.5, 1.5], population=10, think_time=3.0)
    >>> round(bounds.throughput_upper, 4), round(bounds.response_time_lower, 4)
    (0.6667, 12.0)

    References
    ----------
    Lazowska et al., *Quantitative System Performance*, 1984, section 5.2.
    """
    demand, jobs, think = _read(demands, population, think_time)
    each = _servers(servers, demand)
    total = demand.sum(axis=0)
    lower = jobs / (think + (demand * (1 + (jobs - 1) / each)).sum(axis=0))
    upper = np.minimum(1 / (demand / each).max(axis=0), jobs / (think + total))
    return _bounds(lower, upper, jobs, think)


def balanced_job_bounds(
    demands: Sequence[Amount], population: Amount, think_time: Amount = 0.0
) -> Bounds:
    """Limits by comparison with networks whose stations all have the same demand.

    N / (Z + D + (N-1) D_max / (1 + Z/(N D))) <= X
    <= min(1/D_max, N / (Z + D + (N-1) D_mean / (1 + Z/D)))

    Parameters
    ----------
    demands, population, think_time
        As for `asymptotic_bounds`; single servers.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> bounds = balanced_job_bounds([1.0, 1.0], population=3)
    >>> bounds.throughput_lower, bounds.throughput_upper
    (0.75, 0.75)

    References
    ----------
    Zahorjan, Sevcik, Eager and Galler, CACM 25(2), 1982; Lazowska et al., *Quantitative
    System Performance*, 1984, section 5.4.
    """
    demand, jobs, think = _read(demands, population, think_time)
    total, largest = demand.sum(axis=0), demand.max(axis=0)
    slow = think + total + (jobs - 1) * largest / (1 + think / (jobs * total))
    return _bounds(jobs / slow, _balanced_upper(demand, jobs, think), jobs, think)


def geometric_bounds(
    demands: Sequence[Amount], population: Amount, think_time: Amount = 0.0
) -> Bounds:
    """Limits by bounding each queue length by a geometric series: the tightest of the three.

    The upper limit takes the balanced job bound for the throughput with one job fewer.

    Parameters
    ----------
    demands, population, think_time
        As for `asymptotic_bounds`; single servers.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> bounds = geometric_bounds([0.1, 0.1, 0.09, 0.08], population=10)
    >>> round(bounds.throughput_lower, 4), round(bounds.throughput_upper, 4)
    (8.1521, 8.2753)

    References
    ----------
    Casale, Muntz and Serazzi, "Geometric bounds: a noniterative analysis technique for
    closed queueing networks", IEEE Trans. Computers 57(6), 2008.
    """
    demand, jobs, think = _read(demands, population, think_time)
    largest, before = demand.max(axis=0), jobs - 1
    few = demand * before / (think + demand.sum(axis=0) + largest * before)
    many = demand * _balanced_upper(demand, before, think)
    slack = largest - demand
    busy = think + demand.sum(axis=0) + largest * before
    few, many = ((slack * _geometric_length(x, before)).sum(axis=0) for x in (few, many))
    lower = _root(jobs, busy - few, think * largest * before)
    upper = _root(jobs, busy - many, think * largest * jobs)
    outer = balanced_job_bounds(demands, population, think_time)
    return _bounds(
        np.maximum(lower, outer.throughput_lower),
        np.minimum(upper, outer.throughput_upper),
        jobs,
        think,
    )


def network_bounds(
    stations: Sequence[Station],
    visits: Sequence[Amount],
    population: Amount,
    think_time: Amount = 0.0,
) -> dict[str, Bounds]:
    """Bounds on a closed network of stations, by method.

    Asymptotic ones for every kind, by the rates that occur with N jobs: X is at most the
    fastest rate over V, and a visit takes no less than the shortest, no more than the longest
    mean time. Balanced job and geometric ones where all that is no delay is single servers.

    Parameters
    ----------
    stations, visits
        Stations, and the mean visits of a job to each.
    population, think_time
        Jobs N, 1 or more, and Z [s].

    Returns
    -------
    Bounds by name; none where no station limits the throughput.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> from headway.queueing import MM1, LoadDependent
    >>> pool, cpu = LoadDependent((1.0, 5.0, 1.0)), MM1(0.01)
    >>> round(network_bounds([pool, cpu], [1, 1], population=2)["asymptotic"].throughput_upper, 9)
    4.87804878
    """
    queues = [
        (station, np.asarray(v, float))
        for station, v in zip(stations, visits, strict=True)
        if station.can.limits and np.any(v / np.asarray(station.fastest(population)) > 0)
    ]
    if not queues:
        return {}
    others = [v * np.asarray(s.service_time) for s, v in zip(stations, visits, strict=True)
              if not s.can.limits]  # fmt: skip
    think: Amount = think_time + sum(others)
    stays = [(v * least, v * most) for s, v in queues for least, most in [s.stay(population)]]
    _, jobs, still = _read([least for least, _ in stays], population, think)
    network = stations, visits, population, think_time
    lower, upper = least_throughput(*network), most_throughput(*network)
    found = {"asymptotic": _bounds(lower, upper, jobs, still)}
    if all(np.allclose(most, least * jobs, rtol=1e-12) for least, most in stays):
        demands = [least for least, _ in stays]
        found["balanced job"] = balanced_job_bounds(demands, population, think)
        found["geometric"] = geometric_bounds(demands, population, think)
    return found


def least_throughput(
    stations: Sequence[Station], visits: Sequence[Amount], population: Amount, think_time: Amount
) -> Amount:
    """Throughput if every job waited behind all others: the asymptotic bound from below [1/s].

    Parameters
    ----------
    stations, visits, population, think_time
        As for `network_bounds`, known to be in their domains; infinite where nothing takes time.

    Examples
    --------
    >>> from headway.queueing import MM1, Delay
    >>> round(least_throughput([Delay(3.0), MM1(1.5)], [1, 1], population=10, think_time=0.0), 9)
    0.555555556
    """
    stays = [station.stay(population)[1] for station in stations]
    return _rate(population, think_time, visits, stays)


def most_throughput(
    stations: Sequence[Station], visits: Sequence[Amount], population: Amount, think_time: Amount
) -> Amount:
    """Throughput if nobody waited, or the bottleneck's: the asymptotic bound from above [1/s].

    Parameters
    ----------
    stations, visits, population, think_time
        As for `least_throughput`.

    Examples
    --------
    >>> from headway.queueing import MM1, Delay
    >>> round(most_throughput([Delay(3.0), MM1(1.5)], [1, 1], population=10, think_time=0.0), 9)
    0.666666667
    """
    light = _rate(population, think_time, visits, [s.stay(population)[0] for s in stations])
    shares = [
        v / np.asarray(station.fastest(population))
        for station, v in zip(stations, visits, strict=True)
        if station.can.limits
    ]
    with np.errstate(divide="ignore"):
        return plain(np.minimum(light, 1 / reduce(np.maximum, shares, np.zeros(()))))


def _rate(
    population: Amount, think_time: Amount, visits: Sequence[Amount], stays: Sequence[Amount]
) -> Amount:
    """Jobs over the time that each takes."""
    time = think_time + sum(v * stay for v, stay in zip(visits, stays, strict=True))
    with np.errstate(divide="ignore"):
        return plain(np.asarray(population) / np.asarray(time))


def _balanced_upper(demand: Amount, jobs: Amount, think: Amount) -> Amount:
    """Throughput if all stations had the mean demand, no more than the bottleneck allows."""
    total = demand.sum(axis=0)
    mean = total / np.maximum((demand > 0).sum(axis=0), 1)
    others = np.maximum(jobs - 1, 0)
    cycle = think + total + others * mean / (1 + think / total)
    return np.minimum(1 / demand.max(axis=0), jobs / cycle)


def _geometric_length(ratio: FloatArray, jobs: FloatArray) -> FloatArray:
    """Sum of ratio**j, j = 1..N; where ratio reaches 1 its slack is 0, and so its weight."""
    some = np.minimum(ratio, 1 - 1e-12)
    return np.asarray((some - some ** (jobs + 1)) / (1 - some))


def _root(jobs: FloatArray, linear: FloatArray, product: FloatArray) -> FloatArray:
    """Smaller root X of product X**2 - N linear X + N**2 = 0, with N**2 in units of N."""
    return np.asarray(2 * jobs / (linear + np.sqrt(np.maximum(linear**2 - 4 * product, 0))))


@dataclass(frozen=True)
class Bottleneck:
    """Where a network saturates, and what binds next.

    Parameters
    ----------
    station
        Position of the station with the largest demand per server.
    saturation_throughput
        min m / D [1/s].
    knee_population
        Jobs from which the bottleneck, not the sum of demands, limits: (Z + sum D) / max D/m.
    order
        Positions of all stations, the one that binds first in front.
    limits
        m / D of the stations in that order: relieve the first, and the second binds [1/s].
    """

    station: int
    saturation_throughput: float
    knee_population: float
    order: tuple[int, ...]
    limits: tuple[float, ...]


def bottleneck(
    demands: Sequence[float], think_time: float = 0.0, servers: Sequence[float] | None = None
) -> Bottleneck:
    """Find the bottleneck, the knee, and what binds when the bottleneck is relieved.

    Parameters
    ----------
    demands
        Service demand D of a job at each station [s]; delays have infinitely many servers
        and are left to the think time.
    think_time
        Z [s].
    servers
        Servers m of each station; 1 each by default.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> found = bottleneck([0.2, 0.5, 0.3], think_time=4.0)
    >>> found.station, found.saturation_throughput, found.order, found.knee_population
    (1, 2.0, (1, 2, 0), 10.0)
    """
    demand, _, think = _read(demands, 1, think_time)
    each = _servers(servers, demand)
    per_server = demand / each
    order = np.argsort(-per_server, kind="stable")
    with np.errstate(divide="ignore"):
        limits = 1 / per_server[order]
    knee = knee_population(float(per_server.max()), float(demand.sum()), float(think))
    return Bottleneck(
        int(order[0]), float(limits[0]), knee, tuple(order.tolist()), tuple(limits.tolist())
    )


def _read(
    demands: Sequence[Amount], population: Amount, think_time: Amount
) -> tuple[Amount, Amount, Amount]:
    if len(demands) == 0:
        raise GraphError("bounds need a station; there is none")
    for value in demands:
        check_not_negative("demand", value)
    check_count("population", population)
    check_not_negative("think_time", think_time)
    demand = np.array(np.broadcast_arrays(*(np.asarray(value, float) for value in demands)))
    if not (demand.max(axis=0) > 0).all():
        raise InvalidParameter("all demands are 0; a bound needs one that is positive")
    return demand, np.asarray(population, float), np.asarray(think_time, float)


def _servers(servers: Sequence[Amount] | None, demand: FloatArray) -> Amount:
    if servers is None:
        return np.ones(demand.shape)
    if len(servers) != len(demand):
        msg = f"servers has {len(servers)} entries for {len(demand)} stations; give one for each"
        raise InvalidParameter(msg)
    for value in servers:
        check_positive("servers", np.where(np.isinf(value), 1.0, value))
    each = [np.broadcast_to(np.asarray(value, float), demand.shape[1:]) for value in servers]
    return np.array(each)


def _bounds(lower: Amount, upper: Amount, jobs: Amount, think: Amount) -> Bounds:
    """Order the limits: equal ones may have been rounded past each other."""
    lower = np.minimum(lower, upper)
    slow, fast = (interactive_response_time(jobs, rate, think) for rate in (lower, upper))
    return Bounds(plain(lower), plain(upper), plain(fast), plain(slow))
