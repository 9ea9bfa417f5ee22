"""The long tables of the documents are the same for any number of workers."""

import subprocess
import sys

import pytest

from benchmarks import accuracy
from tests import campaigns
from tests.house import FOLDERS
from tests.support.limits import HANGS

ROOT = FOLDERS["headway.models"].parent


def table(*options):
    """Nine fits of 0.05 s, in three rows."""
    with campaigns.shared(campaigns.parser("").parse_args(options)) as done:
        return list(accuracy.rows(["contention"], 3, 0, done))


@pytest.fixture(scope="module")
def alone():
    return table()


def test_a_worker_gives_the_same_table(alone):
    assert table("--workers", "1") == alone
    assert len(alone) == len(accuracy.NOISES)


@pytest.mark.slow
def test_two_workers_do_as_it_is_typed(alone):
    """What a module run as a command defines has to be found by its workers."""
    given = ["--cell", "contention", "--curves", "3", "--workers", "2"]
    command = [sys.executable, "-m", "benchmarks.accuracy", *given]

    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HANGS)

    assert process.stderr == ""
    assert process.stdout.splitlines()[2:] == alone
