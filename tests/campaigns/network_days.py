"""Errors of approximations of a load over time at networks, compared with simulated days.

    python -m tests.campaigns.network_days [--count 24] [--seed 0]

Random networks of 2 to 4 pools of 1 to 8 servers in a row, of which the last sends up to 40% of its
jobs back to the first, over days of 8 periods: sines with a second harmonic, 50 to 1,000 service
times per period, the highest load of the busiest pool at 50% to 90% of its capacity, and for fluids
up to 130%. Relative errors of throughput and of the mean response time of a period, compared with
20 simulated days, are stored in `tests/data/network_days.csv`. Periods with fewer than 100 requests
in all days are left out. `headway.queueing.transient.measured` states the largest ones for
networks.
"""

from pathlib import Path

import numpy as np

from headway.models import ModelGraph
from headway.models.over.days import Day
from headway.models.over.over import over_model
from headway.queueing import MMm
from tests import campaigns
from tests.campaigns.days import METHODS

PAGE = Path("tests/data/network_days.csv")
PERIODS = 8
NAMES = ("throughput", "response_time")


def random_network(draw, most):
    """A network with services of 0.5 to 2 s, and a day."""
    count, back = int(draw.integers(2, 5)), draw.uniform(0.0, 0.4)
    servers, times = draw.integers(1, 9, count), draw.uniform(0.5, 2.0, count)
    graph = ModelGraph("network")
    for k in range(count):
        graph = graph.station(f"s{k}", MMm(float(times[k]), int(servers[k])))
    for k in range(count - 1):
        graph = graph.route(f"s{k}", f"s{k + 1}")
    graph = graph.route(f"s{count - 1}", "s0", float(back))
    full = (1 - back) * float(np.min(servers / times))
    at = 2 * np.pi * (np.arange(PERIODS) + 0.5) / PERIODS
    phase, second = draw.uniform(0, 2 * np.pi, 2)
    shape = 1 + 0.6 * np.sin(at + phase) + draw.uniform(0, 0.3) * np.sin(2 * at + second)
    rates = shape / shape.max() * draw.uniform(0.5, most) * full
    period = float(np.exp(draw.uniform(np.log(50), np.log(1000))))
    edges = tuple((period * np.arange(PERIODS + 1)).tolist())
    return graph.at(), Day(edges, tuple(rates.tolist()))


def both(seed):
    """Rows of every period: the seed, the method, and relative errors of `NAMES` [%]."""
    rows = []
    for method, most in METHODS.items():
        model, day = random_network(np.random.default_rng((seed, 7)), most)
        # there is no steady state above capacity
        start = "empty" if method == "fluid" else "steady"
        step, options = day.edges[1], {"percentiles": (), "start": start}
        played = over_model(model, day, every=step, method="simulation", **options)
        near = over_model(model, day, every=step, method=method, **options)
        kept = np.array(day.rates) * step * 20 >= 100
        errors = zip(*(100 * np.abs(near[n] / played[n] - 1)[kept] for n in NAMES), strict=True)
        rows += [(seed, method, *(f"{error:.4g}" for error in each)) for each in errors]
    return rows


def errors(rows, method, name):
    """Relative errors of all periods by a method [%]."""
    return np.array([float(row[name]) for row in rows if row["method"] == method])


def table(rows):
    """Lines of the page: errors of the mean response time, by method."""
    for method, most in METHODS.items():
        off = errors(rows, method, "response_time")
        high = f"{np.percentile(off, 90):.1f}% | {off.max():.1f}%"
        yield f"| {method} | up to {100 * most:.0f}% | {high} |"


def main():
    """Store the rows together with those of other seeds, and print the table of the page."""
    campaigns.renewed(both, __doc__, 24, PAGE, ("seed", "method", *NAMES))
    print("\n".join(table(campaigns.stored_rows(PAGE))))


if __name__ == "__main__":
    campaigns.run(__spec__)
