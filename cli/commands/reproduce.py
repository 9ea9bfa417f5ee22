"""``headway reproduce``: recompute published tables."""

import click

from headway.cli.main import used
from headway.cli.options import Format, format_options
from headway.cli.output import present, progress
from headway.cli.pictures import Drawing, plot_option

FORMS = (
    "headway reproduce thesis/table-3.3",
    "headway reproduce --errata",
)
DIFFERENT = 1


def _complete(_c: click.Context, _p: click.Parameter, text: str) -> list[str]:
    from headway.models.published.reproduction import DOCUMENTS, published

    names = [document.name for document in DOCUMENTS]
    names += [f"{document.name}/{table.name}" for document, table in published()]
    return [name for name in names if name.startswith(text)]


@used("reproduce", *FORMS)
@click.argument("table", required=False, shell_complete=_complete)
@click.option("--errata", "view", flag_value="errata", help="Show only the errata, and why.")
@click.option(
    "--cells", "view", flag_value="cells", help="Show every cell (the default for one TABLE)."
)
@format_options
@plot_option
def command(
    table: str | None, view: str | None, output_format: Format | None, plot: Drawing | None
) -> int:
    """Recompute all tables, those of one document, or one table cell by cell."""
    from headway.models.published.reproduction import Reproduction, View, published, recompute

    chosen = published(table)
    with progress("recomputing", len(chosen)) as advance:
        parts = recompute(chosen, advance)
    usual = View.SUMMARY if table is None else View.CELLS
    answer = Reproduction(parts, View(view) if view else usual)
    present(answer, output_format, plot)
    return 0 if answer.holds else DIFFERENT
