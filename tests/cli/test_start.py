"""What a command loads before it answers: a solution pays for what it needs."""

import subprocess
import sys

import pytest

from tests.support.places import ROOT

QUEUE = """
name = "queue"
parameters = { arrival_rate = "80 op/s" }
[stations.cpu]
kind = "MM1"
service_time = "10 ms"
"""

CLOSED = """
name = "closed"
parameters = { population = 20, think_time = "1 s" }
[stations.cpu]
kind = "MM1"
service_time = "10 ms"
"""

MOST_OF_A_QUEUE = 135
"""Modules of headway, packages among them, that one M/M/1 takes; 212 when they were first counted.

More slow every start: import inside the function that needs it what such a model has not.
"""

OTHERS = {"scipy", "sympy", "matplotlib", "networkx", "pandas", "rich"}
"""What no answer in a table needs."""

ELSEWHERE = {
    "headway.loggp.machine.parameters",
    "headway.models.files.traces",
    "headway.models.structure.forms",
    "headway.models.sweeping",
    "headway.queueing.caches",
    "headway.queueing.forks",
    "headway.queueing.methods.method",
    "headway.queueing.renewals",
    "headway.queueing.times",
    "headway.queueing.variability",
}
"""What an M/M/1 has not."""


def loaded(*arguments):
    """All modules that a command has loaded when it ends."""
    code = (
        "import sys, conftest, contextlib, io\n"
        "from headway.cli.main import main\n"
        "with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        f"    main({[*map(str, arguments)]!r})\n"
        "print(*sys.modules)"
    )
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return set(run.stdout.split())


@pytest.fixture
def model(tmp_path):
    """Writes a model file."""

    def write(text):
        path = tmp_path / "model.toml"
        path.write_text(text)
        return path

    return write


def test_one_queue_takes_no_more_modules_than_it_needs(model):
    modules = loaded("solve", model(QUEUE))
    ours = {name for name in modules if name.partition(".")[0] == "headway"}

    assert len(ours) <= MOST_OF_A_QUEUE
    assert modules.isdisjoint(ELSEWHERE | OTHERS | {"importlib.metadata"})


def test_a_percentile_of_one_queue_needs_numpy_alone(model):
    assert loaded("solve", model(QUEUE), "--percentile", "99").isdisjoint(OTHERS)


def test_a_closed_network_needs_numpy_alone(model):
    assert loaded("solve", model(CLOSED)).isdisjoint(OTHERS)


def test_a_simulation_needs_one_part_of_scipy(model):
    """It has no chain, no matrix and no distribution of SciPy's."""
    modules = loaded("solve", model(QUEUE), "--method", "simulation")

    assert "headway.models.simulating.runs" in modules
    assert modules.isdisjoint(OTHERS - {"scipy"})
    assert modules.isdisjoint({"scipy.linalg", "scipy.optimize", "scipy.sparse", "scipy.stats"})


def test_a_closed_form_needs_sympy_and_no_scipy(model):
    modules = loaded("show", model(QUEUE), "--formula")

    assert "sympy" in modules
    assert modules.isdisjoint(OTHERS - {"sympy"})


def test_the_table_of_methods_needs_numpy_alone():
    assert loaded("methods").isdisjoint(OTHERS)
