"""The table of tasks has a measure for each, and prints a ratio of both."""

import os
import shutil
import subprocess
import sys

import pytest

from benchmarks.table import YARDSTICKS, page, stored
from benchmarks.tasks import TASKS
from tests.house import FOLDERS
from tests.support.limits import HANGS

ROOT = FOLDERS["headway.models"].parent


def test_each_task_has_a_measure():
    assert list(YARDSTICKS) == list(TASKS)


def test_the_page_has_what_was_measured_of_each_task():
    text = (ROOT / "docs" / "accuracy" / "calls.md").read_text(encoding="utf-8")
    assert "\n".join(page()) in text
    assert [row.task for row in stored()] == list(TASKS)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a compiler of C, called cc")
def test_a_row_has_both_times_and_their_ratio():
    command = [sys.executable, "-m", "benchmarks.table", "--only", "closed, 10 stations"]
    threads = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    process = subprocess.run(
        command, cwd=ROOT, env=threads, capture_output=True, text=True, timeout=HANGS
    )
    assert process.stderr == ""
    _, *rows = process.stdout.splitlines()
    assert [row[:58].strip() for row in rows] == [n for n in TASKS if "closed, 10 stations" in n]
    for row in rows:
        ours, theirs, ratio = map(float, row[58:].split()[:3])
        assert ours > 0
        assert theirs > 0
        assert ratio > 0


@pytest.mark.slow
def test_memory_is_told_by_the_number_of_events():
    command = [sys.executable, "-m", "benchmarks.memory", "--most", "1e6"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HANGS)
    assert process.stderr == ""
    _, row = process.stdout.splitlines()
    events, peak, ratio = row.replace(",", "").split()
    assert int(events) == pytest.approx(1e6, rel=0.01)
    assert float(peak) > 1
    assert float(ratio) == 1
