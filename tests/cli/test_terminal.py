"""What a terminal and a shell get: progress, completion, pipes that close, Ctrl-C, files."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest
from click.shell_completion import ShellComplete

from headway.cli import output
from headway.cli.main import cli
from headway.cli.output import progress
from headway.models import data_path
from tests.support.command import headway, refusal
from tests.support.limits import HANGS
from tests.support.places import ROOT

RAID = str(data_path("network_sensitivity/table_a_5_raid_performance.csv"))
SWEEP = ("solve", "nfs-server", "--set", "arrival_rate=1,2")
FIT = ("fit", "nfs-server", "--preset", "raid", "--data", RAID, "--free", "cpu_time")
DRAWN = [
    ("show", "nfs-server"),
    ("show", "nfs-server", "--formula"),
    SWEEP,
    ("balance", "streaming-io", "--preset", "sort-cluster"),
    ("compare", "nfs-server", "--preset", "raid", "--data", RAID),
    FIT,
    ("sensitivity", "nfs-server", "--preset", "raid"),
    (
        "size",
        "nfs-server",
        "--preset",
        "raid",
        "--target",
        "response_time<=9ms",
        "--choose",
        "disks=4:8",
        "--cost",
        "disks",
    ),
    ("signature", "sfs", RAID),
    ("reproduce", "thesis/table-6.1"),
]


def script(*arguments):
    code = f"import conftest; from headway.cli.main import main; main({list(arguments)!r})"
    return [sys.executable, "-c", code]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_short_work_shows_progress_on_a_terminal_only(monkeypatch):
    for stream, shows in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress("fitting", 2) as advance:
            advance()
            advance("the second")
        assert ("fitting" in stream.getvalue() or "second" in stream.getvalue()) == shows


def test_long_work_writes_a_line_in_ten_seconds_where_there_is_no_terminal(monkeypatch):
    times = iter([0.0, 4.0, 10.5, 12.0, 21.0, 30.9])
    stream = io.StringIO()
    monkeypatch.setattr(output, "EVERY", 10.0)
    monkeypatch.setattr(output, "monotonic", lambda: next(times))
    monkeypatch.setattr(sys, "stderr", stream)
    with output.progress("fitting", 5) as advance:
        for doing in ("", "the second", "", "", ""):
            advance(doing)

    assert stream.getvalue() == (
        "the second: 40% after 10 s, about 16 s to go\nfitting: 80% after 21 s, about 5 s to go\n"
    )


def test_what_has_hardly_begun_does_not_say_how_long_it_takes(monkeypatch):
    times = iter([0.0, 10.5, 60.5])
    stream = io.StringIO()
    monkeypatch.setattr(output, "EVERY", 10.0)
    monkeypatch.setattr(output, "monotonic", lambda: next(times))
    monkeypatch.setattr(sys, "stderr", stream)
    with output.progress("sweeping", 1) as advance:
        advance("", 0.001)
        advance("", 0.001)

    first, second = stream.getvalue().splitlines()
    assert first == "sweeping: 0% after 10 s"
    assert second == "sweeping: 0% after 60 s, about 8 hours to go"


def test_work_without_steps_writes_a_line_too(monkeypatch):
    class Told(io.StringIO):
        def write(self, text):
            heard.set()
            return super().write(text)

    heard, stream = threading.Event(), Told()
    monkeypatch.setattr(output, "EVERY", 0.01)
    monkeypatch.setattr(sys, "stderr", stream)
    with output.working("sizing") as tell:
        assert heard.wait(HANGS)
        heard.clear()
        tell("the last part", 0.0)
        assert heard.wait(HANGS)
        heard.clear()
        assert heard.wait(HANGS)

    assert re.match(r"sizing: \d+ s so far\n", stream.getvalue())
    assert re.search(r"sizing: the last part, \d+ s so far\n", stream.getvalue())


@pytest.mark.parametrize("arguments", DRAWN, ids=" ".join)
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing/x.svg", "there is no folder"),
        ("file/x.svg", "there is no folder"),
        ("folder.svg", "it is a folder"),
        ("x.bmp", "pictures end in .svg, .png, .pdf, not 'bmp'"),
        ("x", "pictures end in .svg, .png, .pdf, not 'nothing'"),
    ],
)
def test_a_picture_that_cannot_be_written(arguments, name, message, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder.svg").mkdir()

    assert message in refusal(*arguments, "--plot", tmp_path / name)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.svg"]
    assert list((tmp_path / "folder.svg").iterdir()) == []


@pytest.mark.parametrize("name", ["missing/x.toml", "file/x.toml", "folder.toml", "x.txt"])
def test_a_model_file_that_cannot_be_written(name, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder.toml").mkdir()

    assert name in refusal(*FIT, "--out", tmp_path / name)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.toml"]


def test_a_plot_that_fails_leaves_no_model_file(tmp_path, monkeypatch):
    from headway.models.inference.fit import Fit

    def fails(_self, _log, _dark):
        raise OSError("no")

    monkeypatch.setattr(Fit, "plot", fails)

    with pytest.raises(OSError, match="no"):
        headway(*FIT, "--out", tmp_path / "x.toml", "--plot", tmp_path / "x.svg")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("models",),
        ("models", "--json"),
        ("models", "--csv"),
        ("--help",),
        ("solve", "nfs-server", "--set", "arrival_rate=1:1000:0.5", "--json"),
        ("solve", "nfs-server", "--set", "arrival_rate=1:1000:0.1", "--csv"),
        ("solve", "nfs-server", "--set", "arrival_rate=1:1000:0.5"),
    ],
    ids=" ".join,
)
def test_a_pipe_that_closes_ends_quietly(arguments):
    reader, writer = os.pipe()
    process = subprocess.Popen(script(*arguments), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    _, errors = process.communicate()

    assert errors == b""
    assert process.returncode == 0


def test_a_pipe_that_nobody_reads_ends_quietly():
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.Popen(script("models"), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)

    assert process.communicate()[1] == b""
    assert process.returncode == 0


TELLING = """
import contextlib, sys
import conftest
import headway.cli.commands.fit as command
from headway.cli.main import main

