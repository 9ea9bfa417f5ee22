"""Closed networks with forks, by mean value analysis: population by population.

A part that joins n jobs finds what n - 1 leave at its branch, as if nothing forked; the fork takes
the k-th of its parts as in an open network whose branches are as busy as n - 1 jobs keep them. So
one job alone takes the order statistic of its services, exactly.

Source: Reiser and Lavenberg, JACM 27(2), 1980, and Reiser, IBM J. Res. Dev. 23(3), 1979, for
queues and pools; Varki, "Mean value technique for closed fork-join networks", SIGMETRICS 1999,
for forks in it, which takes another law of what parts share. How far it is from simulations is
measured (docs/accuracy.md).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount, FloatArray, number
from headway.queueing.forks.branches import part, service_of
from headway.queueing.forks.kth import kth
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.times.orders import moments

MOST = 10_000
"""Jobs of a closed network with a fork; each is added in its turn."""

APPROXIMATION = (
    "a fork in a closed network is approximated by mean value analysis: throughput within "
    "4 % of simulations, response time within 6 % (measured up to 64 branches and 50 jobs)"
)
_FULL = 0.999  # utilisation that a branch has at most, where that of n - 1 jobs is told as more


@dataclass(frozen=True)
class Circulating:
    """What a closed network with forks does.

    Parameters
    ----------
    throughput
        Of the system [1/s], shape (points,).
    response
        Of a visit to each station, of a fork until it has joined [s], shape (stations, points).
    """

    throughput: FloatArray
    response: FloatArray


def solve_forked(
    stations: Mapping[str, Station],
    branches: Mapping[str, Sequence[str]],
    visits: Mapping[str, FloatArray],
    own: Mapping[str, FloatArray],
    population: FloatArray,
    think: FloatArray,
) -> Circulating:
    """Solve a closed network of one class some of whose stations fork.

    Parameters
    ----------
    stations
        By name; of numbers, or rows of operating points.
    branches
        Stations that serve the parts of each fork that has some.
    visits, own
        Mean visits to each of a job and its parts, and of the job itself, shape (points,).
    population, think
        N and Z [s] of each point, shape (points,).

    Raises
    ------
    GraphError
        For a kind of station of which it is not known how much service varies, or a fork that
        goes on before all its parts are done.
    InvalidParameter
        For more than 10,000 jobs.

    Examples
    --------
    >>> from headway.queueing import ForkJoin
    >>> one, rate = np.ones(1), np.zeros(1)
    >>> found = solve_forked({"disks": ForkJoin(1.0, 2, 2)}, {}, *[{"disks": one}] * 2, one, rate)
    >>> round(float(found.throughput[0]), 12)  # one job: 1 / (3/2)
    0.666666666667
    """
    for name, station in stations.items():
        _check(name, station)
    most = int(population.max(initial=0))
    if most > MOST:
        msg = (
            f"population is {most}; a closed network with a fork supports at most "
            f"{MOST:,}; reduce it"
        )
        raise InvalidParameter(msg)
    queues = {n: _Queue(s, visits[n]) for n, s in stations.items() if n not in branches}
    rate, most_rate = np.zeros(population.shape), _most(queues)
    response = {name: _alone(queues[name]) for name in queues}
    response |= {f: _fork(stations, f, branches[f], queues, response, visits) for f in branches}
    found = dict(response)
    for jobs in range(1, most + 1):
        times = {name: queue.response() for name, queue in queues.items()}
        parts = {f: _fork(stations, f, b, queues, times, visits) for f, b in branches.items()}
        times = {n: _joined(stations[n], queues[n], t) for n, t in times.items()} | parts
        inside = sum((own[name] * times[name] for name in stations), np.zeros(population.shape))
        through = np.minimum(jobs / _above(think + inside), most_rate)
        longer = np.where(inside > 0, (jobs / _above(through) - think) / _above(inside), 1.0)
        times = {name: time * np.maximum(longer, 1.0) for name, time in times.items()}
        here = population == jobs
        rate = np.where(here, through, rate)
        found = {name: np.where(here, times[name], found[name]) for name in stations}
        for queue in queues.values():
            queue.add(through, np.maximum(longer, 1.0))
    return Circulating(rate, np.array([np.broadcast_to(found[n], rate.shape) for n in stations]))


def _check(name: str, station: Station) -> None:
    if station.can.scv is None and not station.can.forks:
        msg = (
            f"{name}: {type(station).__name__} is not supported in a closed network with "
            "a fork; use "
            "MM1, MMm, MD1, MG1, MGm, Parallel or Delay"
        )
        raise GraphError(msg)
    if not station.can.forks:
        return
    several: Amount = getattr(station, "branches")  # noqa: B009 - of kinds that fork
    count = len(several) if isinstance(several, tuple) else several
    if np.any(np.asarray(number("needed", getattr(station, "needed"))) < np.asarray(count)):  # noqa: B009
        msg = (
            f"{name} continues before all its parts are done, which closed networks do "
            "not support; set needed to the number of branches"
        )
        raise GraphError(msg)


def _most(queues: Mapping[str, "_Queue"]) -> FloatArray:
    """What the busiest station lets through [1/s]; times are stretched where they tell of more."""
    each = (queue.most for queue in queues.values())
    return reduce(np.minimum, each)


def _alone(queue: "_Queue") -> FloatArray:
    return _joined(queue.station, queue, queue.response())


def _joined(station: Station, queue: "_Queue", time: FloatArray) -> FloatArray:
    """The time at a station: of like branches, until all are done."""
    if not station.can.forks:
        return time
    like: Amount = station
    return np.asarray(
        moments(like.branches, like.needed, queue.scv, np.minimum(queue.busy, 1.0))[0] * time
    )


def _fork(
    stations: Mapping[str, Station],
    fork: str,
    branches: Sequence[str],
    queues: Mapping[str, "_Queue"],
    times: Mapping[str, FloatArray],
    visits: Mapping[str, FloatArray],
) -> FloatArray:
    """Until all unlike branches are done."""
    owns, means = [], []
    for name in branches:
        queue = queues[name]
        most = np.minimum(np.maximum(queue.busy, 1e-12), _FULL)
        rate = most / np.where(queue.busy > 0, queue.busy, 1.0) * queue.rate
        share = visits[fork] / _above(visits[name])
        owns.append(np.broadcast_to(part(stations[name], rate, rate * share).own, queue.busy.shape))
        means.append(np.broadcast_to(times[name], queue.busy.shape))
    needed = np.full(means[0].shape, float(len(branches)))
    return kth(np.array(means), np.array(owns), needed)[0]


def _above(value: FloatArray) -> FloatArray:
    return np.where(value > 0, value, np.inf)


class _Queue:
    """A station as mean value analysis sees it, with the jobs added so far."""

    def __init__(self, station: Station, visits: FloatArray) -> None:
        self.station, self._visits = station, visits
        kind, count = station.can.product_form, np.asarray(station.count, float)
        time, scv = _service(station)
        self._time = np.broadcast_to(time, visits.shape)
        self.scv: Amount = scv
        self._delays = kind is ServiceKind.DELAY
        self._apart = count if kind is ServiceKind.PARALLEL else np.ones(())
        self._servers = np.ones(()) if kind is ServiceKind.PARALLEL else count
        self._below = np.arange(int(self._servers.max()))[:, None]
        self._chances = np.zeros((self._below.size, *visits.shape))
        self._chances[0] = 1.0
        self._length = np.zeros(visits.shape)
        self.rate = np.zeros(visits.shape)

    @property
    def most(self) -> FloatArray:
        """Throughput of the network at which it is always busy [1/s]."""
        if self._delays:
            return np.full(self.rate.shape, np.inf)
        demand = self._visits * self._time / (self._servers * self._apart)
        return np.asarray(np.where(demand > 0, 1 / _above(demand), np.inf))

    @property
    def busy(self) -> FloatArray:
        """Utilisation of each server."""
        if self._delays:
            return np.zeros(self.rate.shape)
        return np.asarray(self.rate * self._time / (self._servers * self._apart))

    def response(self) -> FloatArray:
        """Time of a visit by one job more [s]."""
        if self._delays:
            return self._time
        free = np.maximum(self._servers - 1 - self._below, 0)
        ahead = self._length / self._apart + (free * self._chances).sum(axis=0)
        waits = self.busy
        if self._below.size > 1:
            waits = 1 - (self._chances * (self._below < self._servers)).sum(axis=0)
        residual = np.maximum(waits, 0) * (self.scv - 1) / 2
        return np.asarray(self._time / self._servers * (1 + ahead + residual))

    def add(self, throughput: FloatArray, longer: FloatArray) -> None:
        """Bring in what the network does with one job more, in which all takes so much longer."""
        self._length = self._visits * throughput * self.response() * longer
        self.rate = self._visits * throughput
        load = self.rate * self._time
        if self._below.size > 1:
            later = load / self._below[1:] * self._chances[:-1]
            idle = (np.maximum(self._servers - self._below[1:], 0) * later).sum(axis=0)
            self._chances[1:] = later
            self._chances[0] = np.maximum(1 - (load + idle) / self._servers, 0)
        else:
            self._chances[0] = 0.0


def _service(station: Station) -> tuple[FloatArray, FloatArray]:
    """Mean service time and scv, of a fork of like branches those of one."""
    if not station.can.forks:
        return service_of(station)
    like: Amount = station
    return np.asarray(number("service_time", like.service_time), float), np.asarray(like.scv, float)
