"""Cold start and a million operating points, as ratios within one run.

Run with ``make benchmark``. Each ratio is printed beside the one the project promises.
"""

import os
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from headway.models import catalogue_model

HEADWAY = str(Path(sys.executable).with_name("headway"))


def side_by_side(commands: list[list[str]], rounds: int = 40) -> list[float]:
    """Shortest time of each process from start to end, taken in turns.

    All modules are compiled before, as an installation has them, whatever the environment says.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds + 1):
        for command, own in zip(commands, times, strict=True):
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True, env=environment)
            own.append(time.perf_counter() - start)
    return [min(own[1:]) for own in times]


@pytest.mark.parametrize(
    ("arguments", "modules", "promised"),
    [
        (["--help"], "click", 2.5),
        (["solve", "nfs-server", "--preset", "raid"], "numpy, click", 1.6),
        (["show", "nfs-server"], "numpy, click", 1.6),
        (["show", "nfs-server", "--formula"], "sympy", 1.5),
    ],
)
def test_cold_start(arguments, modules, promised, capsys):
    commands = [[sys.executable, "-c", f"import {modules}"], [HEADWAY, *arguments]]
    bare, ours = side_by_side(commands)

    with capsys.disabled():
        print(
            f"\nheadway {' '.join(arguments)}: {ours * 1e3:.0f} ms, import {modules}: "
            f"{bare * 1e3:.0f} ms, ratio {ours / bare:.2f} (promised {promised})"
        )
    assert ours > 0


def bare_erlang_c(servers: int, load: np.ndarray) -> np.ndarray:
    """The kernel to measure against: the recursion in plain NumPy."""
    blocking = np.ones_like(load)
    for k in range(1, servers + 1):
        blocking = load * blocking / (k + load * blocking)
    return servers * blocking / (servers - load * (1 - blocking))


def best(function, rounds: int = 5) -> float:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def test_million_points(capsys):
    rates = np.linspace(1, 1500, 1_000_000)
    model = catalogue_model("nfs-server").with_preset("raid")
    misses = np.maximum(0, 1 - 512 / rates)
    load = rates * misses * 0.012

    kernel = best(lambda: bare_erlang_c(28, load))
    ours = best(lambda: model.solve(rates))
    tracemalloc.start()
    model.solve(rates)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    with capsys.disabled():
        print(
            f"\na million points of nfs-server: {ours * 1e3:.0f} ms, bare Erlang C of its disks: "
            f"{kernel * 1e3:.0f} ms, ratio {ours / kernel:.2f} (promised 3), "
            f"memory {peak / 1e6:.0f} MB (promised below 1000)"
        )
    solved = model.solve(rates)
    waiting = bare_erlang_c(28, load) * 0.012 / (28 - load)
    np.testing.assert_allclose(solved["disks.response_time"], 0.012 + waiting, rtol=1e-12)
