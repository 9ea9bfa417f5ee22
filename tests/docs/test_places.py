"""Tests stand where the code does, and every command that names one of their modules finds it."""

import re
from importlib.util import find_spec

import pytest

from tests.support.places import ROOT, TESTS

ROOMS = ("cli", "loggp", "models", "queueing")
UNCOLLECTED = ("campaigns", "oracles", "support")
TEXTS = [
    *(ROOT / name for name in ("CONTRIBUTING.md", "Makefile", "README.md", ".ci/run")),
    *(
        path
        for folder in (*ROOMS, "benchmarks", "docs", "src", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".md", ".py", ".pyi", ".toml")
    ),
]


def test_no_test_stands_outside_of_a_room():
    """But for the tests of documents and of the house itself, in `tests/docs`."""
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    rooms = {folder for folder in folders if folder.as_posix() != "docs"}

    assert {folder.parts[0] for folder in rooms} == set(ROOMS)
    assert [str(folder) for folder in rooms if not (ROOT / folder).is_dir()] == []


@pytest.mark.parametrize("folder", UNCOLLECTED)
def test_nothing_that_tests_share_is_collected(folder):
    paths = [*(TESTS / folder).rglob("*.py")]

    assert len(paths) > 1
    assert [str(path) for path in paths if re.match(r"test_|.*_test\.py", path.name)] == []


def test_every_module_of_the_tests_that_a_command_names_is_there():
    command = re.compile(r"python -m[\s#]+(tests(?:\.[a-z]\w*)+)")
    named = {name for path in TEXTS for name in command.findall(path.read_text("utf-8"))}

    assert "tests.campaigns.constants" in named
    assert sorted(name for name in named if find_spec(name) is None) == []


def test_every_path_of_the_tests_that_a_text_names_is_there():
    """CONTRIBUTING.md names files that its steps write."""
    path = re.compile(r"(?<![\w/])tests/(?:\w+/)*\w+\.(?:py|csv|md)\b")
    texts = [text for text in TEXTS if text.name != "CONTRIBUTING.md"]
    named = {name for text in texts for name in path.findall(text.read_text("utf-8"))}

    assert sorted(name for name in named if not (ROOT / name).is_file()) == []
