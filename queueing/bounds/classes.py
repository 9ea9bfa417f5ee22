"""Bounds on each class of a closed or mixed network, without solving it.

An arrival waits at most for the jobs that it finds, V R <= D (1 + Q(N - 1_c) / m) at m servers, and
at least for those that cannot be thinking. Open classes leave the share 1 - u of a single server's
speed, which is exact with a product form.

Source: Zahorjan, Sevcik, Eager and Galler, CACM 25(2), 1982; Kerola, "The composite bound method
for computing throughput bounds in multiple class environments", Performance Evaluation 6(1), 1986.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.bounds.common import Bounds, in_order
from headway.queueing.network.network import JobClass, Network, SharedStation, read_network
from headway.queueing.network.overload import find_overload
from headway.queueing.network.product_form import formless
from headway.records import dataclass


def class_bounds(
    stations: Sequence[SharedStation], classes: Sequence[JobClass]
) -> dict[str, dict[str, Bounds]]:
    """Bounds on the closed classes of a network with a product form, by class and method.

    Asymptotic: no job waits, or the class's own bottleneck limits it; or each job waits behind all
    others at every visit. Balanced job: the other N - 1 jobs are at the station with its largest
    demand, or with its smallest. Composite: the least throughputs of other classes reduce the
    capacity that is left to it.

    Parameters
    ----------
    stations, classes
        As for `headway.queueing.solve_multiclass`.

    Returns
    -------
    Bounds by method and by name of class; none for classes without jobs, and none at all if
    stations have no product form, varying speeds, or pools that open classes use too.

    Raises
    ------
    GraphError, InvalidParameter
        For an invalid network.

    Examples
    --------
    >>> cpu = SharedStation("cpu", service_times=(0.1, 0.2), visits=(1, 1))
    >>> disk = SharedStation("disk", service_times=(0.3, 0.1), visits=(1, 1))
    >>> web, batch = JobClass("web", population=2), JobClass("batch", population=3)
    >>> bounds = class_bounds([cpu, disk], [web, batch])["web"]
    >>> [round(b.throughput_upper, 3) for b in bounds.values()]
    [3.333, 2.5, 2.424]

    References
    ----------
    Lazowska et al., *Quantitative System Performance*, 1984, section 5.4.
    """
    network = read_network(stations, classes)
    opened = find_overload(network).load
    if _unbounded(network, opened):
        return {}
    closed = ~network.is_open
    queued = _closed_classes(network, opened)
    ends = {name: limits(queued) for name, limits in _METHODS.items()}
    names = [c.name for c, is_closed in zip(classes, closed, strict=True) if is_closed]
    return {
        name: {
            method: _bounds(queued, row, both[0][row], both[1][row], network.shape)
            for method, both in ends.items()
        }
        for row, name in enumerate(names)
        if (queued.jobs[row] > 0).all()
    }


def why_unbounded(stations: Sequence[SharedStation], classes: Sequence[JobClass]) -> str:
    """Why `class_bounds` returns none; empty if it returns some.

    Examples
    --------
    >>> why_unbounded([SharedStation("cpu", (0.1,), (1,))], [JobClass("web", arrival_rate=2.0)])
    'no class is closed'
    """
    network = read_network(stations, classes)
    return _unbounded(network, find_overload(network).load)


def _unbounded(network: Network, opened: FloatArray) -> str:
    shared = network.is_pool[:, None] & (opened > 0)
    if network.is_open.all():
        return "no class is closed"
    if not (network.population[~network.is_open] > 0).all(axis=-1).any():
        return "the population of each closed class is 0 at some point"
    if network.is_varying.any():
        return "bounds by class are unknown where the speed of a station depends on its queue"
    if shared.any():
        return "bounds by class are unknown where open classes use a station of several servers"
    reason = formless(network)
    return f"bounds by class are unknown ({reason})" if reason else ""


@dataclass(frozen=True)
class _ClosedClasses:
    """Closed classes, with their demands at queues.

    `demand` D and `each` D / m have shape (classes, stations, points); `total` is their sum,
    `think` is Z with delays, `away` is Z alone and `jobs` is N, shape (classes, points); `split`
    says whether every queue has a single server, so that an arrival that finds a job waits.
    """

    demand: FloatArray
    each: FloatArray
    total: FloatArray
    think: FloatArray
    away: FloatArray
    jobs: FloatArray
    split: bool

    @property
    def others(self) -> FloatArray:
        """Number of other jobs, for a job of each class, shape (classes, points)."""
        return np.asarray(np.maximum(self.jobs.sum(axis=0) - 1, 0) + 0 * self.jobs)


def _closed_classes(network: Network, opened: FloatArray) -> _ClosedClasses:
    closed, rests = ~network.is_open, network.is_delay[:, None]
    whole = network.demand[closed]
    left = np.where(rests, 1.0, np.maximum(1 - opened / network.servers, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        slowed = np.where(whole > 0, whole / left, 0.0)
    demand = np.where(rests, 0.0, slowed)[:, ~network.is_delay]
    away = network.think_time[closed]
    think = away + np.where(rests, whole, 0.0).sum(axis=1)
    each = demand / network.servers[~network.is_delay]
    jobs, split = network.population[closed], not network.is_pool.any()
    return _ClosedClasses(demand, each, demand.sum(axis=1), think, away, jobs, split)


def _asymptotic(queued: _ClosedClasses) -> tuple[FloatArray, FloatArray]:
    behind = queued.each.sum(axis=1) * queued.others
    low = _rate(queued.jobs, queued.think + queued.total + behind)
    light = _rate(queued.jobs, queued.think + queued.total)
    return low, np.minimum(light, _rate(1.0, queued.each.max(axis=1, initial=0.0)))


def _balanced(queued: _ClosedClasses) -> tuple[FloatArray, FloatArray]:
    most = queued.each.max(axis=1, initial=0.0) * queued.others
    low = _rate(queued.jobs, queued.think + queued.total + most)
    upper = _asymptotic(queued)[1]
    if not queued.split or not queued.each.shape[1]:
        return low, upper
    least = queued.each.min(axis=1) * _queued(queued)
    return low, np.minimum(upper, _rate(queued.jobs, queued.think + queued.total + least))


def _queued(queued: _ClosedClasses) -> FloatArray:
    """Least mean number of jobs in queues at an arrival: N - X Z, with X at most N / (Z + D)."""
    whole = queued.total + queued.think
    share = np.where(whole > 0, queued.total / np.where(whole > 0, whole, 1.0), 0.0)
    return np.asarray((queued.jobs * share).sum(axis=0) - share)


def _composite(queued: _ClosedClasses) -> tuple[FloatArray, FloatArray]:
    low, upper = _balanced(queued)
    # A class without any demand has no limit, and takes up nothing.
    busy = np.where(queued.each > 0, low[:, None], 0.0) * queued.each
    left = np.maximum(1 - (busy.sum(axis=0) - busy), 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(queued.each > 0, left / queued.each, np.inf)
    return low, np.minimum(upper, room.min(axis=1, initial=np.inf))


_METHODS = {"asymptotic": _asymptotic, "balanced job": _balanced, "composite": _composite}


def _rate(jobs: Any, time: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(time > 0, jobs / time, np.inf))


def _bounds(
    queued: _ClosedClasses, row: int, lower: FloatArray, upper: FloatArray, shape: tuple[int, ...]
) -> Bounds:
    """Limits of one class, in the shape of the operating points."""
    jobs, think = queued.jobs[row], queued.away[row]
    low, high, there, away = (each.reshape(shape) for each in (lower, upper, jobs, think))
    return in_order(low, high, there, away)
