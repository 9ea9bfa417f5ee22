"""A package that adds to headway, made in a folder and found by its entry points alone."""

from pathlib import Path

KIND = '''"""Stations whose service time follows from a clock."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from headway.kinds import check_positive, number
from headway.queueing import MM1, Abilities, ServiceKind, Station


@dataclass(frozen=True)
class Clocked(Station):
    """One server of so many cycles a visit: R = S / (1 - U) with S = cycles / clock."""

    can: ClassVar[Abilities] = Abilities(ServiceKind.QUEUE, shared=True)

    cycles: Any
    clock: Any = field(default=1e9, metadata={"unit": "1/s"})

    def __post_init__(self) -> None:
        check_positive("cycles", self.cycles)
        check_positive("clock", self.clock)

    @property
    def service_time(self) -> Any:
        return number("cycles", self.cycles) / number("clock", self.clock)

    def waiting_time(self, arrival_rate: Any) -> Any:
        return MM1(self.service_time).waiting_time(arrival_rate)

    def time_law(self, arrival_rate: float) -> Any:
        return MM1(self.service_time).time_law(arrival_rate)
'''
READER = '''"""Runs of the load generator "pounder": a line a run."""

import re

from headway.models import Measurements, Reader

LINE = re.compile(r"run at ([0-9.]+)/s took ([0-9.]+) ms")


def read(text, source):
    lines = enumerate(text.splitlines(), 1)
    rows = [(n, LINE.search(line).groups()) for n, line in lines if line.startswith("run ")]
    return Measurements.of_cells(["throughput_ops_s", "response_ms"], rows, source)


READER = Reader("pounder", re.compile("^pounder ", re.MULTILINE).search, read)
'''
MODEL = """name = "clocked-server"
doc = "a processor given by its cycles and its clock"

[parameters.arrival_rate]
value = "100 op/s"
doc = "requests that arrive"

[parameters.cycles]
value = 2e6
min = 1
doc = "cycles of a request"

[parameters.clock]
value = "1e9 1/s"
min = "1 1/s"
doc = "cycles a second"

[stations.cpu]
kind = "Clocked"
cycles = "cycles"
clock = "clock"

[presets.slow]
clock = "5e8 1/s"
"""
COMMAND = '''import click


@click.command("pound")
def command():
    """Pound a server."""
    click.echo("pounded")
'''
OUTPUT = '''
from dataclasses import replace

import numpy as np


def variance(solution, requests):
    """Add the variance of the response times of all jobs and of each class."""
    laws = solution.time_laws()
    values = {
        one.name: np.reshape(
            [np.inf if law[one.owner] is None else law[one.owner].variance for law in laws],
            solution.shape,
        )
        for one in requests
    }
    return replace(solution, values={**solution.values, **values})
'''
METHOD = '''"""Bard's approximation: an arriving job finds the mean numbers, its own included."""

import numpy as np

from headway.queueing.methods.method import Error, MethodRow, Need
from headway.queueing.methods.needs import CLOSED, CLOSED_KINDS, PRODUCT_FORM
from headway.queueing.methods.needs import SINGLE_SERVERS, UNFORKED, VALID
from headway.queueing.network.result import by_operational_laws

LABEL = "Bard's approximate mean value analysis"


def bard(network):
    """R = D (1 + Q), X = N / (Z + sum of R), Q = X R, from a fixed point."""
    waits = ~network.is_delay[:, None]
    queue = np.zeros(network.demand.shape)
    for _ in range(20_000):
        stay = network.demand * (1 + waits * queue.sum(axis=0))
        rate = network.population / (network.think_time + stay.sum(axis=1))
        before, queue = queue, rate[:, None] * stay
        if np.allclose(queue, before, rtol=1e-13, atol=1e-300):
            break
    return by_operational_laws(network, "bard", rate, queue, LABEL)


def none_open(network):
    """Why it does not answer open classes beside closed ones; nothing where there are none."""
    return "open classes come beside the closed ones" if network.has_open else ""


ALONE = Need("closed classes alone", none_open)
BARD = MethodRow(
    "bard",
    "approximate mean value analysis (Bard)",
    (CLOSED, ALONE, CLOSED_KINDS, UNFORKED, *VALID, PRODUCT_FORM, SINGLE_SERVERS),
    bard,
    error=Error(65.0, 100.0, measured_by="python -m tests.brute.rows --count 260"),
    approximates=True,
    quick=True,
)
'''
DISCIPLINE = '''"""Shortest job first: the job with the least work is next; none is interrupted.

At one server to which Poisson streams come, a job with work x waits

    W(x) = sum of lambda_j E[S_j^2] / (2 (1 - rho(x))^2),

where rho(x) is the load of jobs with less work (Phipps, Operations Research 4, 1956).
"""

import numpy as np
from scipy.integrate import quad
from scipy.stats import gamma

from headway.errors import GraphError
from headway.queueing import Discipline


def waits(offered):
    """Mean wait of each class, W(x) over its gamma-distributed work x, shape (classes, points)."""
    scvs = np.ones(offered.load.shape) if offered.scv is None else offered.scv
    if (scvs <= 0).any():
        raise GraphError("shortest job first needs service times that vary; use fcfs")
    points = zip(offered.load.T, offered.times.T, scvs.T, strict=True)
    return np.array([_waits(*point) for point in points]).T


def _waits(load, times, scvs):
    if load.sum() >= 1:
        return np.full(len(load), np.inf)
    left = (load * times * (1 + scvs) / 2).sum()

    def wait(share, own):
        work = gamma.ppf(share, 1 / scvs[own], scale=times[own] * scvs[own])
        shorter = (load * gamma.cdf(work, 1 / scvs + 1, scale=times * scvs)).sum()
        return left / (1 - shorter) ** 2

    return [quad(wait, 0, 1, args=(own,), epsabs=0, epsrel=1e-10)[0] for own in range(len(load))]


def rank(job):
    """The least work is first, and order of arrival decides among equals."""
    return (job.work, job.number)


SHORTEST = Discipline(
    "sjf",
    "the shortest job is next",
    words="shortest job first",
    how="the shortest job first",
    by_size=True,
    scv=True,
    waits=waits,
    rank=rank,
)
'''
FILES = {"kind.py": KIND, "reader.py": READER, "clocked-server.toml": MODEL, "command.py": COMMAND}
POINTS = {
    "headway.stations": "Clocked = pounder.kind:Clocked",
    "headway.readers": "pounder = pounder.reader:READER",
    "headway.models": "clocked-server = pounder",
    "headway.commands": "pound = pounder.command:command",
}


def make_package(place: Path, name: str, files: dict[str, str], points: dict[str, str]) -> None:
    """Write a package and what an installer would write beside it."""
    (place / name).mkdir(parents=True)
    (place / name / "__init__.py").write_text("")
    for file, text in files.items():
        (place / name / file).write_text(text)
    info = place / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    sections = (f"[{group}]\n{line}\n" for group, line in points.items())
    (info / "entry_points.txt").write_text("\n".join(sections))
