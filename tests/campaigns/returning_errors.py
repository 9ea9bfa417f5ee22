"""Percentiles of classes that return directly to one server, compared with simulations.

``python -m tests.campaigns.returning_errors`` simulates again what
`tests/data/returning_errors.csv` contains (some minutes), eight replicas per case, and prints the
errors of percentiles; the tests recompute them from that file. Two classes with gamma-distributed
services of their own come to one server, first come first served, and a share of them returns to
the end of the queue. The simulation keeps a queue and uses no law.

Constants or labels of `headway.queueing.sojourn.visited_station` rest on it.
"""

from collections import deque
from functools import cache
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
from scipy.stats import t as student

from headway.models import ModelGraph
from headway.queueing import MG1
from tests.campaigns import store, stored_numbers

PAGE = Path("tests/data/returning_errors.csv")
TITLES = ("case", "class", "quantity", "value", "half_width")
PERCENTS = (50, 95, 99, 99.9)
JOBS, REPLICAS, CONFIDENCE, WARM_UP = 200_000, 8, 0.99, 0.1
SHARES, BUSY = (0.6, 0.4), 0.75

CASES = tuple(product((0.25, 1.0, 4.0), (0.2, 0.7), (2.0, 8.0)))
"""Scv of services, probability of return, and ratio of the second class's times to the first's."""


def numbers(case):
    """Arrival rates and mean service times of the classes."""
    _, back, ratio = case
    times = (1.0, ratio)
    work = sum(share * time for share, time in zip(SHARES, times, strict=True))
    return [BUSY * (1 - back) / work * share for share in SHARES], times


def simulate(number, replica):
    """Classes and response times of one replica of a case."""
    scv, back, _ = case = CASES[number]
    rates, times = numbers(case)
    random = np.random.default_rng([1963, number, replica])
    came = np.cumsum(random.exponential(1 / sum(rates), JOBS))
    which = (random.random(JOBS) > SHARES[0]).astype(int)
    visits = random.geometric(1 - back, JOBS).tolist()
    works = iter((random.gamma(1 / scv, scv, sum(visits))).tolist())
    coming, kinds, left = came.tolist(), which.tolist(), np.empty(JOBS)
    queue, there, now, next_end = deque(), 0, 0.0, inf
    while there < JOBS or queue:
        if there < JOBS and coming[there] < next_end:
            now = coming[there]
            queue.append(there)
            there += 1
            if len(queue) == 1:
                next_end = now + next(works) * times[kinds[queue[0]]]
            continue
        now, job = next_end, queue.popleft()
        visits[job] -= 1
        if visits[job]:
            queue.append(job)
        else:
            left[job] = now
        next_end = now + next(works) * times[kinds[queue[0]]] if queue else inf
    kept = slice(int(WARM_UP * JOBS), None)
    return which[kept], (left - came)[kept]


def simulated(number):
    """Rows of the table for a case: means, then percentiles."""
    each = []
    for replica in range(REPLICAS):
        which, stays = simulate(number, replica)
        own = [stays[which == c] for c in range(2)]
        each.append([[one.mean(), *np.percentile(one, PERCENTS)] for one in own])
    each = np.array(each)
    wide = student.ppf((1 + CONFIDENCE) / 2, REPLICAS - 1) / REPLICAS**0.5
    means, halves = each.mean(axis=0), wide * each.std(axis=0, ddof=1)
    return [
        (number, c, k, f"{means[c, k]:.6g}", f"{halves[c, k]:.6g}")
        for c, k in product(range(2), range(1 + len(PERCENTS)))
    ]


def answers(number, percents=PERCENTS):
    """headway's answers, shape (classes, quantities)."""
    scv, back, _ = case = CASES[number]
    rates, times = numbers(case)
    own = dict(zip("ab", times, strict=True))
    graph = ModelGraph("two").station("cpu", MG1(1.0, scv), service_times=own)
    graph = graph.route("cpu", "cpu", back)
    for name, rate in zip("ab", rates, strict=True):
        graph = graph.job_class(name, arrival_rate=rate)
    solution = graph.at().solve().with_percentiles(percents)
    names = ("response_time", *(f"response_time_p{percent}" for percent in percents))
    each = [[float(solution[f"class {c}.{name}"]) for name in names] for c in "ab"]
    return np.array(each), solution


@cache
def stored():
    """The table by case: values and half widths, shape (classes, quantities) each."""
    rows = np.array(stored_numbers(PAGE, TITLES))
    shape = 2, 1 + len(PERCENTS)
    return {
        n: [rows[rows[:, 0] == n][:, k].reshape(shape) for k in (3, 4)] for n in range(len(CASES))
    }


def errors(number, actual):
    """Relative errors beyond the intervals of the simulation, shape (classes, quantities)."""
    values, halves = (one[:, : actual.shape[1]] for one in stored()[number])
    return np.maximum(np.abs(actual - values) - halves, 0.0) / values


def lines():
    """The table of the page: the larger error of the two classes."""
    yield "| scv | back | times apart | mean | p50 | p95 | p99 | p99.9 |"
    yield "|---|---|---|---|---|---|---|---|"
    for number, (scv, back, ratio) in enumerate(CASES):
        missed = 100 * errors(number, answers(number)[0]).max(axis=0)
        cells = " | ".join(f"{one:.1f}%" for one in missed)
        yield f"| {scv:g} | {back:g} | {ratio:g} | {cells} |"


def main():
    """Simulate again, and print the errors."""
    store(PAGE, TITLES, [row for number in range(len(CASES)) for row in simulated(number)])
    stored.cache_clear()
    print("\n".join(lines()))


if __name__ == "__main__":
    main()
