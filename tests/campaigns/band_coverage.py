"""How often bands contain the truth: servers measured with noise, fitted, written, read, solved.

Each server has random times and, in some cases, several servers; it is measured at ten loads up to
90% of its capacity with 2% noise. The fit is written as a model file, and that file is solved with
its uncertainty at a load between those measured. `python -m tests.campaigns.band_coverage 200`
counts how many bands contain the true mean response time.

No constant or label names it; docs/how-to/carry-uncertainty.md has its figures.
"""

import numpy as np

from headway.models import Measurements, Model, ModelGraph, parse_model
from headway.queueing import Delay, MMm
from tests import campaigns

NOISE = 0.02
POINTS = 10


def server(servers: int) -> Model:
    """A delay, and a station with a number of servers."""
    graph = ModelGraph("server").declare("delay", "service_time")
    graph = graph.station("network", Delay("delay")).station("cpu", MMm("service_time", servers))
    return graph.route("network", "cpu").at(delay=2e-3, service_time=1e-3)


def holds(seed: int) -> bool:
    """Whether the band of one simulated server contains its true mean at an interior load."""
    random = np.random.default_rng(seed)
    model = server(int(random.integers(1, 5)))
    servers = float(model.solve(arrival_rate=1.0)["saturation_throughput"]) * 1e-3
    service = 1e-3 * np.exp(random.normal(0, 0.5))
    truth = model.at(delay=service * random.uniform(0.5, 3), service_time=service)
    rates = servers / service * np.linspace(0.1, random.uniform(0.7, 0.9), POINTS)
    times = truth.solve(arrival_rate=rates).response_time
    noisy = times * (1 + NOISE * random.standard_normal(POINTS))
    rows = "".join(f"{x!r},{y!r}\n" for x, y in zip(rates.tolist(), noisy.tolist(), strict=True))
    curve = Measurements.parse("throughput_ops_s,response_s\n" + rows, "curve.csv")
    fitted = parse_model(model.fit(curve, ["delay", "service_time"]).to_toml())
    inside = float(random.uniform(rates[1], rates[-2]))
    band = fitted.at(arrival_rate=inside).propagate(draws=1000, seed=seed).band("response_time")
    return bool(band[0] <= truth.solve(arrival_rate=inside).response_time <= band[1])


def coverage(count: int, first: int = 0, done=map) -> float:
    """Share of so many servers whose band contains the truth; `done` takes the place of `map`."""
    return float(np.mean(list(done(holds, range(first, first + count)))))


def main() -> None:
    """Print the share."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    with campaigns.shared(options) as done:
        share = coverage(options.count, done=done)
    print(f"{share:.1%} of {options.count} bands hold the true mean")


if __name__ == "__main__":
    campaigns.run(__spec__)
