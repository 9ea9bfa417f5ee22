"""Percentiles of closed classes with routes of their own, against simulations.

``python -m tests.campaigns.closed_journeys`` simulates again what `tests/data/closed_journeys.csv`
contains (some minutes) and prints the table of docs/accuracy/percentiles.md; the tests recompute it
from that file. The simulation goes job by job and uses no law of a queue
(`tests.oracles.crowd_simulation`).

Constants or labels of `headway.queueing.passages.whole_chain` rest on it.
"""

import csv
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.models.simulating.jobs import blueprint
from headway.models.solving.response_times.class_routes import class_route_laws
from headway.queueing import MM1, Delay, MMm
from headway.queueing.times.inversion import percentile_of
from tests.campaigns import stored_or_simulated
from tests.oracles.crowd_simulation import response_times

PAGE = Path("tests/data/closed_journeys.csv")
PERCENTS = (50, 95, 99)
TITLES = ("number", "class", *(f"{k}{p}" for p in PERCENTS for k in ("p", "half")))
NETWORKS, EVENTS, SEED, PARTS = 24, 1_500_000, 1982, 20


def has_delay(number):
    """Whether a network has a constant delay among its stations: every other one has."""
    return number % 2 == 1


def model(number):
    """Two classes of one to three jobs at two or three stations, with at most one delay."""
    random = np.random.default_rng([SEED, number])
    count, names = int(random.integers(2, 4)), ("a", "b")
    graph = ModelGraph(f"network{number}")
    for k in range(count):
        times = dict(zip(names, 3 ** random.uniform(-1, 1, 2), strict=True))
        order = "ps" if random.random() < 0.3 else "fcfs"
        if has_delay(number) and k == 1:
            graph = graph.station("s1", Delay(float(times["a"])))
        else:
            kind = MM1(1.0) if random.random() < 0.7 else MMm(1.0, 2)
            graph = graph.station(f"s{k}", kind, None, times, order)
    for name in names:
        onward = random.dirichlet(np.ones(count + 1), count)[:, :-1]
        onward[0] *= 0.95 / max(onward[0].sum(), 0.95)
        for k, j in np.ndindex(count, count):
            graph = graph.route(f"s{k}", f"s{j}", float(onward[k, j]), name)
        graph = graph.job_class(
            name, population=int(random.integers(1, 4)), think_time=float(random.uniform(0.3, 5))
        )
    return graph.at()


def simulate(number):
    """Rows of the file: percentiles by class, with half widths of 99% intervals."""
    result = response_times(_plain(blueprint(model(number))), EVENTS, SEED + number)
    for c, times in enumerate(result):
        parts = np.array([np.percentile(p, PERCENTS) for p in np.array_split(times, PARTS)])
        half = 2.861 * parts.std(axis=0, ddof=1) / np.sqrt(PARTS)
        pairs = zip(np.percentile(times, PERCENTS), half, strict=True)
        yield number, c, *(f"{value:.6g}" for pair in pairs for value in pair)


def _plain(plan):
    """Routes without changes of class, of which there are none: each class has its own part."""
    jobs, count = [], len(plan.places)
    for c, each in enumerate(plan.classes):
        own = each.ways.turning.onward[:, c * count : (c + 1) * count]
        assert np.isclose(own.sum(), each.ways.turning.onward.sum(), rtol=1e-12)
        jobs.append(replace(each, ways=replace(each.ways, onward=own)))
    return replace(plan, classes=tuple(jobs))


def stored():
    """Percentiles and half widths of the file by network and class, shape (percents, 2)."""
    with PAGE.open(newline="") as file:
        rows = [[float(v) for v in row.values()] for row in csv.DictReader(file)]
    return {(int(row[0]), int(row[1])): np.reshape(row[2:], (-1, 2)) for row in rows}


@cache
def laws(number):
    """headway's laws of a network's times."""
    return class_route_laws(model(number).solve())


@cache
def percentiles(number, name):
    """headway's percentiles of a class [s], shape (percents,)."""
    return np.array([percentile_of(laws(number)[name], p / 100) for p in PERCENTS])


def errors(actual):
    """Relative errors, those beyond the intervals, and which networks have delays."""
    rows, beyond, delays = [], [], []
    for (number, c), pairs in actual.items():
        known, (true, half) = percentiles(number, "ab"[c]), pairs.T
        rows.append(np.abs(known / true - 1))
        beyond.append(np.maximum(np.abs(known - true) - half, 0) / true)
        delays.append(has_delay(number))
    return np.array(rows), np.array(beyond), np.array(delays)


def lines(actual):
    """The table of the page: mean error, largest error, and largest error beyond the interval."""
    rows, beyond, delays = errors(actual)
    yield "| stations | classes | p50 | p95 | p99 |"
    yield "|---|---|---|---|---|"
    for words, some in (("queues", ~delays), ("queues and a delay", delays)):
        sizes = (100 * rows[some].mean(0), 100 * rows[some].max(0), 100 * beyond[some].max(0))
        cells = (f"{m:.1f}%, {w:.1f}%, {b:.1f}%" for m, w, b in zip(*sizes, strict=True))
        yield f"| {words} | {some.sum()} | {' | '.join(cells)} |"


def _rows():
    for number in range(NETWORKS):
        yield from simulate(number)


def main():
    """Simulate again, or only print what the file contains."""
    stored_or_simulated(__doc__, PAGE, TITLES, _rows)
    print(*lines(stored()), sep="\n")


if __name__ == "__main__":
    main()
