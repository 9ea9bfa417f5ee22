"""Bounds on networks without a product form: with forks, blocking or regions.

They need mean service times only. With S the mean service time of a visit, V the visits of a job
and its parts, and N jobs:

* A server works at most all the time: X V S <= m at every station. A region holds at most K jobs,
  and each job stays inside for at least its services: X sum V S <= K over its stations (Little's
  law).
* A job takes at least its services, and at a fork at least the k-th shortest of the services, as
  each part takes at least its own: X <= N / (Z + sum V L).
* At every moment some job thinks or some server works. Blocked jobs wait for a full station, jobs
  outside a region for those inside, and forked requests for parts in service or in queues; a ring
  in which all wait for one another is a deadlock, which is refused. So the mean number of these is
  at least 1: X (Z + sum V S) >= 1, whatever N.

Source: Denning and Buzen, "The operational analysis of queueing network models", ACM Computing
Surveys 10(3), 1978, for operational bounds, which need no distributions.
"""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from headway.kinds import Amount, FloatArray, plain
from headway.queueing.bounds.common import Bounds, in_order
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.records import dataclass


@dataclass(frozen=True)
class StationUse:
    """A job's use of a station, without waiting and blocking.

    Parameters
    ----------
    station
        The station.
    visits, own
        Mean visits of a job and its parts, and of the job itself.
    """

    station: Station
    visits: Amount
    own: Amount

    def least(self, population: Amount) -> FloatArray:
        """Mean time of a job at an empty station [s]."""
        return np.asarray(self.own * _shortest(self.station, population), float)

    def inside(self, population: Amount) -> FloatArray:
        """Mean time that a job or its parts are in service there [s]."""
        if self.station.can.joins:
            return np.zeros(())  # its branches are served instead
        return np.asarray(self.visits * _longest(self.station, population), float)

    def most(self, population: Amount) -> FloatArray:
        """Throughput at which the station is always busy [1/s]."""
        station = self.station
        if station.can.loses:  # a station that is full at times loses no jobs
            fastest: Amount = station.count / np.asarray(station.service_time)
        else:
            fastest = station.fastest(population)
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = np.asarray(fastest, float) / self.visits
        return np.where(np.asarray(self.visits) > 0, limit, np.inf)


def universal_bounds(
    uses: Sequence[StationUse],
    population: Amount,
    think_time: Amount,
    regions: Sequence[tuple[Amount, Sequence[int]]] = (),
) -> dict[str, Bounds]:
    """Bounds on a closed network whose jobs fork or can be blocked.

    Parameters
    ----------
    held
        The stations of the network.
    population, think_time
        Jobs N, 1 or more, and Z [s].
    regions
        For each region its limit, and the indices of its stations in `held`.

    Returns
    -------
    Asymptotic bounds; empty if nothing limits the throughput.

    Examples
    --------
    >>> from headway.queueing import ForkJoin
    >>> fork = StationUse(ForkJoin(1.0, 2, 2), 1, 1)
    >>> bounds = universal_bounds([fork], population=3, think_time=0.5)
    >>> limits = bounds["asymptotic"]  # two services one after the other, and the busier one
    >>> limits.throughput_lower, limits.throughput_upper
    (0.4, 1.0)
    """
    most = _most(uses, population, regions)
    if not np.isfinite(most).all():
        return {}
    think = np.asarray(think_time, float)
    light = population / (think + sum(one.least(population) for one in uses))
    slow = 1 / (think + sum(one.inside(population) for one in uses))
    return {"asymptotic": in_order(slow, np.minimum(light, most), population, think)}


def universal_open_bounds(
    uses: Sequence[StationUse], regions: Sequence[tuple[Amount, Sequence[int]]] = ()
) -> dict[str, Bounds]:
    """Bounds on an open network whose jobs fork or can be blocked: largest X, and least R.

    Parameters
    ----------
    held, regions
        As for `universal_bounds`.

    Examples
    --------
    >>> from headway.queueing import ForkJoin
    >>> limits = universal_open_bounds([StationUse(ForkJoin(0.1, 2, 2), 1, 1)])["asymptotic"]
    >>> round(limits.throughput_upper, 9), round(limits.response_time_lower, 9)
    (10.0, 0.15)
    """
    endless = np.inf
    least = np.asarray(sum(one.least(endless) for one in uses))
    most, least = np.broadcast_arrays(_most(uses, endless, regions), least)
    nothing = np.zeros(least.shape)
    return {
        "asymptotic": Bounds(plain(nothing), plain(most), plain(least), plain(nothing + np.inf))
    }


def _most(
    uses: Sequence[StationUse], population: Amount, regions: Sequence[tuple[Amount, Sequence[int]]]
) -> FloatArray:
    limits = [one.most(population) for one in uses]
    for limit, places in regions:
        stay = np.asarray(sum(uses[k].least(population) for k in places), float)
        with np.errstate(divide="ignore"):
            limits.append(np.where(stay > 0, np.asarray(limit, float) / stay, np.inf))
    return reduce(np.minimum, limits)


def _shortest(station: Station, population: Amount) -> Amount:
    if station.can.product_form is ServiceKind.VARYING:
        return station.stay(population)[0]
    return station.alone


def _longest(station: Station, population: Amount) -> Amount:
    """Mean time in service; at a station of varying speed, the slowest that occurs."""
    if station.can.product_form is ServiceKind.VARYING:
        return station.stay(population)[1]
    parts: Amount = getattr(station, "branches", 1) if station.can.forks else 1
    return np.asarray(station.service_time, float) * parts
