"""Closed tests simulated, and open ones at the same rates: what an open client would have measured.

``python -m tests.campaigns.open_views`` measures the errors in
`headway.models.auditing.open_view.BANDS`.

Constants or labels of `headway.models.auditing.open_view` rest on it.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.models.auditing.open_view import BANDS, as_open
from headway.models.measured.points import Loop, Point
from headway.models.reading.loadtest import LoadTest

POPULATIONS = (1, 2, 4, 8, 16, 32)
PERCENTS = (50.0, 90.0, 99.0)
FloatArray = NDArray[np.float64]
Draw = Callable[[int], FloatArray]


@dataclass(frozen=True)
class Server:
    """A fixed delay, then one queue with several servers; service times of any variability."""

    delay: float
    service: float
    servers: int
    spread: float

    def times(self, count: int, random: np.random.Generator) -> FloatArray:
        """Service times: constant, Erlang or hyperexponential."""
        if self.spread == 0:
            return np.full(count, self.service)
        if self.spread <= 1:
            shape = 1 / self.spread**2
            return random.gamma(shape, self.service / shape, count)
        quick = (1 + np.sqrt((self.spread**2 - 1) / (self.spread**2 + 1))) / 2
        rate = np.where(random.random(count) < quick, 2 * quick, 2 * (1 - quick)) / self.service
        return random.exponential(1 / rate)


def closed(server: Server, population: int, count: int, random: np.random.Generator) -> FloatArray:
    """Response times and rate of clients that each wait for an answer, after a warm-up."""
    free = [0.0] * server.servers
    begun = random.uniform(0, server.delay + server.service, population).tolist()
    due = [(time, time) for time in begun]
    heapq.heapify(due)
    rows, ends = [], []
    for time in server.times(count, random).tolist():
        arrival, sent = heapq.heappop(due)
        done = max(arrival, heapq.heappop(free)) + time
        heapq.heappush(free, done)
        heapq.heappush(due, (done + server.delay, done))
        rows.append(done - sent)
        ends.append(done)
    kept = count // 10
    rate = (count - kept) / (max(ends) - sorted(ends)[kept])
    return np.array([rate, *rows[kept:]])


def opened(server: Server, rate: float, count: int, random: np.random.Generator) -> FloatArray:
    """Response times of clients that send at a rate, whatever the answers, after a warm-up."""
    free = [0.0] * server.servers
    arrivals = np.cumsum(random.exponential(1 / rate, count))
    rows = []
    for arrival, time in zip(arrivals.tolist(), server.times(count, random).tolist(), strict=True):
        done = max(arrival, heapq.heappop(free)) + time
        heapq.heappush(free, done)
        rows.append(done - arrival + server.delay)
    return np.array(rows[count // 10 :])


def sweep(server: Server, count: int, noise: float, random: np.random.Generator) -> LoadTest:
    """A closed test with every population, as wrk would print it."""
    points = []
    for population in POPULATIONS:
        rate, *times = closed(server, population, count, random).tolist()
        more, less = random.normal(1, noise, 2)
        points.append(
            Point(
                "simulated",
                Loop.CLOSED,
                population=population,
                throughput=rate * more,
                response_time=float(np.mean(times)) * less,
                percentiles={q: float(np.percentile(times, q)) for q in PERCENTS},
                samples=count,
            )
        )
    return LoadTest(tuple(points))


def server(random: np.random.Generator) -> Server:
    """A random server, of which a single test shows nothing but its curve."""
    return Server(
        float(random.choice([0.0, 0.5, 2.0, 8.0])) * 1e-3,
        float(random.choice([0.5, 1.0, 4.0])) * 1e-3,
        int(random.choice([1, 2, 4, 8])),
        float(random.choice([0.0, 0.5, 1.0, 1.0, 2.0])),
    )


@dataclass(frozen=True)
class Missed:
    """Errors of the model at a point: relative errors of the mean and of percentiles."""

    utilisation: float
    mean: float
    percentiles: tuple[float, ...]
    closed: float


def missed(number: int, noise: float = 0.01) -> list[Missed]:
    """Relative errors at each point of a sweep against an open test simulated at its rate."""
    random = np.random.default_rng([7, number])
    one = server(random)
    rows = []
    for point in as_open(sweep(one, 8000, noise, random).points):
        if point.refused or point.throughput * one.service / one.servers > 0.98:
            continue
        times = opened(one, point.throughput, 40_000, random)
        tails = (point.percentiles[q] / np.percentile(times, q) - 1 for q in PERCENTS)
        rows.append(
            Missed(
                point.utilisation,
                point.response_time / times.mean() - 1,
                tuple(float(tail) for tail in tails),
                point.closed / times.mean() - 1,
            )
        )
    return rows


def bands(numbers: range) -> dict[float, tuple[float, float, int]]:
    """By utilisation: errors of the mean and of percentiles that nine of ten points are within."""
    every = [one for number in numbers for one in missed(number)]
    by_name, low = {}, 0.0
    for top in BANDS:
        mine = [one for one in every if low < one.utilisation <= top]
        means = np.quantile([abs(one.mean) for one in mine], 0.9)
        tails = np.quantile([np.abs(one.percentiles) for one in mine], 0.9, axis=0)
        by_name[top], low = (float(means), float(tails.max()), len(mine)), top
    return by_name


if __name__ == "__main__":
    for top, (mean, tail, count) in bands(range(100)).items():
        print(f"to {top:.0%}: mean {mean:.1%}, percentiles {tail:.1%}, of {count} points")
