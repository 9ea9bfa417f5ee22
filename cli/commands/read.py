"""``headway read``: read files of load generators and monitors as one curve."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.main import used
from headway.cli.options import Format, format_options, hint_options, window_options
from headway.cli.output import drawings, present, progress, write_and_say
from headway.cli.pictures import Drawing, plot_option

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints

FORMS = (
    "headway read load_tests/wrk",
    "headway read curve.csv --csv",
)


@used("read", *FORMS)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write CSV."
)
@hint_options
@window_options
@click.option("--wide", "-w", is_flag=True, help="Show all columns, however wide the table.")
@format_options
@plot_option
def command(
    files: tuple[str, ...],
    out: Path | None,
    hints: "Hints",
    wide: bool,  # noqa: FBT001
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Read measured files as one curve."""
    from headway.models.reading.gather import megabytes
    from headway.models.reading.loadtest import read_load_test

    with progress("reading", megabytes(files)) as advance:
        answer = read_load_test(files, advance=advance, hints=hints)
    if out is None:
        present(replace(answer, wide=wide), output_format, plot)
        return
    for path, content in [(out, answer.to_csv().encode()), *drawings(answer, plot)]:
        write_and_say(path, content)
