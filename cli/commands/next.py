"""``headway next``: the next load to measure, until the highest load under a limit is known."""

import math
import os.path
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.main import used
from headway.cli.numbers import Whole
from headway.cli.options import (
    Format,
    complete_limit,
    format_options,
    hint_options,
    load_limits,
    twins,
    window_options,
)
from headway.cli.output import present, working
from headway.errors import MeasurementError

if TYPE_CHECKING:
    from headway.models.inference.limit_search import NextRun
    from headway.models.reading.hints import Hints
    from headway.models.reading.loadtest import LoadTest

FINISHED = 3
"""Exit code where no further run is needed."""

FORMS = (
    "headway next --target 'response_time<=300ms' curve.csv",
    "headway next --target 'response_time<=300ms' curve.csv --precision 2%",
)

_BUDGET, _PRECISION = twins(
    "--budget, --precision", "Runs in all (30); width of the interval (5%)."
)
_FROM, _TO = twins("--from, --to LOAD", "Lowest and highest load that may be measured.")


@used("next", *FORMS)
@click.argument("place", metavar="FOLDER_OR_FILE")
@click.option(
    "--target",
    required=True,
    metavar="LIMIT",
    help="The limit: 'response_time_p99<=300ms'.",
    shell_complete=complete_limit,
)
@click.option("--budget", cls=_BUDGET, type=Whole(), metavar="N", help="The most runs, in all.")
@click.option(
    "--precision", cls=_PRECISION, metavar="SHARE", help="Width of the interval at which to stop."
)
@click.option("--from", "low", cls=_FROM, metavar="LOAD", help="Lowest load to measure.")
@click.option("--to", "high", cls=_TO, metavar="LOAD", help="Highest load to measure.")
@hint_options
@window_options
@format_options
def command(
    place: str,
    target: str,
    budget: int | None,
    precision: str | None,
    low: str | None,
    high: str | None,
    hints: "Hints",
    output_format: Format | None,
) -> int:
    """Print the next load and exit with 0; the answer and 3 where the search has ended."""
    from headway.models.inference.forecasting.highest_load import PRECISION, read_limit
    from headway.models.inference.limit_search import MOST_RUNS, next_run
    from headway.models.language.units import ONE, quantity
    from headway.models.showing.fitted.next_runs import known

    share = PRECISION if precision is None else quantity(precision, ONE, "--precision")
    runs = MOST_RUNS if budget is None else budget
    read_limit(target)
    test = _so_far(place, hints)
    lowest, highest = _ends(low, high, test)
    with working("looking for the next load") as tell:
        run = next_run(test, target, runs, (max(lowest, 0.0), highest), share, tell)
    if output_format is not None:
        present(run, output_format)
    else:
        click.echo(known(run) if run.at is None else run.number)
        click.echo(_why(run), err=True)
    return FINISHED if run.at is None else 0


def _why(run: "NextRun") -> str:
    """Why the next run is where it is, or why there is none."""
    from headway.numerals import counted

    count = counted(run.runs, "run")
    return f"finished after {count}: {run.reason}" if run.at is None else f"{count}: {run.reason}"


def _so_far(place: str, hints: "Hints") -> "LoadTest | None":
    """Read the runs so far; none in an empty folder or file, or in a file that is yet to come."""
    from headway.models.files.shipped import shipped_or_own
    from headway.models.reading.loadtest import Passed, read_load_test

    if _is_empty(place, shipped_or_own(Path(place))):
        return None
    test = read_load_test([place], hints=hints)
    unread = [each for each in test.left_out if each.passed in {Passed.EMPTY, Passed.UNKNOWN}]
    if unread and not hints.skip_bad:
        msg = f"{unread[0].reason}; a run that failed? remove it, or go on with --skip-bad"
        raise MeasurementError(msg)
    return test


def _is_empty(place: str, path: Path) -> bool:
    """Whether nothing is measured yet; a folder that is not there may be misspelt."""
    if os.path.isdir(path):  # noqa: PTH112 - takes any name at all
        files = (each for each in path.rglob("*") if each.is_file())
        return all(each.name.startswith(".") for each in files)
    if os.path.exists(path):  # noqa: PTH110
        return os.path.isfile(path) and not os.path.getsize(path)  # noqa: PTH113, PTH202
    if any(mark in place for mark in "*?["):
        return False
    if path.suffix and os.path.isdir(path.parent):  # noqa: PTH112
        return True
    msg = f"{place}: there is no such folder; create it first, and write one file per run into it"
    raise MeasurementError(msg)


def _ends(low: str | None, high: str | None, test: "LoadTest | None") -> tuple[float, float]:
    """Read --from and --to: rates or clients, as the runs so far have them."""
    from headway.models.language.units import quantity, unit

    if test is not None and test.points[0].load_unit == "clients":
        ends = [
            None if text is None else quantity(text, unit("job"), name)
            for text, name in ((low, "--from"), (high, "--to"))
        ]
        return ends[0] or 0.0, ends[1] or math.inf
    return load_limits(low, high)
