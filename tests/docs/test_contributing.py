"""The steps of CONTRIBUTING.md, followed in a copy of the tree, lead to what they say."""

import re
import shutil
import subprocess
import sys
import textwrap

import pytest

from tests.support.outside import DISCIPLINE, FILES, METHOD, OUTPUT
from tests.support.places import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
WAYS = (
    "a station kind",
    "a reader of a tool's output",
    "a catalogue model",
    "an output",
    "a discipline",
    "a method",
)
ADDED = [title for title in SECTIONS if title.startswith("Add ")]
TREE = ("cli", "docs", "loggp", "models", "queueing", "src", "tests")
RUNS = "pounder 2.1\nrun at 100/s took 2.5 ms\nrun at 200/s took 3.3 ms\n"
CHECKS = """
import sys
sys.path[:0] = ["site", "."]
from pathlib import Path
from headway.models import Measurements, catalogue_model
from headway.queueing import MM1, Clocked, Discipline, solve_closed
from tests.support.command import headway
import pytest

schema = headway("kinds", "--schema").out
Path("models/catalogue/model.schema.json").write_text(schema)
assert '"cycles"' in schema
assert Measurements.read("night.log").kind == "pounder"
assert catalogue_model("clocked-server").solve().response_time == 0.0025
assert Clocked(2e6).response_time(100.0) == 0.0025
variance = catalogue_model("clocked-server").solve()["response_time_variance"]
assert abs(variance / 0.0025**2 - 1) < 1e-6
sjf = catalogue_model("clocked-server").graph.station("disk", Clocked(1.0), discipline="sjf")
assert sjf.stations["disk"].discipline.by_size
assert '"sjf"' in schema
assert abs(solve_closed([MM1(0.5)], [1], 1, method="bard").throughput - 1) < 1e-9
assert "bard" in headway("methods").out
chosen = "TestTable or Clocked or clocked or reference or ships_is"
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-k", chosen, *sys.argv[1:]]))
"""


def blocks(text, language):
    """The code of a language in a section, without the margin of its list."""
    matches = re.findall(rf"^( *)```{language}\n(.*?)^\1```", text, re.MULTILINE | re.DOTALL)
    return [textwrap.dedent(code) for _, code in matches]


def patch(tree, block):
    """Insert the lines with a plus before or after those without, in the file that is named."""
    name, *lines = block.splitlines()
    path = tree / name.removeprefix("# ")
    kept = "".join(f"{line[1:]}\n" for line in lines if line[0] == " ")
    text = path.read_text()
    assert text.count(kept) == 1, block
    path.write_text(text.replace(kept, "".join(f"{line[1:]}\n" for line in lines)))


def place(section, name):
    """The path of a new file that a section tells to write."""
    (result,) = re.findall(rf"`([\w/]+/{re.escape(name)})`", section)
    return result


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A copy of the tree with one of each that can be added, by the steps."""
    made = tmp_path_factory.mktemp("clone")
    halves = shutil.ignore_patterns("*.pyc.*")  # of bytecode that others write just now
    for folder in TREE:
        shutil.copytree(ROOT / folder, made / folder, ignore=halves)
    for file in ("README.md", "setup.cfg", "conftest.py"):
        shutil.copy(ROOT / file, made / file)
    (made / "site").mkdir()
    (made / "site" / "headway").symlink_to(made / "src" / "headway")
    for folder in ("cli", "loggp", "models", "queueing"):
        (made / "src" / "headway" / folder).symlink_to(made / folder)
    sections = [SECTIONS[f"Add {what}"] for what in WAYS]
    station, reader, model, output, discipline, method = sections
    (made / place(station, "clocked.py")).write_text(FILES["kind.py"])
    (made / place(reader, "pounder.py")).write_text(FILES["reader.py"])
    (made / place(output, "variance.py")).write_text(OUTPUT)
    (made / place(discipline, "sjf.py")).write_text(DISCIPLINE)
    (made / place(method, "bard.py")).write_text(METHOD)
    (line,) = blocks(model, "toml")
    own = f"{line}\n{FILES['clocked-server.toml']}"
    (made / place(model, "clocked-server.toml")).write_text(own)
    for section in (station, reader, output, discipline, method):
        for block in blocks(section, "diff"):
            patch(made, block)
    (made / "night.log").write_text(RUNS)
    return made


def test_what_was_added_works_and_the_tests_of_the_lists_pass(tree):
    lists = [
        "tests/queueing/test_disciplines.py",
        "tests/models/structure/test_model_stations.py",
        "tests/docs/test_packages.py",
        "tests/models/files/test_reference.py",
        "tests/models/files/test_schema.py",
    ]
    run = subprocess.run(
        [sys.executable, "-c", CHECKS, *lists],
        cwd=tree,
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]


@pytest.mark.parametrize("title", ADDED)
def test_each_way_takes_five_steps(title):
    assert re.findall(r"^(\d)\. ", SECTIONS[title], re.MULTILINE) == list("12345")


def test_all_ways_are_told_and_every_place_is_there():
    named = re.findall(r"`((?:models|queueing|tests|docs)/[\w/.-]*)`", PAGE)
    linked = re.findall(r"\]\(([^)#]+)", PAGE)
    new = {path for path in named if re.search("clocked|pounder|variance|sjf|bard", path)}

    assert sorted(ADDED) == sorted(f"Add {what}" for what in WAYS)
    assert [
        path for path in (*named, *linked) if path not in new and not (ROOT / path).exists()
    ] == []
    assert all((ROOT / path).parent.is_dir() for path in new)
    assert all(target in (ROOT / "Makefile").read_text() for target in ("test:", "check:", "fuzz:"))
