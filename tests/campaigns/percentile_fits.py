"""Curves of mean and 99th percentile with known variability, and the results of fits to them.

``python -m tests.campaigns.percentile_fits 120`` fits that many curves made by the solver with 2%
noise and counts how often the interval contains the variability with which they were made. ``python
-m tests.campaigns.percentile_fits --ciw FILE`` simulates a curve with Ciw.

No constant or label names it; docs/explanation/fitting.md has its figures.
"""

from functools import cache
from pathlib import Path

import numpy as np

from headway.models import Measurements, catalogue_model
from headway.models.inference.fitting import fit_model
from tests import campaigns

DELAY, SERVICE = 1e-3, 1e-3
LOADS = np.linspace(100, 850, 8)
VARIATIONS = (0.3, 0.7, 1.0, 2.0, 4.0)
NOISE = 0.02
SIMULATED = {"service": 2e-3, "scv": 0.5, "seed": 5, "customers": 60_000}


@cache
def exact(scv):
    model = catalogue_model("server-general").at(delay=DELAY, service_time=SERVICE, scv=scv)
    solution = model.solve(LOADS).with_percentile(99)
    return solution.response_time, solution["response_time_p99"]


def table(loads, mean, tail):
    return Measurements.parse(text(loads, mean, tail), "made.csv")


def text(loads, mean, tail):
    each = zip(loads, 1e3 * mean, 1e3 * tail, strict=True)
    rows = [f"{load:g},{one:.6g},{other:.6g}\n" for load, one, other in each]
    return "".join(["throughput_ops_s,response_ms,p99_ms\n", *rows])


def made(number):
    """A curve of a seed, and the variability with which it was made."""
    random, scv = np.random.default_rng(number), VARIATIONS[number % len(VARIATIONS)]
    mean, tail = (
        times * np.exp(NOISE * random.standard_normal(times.size)) for times in exact(scv)
    )
    return table(LOADS, mean, tail), scv


def start():
    return catalogue_model("server-general").at(delay=DELAY, service_time=0.7e-3, scv=1.0)


def fitted(measurements, free=("service_time", "scv"), y="response_ms,p99_ms", starts=1):
    return fit_model(start(), measurements, free, y=y, starts=starts)


def holds(number):
    """Whether the interval of a curve's fit contains its variability."""
    measurements, scv = made(number)
    low, high = fitted(measurements).ci95["scv"]
    return low <= scv <= high


def simulated():
    """Mean and 99th percentile of M/G/1 with gamma-distributed service, by Ciw."""
    import ciw

    scv, service = SIMULATED["scv"], SIMULATED["service"]
    loads = np.array([50.0, 125.0, 200.0, 275.0, 350.0, 400.0])
    rows = []
    for load in loads:
        network = ciw.create_network(
            arrival_distributions=[ciw.dists.Exponential(rate=load)],
            service_distributions=[ciw.dists.Gamma(shape=1 / scv, scale=service * scv)],
            number_of_servers=[1],
        )
        ciw.seed(SIMULATED["seed"])
        run = ciw.Simulation(network)
        run.simulate_until_max_customers(SIMULATED["customers"], method="Finish")
        times = [r.exit_date - r.arrival_date for r in run.get_all_records()][1000:]
        rows.append((np.mean(times), np.quantile(times, 0.99)))
    return text(loads, *np.array(rows).T)


def main():
    """Count intervals, or simulate again."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("count", nargs="?", type=int, default=200, help="curves")
    parser.add_argument("--ciw", metavar="FILE", help="where to write a curve that Ciw simulates")
    options = parser.parse_args()
    if options.ciw:
        Path(options.ciw).write_text(simulated())
        return
    with campaigns.shared(options) as done:
        total = sum(done(holds, range(options.count)))
    print(f"{total} of {options.count} intervals hold the variation")


if __name__ == "__main__":
    campaigns.run(__spec__)
