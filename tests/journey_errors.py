"""What percentiles of open classes with routes of their own miss, by simulation.

``python -m tests.journey_errors`` simulates anew what `tests/data/journey_errors.csv` holds (some
minutes) and prints the table of docs/accuracy/percentiles.md; the tests recompute it from that
file. Networks are those of `tests.qna_class_errors` with routes of their own, Poisson arrivals,
exponential services and single servers; jobs that would come back to a station leave instead.
"""

import csv
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.queueing import MM1
from tests.campaigns import stored_or_simulated
from tests.qna_class_errors import JOURNEY, events, network, through

PAGE = Path("tests/data/journey_errors.csv")
PERCENTS = (50, 95, 99)
TITLES = ("number", "class", *(f"p{percent}" for percent in PERCENTS))
NETWORKS, VISITS, SEED, FEWEST = 24, 400_000, 1980, 5_000
LONGER = {5: 1_500_000}  # whose error is more than scatter


def drawn_network(number):
    """Classes whose jobs go from stations to later ones, single servers at most 80 % busy."""
    rates, starts, _, onward, times, servers, _ = network("own routes", number)
    count = len(servers)
    later = np.triu(np.ones((count, count)), 1)
    onward = onward * later[None, :, None, :]
    alike = number % 2 == 0  # every other network has one service time a station
    times = np.where(alike, times.mean(axis=0), times)
    ones = np.ones(len(rates)), np.ones(count, int), np.ones(times.shape)
    made = [rates, starts, ones[0], onward, times, ones[1], ones[2]]
    load = (through(made) * times).sum(axis=0)
    random = np.random.default_rng([SEED, number])
    made[4] = times * random.choice([0.3, 0.5, 0.7, 0.8], count) / np.where(load > 0, load, 1.0)
    return tuple(made)


def simulate(number):
    """Rows of the file: percentiles of the journeys of classes that come often enough."""
    visits = LONGER.get(number, VISITS)
    _, journeys = events(drawn_network(number), visits, np.random.default_rng([SEED, number, 1]))
    kept = journeys[len(journeys) // 10 :]
    assert set(kept[:, 1]) == {JOURNEY}
    for c in sorted(set(kept[:, 0].astype(int).tolist())):
        own = kept[kept[:, 0] == c, 2]
        if len(own) >= FEWEST:
            yield number, c, *(f"{v:.6g}" for v in np.percentile(own, PERCENTS))


def model(number):
    """The network as headway has it."""
    rates, starts, _, onward, times, _, _ = drawn_network(number)
    graph = ModelGraph(f"network{number}")
    names = [f"c{c}" for c in range(len(rates))]
    for k in range(times.shape[1]):
        own = {name: float(times[c, k]) for c, name in enumerate(names)}
        unlike = len(set(own.values())) > 1
        graph = graph.station(f"s{k}", MM1(own["c0"]), None, own if unlike else None)
    for c, k, d, j in zip(*np.nonzero(onward), strict=True):
        assert c == d
        if c_comes(onward, starts, c, k):
            graph = graph.route(f"s{k}", f"s{j}", float(onward[c, k, d, j]), names[c])
    for c, name in enumerate(names):
        graph = graph.job_class(name, float(rates[c]), arrives=f"s{starts[c]}")
    return graph.at()


def c_comes(onward, starts, c, k):
    """Whether a class comes to a station at all."""
    ways = np.linalg.inv(np.eye(onward.shape[1]) - onward[c, :, c])
    return ways[starts[c], k] > 0


def stored():
    """Percentiles of the file by network and class."""
    with PAGE.open(newline="") as file:
        rows = [[float(v) for v in row.values()] for row in csv.DictReader(file)]
    return {(int(row[0]), int(row[1])): row[2:] for row in rows}


def errors(actual):
    """Relative errors of each percentile, shape (classes, percents), and where times are alike."""
    solved = {
        number: model(number).solve().with_percentiles(PERCENTS)
        for number in sorted({number for number, _ in actual})
    }
    rows, alike = [], []
    for (number, c), times in actual.items():
        known = [solved[number][f"class c{c}.response_time_p{p}"] for p in PERCENTS]
        rows.append(np.array(known) / np.array(times) - 1)
        alike.append(number % 2 == 0)
    return np.array(rows), np.array(alike)


def lines(actual):
    """The table of the page."""
    rows, alike = errors(actual)
    yield "| service times of a station | classes | p50 | p95 | p99 |"
    yield "|---|---|---|---|---|"
    for words, some in (("alike", rows[alike]), ("by class", rows[~alike])):
        size = 100 * np.abs(some)
        cells = (f"{m:.1f} %, {w:.1f} %" for m, w in zip(size.mean(0), size.max(0), strict=True))
        yield f"| {words} | {len(some)} | {' | '.join(cells)} |"


def _rows():
    for number in range(NETWORKS):
        yield from simulate(number)


def main():
    """Simulate anew, or only print what the file contains."""
    stored_or_simulated(__doc__, PAGE, TITLES, _rows)
    print(*lines(stored()), sep="\n")


if __name__ == "__main__":
    main()
