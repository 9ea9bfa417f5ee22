"""Load tests simulated: a queue of m servers, driven at a rate, with or without a limit inside."""

import heapq

import numpy as np

from headway.models.measured.points import Loop, Point
from headway.models.reading.loadtest import LoadTest

NOISE = 0.03  # relative, of throughput and of response time


def driven(rate, servers, time, limit, length, random):
    """Throughput, mean response time and length; requests beyond the limit wait outside."""
    arrivals = np.cumsum(random.exponential(1 / rate, int(rate * length * 1.2) + 50))
    free, inside, responses, end = [0.0] * servers, [], [], 0.0
    for arrival in arrivals[arrivals < length]:
        sent = arrival
        while inside and inside[0] <= sent:
            heapq.heappop(inside)
        if limit and len(inside) >= limit:
            sent = heapq.heappop(inside)
        done = max(sent, heapq.heappop(free)) + random.exponential(time)
        heapq.heappush(free, done)
        heapq.heappush(inside, done)
        responses.append(done - sent)
        end = max(end, done)
    return len(responses) / end, float(np.mean(responses)), end


def curve(random, limited, loads=7):
    """A curve, its limit (0: none), and whether a test filled up to it."""
    servers, time = int(random.choice([1, 2, 4, 8])), float(random.choice([0.002, 0.01, 0.05]))
    capacity = servers / time
    limit = int(random.choice([8, 16, 32, 64, 100])) if limited else 0
    length = 2000 / capacity * float(random.choice([2, 4]))
    inside, top = random.random() < 0.5, float(random.choice([0.9, 1.3, 1.6]))
    points, reached = [], False
    for rate in np.linspace(0.2, top, loads) * capacity:
        through, response, end = driven(rate, servers, time, limit, length, random)
        filled = rate > 1.1 * capacity and (rate - capacity) * length > 2 * limit
        reached |= limited and bool(filled)
        points.append(
            Point(
                "simulated",
                Loop.OPEN,
                offered_rate=float(rate),
                throughput=float(through * random.normal(1, NOISE)),
                response_time=float(response * random.normal(1, NOISE)),
                duration=float(end) if inside else None,
            )
        )
    return LoadTest(tuple(points)), limit, reached
