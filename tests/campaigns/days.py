"""Errors of approximations of a load over time at one queue, compared with forward equations.

    python -m tests.campaigns.days [--count 40] [--seed 11]

Random days of 24 periods at pools of 1 to 40 servers: sines with a second harmonic, 12 to 2,000
service times per period, with the highest load at 50% to 90% of capacity, and for fluids up to
130%. Prints the largest relative errors of throughput and of the mean response time of a period,
and their 90th percentile over all periods. `headway.queueing.transient.measured` states the largest
ones.
"""

import argparse

import numpy as np

from headway.models import ModelGraph
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing import MMm

METHODS = {"offered load": 0.9, "pointwise": 0.9, "fluid": 1.3}
PERIODS = 24


def random_day(draw, most):
    """A pool with services of 1 s, and a day."""
    servers = int(draw.choice([1, 2, 4, 10, 40]))
    period = float(np.exp(draw.uniform(np.log(12), np.log(2000))))
    phase, second = draw.uniform(0, 2 * np.pi, 2)
    at = 2 * np.pi * (np.arange(PERIODS) + 0.5) / PERIODS
    shape = 1 + 0.6 * np.sin(at + phase) + draw.uniform(0, 0.3) * np.sin(2 * at + second)
    rates = shape / shape.max() * draw.uniform(0.5, most) * servers
    edges = tuple((period * np.arange(PERIODS + 1)).tolist())
    return servers, Day(edges, tuple(rates.tolist()))


def errors(method, most, count, seed):
    """Relative errors of throughput and response time of every period."""
    draw, found = np.random.default_rng(seed), []
    for _ in range(count):
        servers, day = random_day(draw, most)
        model = ModelGraph("pool").station("cpu", MMm(1.0, servers)).at()
        step = day.edges[1]
        exact = over_model(model, day, every=step, percentiles=())
        near = over_model(model, day, every=step, method=method, percentiles=())
        pairs = ("throughput", "response_time")
        found.append([np.abs(near[name] / exact[name] - 1) for name in pairs])
    return np.concatenate(found, axis=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()
    for method, most in METHODS.items():
        throughput, response = 100 * errors(method, most, args.count, args.seed)
        for name, values in (("throughput", throughput), ("response time", response)):
            high, ninety = values.max(), np.percentile(values, 90)
            print(f"{method}: {name}: largest {high:.3g}%, 90th percentile {ninety:.3g}%")


if __name__ == "__main__":
    main()
