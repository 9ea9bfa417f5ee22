"""Load tests simulated by Ciw, half of them with an undisclosed limit on the requests inside.

A generator that admits N requests is a node without service before the server, which blocks while
the server and its queue hold N. ``python -m tests.campaigns.hidden_limits`` writes the 100 curves
of ``tests/data/hidden_limits.csv`` again.

No constant or label names it; docs/reference/measured-files.md has its figures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import ciw
import numpy as np
from ciw import dists

from headway.models.measured.points import Loop, Point
from tests.campaigns import stored_rows
from tests.support.places import DATA

FILE = DATA / "hidden_limits.csv"
CURVES = 100
SEED = 13
NOISE = 0.03
"""Relative noise of throughput and response time, as tools print them."""


@dataclass(frozen=True)
class Plan:
    """A test: a server, the limit on requests inside (0: none), rates, and stage lengths."""

    servers: int
    service: float
    spread: float
    limit: int
    rates: tuple[float, ...]
    length: float
    tells_length: bool


@dataclass(frozen=True)
class Stage:
    """Results of a stage: its rate, throughput and times, and the share of requests held back."""

    offered: float
    throughput: float
    response: float
    samples: int
    duration: float | None
    delayed: float


def plan(number: int) -> Plan:
    """The test of a number; every second one has a limit."""
    random = np.random.default_rng([SEED, number])
    servers, limit = int(random.choice([1, 2, 4, 8, 16])), int(random.choice([8, 16, 32, 64, 100]))
    service = float(random.choice([0.002, 0.01, 0.05]))
    limit *= number % 2 == 0
    capacity = min(servers, limit or servers) / service
    top, loads = float(random.choice([0.9, 1.2, 1.5, 2.0])), int(random.choice([5, 6, 7, 8]))
    length = float(random.choice([1500, 2500, 4000])) / capacity
    spread = float(random.choice([0.0, 1.0, 1.0, 2.0]))
    rates = tuple((np.linspace(0.2, top, loads) * capacity).tolist())
    return Plan(servers, service, spread, limit, rates, length, bool(random.random() < 0.5))


def stages(number: int) -> Iterator[Stage]:
    """The consecutive stages of a test, each of which begins empty."""
    test = plan(number)
    for place, rate in enumerate(test.rates):
        random = np.random.default_rng([SEED, number, place])
        yield stage(test, rate, random)


def stage(test: Plan, rate: float, random: np.random.Generator) -> Stage:
    """One stage: Poisson arrivals until its end; requests that are then inside are still served."""
    gaps = random.exponential(1 / rate, int(rate * test.length * 1.3) + 50)
    gaps = gaps[np.cumsum(gaps) < test.length]
    sent, back, kept_inside = _simulated(test, gaps, int(random.integers(2**31)))
    end = float(back.max())
    response = float((back - sent).mean())
    through, time = random.normal(1, NOISE, 2)
    return Stage(
        rate,
        len(back) / end * through,
        response * time,
        len(back),
        end if test.tells_length else None,
        kept_inside,
    )


def _simulated(test: Plan, gaps: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """When each request was sent and answered, and the share that had to wait to be sent."""
    ciw.seed(seed)
    servers = min(test.servers, test.limit or test.servers)
    room = test.limit - servers if test.limit else float("inf")
    network = ciw.create_network(
        arrival_distributions=[dists.Sequential([*gaps.tolist(), float("inf")]), None],
        service_distributions=[dists.Deterministic(0.0), _service(test)],
        number_of_servers=[float("inf"), servers],
        queue_capacities=[float("inf"), room],
        routing=[[0.0, 1.0], [0.0, 0.0]],
    )
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_customers(len(gaps), method="Complete")
    records = simulation.get_all_records()
    gate = np.array([r.time_blocked > 0 for r in records if r.node == 1])
    served = [(r.arrival_date, r.exit_date) for r in records if r.node == 2]
    sent, back = np.array(served, dtype=float).T
    return sent, back, float(gate.mean())


def _service(test: Plan) -> dists.Distribution:
    """Service times of a mean and a coefficient of variation: 0, 1, or 2 (hyperexponential)."""
    if test.spread == 0:
        return dists.Deterministic(test.service)
    if test.spread == 1:
        return dists.Exponential(1 / test.service)
    quick = (1 + np.sqrt((test.spread**2 - 1) / (test.spread**2 + 1))) / 2  # balanced means
    rates = [2 * share / test.service for share in (quick, 1 - quick)]
    return dists.HyperExponential(rates, [quick, 1 - quick])


def point(stage: Stage) -> Point:
    """What a tool prints for a stage."""
    return Point(
        "simulated",
        Loop.OPEN,
        offered_rate=stage.offered,
        throughput=stage.throughput,
        response_time=stage.response,
        samples=stage.samples if stage.duration else None,
        duration=stage.duration,
    )


_TITLES = ("curve", "limit", "offered", "throughput", "response", "samples", "duration", "delayed")


def rows(number: int) -> list[list[str]]:
    """The rows of a test in the file."""
    limit = plan(number).limit
    return [
        [
            str(number), str(limit), f"{s.offered:.6g}", f"{s.throughput:.6g}",
            f"{s.response:.6g}", str(s.samples),
            "" if s.duration is None else f"{s.duration:.6g}", f"{s.delayed:.4f}",
        ]
        for s in stages(number)
    ]  # fmt: skip


def read() -> dict[int, tuple[int, list[Stage]]]:
    """The tests of the file: limit and stages by number."""
    by_name: dict[int, tuple[int, list[Stage]]] = {}
    for row in stored_rows(FILE):
        lasted = float(row["duration"]) if row["duration"] else None
        one = Stage(
            float(row["offered"]), float(row["throughput"]), float(row["response"]),
            int(row["samples"]), lasted, float(row["delayed"]),
        )  # fmt: skip
        by_name.setdefault(int(row["curve"]), (int(row["limit"]), []))[1].append(one)
    return by_name


def write(numbers: Sequence[int]) -> None:
    """Simulate tests and write their file."""
    lines = [
        f"# made by python -m tests.campaigns.hidden_limits: Ciw {ciw.__version__}, seed {SEED}"
    ]
    lines.append(",".join(_TITLES))
    for number in numbers:
        lines += [",".join(row) for row in rows(number)]
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(range(CURVES))
