"""``headway reproduce``: published tables, recomputed."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from headway.cli.main import COMMANDS
from headway.cli.options import Format, check_picture, format_options, plot_option
from headway.cli.output import present

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLE = "Example: headway reproduce thesis/table-3.3"
DIFFERENT = 1


def _complete(_c: click.Context, _p: click.Parameter, text: str) -> list[CompletionItem]:
    from headway.models.reproduction import DOCUMENTS, published

    names = [document.name for document in DOCUMENTS]
    names += [f"{document.name}/{table.name}" for document, table in published()]
    return [CompletionItem(name) for name in names if name.startswith(text)]


@click.command("reproduce", help=COMMANDS["reproduce"], epilog=EXAMPLE)
@click.argument("table", required=False, shell_complete=_complete)
@click.option("--errata", "view", flag_value="errata", help="Only what print got wrong, and why.")
@click.option("--cells", "view", flag_value="cells", help="Every cell (so if a TABLE is named).")
@format_options
@plot_option
def command(
    table: str | None, view: str | None, output_format: Format | None, plot: Path | None
) -> int:
    """Recompute all tables, those of one document, or one table cell by cell."""
    from headway.models.reproduction import Reproduction, View, published, recompute

    check_picture(plot)
    chosen = published(table)
    with _progress(len(chosen)) as report:
        parts = recompute(chosen, report)
    usual = View.SUMMARY if table is None else View.CELLS
    found = Reproduction(parts, View(view) if view else usual)
    present(found, output_format, plot)
    return 0 if found.holds else DIFFERENT


@contextmanager
def _progress(steps: int) -> "Iterator[Callable[[str], None] | None]":
    """Show which table is recomputed, on stderr and only on a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=steps)

        def report(name: str) -> None:
            bar.update(task, advance=1, description=name)

        yield report
