"""How far the courses of an autoscaler are off: beside simulated days.

    python -m tests.campaigns.autoscaled [--write [--count 100] [--runs 24]]

Random days of 40 minutes in rates of a minute, with a rise or two, at pools whose replicas are set
by Kubernetes' rule with targets of 50 to 80%, start delays of none to a minute, and windows of one
or five minutes; 100 to 2,000 requests in each interval of 15 s at the highest load. Prints the
relative errors of the minutes in which the metric is above its target and of those in which the
mean response time of half a minute exceeds four service times, where there are two minutes or more;
and of the mean number of replicas and the mean response time. With --write it first simulates them
anew, which takes a quarter of an hour. `headway.queueing.transient.measured` states the figures.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing import MMm
from tests.oracles.autoscaled import simulated

STEP, MINUTE, MINUTES = 15.0, 60.0, 40
FIRST = 1000
"""The first seed."""

LATE = 4.0
"""Service times that a mean response time is not to exceed."""

LEAST = 2.0
"""Minutes in which something is over its target from which on an error is relative to them."""


def random_day(seed):
    """A service time [s], rates of each minute, and the law of an autoscaler."""
    draw = np.random.default_rng(seed)
    at = np.arange(MINUTES) + 0.5
    shape = np.full(MINUTES, draw.uniform(0.15, 0.5))
    for _ in range(int(draw.integers(1, 3))):
        middle, width = draw.uniform(8, 34), draw.uniform(1.5, 8)
        shape += draw.uniform(0.3, 1.0) * np.exp(-(((at - middle) / width) ** 2))
    rates = shape / shape.max() * np.exp(draw.uniform(np.log(100), np.log(2000))) / STEP
    law = {
        "target": draw.uniform(0.5, 0.8),
        "tolerance": 0.1,
        "minimum": 1,
        "maximum": 40,
        "delay": int(draw.integers(0, 5)),
        "window": int(draw.choice([4, 20])),
    }
    erlangs = draw.uniform(2, 12)
    return erlangs / rates.max(), rates, law


def solved(seed):
    """What headway says of a day: the numbers that `NAMES` names."""
    time, rates, law = random_day(seed)
    numbers = {
        "target": law["target"],
        "maximum": law["maximum"],
        "stabilisation": law["window"] * STEP,
        "start_delay": law["delay"] * STEP,
    }
    graph = ModelGraph("pool").declare("servers").station("cpu", MMm(time, "servers"))
    model = graph.autoscale("servers", numbers).at(servers=replicas_of(time, rates, law))
    day = Day(tuple((MINUTE * np.arange(MINUTES + 1)).tolist()), tuple(rates.tolist()))
    found = over_model(model, day, LATE * time, every=MINUTE, percentiles=())
    return [
        found.scaling.over / MINUTE,
        found.time_over / MINUTE,
        float(found["replicas"].mean()),
        float(found.day.response_time[0]),
    ]


def replicas_of(time, rates, law):
    """Replicas at the start of a day."""
    return max(1, int(np.ceil(rates[0] * time / law["target"])))


def played(seed, runs):
    """The same numbers, on average over simulated days."""
    time, rates, law = random_day(seed)
    looks = np.repeat(rates, int(MINUTE / STEP))
    count = replicas_of(time, rates, law)
    usage, replicas, came, sums = simulated(looks, STEP, law, time, count, runs, seed)
    above = (usage[:-1] > law["target"] * (1 + law["tolerance"])).sum(axis=0) * STEP / MINUTE
    halves = [x.reshape(2 * MINUTES, -1, runs).sum(axis=1) for x in (sums, came)]
    slow = (halves[0] > LATE * time * halves[1]).sum(axis=0) / 2
    return [above.mean(), slow.mean(), replicas.mean(), sums.sum() / came.sum()]


NAMES = ("minutes above the metric's target", "minutes over", "replicas", "response time")
"""What is compared. Fields of the table are these, by headway and simulated."""

TABLE = Path(__file__).parents[1] / "data" / "autoscaled.csv"
"""The stored figures of the days from `FIRST` on, which had no part in making the method."""


def errors(rows):
    """Relative errors by name [%], of rows of four numbers by headway and four simulated."""
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    for row in rows:
        for name, one, other in zip(NAMES, row[:4], row[4:], strict=True):
            if not name.startswith("minutes") or max(one, other) >= LEAST:
                found[name].append(100 * abs(one - other) / max(other, 1e-9))
    return found


def figures(rows):
    """A line for each name: days, and the median, the 90th percentile and the largest error."""
    for name, values in errors(rows).items():
        middle, high = np.percentile(values, [50, 90])
        yield (
            f"{name}: {len(values)} days, median {middle:.1f}%, 90 of 100 within {high:.1f}%, "
            f"largest {max(values):.1f}%"
        )


def stored():
    """Rows of the table by seed."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return {int(row[0]): [float(cell) for cell in row[1:]] for row in rows}


def write(count, runs):
    """Simulate, and store a row after each day."""
    with TABLE.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["seed", *NAMES, *(f"{name}, simulated" for name in NAMES)])
        for seed in range(FIRST, FIRST + count):
            row = (*solved(seed), *played(seed, runs))
            table.writerow([seed, *(f"{number:.6g}" for number in row)])
            file.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--runs", type=int, default=24)
    parser.add_argument("--write", action="store_true", help="simulate, and store what is found")
    options = parser.parse_args()
    if options.write:
        write(options.count, options.runs)
    print("\n".join(figures(list(stored().values()))))


if __name__ == "__main__":
    main()
