"""Bounds on an open network's throughput and response time, without solving it."""

from collections.abc import Sequence

import numpy as np

from headway.kinds import Amount, FloatArray, plain
from headway.queueing.bounds.common import Bounds
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station


def open_bounds(
    stations: Sequence[Station], visits: Sequence[Amount], arrival_rate: Amount
) -> dict[str, Bounds]:
    """Bounds on an open network, by method.

    Asymptotic, for every kind of station that loses no jobs: X below saturation, and R at least
    that without waiting. Balanced system, if all stations have a product form and constant speeds:

    Z + D / (1 - lambda D / n) <= R <= Z + D / (1 - U_max)

    with D the total demand of n single servers (for pools, the lower limit has D without queueing),
    Z the time at delays, and U_max the utilisation of the bottleneck.

    Parameters
    ----------
    stations, visits
        Stations, and the mean visits of a job to each.
    arrival_rate
        lambda, jobs from outside [1/s].

    Returns
    -------
    Bounds by name; empty if some station loses jobs.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> bounds = open_bounds([MM1(0.1), MM1(0.3)], [1, 1], 2.0)["balanced job"]
    >>> round(bounds.response_time_lower, 4), round(bounds.response_time_upper, 4)  # 0.875 s
    (0.6667, 1.0)

    References
    ----------
    Lazowska et al., *Quantitative System Performance*, 1984, section 5.4.
    """
    if any(station.can.loses for station in stations):
        return {}
    pairs = [(s, np.asarray(v, float)) for s, v in zip(stations, visits, strict=True)]
    rate, most = np.asarray(arrival_rate, float), np.asarray(np.inf)
    for station, v in pairs:
        with np.errstate(divide="ignore"):
            most = np.minimum(most, np.asarray(station.capacity, float) / v)
    stays = (v * np.asarray(s.stay(np.inf)[0], float) for s, v in pairs)
    least: FloatArray = np.asarray(sum(stays), float)
    bounds = {"asymptotic": _bounds(most, least, np.inf)}
    if all(s.can.product_form not in {None, ServiceKind.VARYING} for s in stations):
        bounds["balanced job"] = _bounds(most, *_balanced(pairs, rate, most))
    return bounds


def _balanced(
    pairs: Sequence[tuple[Station, FloatArray]], rate: FloatArray, most: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Balanced system bounds on the response time: lower and upper."""
    queues = [(s, v * np.asarray(s.service_time, float)) for s, v in pairs if s.can.limits]
    still = sum((v * np.asarray(s.service_time, float) for s, v in pairs if not s.can.limits), 0.0)
    total = np.asarray(sum((demand for _, demand in queues), 0.0))
    counts = [np.where(d > 0, np.asarray(s.count, float), 0.0) for s, d in queues]
    pooled = any(
        s.can.product_form is ServiceKind.QUEUE and np.any(np.asarray(s.count) > 1)
        for s, _ in queues
    )
    each = np.asarray(total / np.maximum(sum(counts, np.asarray(0.0)), 1))
    light = total if pooled else _slowed(total, rate * each)
    return still + light, still + _slowed(total, rate / most)


def _slowed(time: FloatArray, busy: FloatArray) -> FloatArray:
    """The time divided by 1 - U; infinite from U = 1 on."""
    free = np.where(busy < 1, 1 - busy, 1.0)
    return np.asarray(np.where((busy < 1) | (time == 0), time / free, np.inf))


def _bounds(most: FloatArray, least: FloatArray, longest: Amount) -> Bounds:
    least, longest = np.broadcast_arrays(least, longest)
    return Bounds(0.0, plain(most), plain(np.minimum(least, longest)), plain(longest))
