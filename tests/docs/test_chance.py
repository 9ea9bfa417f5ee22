"""Each run of the tests tries the same examples, unless told a seed, and says what it left out."""

import os
import subprocess
import sys

import pytest

from tests.support.chance import VARIABLE, left_out, seed_of
from tests.support.places import ROOT

DRAWS = """
import pytest
from hypothesis import given, settings, strategies as st

@settings(max_examples=5)
@given(st.integers(0, 10**9))
def test_draws(number):
    with open("drawn", "a") as file:
        print(number, file=file)

@pytest.mark.skip("needs the moon")
@given(st.integers())
def test_left_out(number):
    pass

def test_plain():
    open("plain", "w")
"""


def run(folder, seed=""):
    """Run the two tests; give what was drawn, and what pytest printed."""
    (folder / "test_draws.py").write_text(DRAWS)
    (folder / "drawn").unlink(missing_ok=True)
    (folder / "plain").unlink(missing_ok=True)
    command = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.support.chance",
        "--rootdir",
        folder,
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), VARIABLE: seed}
    done = subprocess.run(
        command, cwd=folder, env=environment, check=True, capture_output=True, text=True
    )
    return (folder / "drawn").read_text(), done.stdout


def test_examples_are_the_same_in_each_run(tmp_path):
    first, printed = run(tmp_path)
    again, _ = run(tmp_path)

    assert first == again
    assert "left out 1 test: needs the moon" in printed.splitlines()
    assert (tmp_path / "plain").exists()
    assert not (tmp_path / ".hypothesis/examples").exists()


def test_a_seed_draws_others_and_the_same_again(tmp_path):
    fixed, _ = run(tmp_path)
    first, printed = run(tmp_path, "7")
    again, _ = run(tmp_path, "7")

    assert first == again != fixed
    assert f"random examples; again with {VARIABLE}=7" in printed.splitlines()
    assert not (tmp_path / "plain").exists()  # has nothing random in it


def test_what_is_no_seed_is_refused():
    assert seed_of(None) is seed_of("") is None
    assert seed_of("12") == 12
    for text in ("yes", "-1", "1_0", "\u0663"):
        with pytest.raises(pytest.UsageError, match="a whole number"):
            seed_of(text)


def test_reasons_are_told_once():
    assert list(left_out(["Skipped: a", "Skipped: b", "Skipped: a"])) == [
        "left out 2 tests: a",
        "left out 1 test: b",
    ]
