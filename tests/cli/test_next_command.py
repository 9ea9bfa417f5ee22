"""``headway next``: drives a tool from a shell until the highest load under a limit is known."""

import json
import shlex
import subprocess
import sys

import pytest

from tests.support.command import headway, refusal
from tests.support.limits import HANGS

TARGET = ("--target", "response_time<=11ms")
TOOL = """
import sys
rate = float(sys.argv[1])
print("throughput_ops_s,response_ms")
print(f"{rate},{1 + 1 / (1 - rate / 1000) if rate < 1000 else 60000}")
"""
LOOP = """
mkdir results
while load=$({next}); do {tool} $load > results/r$load.csv; done
echo "$load"
"""


@pytest.mark.slow
def test_a_shell_loop_drives_a_tool_until_the_load_is_known(tmp_path):
    (tmp_path / "tool.py").write_text(TOOL)
    code = "import sys; from headway.cli.main import main; main(sys.argv[1:])"
    arguments = ["next", *TARGET, "--budget", "12", "--from", "100", "results"]
    call = shlex.join([sys.executable, "-c", code, *arguments])
    tool = shlex.join([sys.executable, "tool.py"])

    done = subprocess.run(
        ["sh", "-c", LOOP.format(next=call, tool=tool)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
    )

    low, high = done.stdout.strip().partition("95%: ")[2].removesuffix(" op/s)").split(" to ")
    assert float(low) * 0.99 <= 900 <= float(high) * 1.01
    runs = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert "r100.csv" in runs
    assert len(runs) <= 9
    assert len(done.stderr.splitlines()) >= len(runs)
    assert done.stderr.splitlines()[-1].startswith("finished after ")


def test_before_the_first_run_it_prints_where_to_begin(tmp_path):
    result = headway("next", *TARGET, "--from", "20", tmp_path)

    assert (result.code, result.out) == (0, "20\n")
    assert result.err == "0 runs: nothing is measured yet\n"
    assert headway("next", *TARGET, "--to", "160", tmp_path).out == "10\n"
    assert headway("next", *TARGET, tmp_path / "runs.csv").out == "1\n"
    assert headway("next", *TARGET, "--budget", "0", tmp_path).code == 3


def test_loads_are_in_the_unit_of_the_table(tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text("throughput_kops_s,response_ms\n0.4,2.7\n")

    assert headway("next", *TARGET, table).out == "1.6\n"


def test_json_says_the_same_in_si(tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text("throughput_kops_s,response_ms\n0.4,2.7\n")

    going = json.loads(headway("next", *TARGET, "--json", table).out)
    ended = headway("next", *TARGET, "--json", "--budget", "1", table)

    assert (going["finished"], going["next"], going["runs"]) == (False, 1600, 1)
    assert ended.code == 3
    assert json.loads(ended.out)["next"] is None
    assert json.loads(ended.out)["ci95"] == [400, None]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--target", "throughput>=5"), "response_time"),
        (("--target", "response_time"), "write OUTPUT<=VALUE"),
        ((*TARGET, "--budget", "-1"), "0 or more runs"),
        ((*TARGET, "--budget", "two"), "not a whole number"),
        ((*TARGET, "--precision", "200%"), "between 0 and 1"),
        ((*TARGET, "--from", "5", "--to", "2"), "below the highest"),
        ((*TARGET, "--from", "5ms"), "rate"),
    ],
)
def test_bad_input_is_refused_in_a_line(arguments, expected, tmp_path):
    assert expected in refusal("next", *arguments, tmp_path)


def test_a_folder_that_is_not_there_is_refused(tmp_path):
    assert "no such folder" in refusal("next", *TARGET, tmp_path / "reslts")


def test_a_run_that_failed_ends_the_loop(tmp_path):
    (tmp_path / "r1.csv").write_text("throughput_ops_s,response_ms\n1,2\n")
    (tmp_path / "r2.csv").write_text("")

    assert "r2.csv" in refusal("next", *TARGET, tmp_path)
    result = headway("next", *TARGET, "--skip-bad", tmp_path)
    assert (result.code, result.out) == (0, "4\n")


def test_contradictory_runs_are_refused(tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text("throughput_ops_s,response_ms\n1,20\n2,19\n40,3\n80,2\n")

    assert "falls with the load" in refusal("next", *TARGET, table)


def test_fit_seeks_the_highest_load_too(tmp_path):
    table = tmp_path / "runs.csv"
    rows = "".join(f"{x},{1 + 1 / (1 - x / 1000):.2f}\n" for x in range(100, 700, 100))
    table.write_text("throughput_ops_s,response_ms\n" + rows)
    fit = ("fit", "server", "--data", table, "--forms", "server-single", "--next")

    shown = headway(*fit, *TARGET, "--budget", "2").out
    answer = json.loads(headway(*fit, *TARGET, "--json").out)["next"]

    assert "highest load with response time <= 11 ms" in shown
    assert "stop" in shown
    low, high = answer["ci95"]
    assert low <= 900 <= high
    assert answer["limit"] == 0.011


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--target", "response_time<=11ms"), "--target needs --next"),
        (("--budget", "3"), "--target"),
        (("--next", "--budget", "3"), "--target"),
        (("--next", "delay", "--target", "response_time<=11ms"), "give one of them"),
        (("--next", "--target", "response_time<=11ms", "--budget", "-2"), "0 or more runs"),
    ],
)
def test_fit_refuses_what_does_not_go_together(arguments, expected, tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text("throughput_ops_s,response_ms\n100,2\n200,2.1\n300,2.3\n400,2.5\n")

    assert expected in refusal("fit", "server", "--data", table, *arguments)


def test_a_column_that_may_be_the_load_is_named(tmp_path):
    """A rate alone may be asked for or delivered."""
    (tmp_path / "own.csv").write_text("rate_rps,mean_ms,p99_ms\n100,5,9\n200,6,11\n300,9,20\n")
    said = refusal("next", *TARGET, str(tmp_path / "own.csv"))
    assert "no column tells the load; not used: rate_rps" in said
    assert "--role rate_rps=throughput" in said
    said = " ".join(headway("audit", tmp_path / "own.csv").out.split())
    assert "hardly anything could be checked" in said
