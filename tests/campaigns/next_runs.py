"""How many runs it takes to know a server's saturation: as advised, and at equally spaced loads.

    python -m tests.campaigns.next_runs         200 simulated servers: the table of docs/accuracy.md
    python -m tests.campaigns.next_runs 20      fewer of them

Each server has its own delay, service time and number of servers; errors are 3%. Twelve equally
spaced loads up to 90% of saturation give an interval of the saturation throughput. The other way
begins with four loads up to 60% and measures each next load where `Fit.next_loads` says (at 98% if
that is more than the server sustains), until its interval is as narrow.

No constant or label names it; docs/accuracy/fits.md has its figures.
"""

from collections.abc import Callable

import numpy as np

from headway.kinds import FloatArray
from headway.models.files.shipped import catalogue_model
from headway.models.inference.fit import Fit
from headway.models.inference.fitting import fit_model
from headway.models.measured.measurements import Measurements
from tests import campaigns

RUNS = 12
HIGHEST = 0.9  # of saturation
SUSTAINED = 0.98  # of saturation
FIRST = (0.1, 0.3, 0.45, 0.6)  # of saturation
NOISE = 0.03
MODEL = "server"
FREE = ("delay", "service_time", "servers")

Measure = Callable[[FloatArray], FloatArray]


def server(seed: int) -> tuple[float, Measure]:
    """A simulated server: its saturation throughput [1/s], and the result of runs at loads [s]."""
    random = np.random.default_rng(seed)
    truth = {
        "delay": float(random.uniform(0.2e-3, 3e-3)),
        "service_time": float(random.uniform(0.3e-3, 4e-3)),
        "servers": float(random.uniform(0.8, 8)),
    }
    model = catalogue_model(MODEL).at(truth)

    def measure(loads: FloatArray) -> FloatArray:
        times = np.atleast_1d(model.solve(loads).response_time)
        return np.asarray(times * np.exp(NOISE * random.standard_normal(times.size)))

    return truth["servers"] / truth["service_time"], measure


def fitted(loads: FloatArray, times: FloatArray) -> Fit:
    """Fit the form to measurements, starting from values with random errors."""
    order = np.argsort(loads)
    rows = "\n".join(
        f"{x:.6g},{1e3 * y:.6g}" for x, y in zip(loads[order], times[order], strict=True)
    )
    table = Measurements.parse("throughput_ops_s,response_ms\n" + rows + "\n", "simulated")
    half = float(times.min()) / 2
    start = {"delay": half, "service_time": half, "servers": max(1.2 * half * loads.max(), 0.1)}
    return fit_model(catalogue_model(MODEL).at(start), table, FREE)


def spread(fit: Fit) -> float:
    """Ratio of the upper to the lower end of the saturation throughput's 95% interval."""
    low, high = np.quantile(fit.draws.limits(), [0.025, 0.975])
    return float(high / low)


def runs_advised(limit: float, measure: Measure, wanted: float) -> int:
    """Runs until the interval is as narrow as wanted, each where the previous fit says."""
    loads = np.array(FIRST) * limit
    times = measure(loads)
    while (spread(fit := fitted(loads, times)) > wanted) and loads.size < 2 * RUNS:
        ahead = fit.next_loads().loads
        at = min(float(ahead[0]) if ahead.size else np.inf, SUSTAINED * limit)
        loads, times = np.append(loads, at), np.append(times, measure(np.array([at])))
    return int(loads.size)


def compared(seed: int) -> int:
    """Runs as advised to reach the interval that `RUNS` equally spaced loads give."""
    limit, measure = server(seed)
    loads = np.linspace(HIGHEST / RUNS, HIGHEST, RUNS) * limit
    return runs_advised(limit, measure, spread(fitted(loads, measure(loads))))


def main() -> None:
    """Print how many runs it took."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("count", nargs="?", type=int, default=200, help="servers")
    options = parser.parse_args()
    count = options.count
    with campaigns.shared(options) as done:
        runs = np.array(list(done(compared, range(count))))
    print(f"| servers | {count} |")
    print(f"| runs at equally spaced loads | {RUNS} |")
    print(f"| runs as advised, median | {np.median(runs):g} |")
    print(f"| at most half as many | {np.mean(runs <= RUNS / 2):.0%} |")
    print(f"| no more than as many | {np.mean(runs <= RUNS):.0%} |")


if __name__ == "__main__":
    campaigns.run(__spec__)
