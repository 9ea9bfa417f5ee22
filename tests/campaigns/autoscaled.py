"""Errors of the courses of an autoscaler, compared with simulated days.

``python -m tests.campaigns.autoscaled --seed 1000 --count 100`` simulates random days of 40 minutes
with a rate for each minute and one or two rises, at pools whose replicas are set by Kubernetes'
rule with targets of 50% to 80%, start delays of up to a minute, and windows of one or five minutes;
100 to 2,000 requests come in each interval of 15 s at the highest load. Rows are stored in
`tests/data/autoscaled.csv`: minutes in which the metric is above its target, minutes in which the
mean response time of half a minute exceeds four service times, mean replicas, and mean response
time, by headway and simulated. The label of `headway.queueing.transient.measured` rests on it.

Seeds below 1000 had been looked at when the method was made.
"""

from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing import MMm
from tests import campaigns
from tests.oracles.autoscaled import simulated

PAGE = Path("tests/data/autoscaled.csv")
TITLES = ("seed", "number", "found", "simulated")
STEP, MINUTE, MINUTES = 15.0, 60.0, 40
LATE = 4.0
"""Service times that a mean response time must not exceed."""

RUNS = 16
"""Simulated replicas of each day."""

LEAST = {
    "minutes above target": 2.0,
    "minutes too slow": 2.0,
    "replicas": 0.0,
    "response time": 0.0,
}
"""What is compared, and the fewest minutes for which a relative error is taken."""


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


def model(seed):
    """The pool of a day, under its autoscaler."""
    time, rates, law = random_day(seed)
    numbers = {
        "target": law["target"],
        "maximum": law["maximum"],
        "stabilisation": law["window"] * STEP,
        "start_delay": law["delay"] * STEP,
    }
    graph = ModelGraph("pool").declare("servers").station("cpu", MMm(time, "servers"))
    return graph.autoscale("servers", numbers).at(servers=replicas_of(time, rates, law))


def solved(seed):
    """headway's numbers for a day, by the names in `LEAST`."""
    time, rates, _ = random_day(seed)
    day = Day(tuple((MINUTE * np.arange(MINUTES + 1)).tolist()), tuple(rates.tolist()))
    found = over_model(model(seed), day, LATE * time, every=MINUTE, percentiles=())
    return [
        found.scaling.over / MINUTE,
        found.time_over / MINUTE,
        float(found["replicas"].mean()),
        float(found.day.response_time[0]),
    ]


def replicas_of(time, rates, law):
    """Replicas at the start of a day."""
    return max(1, int(np.ceil(rates[0] * time / law["target"])))


def played(seed):
    """The same numbers, averaged over simulated days."""
    time, rates, law = random_day(seed)
    looks = np.repeat(rates, int(MINUTE / STEP))
    count = replicas_of(time, rates, law)
    usage, replicas, came, sums, _ = simulated(looks, STEP, law, time, count, RUNS, seed)
    above = (usage[:-1] > law["target"] * (1 + law["tolerance"])).sum(axis=0) * STEP / MINUTE
    halves = [x.reshape(2 * MINUTES, -1, RUNS).sum(axis=1) for x in (sums, came)]
    slow = (halves[0] > LATE * time * halves[1]).sum(axis=0) / 2
    return [above.mean(), slow.mean(), replicas.mean(), sums.sum() / came.sum()]


def both(seed):
    """Rows of a day: its seed, the number, and its value by headway and simulated."""
    pairs = zip(LEAST, solved(seed), played(seed), strict=True)
    return [(seed, name, f"{found:.6g}", f"{other:.6g}") for name, found, other in pairs]


def errors(rows, name):
    """Relative errors of a number [%], from rows by title."""
    pairs = [(float(r["found"]), float(r["simulated"])) for r in rows if r["number"] == name]
    kept = [(one, other) for one, other in pairs if max(one, other) >= LEAST[name]]
    return np.array([100 * abs(one - other) / max(other, 1e-9) for one, other in kept])


def table(rows):
    """Lines of the page, from rows by title."""
    for name in LEAST:
        off = errors(rows, name)
        middle, high = np.percentile(off, [50, 90])
        yield f"| {name} | {len(off)} | {middle:.1f}% | {high:.1f}% | {off.max():.1f}% |"


def main():
    """Store the rows together with those of other seeds, and print the table of the page."""
    campaigns.renewed(both, __doc__, 100, PAGE, TITLES)
    print("\n".join(table(campaigns.stored_rows(PAGE))))


if __name__ == "__main__":
    campaigns.run(__spec__)
