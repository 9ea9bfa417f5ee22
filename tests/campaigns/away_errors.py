"""Errors of percentiles where other jobs spend constant times elsewhere, and come back.

``python -m tests.campaigns.away_errors`` simulates again what `tests/data/away_errors.csv`
contains: jobs that circulate between a delay of constant time and one station, whose servers all
jobs share, or where half of the jobs go back to the end of a queue in order of arrival. The label
of such answers is the largest error of the rows; the tests recompute it.

Constants or labels of `headway.queueing.passages.processor_sharing` rest on it.
"""

import heapq
from collections import deque
from itertools import product
from pathlib import Path
from random import Random

import numpy as np

from headway.models import parse_model
from tests import campaigns

PAGE = Path("tests/data/away_errors.csv")
PERCENTS = ("50", "90", "99", "99.9")
TITLES = ("jobs", "servers", "delay", "back", *(f"p{p}" for p in PERCENTS))
NETWORKS = (
    *((n, m, d, 0.0) for n, m, d in product((2, 3, 5, 9), (1, 2), (0.3, 1.0, 3.0, 10.0)) if n > m),
    *((n, 1, d, 0.5) for n, d in product((2, 3, 5, 9), (0.3, 1.0, 3.0, 10.0))),
)
EVENTS = 400_000


def simulated(jobs, servers, delay, back, seed):
    """Percentiles of the time at the station, whose service is exponential with mean 1 s."""
    times = _returning(jobs, delay, back, seed) if back else _shared(jobs, servers, delay, seed)
    return np.quantile(times[EVENTS // 20 :], [float(p) / 100 for p in PERCENTS])


def _returning(jobs, delay, back, seed):
    """One server in order of arrival, where a share of the jobs returns to the end of the queue."""
    draw, now = Random(seed), 0.0
    away, there, times = sorted(delay * draw.random() for _ in range(jobs)), deque(), []
    while len(times) < EVENTS:
        now = max(now, away.pop(0)) if not there else now
        there = there or deque([now])
        now += draw.expovariate(1.0)
        while away and away[0] <= now:
            there.append(away.pop(0))
        came = there.popleft()
        if draw.random() < back:
            there.append(came)
        else:
            times.append(now - came)
            away.append(now + delay)
    return times


def _shared(jobs, servers, delay, seed):
    """Shared servers: all jobs present receive the same service, the growth of `given`."""
    draw, now, given = Random(seed), 0.0, 0.0
    away, there, times = sorted(delay * draw.random() for _ in range(jobs)), [], []
    while len(times) < EVENTS:
        pace = min(1.0, servers / len(there)) if there else 0.0
        ends = now + (there[0][0] - given) / pace if there else np.inf
        if away and away[0] < ends:
            given += (away[0] - now) * pace
            now = heapq.heappop(away)
            heapq.heappush(there, (given + draw.expovariate(1.0), now))
        else:
            now, (given, came) = ends, heapq.heappop(there)
            times.append(now - came)
            heapq.heappush(away, now + delay)
    return times


def solved(jobs, servers, delay, back):
    """headway's percentiles, and its notes on them."""
    model = parse_model(
        f'name = "away"\n[parameters]\npopulation = {jobs:g}\nthink_time = 0\n'
        f'[stations.d]\nkind = "Delay"\nservice_time = {delay}\n'
        f'[stations.q]\nkind = "MMm"\nservers = {servers:g}\nservice_time = 1.0\n'
        + ("" if back else 'discipline = "ps"\n')
        + '[[routes]]\nfrom = "d"\nto = "q"\n'
        + (f'[[routes]]\nfrom = "q"\nto = "q"\nprobability = {back}\n' if back else "")
    )
    names = [f"response_time_p{p}" for p in PERCENTS]
    solution = model.solve().answering(*names)
    return np.array([float(solution[n]) - delay for n in names]), solution.approximation


def largest(rows=None):
    """Largest errors of the stored networks [%], up to the 99th percentile and of the 99.9th."""
    rows = campaigns.stored_numbers(PAGE, TITLES) if rows is None else rows
    errors = [np.abs(solved(*row[:4])[0] / row[4:] - 1) for row in rows]
    worst = 100 * np.max(errors, axis=0)
    return worst[:3].max(), worst[3]


def main():
    """Simulate, and print the largest errors."""

    def rows():
        for seed, network in enumerate(NETWORKS):
            yield [*network, *(f"{t:.6g}" for t in simulated(*network, seed))]

    campaigns.stored_or_simulated(__doc__, PAGE, TITLES, rows)
    print("largest errors up to the 99th {:.1f}%, of the 99.9th {:.1f}%".format(*largest()))


if __name__ == "__main__":
    main()
