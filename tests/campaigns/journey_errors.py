"""Errors of percentiles of open classes with their own routes, by simulation.

``python -m tests.campaigns.journey_errors`` simulates again what `tests/data/journey_errors.csv`
contains (some minutes) and prints the table of docs/accuracy/percentiles.md; the tests recompute it
from that file. Networks are those of `tests.campaigns.qna_class_errors` with routes by class,
Poisson arrivals, exponential services and single servers; jobs that would return to a station leave
instead.

``python -m tests.campaigns.journey_errors --kind back`` does the same for jobs that do return,
possibly as another class, and `tests/data/returning_journeys.csv`; ``--kind common`` for classes
with common routes, and `tests/data/common_journeys.csv`.

Constants or labels of `headway.models.solving.response_times.class_routes` rest on it.
"""

import argparse
from functools import cache
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.models.solving.response_times.class_routes import class_route_laws
from headway.models.solving.response_times.open_classes import open_class_laws
from headway.queueing import MM1
from headway.queueing.times.inversion import percentile_of
from tests.campaigns import store, stored_numbers
from tests.campaigns.qna_class_errors import JOURNEY, events, network, through

PAGES = {
    "own": Path("tests/data/journey_errors.csv"),
    "back": Path("tests/data/returning_journeys.csv"),
    "common": Path("tests/data/common_journeys.csv"),
}
"""Tables for classes that only go forward, for those that return, and for those with common routes.
"""
PERCENTS = (50, 95, 99)
TITLES = ("number", "class", *(f"p{percent}" for percent in PERCENTS))
NETWORKS, VISITS, SEED, FEWEST = 24, 400_000, 1980, 5_000
LONGER = {(5, "own"): 1_500_000}  # seeds whose error was mostly scatter


def drawn_network(number, kind="own"):
    """Classes whose jobs go to later stations, or also back; single servers at most 80% busy."""
    family = "turning" if kind == "back" else "own routes"
    rates, starts, _, onward, times, servers, _ = network(family, number)
    count = len(servers)
    later = np.triu(np.ones((count, count)), 1)
    onward = onward if kind == "back" else onward * later[None, :, None, :]
    if kind == "common":
        onward, starts = _as_the_first(onward), 0 * starts
    alike = number % 2 == 0  # every other network has one service time per station
    times = np.where(alike, times.mean(axis=0), times)
    ones = np.ones(len(rates)), np.ones(count, int), np.ones(times.shape)
    made = [rates, starts, ones[0], onward, times, ones[1], ones[2]]
    load = (through(made) * times).sum(axis=0)
    random = np.random.default_rng([SEED, number])
    made[4] = times * random.choice([0.3, 0.5, 0.7, 0.8], count) / np.where(load > 0, load, 1.0)
    return tuple(made)


def _as_the_first(onward):
    """Routes of the first class, for all classes."""
    common = np.zeros(onward.shape)
    for c in range(len(onward)):
        common[c, :, c] = onward[0, :, 0]
    return common


def simulate(number, kind="own"):
    """Rows of the file: percentiles of the journeys of classes that arrive often enough."""
    visits, random = LONGER.get((number, kind), VISITS), np.random.default_rng([SEED, number, 1])
    _, journeys = events(drawn_network(number, kind), visits, random)
    kept = journeys[len(journeys) // 10 :]
    assert set(kept[:, 1]) == {JOURNEY}
    for c in sorted(set(kept[:, 0].astype(int).tolist())):
        own = kept[kept[:, 0] == c, 2]
        if len(own) >= FEWEST:
            yield number, c, *(f"{v:.6g}" for v in np.percentile(own, PERCENTS))


def model(number, kind="own"):
    """The network as headway's model, without stations that no job visits."""
    rates, starts, _, onward, times, _, _ = drawn_network(number, kind)
    graph = ModelGraph(f"network{number}")
    names = [f"c{c}" for c in range(len(rates))]
    classes = [0] if kind == "common" else range(len(rates))
    for k in range(times.shape[1]):
        if not any(comes(onward, starts, c, k) for c in classes):
            continue
        own = {name: float(times[c, k]) for c, name in enumerate(names)}
        unlike = len(set(own.values())) > 1
        graph = graph.station(f"s{k}", MM1(own["c0"]), None, own if unlike else None)
    for c, k, d, j in zip(*np.nonzero(onward), strict=True):
        if comes(onward, starts, c, k) and (kind != "common" or c == 0):
            becomes = "" if c == d else names[d]
            own = "" if kind == "common" else names[c]
            graph = graph.route(f"s{k}", f"s{j}", float(onward[c, k, d, j]), own, becomes)
    for c, name in enumerate(names):
        entry = None if kind == "common" else f"s{starts[c]}"
        graph = graph.job_class(name, float(rates[c]), arrives=entry)
    return graph.at()


def comes(onward, starts, c, k):
    """Whether jobs of a class visit a station at all."""
    classes, count = onward.shape[:2]
    ways = np.linalg.inv(np.eye(classes * count) - onward.reshape(classes * count, -1))
    begun = np.arange(classes) * count + starts
    return ways[begun, c * count + k].max() > 1e-12


def stored(kind="own"):
    """Percentiles of the file by network and class."""
    rows = stored_numbers(PAGES[kind], TITLES).tolist()
    return {(int(number), int(c)): percentiles for number, c, *percentiles in rows}


@cache
def laws(number, kind):
    """headway's laws of a network's times."""
    known = open_class_laws if kind == "common" else class_route_laws
    return known(model(number, kind).solve())


def errors(actual, kind="own"):
    """Relative errors of each percentile, shape (classes, percents), and if times are equal."""
    rows, alike = [], []
    for (number, c), times in actual.items():
        known = [percentile_of(laws(number, kind)[f"c{c}"], p / 100) for p in PERCENTS]
        rows.append(np.array(known) / np.array(times) - 1)
        alike.append(number % 2 == 0)
    return np.array(rows), np.array(alike)


def lines(actual, kind="own"):
    """The table of the page."""
    rows, alike = errors(actual, kind)
    yield "| service times of a station | classes | p50 | p95 | p99 |"
    yield "|---|---|---|---|---|"
    for words, some in (("alike", rows[alike]), ("by class", rows[~alike])):
        if not len(some):  # with common routes, only times that differ by class were measured
            continue
        size = 100 * np.abs(some)
        cells = (f"{m:.1f}%, {w:.1f}%" for m, w in zip(size.mean(0), size.max(0), strict=True))
        yield f"| {words} | {len(some)} | {' | '.join(cells)} |"


def main():
    """Simulate again, or only print what the file contains."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stored", action="store_true", help="tell what the file says")
    parser.add_argument("--kind", choices=PAGES, default="own", help="which networks")
    options = parser.parse_args()
    if not options.stored:
        numbers = range(options.kind == "common", NETWORKS, 1 + (options.kind == "common"))
        rows = [row for number in numbers for row in simulate(number, options.kind)]
        store(PAGES[options.kind], TITLES, rows)
    print(*lines(stored(options.kind), options.kind), sep="\n")


if __name__ == "__main__":
    main()
