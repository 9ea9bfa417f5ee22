"""``headway report``: one page that holds a model against measurements."""

import os.path
import shlex
from pathlib import Path

import click

from headway.cli.main import COMMANDS
from headway.cli.options import (
    chosen_model,
    data_option,
    free_option,
    load_limits,
    measured,
    model_argument,
    names_of,
    preset_option,
    range_options,
    set_option,
)
from headway.cli.writing import write_whole
from headway.errors import OutputError, visible

EXAMPLE = "Example: headway report nfs-server --preset raid --data curve.csv --out raid.html"


@click.command("report", help=COMMANDS["report"], epilog=EXAMPLE)
@model_argument
@data_option
@click.option(
    "--out",
    required=True,
    metavar="FILE.html",
    type=click.Path(path_type=Path),
    help="The page to write.",
)
@free_option
@preset_option
@set_option
@range_options
@click.pass_context
def command(
    context: click.Context,
    model: str,
    data: Path,
    out: Path,
    free: str | None,
    preset: str | None,
    settings: tuple[str, ...],
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
) -> None:
    """Write a report."""
    from headway.models.reports.report import make_report
    from headway.models.signatures.sfs import Range

    _check(out)
    chosen = chosen_model(model, preset, settings)
    set_names = {text.partition("=")[0].strip() for text in settings}
    limits = Range(*load_limits(low, high, chosen))
    typed = shlex.join(["headway", *(context.obj or [])])
    curve = measured(data)
    report = make_report(chosen, curve, names_of(free), x, y, limits, set_names, typed)
    content = report.to_html().encode()
    write_whole(out, content)
    click.echo(f"wrote {visible(str(out))} ({len(content) / 1000:.0f} kB)", err=True)


def _check(out: Path) -> None:
    """Refuse a page's name before any work is done for it."""
    if out.suffix.lower() not in (".html", ".htm"):
        msg = f"--out {out}: a page ends in .html"
        raise OutputError(msg)
    is_folder, has_place = map(os.path.isdir, (out, out.parent))
    why = "it is a folder" if is_folder else "" if has_place else "no such folder"
    if why:
        msg = f"{out}: cannot be written ({why})"
        raise OutputError(msg)
