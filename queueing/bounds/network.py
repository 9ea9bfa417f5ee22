"""Bounds on a closed network of stations of any kind with a product form."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from headway.kinds import Amount, plain
from headway.queueing.bounds.closed import (
    balanced_job_bounds,
    geometric_bounds,
    proportional_bounds,
)
from headway.queueing.bounds.common import Bounds, in_order, read_demands
from headway.queueing.bounds.slowing import slowed_throughput
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station


def network_bounds(
    stations: Sequence[Station],
    visits: Sequence[Amount],
    population: Amount,
    think_time: Amount = 0.0,
) -> dict[str, Bounds]:
    """Bounds on a closed network of stations, by method.

    Asymptotic bounds for every kind, from the rates possible with N jobs: X is at most the fastest
    rate over V, or less if a station slows down (`slowed_throughput`), and a visit takes between
    the shortest and the longest mean time. Balanced job and geometric bounds if all stations other
    than delays are single servers.

    Parameters
    ----------
    stations, visits
        Stations, and the mean visits of a job to each.
    population, think_time
        Jobs N, 1 or more, and Z [s].

    Returns
    -------
    Bounds by name; empty if no station limits the throughput.

    Raises
    ------
    GraphError, InvalidParameter
        For no station, or numbers outside their domain.

    Examples
    --------
    >>> from headway.queueing import MM1, LoadDependent
    >>> pool, cpu = LoadDependent((1.0, 5.0, 1.0)), MM1(0.01)
    >>> round(network_bounds([pool, cpu], [1, 1], population=2)["asymptotic"].throughput_upper, 9)
    4.80723465
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
    _, jobs, still = read_demands([least for least, _ in stays], population, think)
    network = stations, visits, population, think_time
    lower, upper = least_throughput(*network), most_throughput(*network)
    upper = np.minimum(upper, slowed_throughput(*network, (least_throughput, most_throughput)))
    ends = {"asymptotic": (lower, upper)}
    alike = all(_steady(station, population) for station, _ in queues)
    if alike and all(np.allclose(most, least * jobs, rtol=1e-12) for least, most in stays):
        for name, bounds in _OF_DEMANDS.items():
            limits = bounds([least for least, _ in stays], population, think)
            ends[name] = limits.throughput_lower, limits.throughput_upper
    apart = still - think + np.asarray(think_time, float)  # delays are part of the response time
    return {name: in_order(*limits, jobs, apart) for name, limits in ends.items()}


_OF_DEMANDS = {
    "balanced job": balanced_job_bounds,
    "proportional": proportional_bounds,
    "geometric": geometric_bounds,
}
"""Bounds from the demands at single servers alone."""


def _steady(station: Station, population: Amount) -> bool:
    """Whether the station is as fast with any number up to N of jobs."""
    if station.can.product_form is not ServiceKind.VARYING:
        return True
    varying: Any = station
    rates = varying.rates_to(float(np.max(np.asarray(population))))
    return all(np.allclose(rate, rates[0], rtol=1e-12) for rate in rates)


def least_throughput(
    stations: Sequence[Station], visits: Sequence[Amount], population: Amount, think_time: Amount
) -> Amount:
    """Throughput if every job waited behind all others: the asymptotic lower bound [1/s].

    Parameters
    ----------
    stations, visits, population, think_time
        As for `network_bounds`, already checked; infinite if nothing takes time.

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
    """Asymptotic upper bound on throughput: without waiting, or at the bottleneck [1/s].

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
    """Jobs divided by the time that each takes."""
    time = think_time + sum(v * stay for v, stay in zip(visits, stays, strict=True))
    with np.errstate(divide="ignore"):
        return plain(np.asarray(population) / np.asarray(time))
