"""Cold start and a million operating points, as ratios within one run.

Run with ``make benchmark``. Each ratio is printed beside the one the project promises.
"""

import os
import resource
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from headway.models import catalogue_model

HEADWAY = str(Path(sys.executable).with_name("headway"))


def side_by_side(commands: list[list[str]], rounds: int = 15) -> list[float]:
    """Median processor time of each process [s], taken in turns.

    All modules are compiled before, as an installation has them, whatever the environment says.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    times: list[list[float]] = [[] for _ in commands]
    for _ in range(rounds + 1):
        for command, own in zip(commands, times, strict=True):
            before = _of_children()
            subprocess.run(command, capture_output=True, check=True, env=environment)
            own.append(_of_children() - before)
    return [median(own[1:]) for own in times]


def _of_children() -> float:
    """Processor time of all processes that were waited for [s]."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


COLD = (
    (["--help"], "numpy", 0.4),
    (["solve", "QUEUE"], "numpy", 1.3),
    (["solve", "nfs-server", "--preset", "raid"], "numpy", 1.6),
    (["show", "nfs-server"], "numpy", 1.6),
    (["methods"], "numpy", 3.0),
    (["kinds"], "numpy", 3.0),
    (["show", "QUEUE", "--formula"], "sympy", 1.34),
    (["show", "nfs-server", "--formula"], "sympy", 1.5),
)
"""Commands, what their start is measured against, and the ratio that is asked."""

QUEUE = """
name = "queue"
parameters = { arrival_rate = "80 op/s" }
[stations.cpu]
kind = "MM1"
service_time = "10 ms"
"""


@pytest.mark.parametrize(("arguments", "module", "asked"), COLD)
def test_cold_start(arguments, module, asked, capsys, tmp_path):
    model = tmp_path / "queue.toml"
    model.write_text(QUEUE)
    given = [str(model) if argument == "QUEUE" else argument for argument in arguments]
    commands = [[sys.executable, "-c", f"import {module}"], [HEADWAY, *given]]
    bare, ours = side_by_side(commands)

    with capsys.disabled():
        print(
            f"\nheadway {' '.join(arguments)}: {ours * 1e3:.0f} ms, import {module}: "
            f"{bare * 1e3:.0f} ms, ratio {ours / bare:.2f} (asked {asked})"
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
