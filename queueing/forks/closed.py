"""Closed networks with forks, by mean value analysis from one population to the next.

A part that arrives in a network of n jobs finds at its branch what n - 1 jobs leave there, as in a
network without forks (Reiser and Lavenberg). The fork takes the k-th of its parts as in an open
network whose branches are as busy as with n - 1 jobs. So a single job that needs all its parts
takes the order statistic of its services, which is exact.

If k < n parts are enough, branches also hold parts of requests that have gone on, including the
job's own. By Little's law their mean number is X f R, with f R the mean time by which a part
outlasts the k-th. Each lengthens R by S/m, so R = R_(n-1) / (1 - X f S/m), which depends on X: the
throughput is found by secants.

Source: Reiser and Lavenberg, JACM 27(2), 1980, and Reiser, IBM J. Res. Dev. 23(3), 1979, for
queues and pools; Varki, "Mean value technique for closed fork-join networks", SIGMETRICS 1999,
for forks in it, which takes another law of what parts share. How far it is from simulations is
measured (docs/accuracy.md).
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.forks.parts import ClosedForks
from headway.queueing.forks.queue import ForkQueue, divisor
from headway.queueing.stations.base import Station
from headway.records import dataclass

MOST = 10_000
"""Most jobs of a closed network with a fork, as each is added in turn."""

APPROXIMATION = (
    "a fork in a closed network is approximated by mean value analysis: throughput within "
    "4% of simulations, response time within 6% (measured up to 64 branches and 50 jobs)"
)
SOME = (
    "a fork in a closed network that needs some of its branches is approximated by mean value "
    "analysis: throughput within 6% of simulations, response time within 12% (measured up to 64 "
    "branches and 50 jobs)"
)
_MOST_STEPS, _SETTLED = 100, 1e-9  # of the search for the throughput: digits only
# In so many of these steps the shares f are computed anew. They change little with X, and each
# takes an integral; the campaign tests.campaigns.closed_forks measures with this number.
_SHARES = 3

Times: TypeAlias = Mapping[str, FloatArray]
"""A time for each station, over operating points [s]."""


@dataclass(frozen=True)
class ClosedForkSolution:
    """Means of a closed network with forks.

    Parameters
    ----------
    throughput
        Of the system [1/s], shape (points,).
    response
        For each station the time of a visit, for a fork that until it has joined [s], shape
        (stations, points).
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
) -> ClosedForkSolution:
    """Solve a closed network of one class in which some stations fork.

    Parameters
    ----------
    stations
        Stations by name, with numbers or rows of operating points.
    branches
        Stations that serve the parts of each fork, if it has any.
    visits, own
        Mean visits to each station by a job and its parts, and by the job itself, shape (points,).
    population, think
        N and Z [s] at each point, shape (points,).

    Raises
    ------
    GraphError
        For a kind of station whose variation of service is not known.
    InvalidParameter
        For more than 10,000 jobs.
    Saturated
        If parts that no request waits for arrive faster than their branch serves them.

    Examples
    --------
    >>> from headway.queueing import ForkJoin
    >>> one, rate = np.ones(1), np.zeros(1)
    >>> found = solve_forked({"disks": ForkJoin(1.0, 2, 2)}, {}, *[{"disks": one}] * 2, one, rate)
    >>> round(float(found.throughput[0]), 12)  # one job: 1 / (3/2)
    0.666666666667
    """
    most = int(population.max(initial=0))
    _check(stations, most)
    queues = {n: ForkQueue(s, visits[n]) for n, s in stations.items() if n not in branches}
    forks = ClosedForks(stations, branches, visits, queues)
    rate = through = np.zeros(population.shape)
    bare = {name: queue.response() for name, queue in queues.items()}
    found = forks.joined(bare)
    delays = [name for name, queue in queues.items() if queue.delays]
    waits, one = [name for name in stations if name not in delays], np.ones(population.shape)
    for jobs in range(1, most + 1):
        bare = {name: queue.response() for name, queue in queues.items()}
        times, parts, through = _with_one_more(jobs, forks, bare, own, think, through)
        still, inside = think + _spent(own, times, delays), _spent(own, times, waits)
        through = np.minimum(jobs / divisor(still + inside), forks.most)
        longer = np.where(inside > 0, (jobs / divisor(through) - still) / divisor(inside), 1.0)
        stretch = dict.fromkeys(delays, one) | dict.fromkeys(waits, np.maximum(longer, 1.0))
        here = population == jobs
        rate = np.where(here, through, rate)
        found = {n: np.where(here, times[n] * stretch[n], found[n]) for n in stations}
        for name, queue in queues.items():
            queue.add(through, parts[name] * stretch[name], forks.waited[name])
    forks.check_kept_up(rate)
    return ClosedForkSolution(
        rate, np.array([np.broadcast_to(found[n], rate.shape) for n in stations])
    )


def _check(stations: Mapping[str, Station], most: int) -> None:
    """Refuse kinds whose variation of service is not known, and too many jobs."""
    for name, station in stations.items():
        if station.can.scv is None and not station.can.forks:
            msg = (
                f"{name}: {station.label} is not supported in a closed network with a fork; use "
                "MM1, MMm, MD1, MG1, MGm, Parallel or Delay"
            )
            raise GraphError(msg)
    if most > MOST:
        msg = (
            f"population is {most}; a closed network with a fork supports at most "
            f"{MOST:,}; reduce it"
        )
        raise InvalidParameter(msg)


def _spent(own: Times, times: Times, names: Sequence[str]) -> FloatArray:
    """Residence time of a job at some of the stations [s]."""
    return sum((own[name] * times[name] for name in names), np.zeros(()))


def _with_one_more(
    jobs: int,
    forks: ClosedForks,
    bare: Times,
    own: Times,
    think: FloatArray,
    rate: FloatArray,
) -> tuple[Times, Times, FloatArray]:
    """Times of visits until joined, times of parts, and throughput, with one job more.

    If all parts are waited for, one step suffices. Otherwise X = n / (Z + R(X)) is solved by
    secants of the logarithms, whose slope lies between 0 and the largest elasticity of R.
    """
    parts, before = bare, (np.zeros(rate.shape), np.zeros(rate.shape))
    for step in range(_MOST_STEPS):
        if step < _SHARES:
            forks.share(parts)
        parts = forks.lengthened(bare, rate)
        times = forks.joined(parts)
        cycle = think + sum((own[name] * time for name, time in times.items()), 0.0 * rate)
        found = jobs / divisor(cycle)
        if not forks.some or np.allclose(found, rate, rtol=_SETTLED, atol=0):
            return times, parts, found
        most = forks.steepest(rate)
        with np.errstate(divide="ignore", invalid="ignore"):
            assumed, result = (
                np.log(n / old) for n, old in zip((rate, found), before, strict=True)
            )
            slope = -result / assumed
        known = np.isfinite(slope) & (np.abs(assumed) > _SETTLED)
        steep = np.where(known, np.clip(slope, 0.0, most), most)
        before = rate, found
        rate = np.where(rate > 0, rate, found) * (found / divisor(rate)) ** (1 / (1 + steep))
        rate = np.where(before[0] > 0, rate, found)
    return times, parts, rate
