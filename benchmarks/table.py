"""Every task of `benchmarks.tasks` beside a plain loop in C, or what else it is measured by.

``make benchmark-table`` measures all anew into ``benchmarks/table.csv``; ``python -m
benchmarks.table --only closed`` measures those whose names contain it, and stores them only with
``--store``; ``python -m benchmarks.table --stored`` prints what is stored, as
docs/accuracy/calls.md has it. Both are measured in turns within one run, by processor time. Ratios
say how much a call costs beyond the arithmetic itself: of the smallest tasks it is the call, which
checks what it is given. Where there is no loop of the same, another is named: a linear system of
LAPACK for routes, the start of a bare interpreter for commands, 10^5 values of Erlang's C.
"""

import argparse
import csv
import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.tasks import TASKS, Call, least_time
from benchmarks.where import places

ROUNDS = 3
LONG = 1.0  # s: longer calls are measured in one turn
SIMULATED = "simulated to 10%, 10 stations in a row, 80% busy"
CHECKED = "simulated to 1% of p99, 10 stations in a row, 80% busy"
STORED = Path(__file__).with_name("table.csv")
SOURCE = Path(__file__).with_name("kernels.c")

Yardstick = tuple[str, Callable[[], Call]]


@cache
def kernels() -> ctypes.CDLL:
    """The loops in C, compiled once."""
    folder = tempfile.mkdtemp()
    library = Path(folder) / "kernels.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def loop(name: str, *given: object) -> Call:
    """The call of a loop in C with numbers and arrays, which stay where they are."""
    function = getattr(kernels(), name)
    arguments = [_in_c(value) for value in given]
    call = partial(function, *arguments)
    call.arrays = given  # type: ignore[attr-defined]  # as long as the call, so are they
    return call


def _in_c(value: object) -> object:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    return ctypes.c_double(value) if isinstance(value, float) else value


def _erlang_c(servers: int, loads: np.ndarray) -> Call:
    points = len(loads)
    return loop("erlang_c", points, servers, loads, np.ones(points), np.empty(points))


def _loads() -> Call:
    return _erlang_c(24, np.random.default_rng(1).uniform(0.5, 23, 10**6))


def _disks(points: int) -> Call:
    """The disks of nfs-server, 28 servers."""
    rates = np.linspace(1, 1500, points) if points > 1 else np.array([800.0])
    return _erlang_c(28, rates * np.maximum(1e-9, 1 - 512 / rates) * 0.012)


def _configurations() -> Call:
    return _erlang_c(25, np.linspace(1, 10, 10**5))


def _mva(jobs: int) -> Call:
    demand = np.random.default_rng(2).random(10)
    return loop("mva", 10, jobs, demand, 5.0, np.empty(10))


def _mva_sweep(stations: int, jobs: int, points: int) -> Call:
    demand = np.ascontiguousarray(np.random.default_rng(3).random((stations, points)).T)
    return loop(
        "mva_sweep", points, stations, jobs, demand, 1.0, np.empty(stations), np.empty(points)
    )


def _mva_classes(classes: int, stations: int, jobs: int) -> Call:
    demand = np.random.default_rng(4).uniform(0.1, 1, (classes, stations))
    each, think = np.full(classes, jobs, np.int32), np.full(classes, 2.0)
    queue = np.empty((jobs + 1) ** classes * stations)
    return loop("mva_classes", classes, stations, each, demand, think, queue, np.empty(classes))


def _schweitzer(classes: int, stations: int, jobs: int) -> Call:
    demand = np.random.default_rng(4).uniform(0.1, 1, (classes, stations))
    rows = np.empty((classes, stations)), np.empty(stations), np.empty(classes)
    return loop("schweitzer", classes, stations, float(jobs), demand, 2.0, 1e-8, *rows)


def _linear(size: int) -> Call:
    matrix = np.eye(size) - np.random.default_rng(5).dirichlet(np.ones(size), size).T * 0.8
    return lambda: np.linalg.solve(matrix, np.eye(size)[0])


def _tandem(simulated: str) -> Call:
    """As many jobs as a simulation plays, by Lindley's recursion."""
    effort = TASKS[simulated]()().effort  # type: ignore[attr-defined]
    jobs = round(10.0 * (effort.warm_up + effort.window) * effort.replicas)
    return loop("tandem", jobs, 10, 0.1, 0.08, np.empty(10))


def _interpreter(module: str) -> Call:
    command = [sys.executable, "-c", f"import {module}"]
    return lambda: subprocess.run(command, check=True, capture_output=True)


