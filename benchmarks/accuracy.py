"""How many of the 95% intervals of fits hold the truth, over simulated curves.

Run with ``make accuracy``; ``python -m benchmarks.accuracy --curves 40 --cell server`` runs less.
It prints the tables of docs/accuracy.md.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from headway.errors import HeadwayError
from headway.models import Fit, Measurements, ModelGraph, catalogue_model, fit_model
from headway.models.structure.model import Model
from headway.queueing import MM1, Delay
from tests import campaigns

CHAIN = (
    ModelGraph("network + cpu + disks")
    .declare("network", "cpu_time", "disk_time")
    .station("wire", Delay("network"))
    .station("cpu", MM1("cpu_time"))
    .station("disks", MM1("disk_time"))
    .route("wire", "cpu")
    .route("cpu", "disks")
)


@dataclass(frozen=True)
class Case:
    """A model with its true values, what is fitted, and the loads measured, lowest and highest."""

    model: Model
    free: tuple[str, ...]
    low: float
    high: float

    @property
    def truth(self) -> list[float]:
        """True values of what is fitted."""
        return [float(self.model.inputs[name]) for name in self.free]


def _case(name: str, values: Mapping[str, Any], free: str, low: float, high: float) -> Case:
    return Case(catalogue_model(name).at(values), tuple(free.split(",")), low, high)


CASES = {
    "single": _case(
        "server-single", {"delay": 2e-3, "service_time": 1e-3}, "delay,service_time", 100, 930
    ),
    "server": _case(
        "server",
        {"delay": 1e-3, "service_time": 4e-3, "servers": 4.0},
        "delay,service_time,servers",
        *(100, 930),
    ),
    "contention": _case(
        "server-contention",
        {"delay": 0.0, "contention": 6e-6, "service_time": 2e-3, "servers": 2.2},
        "contention,service_time,servers",
        *(80, 1000),
    ),
    "nfs-server": Case(
        catalogue_model("nfs-server").with_preset("scsi"),
        ("delay", "cpu_time", "touched_per_load"),
        *(100, 1050),
    ),
    "network + cpu + disks": Case(
        CHAIN.at(network=1e-3, cpu_time=4e-3, disk_time=2e-3, arrival_rate=100.0),
        ("network", "cpu_time", "disk_time"),
        *(20, 235),
    ),
    "closed": _case(
        "server-closed",
        {"population": 40, "delay": 2e-3, "service_time": 1e-3, "servers": 1},
        "delay,service_time",
        *(100, 950),
    ),
}


@dataclass(frozen=True)
class Noise:
    """How measurements scatter: points, and relative noise at the lowest and highest load."""

    points: int
    first: float
    last: float

    @property
    def name(self) -> str:
        """What the table calls it."""
        if self.first == self.last:
            return f"{self.first:.0%}, n = {self.points}"
        return f"{self.first:.0%} to {self.last:.0%}, n = {self.points}"


NOISES = (Noise(10, 0.03, 0.03), Noise(5, 0.03, 0.03), Noise(10, 0.01, 0.08))


def curve(case: Case, noise: Noise, seed: int) -> Measurements:
    """One simulated curve.

    Parameters
    ----------
    case, noise
        Model and scatter.
    seed
        Of the noise.
    """
    loads = np.linspace(case.low, case.high, noise.points)
    exact = _exact(case, loads)
    scatter = np.linspace(noise.first, noise.last, noise.points)
    times = exact * (1 + scatter * np.random.default_rng(seed).standard_normal(noise.points))
    return _table(loads, times)


@dataclass(frozen=True)
class Runs:
    """Loads measured in a run each: three repeats of 3% noise, and how far runs are off."""

    loads: int
    shift: float

    @property
    def name(self) -> str:
        """What the table calls it."""
        return f"{self.loads} loads, shifts of {self.shift:g} times the noise"


REPEATS, SCATTER = 3, 0.03
RUNS = tuple(Runs(loads, shift) for loads in (5, 10) for shift in (0.0, 0.5, 1.0, 3.0))


def shifted_curve(case: Case, runs: Runs, seed: int) -> Measurements:
    """One simulated curve whose repeats of a load are off together.

    Parameters
    ----------
    case, runs
        Model, and how it is measured.
    seed
        Of noise and shifts.
    """
    random = np.random.default_rng(seed)
    loads = np.repeat(np.linspace(case.low, case.high, runs.loads), REPEATS)
    common = np.repeat(random.standard_normal(runs.loads), REPEATS)
    errors = SCATTER * (random.standard_normal(loads.size) + runs.shift * common)
    return _table(loads, _exact(case, loads) * np.exp(errors))


def _table(loads: Sequence[float], times: Sequence[float]) -> Measurements:
    rows = "\n".join(f"{float(x)!r},{float(y)!r}" for x, y in zip(loads, times, strict=True))
    return Measurements.parse(f"throughput_ops_s,response_s\n{rows}\n", "simulated")


def _exact(case: Case, loads: Any) -> Any:
    if case.model.is_closed:
        return case.model.compare(_table(loads, np.full(len(loads), 5e-3))).predicted
    return np.asarray(case.model.solve(arrival_rate=loads).response_time)


def started(case: Case) -> Model:
    """The model started away from the truth."""
    values = {name: 0.6 * float(case.model.inputs[name]) for name in case.free}
    return case.model.at(values)


@dataclass(frozen=True)
class Covered:
    """Which intervals of a fit hold the truth, by parameter: of any of its answers, and robust."""

    inside: list[bool]
    robust: list[bool]
    several: bool


def covered_by(fit: Fit, truth: Sequence[float]) -> Covered:
    """Look whether the truth is in the interval of any of a fit's answers."""
    inside = [
        any(answer.ends[k][0] <= value <= answer.ends[k][1] for answer in fit.answers)
        for k, value in enumerate(truth)
    ]
    ends = [fit.robust_ci95[name] for name in fit.free]
    robust = [low <= value <= high for value, (low, high) in zip(truth, ends, strict=True)]
    return Covered(inside, robust, len(fit.answers) > 1)