@contextlib.contextmanager
def telling(what, steps):
    print(what, file=sys.stderr, flush=True)
    yield lambda doing="": None

command.progress = telling
"""


def test_ctrl_c_during_a_long_fit_leaves_nothing(tmp_path):
    out = tmp_path / "x.toml"
    arguments = [*FIT, "--bootstrap", "100000", "--out", str(out), "--plot", str(out) + ".svg"]
    process = subprocess.Popen(
        [sys.executable, "-c", f"{TELLING}main({arguments!r})"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr.readline() == "bootstrap\n"
    time.sleep(1)  # amid the rounds, which would take minutes
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate(timeout=HANGS)

    assert process.returncode == 130
    assert (shown, errors) == ("", "error: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def offered(*arguments, incomplete):
    complete = ShellComplete(cli, {}, "headway", "_HEADWAY_COMPLETE")
    return [item.value for item in complete.get_completions(list(arguments), incomplete)]


@pytest.mark.parametrize(
    ("arguments", "incomplete", "expected"),
    [
        ((), "sig", ["signature"]),
        (("show",), "spine", ["spine-router"]),
        (("solve", "nfs-server", "--preset"), "", ["scsi", "raid"]),
        (("balance", "streaming-io", "--preset"), "sort-s", ["sort-smp"]),
        (("solve", "nfs-server", "--set"), "mem", ["memory="]),
        (("fit", "nfs-server", "--fix"), "mem", ["memory="]),
        (("fit", "nfs-server", "--bound"), "mem", ["memory="]),
        (("fit", "nfs-server", "--free"), "mem", ["memory"]),
        (("fit", "nfs-server", "--free"), "memory,n", ["memory,nvram"]),
        (("fit", "nfs-server", "--free"), "nvram,nv", []),
        (("fit", "nfs-server", "--loss"), "so", ["soft_l1"]),
        (("solve", "nfs-server", "--method"), "lin", ["linearizer"]),
        (("sensitivity", "nfs-server", "--target"), "resp", ["response_time="]),
        (("sensitivity", "program-overhead", "--target"), "slow", ["slowdown="]),
        (("sensitivity", "nfs-server", "--solve-for"), "mem", ["memory"]),
        (("compare", "nfs-server", "--data", RAID, "--x"), "th", ["throughput_ops_s"]),
        (("next", "--target"), "response_time_p9", ["response_time_p90<=", "response_time_p95<="]),
        (("fit", "server", "--target"), "response_time", ["response_time<="]),
        (("signature", "sfs", RAID, "--y"), "resp", ["response_ms"]),
        (("compare", "nfs-server", "--data", "nothing.csv", "--x"), "", []),
        (("compare", "nfs-server", "--x"), "", []),
        (("solve", "nothing", "--set"), "", []),
        (("reproduce",), "thesis/table-3.", ["thesis/table-3.1", "thesis/table-3.3"]),
    ],
)
def test_completion(arguments, incomplete, expected):
    result = offered(*arguments, incomplete=incomplete)

    assert result[: len(expected)] == expected
    assert expected or not result


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("sovle",), "did you mean solve"),
        (("solve", "nfs-sever"), "did you mean nfs-server"),
        (("solve", "nfs-server", "--preset", "rad"), "did you mean raid?"),
        (("solve", "nfs-server", "--set", "cpu_tiem=1ms"), "did you mean cpu_time"),
        (("solve", "nfs-server", "--presett", "raid"), "did you mean --preset"),
        (("solve", "nfs-server", "--method", "linearise"), "linearizer"),
        (("fit", "nfs-server", "--data", RAID, "--free", "cpu_tim"), "did you mean cpu_time"),
        (("fit", "nfs-server", "--data", RAID, "--fix", "memry=1"), "did you mean memory"),
        (("compare", "nfs-server", "--data", RAID, "--y", "respnse_ms"), "did you mean respons"),
        (
            ("sensitivity", "nfs-server", "--target", "respons_time=1ms", "--solve-for", "disks"),
            "did you mean response_time",
        ),
        (
            ("sensitivity", "nfs-server", "--target", "response_time=9ms", "--solve-for", "dsks"),
            "did you mean disks",
        ),
        (("reproduce", "thesis/table-3.33"), "did you mean table-3.3"),
        (("signature", "sf", RAID), "did you mean sfs?"),
    ],
)
def test_a_slip_of_the_finger_is_told(arguments, expected):
    assert expected in refusal(*arguments)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_documented_shell_gets_its_script(shell):
    """Click finds out which bash there is by asking it, so bash must be there for its script."""
    page = (ROOT / "docs/reference/command-line.md").read_text()
    assert f"_HEADWAY_COMPLETE={shell}_source headway" in page
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    script = subprocess.run(
        [sys.executable, "-c", "from headway.cli.main import main; main([])"],
        env={**os.environ, "_HEADWAY_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert f"_HEADWAY_COMPLETE={shell}_complete" in script.stdout
