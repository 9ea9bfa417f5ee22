"""What `make` says and does before anything is installed."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.support.limits import HANGS
from tests.support.places import ROOT

SETUP = ("Makefile", "setup.cfg", "pyproject.toml", "constraints.txt")
MAKE = shutil.which("make")
pytestmark = pytest.mark.skipif(MAKE is None, reason="needs make")


@pytest.fixture
def clone(tmp_path):
    for name in SETUP:
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def python(place, version):
    """A Python that says it is of another version."""
    fake = place / "fake-python"
    text = f"import sys; sys.version_info = {version}"
    fake.write_text(f'#!/bin/sh\n[ "$1" = -c ] || exit 9\nexec {sys.executable} -c "{text}\n$2"\n')
    fake.chmod(0o755)
    return fake


def make(place, *arguments):
    command = [MAKE, "--no-print-directory", *arguments]
    return subprocess.run(
        command, cwd=place, capture_output=True, text=True, check=False, timeout=HANGS
    )


@pytest.mark.parametrize("target", ["demo", "test", "check"])
@pytest.mark.parametrize("version", ["(3, 10, 4)", "(2, 7, 18)"])
def test_an_old_python_is_refused_in_one_line(clone, target, version):
    result = make(clone, target, f"PYTHON={python(clone, version)}")

    assert result.returncode == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    shown = ".".join(version.strip("()").split(", ")[:2])
    assert "needs Python 3.11 or later" in line
    assert f"fake-python is {shown}" in line
    assert not (clone / ".venv").exists()


def test_a_python_that_is_not_there_is_refused(clone):
    result = make(clone, "demo", "PYTHON=no-such-python")

    assert result.returncode == 2
    assert "needs Python 3.11 or later" in result.stderr
    assert not (clone / ".venv").exists()


def needs(place, planned):
    """Names of the packages that a plan of `make` writes down to be fetched."""
    (line,) = (line for line in planned.splitlines() if line.endswith("> .venv/needs.txt"))
    assert "-r .venv/needs.txt" in planned
    (place / ".venv").mkdir()
    subprocess.run(line, shell=True, cwd=place, check=True, timeout=HANGS)  # noqa: S602 # of ours
    return {
        re.match(r"[\w.-]+", need)[0]
        for need in (place / ".venv/needs.txt").read_text().split("\n")
        if need
    }


def test_the_demonstration_installs_what_it_runs_on_and_names_its_page(clone):
    result = make(clone, "-n", "demo", f"PYTHON={python(clone, '(3, 11, 0)')}")

    assert result.returncode == 0, result.stderr
    assert " --no-deps -e . " in result.stdout
    assert "Open demo/report.html" in result.stdout.splitlines()[-1]
    found = needs(clone, result.stdout)
    assert {"numpy", "scipy", "tomli-w"} <= found
    assert "pytest" not in found


def test_the_demonstration_takes_what_the_tests_installed(clone):
    (clone / ".venv").mkdir()
    (clone / ".venv/.ready").touch()

    result = make(clone, "-n", "demo")

    assert "pip install" not in result.stdout


def test_tests_install_their_tools(clone):
    result = make(clone, "-n", "test", f"PYTHON={python(clone, '(3, 12, 1)')}")

    assert " --no-deps -e . " in result.stdout
    assert {"numpy", "pytest", "ruff"} <= needs(clone, result.stdout)
