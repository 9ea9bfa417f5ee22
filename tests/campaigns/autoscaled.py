"""How far an autoscaler that sees the mean of its metric is off: beside simulated days.

    python -m tests.campaigns.autoscaled [--count 100] [--runs 24]

Random days of 40 minutes in rates of a minute, with a rise or two, at pools whose replicas are set
by Kubernetes' rule with targets of 50 to 80%, start delays of none to a minute, and windows of one
or five minutes; 100 to 2,000 requests in each interval of 15 s at the highest load. Prints the
relative errors of the minutes in which the metric is above its target and of those in which the
mean response time exceeds four service times, where there are two minutes or more; and of the mean
number of replicas and the mean response time. `headway.queueing.transient.measured` states them.
"""

import argparse

import numpy as np

from headway.models import ModelGraph
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing import MMm
from tests.oracles.autoscaled import simulated

STEP, MINUTE, MINUTES = 15.0, 60.0, 40
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


def both(seed, runs):
    """The same four numbers by headway and by simulation."""
    time, rates, law = random_day(seed)
    count = max(1, int(np.ceil(rates[0] * time / law["target"])))
    numbers = {
        "target": law["target"],
        "maximum": law["maximum"],
        "stabilisation": law["window"] * STEP,
        "start_delay": law["delay"] * STEP,
    }
    graph = ModelGraph("pool").declare("servers").station("cpu", MMm(time, "servers"))
    model = graph.autoscale("servers", numbers).at(servers=count)
    edges = tuple((MINUTE * np.arange(MINUTES + 1)).tolist())
    day = Day(edges, tuple(rates.tolist()))
    solved = over_model(model, day, LATE * time, every=MINUTE, percentiles=())
    late = MINUTE * float((solved["response_time"] > LATE * time).sum())
    found = [
        solved.scaling.over / MINUTE,
        late / MINUTE,
        float(solved["replicas"].mean()),
        float(solved.day.response_time[0]),
    ]
    looks = np.repeat(rates, int(MINUTE / STEP))
    usage, replicas, came, sums = simulated(looks, STEP, law, time, count, runs, seed)
    above = (usage[:-1] > law["target"] * (1 + law["tolerance"])).sum(axis=0) * STEP / MINUTE
    by_minute = [x.reshape(MINUTES, -1, runs).sum(axis=1) for x in (sums, came)]
    slow = (by_minute[0] > LATE * time * by_minute[1]).sum(axis=0)
    played = [above.mean(), slow.mean(), replicas.mean(), sums.sum() / came.sum()]
    return found, played


NAMES = ("minutes above the metric's target", "minutes over", "replicas", "response time")


def errors(count, runs):
    """Relative errors by name [%]."""
    pairs = [both(seed, runs) for seed in range(count)]
    found: dict[str, list[float]] = {name: [] for name in NAMES}
    for solved, played in pairs:
        for name, one, other in zip(NAMES, solved, played, strict=True):
            if not name.startswith("minutes") or max(one, other) >= LEAST:
                found[name].append(100 * abs(one - other) / max(other, 1e-9))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--runs", type=int, default=24)
    options = parser.parse_args()
    for name, values in errors(options.count, options.runs).items():
        middle, high = np.percentile(values, [50, 90])
        print(f"{name}: {len(values)} days, median {middle:.1f}%, 90 of 100 within {high:.1f}%, "
              f"largest {max(values):.1f}%")  # fmt: skip


if __name__ == "__main__":
    main()
