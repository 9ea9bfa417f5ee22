"""Run headway's command line in this process."""

import contextlib
import io
from dataclasses import dataclass

from headway.cli.main import main


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


def headway(*arguments):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
    return Result(code, out.getvalue(), err.getvalue())


def refusal(*arguments):
    """Run a command that must be refused; give back its one line."""
    result = headway(*arguments)
    assert result.code == 2, result
    assert result.out == ""
    assert result.err.count("\n") == 1, result.err
    assert result.err.startswith("error: ")
    assert "Traceback" not in result.err
    return result.err.removeprefix("error: ").rstrip()