C, LAPACK, NUMPY = "the same in C", "numpy.linalg.solve of 200", "import numpy"
YARDSTICKS: dict[str, Yardstick] = {
    "Erlang C, m = 24, 10^6 points": (C, _loads),
    "closed, 10 stations, 100 jobs": (C, partial(_mva, 100)),
    "closed, 10 stations, 10^4 jobs": (C, partial(_mva, 10**4)),
    "closed, 10 stations, 10^5 jobs": (C, partial(_mva, 10**5)),
    "closed, 5 stations, 100 jobs, 10^4 points": (C, partial(_mva_sweep, 5, 100, 10**4)),
    "exact, 3 classes of 40 jobs, 8 stations": (C, partial(_mva_classes, 3, 8, 40)),
    "exact, 4 classes of 20 jobs, 10 stations": (C, partial(_mva_classes, 4, 10, 20)),
    "Schweitzer, 4 classes of 2,500 jobs, 10 stations": (C, partial(_schweitzer, 4, 10, 2500)),
    "Schweitzer, 20 classes of 10^4 jobs, 100 stations": (
        C,
        partial(_schweitzer, 20, 100, 10**4),
    ),
    "Linearizer, 20 classes of 50 jobs, 30 stations": (
        "Schweitzer in C",
        partial(_schweitzer, 20, 30, 50),
    ),
    "visits of 200 stations, 40,000 routes": (LAPACK, partial(_linear, 200)),
    "a model of 40,000 routes, solved": (LAPACK, partial(_linear, 200)),
    "a model of 40,000 routes, built and solved": (LAPACK, partial(_linear, 200)),
    "a model of 1,000 stations in a row, built and solved": (LAPACK, partial(_linear, 200)),
    "nfs-server, one point": ("its Erlang C in C", partial(_disks, 1)),
    "nfs-server, 1,000 points": ("its Erlang C in C", partial(_disks, 1000)),
    "nfs-server, 10^6 points": ("its Erlang C in C", partial(_disks, 10**6)),
    "nfs-server closed, 45 jobs, 10^4 points": (
        "MVA in C, visits given",
        partial(_mva_sweep, 3, 45, 10**4),
    ),
    "QNA, 200 stations, a model at another load each time": (LAPACK, partial(_linear, 200)),
    "size over 10^5 configurations": ("10^5 Erlang C in C", _configurations),
    "size over 10^5 configurations, p99": ("10^5 Erlang C in C", _configurations),
    "five percentiles of a server with feedback": ("10^5 Erlang C in C", _configurations),
    "two free parameters of one station, fitted": ("10^5 Erlang C in C", _configurations),
    "layers, 10 tasks, 20 clients": ("MVA in C", partial(_mva, 20)),
    "layers, 50 tasks, 2,000 clients": ("MVA in C", partial(_mva, 2000)),
    "layers, 5 tasks, 10 clients, 10^4 points": ("MVA in C", partial(_mva_sweep, 5, 10, 10**4)),
    SIMULATED: ("Lindley in C", partial(_tandem, SIMULATED)),
    CHECKED: ("Lindley in C", partial(_tandem, CHECKED)),
    "cold start: solve nfs-server": (NUMPY, partial(_interpreter, "numpy")),
    "cold start: --help": (NUMPY, partial(_interpreter, "numpy")),
    "cold start: show --formula": ("import sympy", partial(_interpreter, "sympy")),
}
"""What each task is measured by: the same in C, or the nearest to it."""


@dataclass(frozen=True)
class Row:
    """Least processor times of a task and of what it is measured by [s]; where the task's goes."""

    task: str
    seconds: float
    measure: str
    measure_seconds: float
    places: str

    @property
    def ratio(self) -> float:
        """Times as long as what it is measured by."""
        return self.seconds / self.measure_seconds


def measured(name: str) -> Row:
    """A row: both least times of rounds taken in turns."""
    words, make = YARDSTICKS[name]
    ours, theirs = TASKS[name](), make()
    ours(), theirs()
    first = least_time(ours, 1)
    rounds = ROUNDS if first < LONG else 0
    turns = [(least_time(ours, 2), least_time(theirs, 2)) for _ in range(rounds)]
    a, b = (min(each) for each in zip((first, least_time(theirs, 2)), *turns, strict=True))
    return Row(name, a, words, b, places(ours))


def stored() -> list[Row]:
    """What the file holds."""
    with STORED.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                r["task"],
                float(r["seconds"]),
                r["measure"],
                float(r["measure_seconds"]),
                r["places"],
            )
            for r in csv.DictReader(file)
        ]


def store(rows: list[Row]) -> None:
    """Write the file anew."""
    with STORED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Row)], lineterminator="\n")
        writer.writeheader()
        for row in rows:
            times = {
                "seconds": f"{row.seconds:.3g}",
                "measure_seconds": f"{row.measure_seconds:.3g}",
            }
            writer.writerow(asdict(row) | times)


def page() -> Iterator[str]:
    """Rows of the table of docs/accuracy/calls.md."""
    yield "| task | processor time [ms] | ratio | to | where it goes |"
    yield "|---|---|---|---|---|"
    for row in stored():
        yield (
            f"| {row.task} | {1e3 * row.seconds:,.2f} | {row.ratio:,.1f} | {row.measure} | "
            f"{row.places} |"
        )


def _measure(only: str) -> Iterator[Row]:
    """Print the table, row by row."""
    print(f"{'processor time of a call [ms]':58} {'headway':>10} {'measure':>10} {'ratio':>8}")
    for name in TASKS:
        if only in name:
            row = measured(name)
            times = f"{row.seconds * 1e3:10.3f} {row.measure_seconds * 1e3:10.3f} {row.ratio:8.2f}"
            print(f"{name:58} {times}  {row.measure}; {row.places}", flush=True)
            yield row


def main() -> None:
    """Measure or print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="tasks whose names contain this")
    parser.add_argument("--store", action="store_true", help="store those measured by --only, too")
    parser.add_argument("--stored", action="store_true", help="print what is stored")
    chosen = parser.parse_args()
    if chosen.stored:
        print("\n".join(page()))
        return
    rows = list(_measure(chosen.only))
    if chosen.store or not chosen.only:
        known = {row.task: row for row in (*stored(), *rows)}
        store([known[name] for name in TASKS if name in known])


if __name__ == "__main__":
    main()
