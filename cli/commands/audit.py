"""``headway audit``: whether a load test can be trusted."""

from typing import TYPE_CHECKING

import click

from headway.cli.main import used
from headway.cli.options import Format, format_options, hint_options, window_options
from headway.cli.output import present, progress
from headway.cli.pictures import Drawing, plot_option

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints

FORMS = (
    "headway audit load_tests/wrk",
    "headway audit load_tests/k6 --arrivals constant",
)


@used("audit", *FORMS)
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@hint_options
@window_options
@format_options
@plot_option
def command(
    files: tuple[str, ...],
    hints: "Hints",
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Audit measured files."""
    from headway.models.analysis.audit import audit
    from headway.models.reading.gather import megabytes
    from headway.models.reading.loadtest import read_load_test

    with progress("reading", megabytes(files)) as advance:
        answer = audit(read_load_test(files, advance=advance, hints=hints))
    present(answer, output_format, plot)
