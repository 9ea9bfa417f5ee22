"""Bytes from outside: what is read, how much of it, and what is refused before it is read."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headway.errors import MeasurementError
from headway.models.files.intake import read_bytes, read_text
from tests.support.command import refusal
from tests.support.limits import HANGS

CURVE = "throughput_ops_s,response_ms\n100,2\n200,2.5\n300,3\n400,4\n"
CALL = "import conftest; from headway.cli.main import main; main()"


def run(*arguments, **options):
    command = [sys.executable, "-c", CALL, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=HANGS, check=False, **options)


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/random", "pipe", "folder", "x" * 300, "a\0b"])
def test_what_is_no_file_is_refused_without_reading_it(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("folder").mkdir()

    with pytest.raises(MeasurementError, match=r"cannot be read|no such file"):
        read_bytes(Path(name), 100)


@pytest.mark.parametrize(
    "name", ["/dev/zero", "pipe", "folder", "x" * 300, "x" * 300 + ".toml", "[x]" * 100]
)
@pytest.mark.parametrize(
    "command",
    [
        ("solve",),
        ("show",),
        ("read",),
        ("audit",),
        ("signature", "sfs"),
        ("signature", "logp"),
        ("signature", "loggp"),
        ("compare", "nfs-server", "--preset", "raid", "--data"),
        ("fit", "server", "--data"),
    ],
    ids=" ".join,
)
def test_every_command_refuses_it_in_one_line(command, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("folder").mkdir()

    refusal(*command, name)


def test_the_limit_holds_for_what_is_read_not_for_what_a_file_claims(tmp_path):
    path = tmp_path / "long.csv"
    path.write_bytes(b"x" * 101)

    assert len(read_bytes(path, 101)) == 101
    with pytest.raises(MeasurementError, match="more than"):
        read_bytes(path, 100)
    assert read_text(Path("/proc/self/status"), 10**5)  # a file that claims to be empty


@pytest.mark.parametrize("name", ["-", "/dev/stdin", "/dev/fd/0"])
def test_standard_input_is_read(name):
    result = run("signature", "sfs", name, "--csv", input=CURVE.encode())

    assert result.returncode == 0, result.stderr
    assert b"base_response_time" in result.stdout


def test_a_command_in_the_place_of_a_file(tmp_path):
    reading, writing = os.pipe()
    os.write(writing, CURVE.encode())
    os.close(writing)
    try:
        result = run("signature", "sfs", f"/dev/fd/{reading}", "--csv", pass_fds=[reading])
    finally:
        os.close(reading)

    assert result.returncode == 0, result.stderr


def test_an_endless_pipe_is_read_to_the_limit_only():
    with Path("/dev/zero").open("rb") as endless:
        result = run("signature", "sfs", "-", stdin=endless)

    assert result.returncode == 2
    assert result.stderr.decode().startswith("error: -: the file is larger than the limit of 20 MB")
