"""Percentiles at shared servers with general service times, compared with simulations.

``python -m tests.campaigns.sharing_errors`` simulates again what `tests/data/sharing_errors.csv`
contains (some minutes), eight replicas per case, and prints the errors of percentiles; the tests
recompute them from that file. Services are gamma-distributed, or constant for scv 0. The simulation
uses no law: a job leaves a shared server when the service per job since the server was last empty
reaches its value at the job's arrival, plus the job's own service.

Constants or labels of `headway.queueing.sojourn.routed_network` and
`headway.queueing.times.processor_sharing.general` rest on it.
"""

from functools import cache
from heapq import heappop, heappush
from math import inf
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from headway.models import ModelGraph
from headway.queueing import MG1, MM1
from tests.campaigns import store, stored_numbers

PAGE = Path("tests/data/sharing_errors.csv")
TITLES = ("case", "percent", "time", "half_width")
PERCENTS = (50, 95, 99, 99.9)
JOBS, REPLICAS, CONFIDENCE, WARM_UP = 300_000, 8, 0.99, 0.1

LONE = tuple((busy, ((scv, "ps"),)) for busy in (0.5, 0.7, 0.9) for scv in (0.0, 0.25, 4.0, 8.0))
"""Utilisation, and scv and discipline of consecutive stations, with the same mean service time."""
ROWS = tuple(
    (busy, row)
    for busy in (0.6, 0.85)
    for row in (
        ((0.0, "ps"),) * 2,
        ((0.0, "ps"),) * 3,
        ((0.25, "ps"),) * 2,
        ((4.0, "ps"),) * 2,
        ((0.0, "ps"), (1.0, "fcfs")),
        ((1.0, "fcfs"), (4.0, "ps")),
    )
)
CASES = (*LONE, *ROWS)


def services(random, scv):
    """Service times of mean 1."""
    return random.gamma(1 / scv, scv, JOBS) if scv else np.ones(JOBS)


def shared(arrivals, works):
    """When jobs leave a server that all jobs present share."""
    leaving, ends, had, now, coming = np.empty(len(works)), [], 0.0, 0.0, 0
    arrivals, works = arrivals.tolist(), works.tolist()
    while coming < len(works) or ends:
        next_end = now + (ends[0][0] - had) * len(ends) if ends else inf
        next_arrival = arrivals[coming] if coming < len(works) else inf
        if next_arrival < next_end:
            had = had + (next_arrival - now) / len(ends) if ends else 0.0
            heappush(ends, (had + works[coming], coming))
            now, coming = next_arrival, coming + 1
        else:
            had, job = heappop(ends)
            now = leaving[job] = next_end
    return leaving


def in_turn(arrivals, works):
    """When jobs leave a server in order of arrival."""
    done = np.cumsum(works)
    return done + np.maximum.accumulate(arrivals - done + works)


def simulate(number, replica):
    """Percentiles of the response time from one replica of a case."""
    busy, row = CASES[number]
    random = np.random.default_rng([1987, number, replica])
    began = here = np.cumsum(random.exponential(1 / busy, JOBS))
    jobs = np.arange(JOBS)
    for scv, discipline in row:
        leave = (shared if discipline == "ps" else in_turn)(here, services(random, scv))
        order = np.argsort(leave, kind="stable")
        here, jobs = leave[order], jobs[order]
    times = np.empty(JOBS)
    times[jobs] = here - began[jobs]
    return np.percentile(times[int(WARM_UP * JOBS) :], PERCENTS)


def simulated(number):
    """Rows of the table for a case."""
    each = np.array([simulate(number, replica) for replica in range(REPLICAS)])
    wide = student.ppf((1 + CONFIDENCE) / 2, REPLICAS - 1) / REPLICAS**0.5
    halves = wide * each.std(axis=0, ddof=1)
    both = zip(PERCENTS, each.mean(axis=0), halves, strict=True)
    return [(number, percent, f"{mean:.6g}", f"{half:.6g}") for percent, mean, half in both]


def law(number):
    """The percentiles by headway."""
    busy, row = CASES[number]
    graph = ModelGraph("row")
    for k, (scv, discipline) in enumerate(row):
        station = MM1(1.0) if discipline == "fcfs" else MG1(1.0, scv)
        graph = graph.station(f"s{k}", station, discipline=discipline)
        graph = graph.route(f"s{k - 1}", f"s{k}", 1.0) if k else graph
    solution = graph.at(arrival_rate=busy).solve().with_percentiles(PERCENTS)
    return [float(solution[f"response_time_p{percent}"]) for percent in PERCENTS], solution


@cache
def stored():
    """The table by case: percentiles and half widths of their intervals, shape (percents,)."""
    rows = np.array(stored_numbers(PAGE, TITLES))
    return {n: rows[rows[:, 0] == n][:, 2:].T for n in range(len(CASES))}


def errors(number, actual):
    """Relative errors beyond the interval of the simulation, by percent."""
    times, halves = stored()[number]
    miss = np.abs(np.array(actual) - times) - halves
    return np.maximum(miss, 0.0) / times


def lines():
    """The table of the page."""
    yield "| utilisation | stations | p50 | p95 | p99 | p99.9 |"
    yield "|---|---|---|---|---|---|"
    for number, (busy, row) in enumerate(CASES):
        words = ", then ".join(f"scv {scv:g}" if how == "ps" else "`MM1`, fcfs" for scv, how in row)
        missed = errors(number, law(number)[0])
        yield f"| {busy} | {words} | {' | '.join(f'{100 * one:.1f}%' for one in missed)} |"


def main():
    """Simulate again, and print the errors."""
    rows = [row for number in range(len(CASES)) for row in simulated(number)]
    store(PAGE, TITLES, rows)
    stored.cache_clear()
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
