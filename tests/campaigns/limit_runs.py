"""How many runs it takes to find the highest load under a limit: as advised, and by bisection.

    python -m tests.campaigns.limit_runs         200 simulated servers: a table of docs/accuracy
    python -m tests.campaigns.limit_runs 20      fewer of them

Servers are of four kinds, in turn: one server, several, one with general service times, and one to
two servers (a share of a second). The limit is three to ten times the response time at light load;
errors are 3%. Both ways start at the same load, 5% to 20% of saturation. Beyond saturation a server
falls behind: a run has no response time, and completes the saturation throughput with an error of
3%, which the advised way takes as a hint where to measure. That way
(`headway.models.inference.limit_search.next_run`) stops when its 95% interval is narrower than 5%
of its lower end, a further run is not worthwhile, or after 12 runs. Bisection doubles the load,
takes each result as exact, and halves the interval until it is as narrow as that of the advised
way. Scatter misleads it near the limit; so a safer bisection repeats each load until the mean of
its times is a standard error from the limit, given the size of the errors.

Seeds 0 to 99 were looked at while the search was written; the table takes others.
docs/accuracy/fits.md has its figures.
"""

import math
from dataclasses import dataclass

import numpy as np

from headway.models.analysis.target import what_it_takes
from headway.models.files.shipped import catalogue_model
from headway.models.inference.limit_search import STEP, NextRun, next_run
from headway.models.measured.points import Point
from headway.models.reading.loadtest import LoadTest
from headway.models.structure.model import Model
from tests import campaigns

BUDGET = 12
NOISE = 0.03
FIRST = 1000  # seed; those of the first servers were looked at


@dataclass(frozen=True)
class Found:
    """Runs as advised and by both bisections, and whether each interval contains the truth."""

    advised: int
    bisected: int
    repeated: int
    low: float
    high: float
    is_covered: bool
    is_bracketed: bool
    is_surely_bracketed: bool


class Server:
    """A simulated server, the output that a tool would print, and the truth."""

    def __init__(self, seed: int) -> None:
        random = self.random = np.random.default_rng(seed)
        self.model, self.saturation = _made(seed % 4, random)
        light = self._mean(1e-3 * self.saturation)
        self.limit = light * float(random.uniform(3, 10))
        self.start = self.saturation * float(random.uniform(0.05, 0.2))
        at = self.model.at(arrival_rate=0.5 * self.saturation)
        self.truth = what_it_takes(at, "response_time", self.limit, "arrival_rate").value
        self.runs: list[Point] = []

    def _mean(self, load: float) -> float:
        return float(np.ravel(self.model.solve(load).response_time)[0])

    def measure(self, load: float) -> Point:
        """A run at a load; one that falls behind has a queue that grows as long as it lasts."""
        if load >= self.saturation:
            done = min(self.saturation * self._error(), load)
            return Point("simulated", offered_rate=load, throughput=done, response_time=1e3)
        time = self._mean(load) * self._error()
        return Point("simulated", offered_rate=load, throughput=load, response_time=time)

    def _error(self) -> float:
        return math.exp(NOISE * float(self.random.standard_normal()))

    @property
    def target(self) -> str:
        """The limit as text."""
        return f"response_time<={self.limit!r}s"


def _made(kind: int, random: np.random.Generator) -> tuple[Model, float]:
    """A server of a kind, and its saturation throughput [1/s]."""
    delay, service = float(random.uniform(0.2e-3, 3e-3)), float(random.uniform(0.3e-3, 4e-3))
    if kind == 0:
        values = {"delay": delay, "service_time": service}
        return catalogue_model("server-single").at(values), 1 / service
    if kind == 1:
        servers = float(random.uniform(2, 8))
        values = {"delay": delay, "service_time": service, "servers": servers}
        return catalogue_model("server").at(values), servers / service
    if kind == 2:
        values = {"delay": delay, "service_time": service, "scv": float(random.uniform(0.2, 4))}
        return catalogue_model("server-general").at(values), 1 / service
    values = {"delay": delay, "service_time": service, "servers": float(random.uniform(1, 2))}
    return catalogue_model("server").at(values), values["servers"] / service


def advised(server: Server, budget: int = BUDGET) -> NextRun:
    """Search as a shell loop does, which knows only what was measured so far."""
    runs: list[Point] = []
    while True:
        test = LoadTest(tuple(sorted(runs, key=lambda run: run.load))) if runs else None
        run = next_run(test, server.target, budget, (server.start, math.inf))
        if run.at is None:
            return run
        runs.append(server.measure(float(run.number)))


def bisected(server: Server, ratio: float, sure: float = 0.0) -> tuple[int, float, float]:
    """Double, then bisect until the ends are within a ratio: the number of runs, and both ends.

    Each load is repeated until the mean logarithm of its times is a number of standard errors from
    that of the limit.
    """
    low, high, load, runs = 0.0, math.inf, server.start, 0
    while high > low * ratio:
        total, count = 0.0, 0
        while not count or abs(total) < sure * NOISE * math.sqrt(count):
            time = server.measure(load).response_time
            assert time is not None
            total, count = total + math.log(time / server.limit), count + 1
        runs += count
        low, high = (load, high) if total <= 0 else (low, load)
        load = STEP * low if math.isinf(high) else (low + high) / 2
    return runs, low, high


def compared(seed: int) -> Found:
    """Search for one server's highest load in all three ways."""
    server = Server(seed)
    run = advised(server)
    low, _, high = map(float, run.highest)
    ratio = high / low if low and math.isfinite(high) else STEP
    count, *gap = bisected(server, ratio)
    more, *sure = bisected(server, ratio, 1.0)
    held = [each[0] <= server.truth <= each[1] for each in ((low, high), gap, sure)]
    return Found(run.runs, count, more, low, high, *held)


def main() -> None:
    """Print how many runs each way took."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("count", nargs="?", type=int, default=200, help="servers")
    options = parser.parse_args()
    with campaigns.shared(options) as done:
        found = list(done(compared, range(FIRST, FIRST + options.count)))
    names = "advised", "bisected", "repeated"
    advised, other, sure = (np.array([getattr(f, n) for f in found]) for n in names)
    width = np.array([f.high / f.low - 1 if f.low else math.inf for f in found])
    print(f"| servers | {len(found)} |")
    print(f"| runs as advised, median and mean | {np.median(advised):g}, {advised.mean():.1f} |")
    print(f"| runs by bisection, median and mean | {np.median(other):g}, {other.mean():.1f} |")
    print(f"| ratio of all runs | {advised.sum() / other.sum():.2f} |")
    print(
        f"| runs by the surer bisection, median and mean | {np.median(sure):g}, {sure.mean():.1f} |"
    )
    print(f"| ratio to it of all runs | {advised.sum() / sure.sum():.2f} |")
    print(f"| width of the interval, median | {np.median(width):.1%} |")
    print(f"| narrower than 5% | {np.mean(width <= 0.05):.0%} |")
    print(f"| intervals that hold the truth | {np.mean([f.is_covered for f in found]):.1%} |")
    print(f"| gaps of bisection that do | {np.mean([f.is_bracketed for f in found]):.1%} |")
    print(f"| those of the surer | {np.mean([f.is_surely_bracketed for f in found]):.1%} |")


if __name__ == "__main__":
    campaigns.run(__spec__)
