"""``headway report``: one page that holds a model against measurements."""

import os.path
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.main import COMMANDS
from headway.cli.options import (
    chosen_model,
    data_option,
    families,
    free_option,
    hint_options,
    load_limits,
    measured,
    model_argument,
    names_of,
    preset_option,
    range_options,
    set_option,
)
from headway.errors import OutputError, visible
from headway.models.files.whole import write_whole

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints
    from headway.models.reports.report import Report
    from headway.models.structure.model import Model

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
@hint_options
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
    hints: "Hints",
) -> None:
    """Write a report; of a family's name, on the form of it that suits the measurements."""
    _check(out)
    typed = shlex.join(["headway", *(context.obj or [])])
    if model in families() and free is None and preset is None and not settings:
        report = _of_family(model, data, hints, x, y, low, high, typed)
    else:
        chosen = chosen_model(model, preset, settings)
        report = _of_model(chosen, data, hints, names_of(free), settings, x, y, low, high, typed)
    content = report.to_html().encode()
    write_whole(out, content)
    click.echo(f"wrote {visible(str(out))} ({len(content) / 1000:.0f} kB)", err=True)


def _of_family(
    family: str,
    data: Path,
    hints: "Hints",
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    typed: str,
) -> "Report":
    """Fit every form of a family, and report on the one that suits."""
    from headway.models.inference.server import fit_server
    from headway.models.reports.report import server_report
    from headway.models.signatures.sfs import Range

    limits = Range(*load_limits(low, high))
    return server_report(fit_server(measured(data, hints), x, y, limits, family=family), typed)


def _of_model(
    model: "Model",
    data: Path,
    hints: "Hints",
    free: list[str],
    settings: tuple[str, ...],
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    typed: str,
) -> "Report":
    """Report on a model as it is, or with some of its parameters fitted."""
    from headway.models.reports.report import make_report
    from headway.models.signatures.sfs import Range

    set_names = {text.partition("=")[0].strip() for text in settings}
    limits = Range(*load_limits(low, high, model))
    return make_report(model, measured(data, hints), free, x, y, limits, set_names, typed)


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