@dataclass
class Count:
    """What intervals did over simulated curves."""

    curves: int = 0
    lost: int = 0
    several: int = 0
    inside: Any = 0
    robust: Any = 0

    def add(self, one: Covered | None) -> None:
        """Count one fit, or a curve that could not be fitted."""
        if one is None:
            self.lost += 1
            return
        self.curves += 1
        self.several += one.several
        self.inside = self.inside + np.array(one.inside, int)
        self.robust = self.robust + np.array(one.robust, int)


def counted(results: Iterable[Covered | None]) -> Count:
    """Count curves."""
    count = Count()
    for one in results:
        count.add(one)
    return count


@dataclass(frozen=True)
class Task:
    """One simulated curve to fit, with rounds of bootstrap; intervals as usual if 0."""

    case: Case
    noise: Noise
    seed: int
    rounds: int = 0


def fitted(task: Task) -> Covered | None:
    """Fit a simulated curve."""
    case = task.case
    measured = curve(case, task.noise, task.seed)
    try:
        fit = fit_model(started(case), measured, case.free, bootstrap=task.rounds)
    except HeadwayError:
        return None
    return covered_by(fit, case.truth)


def covered(case: Case, noise: Noise, curves: int, rounds: int = 0) -> Count:
    """Fit simulated curves and count.

    Parameters
    ----------
    case, noise
        Model and scatter.
    curves
        How many.
    rounds
        Of bootstrap; intervals as usual if 0.
    """
    return counted(map(fitted, [Task(case, noise, seed, rounds) for seed in range(curves)]))


def rows(cells: Sequence[str], curves: int, rounds: int, done: Any = map) -> Iterator[str]:
    """Rows of the table in docs/accuracy.md; `done` takes the place of `map`."""
    noises = NOISES[:2] if rounds else NOISES
    kinds = [(name, noise) for name in cells for noise in noises]
    tasks = (
        Task(CASES[name], noise, seed, rounds) for name, noise in kinds for seed in range(curves)
    )
    results = done(fitted, tasks)
    for name, noise in kinds:
        count = counted(islice(results, curves))
        free = CASES[name].free
        usual, robust = (shares(free, each, count.curves) for each in (count.inside, count.robust))
        several = f"{count.several}" if count.several else "-"
        yield f"| {name} | {noise.name} | {count.curves} | {usual} | {robust} | {several} |"


def shares(names: Sequence[str], inside: Sequence[int], curves: int) -> str:
    """Share of curves by parameter [%]."""
    pairs = zip(names, inside, strict=True)
    return ", ".join(f"`{name}` {100 * inside_count / curves:.1f}" for name, inside_count in pairs)


def shifted_rows(curves: int, done: Any = map) -> Iterator[str]:
    """Rows of the table of shifts common to repeats; `done` takes the place of `map`."""
    results = done(further, [(runs, seed) for runs in RUNS for seed in range(curves)])
    for runs in RUNS:
        count, inside = _both(islice(results, curves))
        usual = shares(CASES["single"].free, count.inside, count.curves)
        yield f"| {runs.name} | {count.curves} | {usual} | {100 * inside / count.curves:.1f} |"


_FURTHER = 700.0


def further(task: tuple[Runs, int]) -> tuple[Covered, bool]:
    """Fit a simulated curve; whether its band holds a further run at 700 op/s, with its own shift.

    Parameters
    ----------
    task
        How it is measured, and the seed.
    """
    runs, seed = task
    case = CASES["single"]
    fit = fit_model(started(case), shifted_curve(case, runs, seed), case.free)
    noise = np.random.default_rng((seed, 1)).standard_normal(2)
    exact = float(_exact(case, np.array([_FURTHER]))[0])
    time = exact * np.exp(SCATTER * (noise[0] + runs.shift * noise[1]))
    low, _, high = fit.predict([_FURTHER]).response_time[:, 0]
    return covered_by(fit, case.truth), bool(low <= time <= high)


def shifted(runs: Runs, curves: int) -> tuple[Count, int]:
    """Fit simulated curves, and count intervals and bands that hold the truth.

    Parameters
    ----------
    runs
        How they are measured.
    curves
        How many.
    """
    return _both(map(further, [(runs, seed) for seed in range(curves)]))


def _both(results: Iterable[tuple[Covered, bool]]) -> tuple[Count, int]:
    intervals, bands = zip(*results, strict=True)
    return counted(intervals), sum(bands)


_TITLES = "| model | noise | curves | truth in the interval [%] | in the robust one [%] | several |"
_SHIFTED = "| runs | curves | truth in the interval [%] | a further run in the band [%] |"


def main() -> None:
    """Print the table, row by row."""
    parser = campaigns.parser(__doc__)
    parser.add_argument("--curves", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--cell", action="append", choices=list(CASES))
    parser.add_argument("--shifts", action="store_true", help="repeats that are off together")
    chosen = parser.parse_args()
    with campaigns.shared(chosen) as done:
        if chosen.shifts:
            table = shifted_rows(chosen.curves, done)
        else:
            table = rows(chosen.cell or list(CASES), chosen.curves, chosen.rounds, done)
        titles = _SHIFTED if chosen.shifts else _TITLES
        print(f"{titles}\n{'|---' * (titles.count('|') - 1)}|")
        for row in table:
            print(row, flush=True)


if __name__ == "__main__":
    campaigns.run(__spec__)
