"""``headway gate``: whether the load test of a build lets it pass, for a pipeline."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.main import used
from headway.cli.options import (
    Format,
    check_place,
    format_options,
    hint_options,
    twins,
    window_options,
)
from headway.cli.output import present, progress

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints

FORMS = (
    "headway gate after.csv --baseline before.csv",
    "headway gate after.csv --baseline before.csv --junit gate.xml",
)
_SUMMARY, _JUNIT = twins("--summary, --junit FILE", "Write the checks as Markdown, as JUnit XML.")


def _place(_c: click.Context, _p: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before doing any work."""
    if path is not None:
        check_place(path)
    return path


@used("gate", *FORMS)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--baseline", metavar="PLACE", help="Load test of the previous build: file or folder."
)
@click.option("--at-most", metavar="SHARE", help="Largest worsening that is allowed (5%).")
@click.option("--strict", is_flag=True, help="Also fail on warnings and undecided comparisons.")
@click.option(
    "--summary",
    cls=_SUMMARY,
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=_place,
    help="Write the checks as Markdown.",
)
@click.option(
    "--junit",
    cls=_JUNIT,
    metavar="FILE",
    type=click.Path(path_type=Path),
    callback=_place,
    help="Write the checks as JUnit XML.",
)
@hint_options
@window_options
@format_options
def command(
    files: tuple[str, ...],
    baseline: str | None,
    at_most: str | None,
    strict: bool,  # noqa: FBT001 - a flag
    summary: Path | None,
    junit: Path | None,
    hints: "Hints",
    output_format: Format | None,
) -> int:
    """Audit a load test and compare it with a baseline; exit code 1 where it may not pass."""
    from headway.models.inference import gate
    from headway.models.inference.builds import USUAL
    from headway.models.language.units import ONE, quantity
    from headway.models.reading.gather import megabytes
    from headway.models.reading.loadtest import read_load_test
    from headway.models.showing.fitted import gates

    allowed = USUAL if at_most is None else quantity(at_most, ONE, "--at-most")
    with progress("reading", megabytes(files)) as advance:
        after = read_load_test(files, advance=advance, hints=hints)
    before = None if baseline is None else read_load_test([baseline], hints=hints)
    answer = gate.gate(after, before, allowed, strict)
    written = [(summary, gates.markdown), (junit, gates.junit)]
    outputs = [(path, write(answer).encode()) for path, write in written if path is not None]
    present(answer, output_format, files=outputs)
    return 0 if answer.passes else 1
