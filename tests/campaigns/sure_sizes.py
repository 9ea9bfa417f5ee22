"""How often a size meets a target that it should meet with some probability, by simulation.

``python -m tests.campaigns.sure_sizes --servers 200`` measures each server at ten loads with
errors, fits it, asks for the slowest processor that keeps a target with 95% confidence, and checks
whether it truly does.

No constant or label names it; docs/how-to/size-a-system.md has its figures.
"""

from dataclasses import dataclass

import numpy as np

from headway.models import Measurements, ModelGraph, size_model
from headway.queueing import MM1, Delay
from tests import campaigns

GRAPH = (
    ModelGraph("server")
    .declare("delay", "work", "speed")
    .station("network", Delay("delay"))
    .station("cpu", MM1("work / speed"))
    .route("network", "cpu")
)
# steps of 0.1%, so that the stated probability is hardly above 95%
SPEEDS = np.geomspace(0.5, 3.0, 1800)
NOISE = 0.03
LOADS = np.linspace(0.1, 0.8, 10)


@dataclass(frozen=True)
class Outcome:
    """The probability stated for a size, and whether it meets the target."""

    stated: float
    holds: bool


def outcome(seed, confidence=95):
    """Measure a random server, fit it, size it, and see."""
    rng = np.random.default_rng(seed)
    delay, work = rng.uniform(1e-3, 5e-3), rng.uniform(0.5e-3, 3e-3)
    rates = LOADS / work
    times = (delay + work / (1 - LOADS)) * np.exp(NOISE * rng.standard_normal(LOADS.size))
    rows = "\n".join(f"{x!r},{y!r}" for x, y in zip(rates.tolist(), times.tolist(), strict=True))
    data = Measurements.parse(f"throughput_ops_s,response_s\n{rows}\n", "measured.csv")
    start = GRAPH.at(delay=2e-3, work=1e-3, speed=1.0, arrival_rate=100.0)
    result = start.fit(data, ["delay", "work"]).uncertain_model()
    rate = 0.75 / work
    limit = 1.2 * (delay + work / (1 - 0.7))
    promise = [f"response_time<={limit!r}"]
    model = result.at(arrival_rate=rate)
    best = size_model(model, promise, {"speed": SPEEDS}, "speed", confidence).best
    time = work / best.values["speed"]
    return Outcome(best.probability, rate * time < 1 and delay + time / (1 - rate * time) <= limit)


def main():
    """Print for how many servers the size met its target."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("--servers", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="seed of the first server")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.servers)
    with campaigns.shared(options) as done:
        items = list(done(outcome, seeds))
    stated, kept_inside = (
        np.mean([getattr(one, part) for one in items]) for part in ("stated", "holds")
    )
    print(f"{100 * stated:.2f}% stated, {100 * kept_inside:.1f}% of {len(items)} servers hold it")
    return 0 if 0.92 <= kept_inside <= 0.98 else 1


if __name__ == "__main__":
    campaigns.run(__spec__)
