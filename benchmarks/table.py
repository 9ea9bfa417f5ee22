"""Every task of `benchmarks.tasks` beside a plain loop in C, or what else it is measured by.

Run with ``make benchmark-table``, or ``ONLY=closed`` for those whose names contain it. Both are
measured in turns within one run, by processor time. Ratios say how much a call costs beyond
the arithmetic itself: of the smallest tasks it is the call, which checks what it is given. Where
there is no loop of the same, another is named: a linear system of LAPACK for routes, the start of
a bare interpreter for commands, 10^5 values of Erlang's C.
"""

import argparse
import ctypes
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import numpy as np

from benchmarks.tasks import TASKS, Call, least_time

ROUNDS = 3
SIMULATED = "simulated to 10%, 10 stations in a row, 80% busy"
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


def _tandem() -> Call:
    """As many jobs as the simulation plays, by Lindley's recursion."""
    effort = TASKS[SIMULATED]()().effort  # type: ignore[attr-defined]
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
    SIMULATED: ("Lindley in C", _tandem),
    "cold start: solve nfs-server": (NUMPY, partial(_interpreter, "numpy")),
    "cold start: --help": (NUMPY, partial(_interpreter, "numpy")),
    "cold start: show --formula": ("import sympy", partial(_interpreter, "sympy")),
}
"""What each task is measured by: the same in C, or the nearest to it."""


def measured(name: str) -> str:
    """A row: both least times of rounds taken in turns."""
    words, make = YARDSTICKS[name]
    ours, theirs = TASKS[name](), make()
    ours(), theirs()
    turns = [(least_time(ours, 2), least_time(theirs, 2)) for _ in range(ROUNDS)]
    a, b = (min(each) for each in zip(*turns, strict=True))
    return f"{name:54} {a * 1e3:10.3f} {b * 1e3:10.3f} {a / b:8.2f}  {words}"


def main() -> None:
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="tasks whose names contain this")
    chosen = parser.parse_args()
    print(f"{'processor time of a call [ms]':54} {'headway':>10} {'measure':>10} {'ratio':>8}")
    for name in TASKS:
        if chosen.only in name:
            print(measured(name), flush=True)


if __name__ == "__main__":
    main()
