"""Where answers are written, or cannot be: links, full devices, streams that are closed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import headway, refusal

CALL = "import conftest; from headway.cli.main import main; main()"


def test_a_link_is_written_through(tmp_path):
    real, link = tmp_path / "real.svg", tmp_path / "link.svg"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    dangling, new = tmp_path / "dangling.svg", tmp_path / "new.svg"
    dangling.symlink_to(new)
    for path in (link, dangling):
        assert headway("show", "server-single", "--plot", path).code == 0

    assert link.is_symlink()
    assert dangling.is_symlink()
    assert "<svg" in real.read_text()
    assert "<svg" in new.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "dangling.svg", "link.svg", "new.svg", "real.svg",
    ]  # fmt: skip


@pytest.mark.parametrize("target", ["/dev/full", "loop.svg", "pipe"])
def test_links_to_where_nothing_can_be_written(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    Path("loop.svg" if target == "loop.svg" else "x.svg").symlink_to(target)

    name = "loop.svg" if target == "loop.svg" else "x.svg"
    assert "cannot be written" in refusal("show", "server-single", "--plot", name)
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("arguments", [("models",), ("--help",), ("solve", "--help")])
def test_output_that_cannot_be_printed(arguments):
    command = [sys.executable, "-c", CALL, *arguments]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )

    assert result.returncode == 2
    assert result.stderr.startswith("error: standard output: cannot be written")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_streams_that_a_shell_has_closed(closed):
    command = f'"{sys.executable}" -c "{CALL}" models {closed}'
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602

    assert result.returncode == (2 if closed == ">&-" else 0)
    assert "Traceback" not in result.stderr
