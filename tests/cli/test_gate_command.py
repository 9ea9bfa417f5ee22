"""The gate passes and keeps back builds as their load tests say, also as a step of a pipeline."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from tests.support.command import headway, refusal
from tests.support.limits import HANGS
from tests.support.places import ROOT


def runs(slower, scatter=0.01):
    """Three loads, each run twice, of a server that takes so much longer; for fits too few."""
    rows = ["clients,throughput_ops_s,response_ms"]
    for clients in (1, 2, 4):
        for sign in (-1, 1):
            time = 10 * clients * slower * (1 + sign * scatter)
            rows.append(f"{clients},{1e3 * clients / time:.9f},{time:.9f}")
    return "\n".join(rows) + "\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "before": runs(1.0),
        "same": runs(1.0),
        "slower": runs(1.3),
        "noisy": runs(1.0, scatter=0.3),
    }.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def parsed(path):
    return ElementTree.fromstring(path.read_text())  # noqa: S314 - headway wrote it


def verdicts(name, *options):
    result = headway("gate", f"{name}.csv", "--baseline", "before.csv", "--json", *options)
    checks = json.loads(result.out)["checks"]
    return result.code, {c["check"]: c["verdict"] for c in checks if c["group"] == "baseline"}


@pytest.mark.usefixtures("place")
def test_the_exit_code_follows_the_intervals():
    assert verdicts("same") == (0, {"response time": "passed", "throughput": "passed"})
    assert verdicts("slower") == (1, {"response time": "failed", "throughput": "failed"})
    assert verdicts("slower", "--at-most", "60%")[0] == 0
    code, noisy = verdicts("noisy")
    assert (code, set(noisy.values())) == (0, {"undecided"})
    assert verdicts("noisy", "--strict")[0] == 1
    told = re.search(r"takes (\d+) runs of each load and build", headway(
        "gate", "noisy.csv", "--baseline", "before.csv", "--csv"
    ).out)  # fmt: skip
    assert int(told[1]) > 2


@pytest.mark.usefixtures("place")
def test_errors_of_the_audit_fail_without_a_baseline():
    Path("hidden.csv").write_text(
        "requested_ops_s,throughput_ops_s,response_ms\n40,40,25\n100,80,50\n150,80,50\n"
    )

    assert headway("gate", "hidden.csv").code == 1
    assert headway("gate", "same.csv").code == 0
    assert "cannot be written" in refusal("gate", "same.csv", "--junit", "no/gate.xml")


def test_junit_and_markdown_say_what_the_table_says(place):
    asked = ("--baseline", "before.csv", "--summary", "gate.md", "--junit", "gate.xml", "--json")
    result = headway("gate", "slower.csv", *asked)
    checks = json.loads(result.out)["checks"]

    suite = parsed(place / "gate.xml")
    cases = [(case.get("name"), [part.tag for part in case]) for case in suite]
    tags = {"passed": [], "undecided": ["skipped"], "failed": ["failure"]}
    assert cases == [(check["check"], tags[check["verdict"]]) for check in checks]
    assert suite.get("failures") == str(sum(c["verdict"] == "failed" for c in checks))
    lines = (place / "gate.md").read_text().splitlines()
    assert lines[0].startswith("### Load test failed: ")
    assert len([line for line in lines if line.startswith("| ")]) == 1 + len(checks)


ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


def step(run, inputs, folder, env):
    """Run the step of an action as its runner does, with what `${{ inputs... }}` stands for."""
    given = {key: str(entry.get("default", "")) for key, entry in ACTION["inputs"].items()} | inputs

    def put(text):
        return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], text)

    own = {key: put(value) for key, value in run["env"].items()}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", put(run["run"])]
    done = subprocess.run(
        command, cwd=folder, env={**env, **own}, capture_output=True, text=True, timeout=HANGS,
        check=False,
    )  # fmt: skip
    return done.returncode


@pytest.mark.skipif(sys.platform == "win32", reason="the runner's shell is bash")
def test_the_action_fails_for_the_slower_build_alone(place):
    bin_folder = place / "bin"
    bin_folder.mkdir()
    program = bin_folder / "headway"
    main = "import conftest; from headway.cli.main import main; main()"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{main}" "$@"\n')
    program.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
        "GITHUB_STEP_SUMMARY": str(place / "summary.md"),
    }
    codes = {}
    for name in ("same", "slower"):
        inputs = {"files": f"{name}.csv", "baseline": "before.csv", "install": ""}
        steps = [step(run, inputs, place, env) for run in ACTION["runs"]["steps"]]
        codes[name] = steps

    assert codes == {"same": [0, 0], "slower": [0, 1]}
    summary = (place / "summary.md").read_text()
    assert summary.count("### Load test passed") == summary.count("### Load test failed") == 1
    assert parsed(place / "headway-gate.xml").get("failures") == "2"
