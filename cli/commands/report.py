"""``headway report``: one page of a model, of measurements, or of both compared."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.curves import curve_at_settings, one_curve
from headway.cli.main import used
from headway.cli.methods import MethodName
from headway.cli.options import (
    chosen_model,
    complete_model,
    families,
    free_option,
    hint_options,
    load_limits,
    names_of,
    preset_option,
    range_options,
    runs_measured,
    set_option,
    window_options,
)
from headway.cli.output import working
from headway.errors import visible
from headway.models.files.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from headway.models.analysis.goals import Goal
    from headway.models.measured.measurements import Measurements
    from headway.models.reading.hints import Hints
    from headway.models.reading.loadtest import LoadTest, Measured
    from headway.models.reading.traces import Traces
    from headway.models.reports.kinds.making import Spelling
    from headway.models.reports.paged import Paged
    from headway.models.reports.report import Report

FORMS = (
    "headway report server --data curve.csv --out curve.html",
    "headway report nfs-server --preset raid --out raid.html",
)
_OPTIONS = {"measurements": "data", "low": "from", "high": "to", "settings": "set"}


@used("report", *FORMS)
@click.argument("model", required=False, shell_complete=complete_model)
@click.option("--data", multiple=True, metavar="FILE", help="Measurements (optional); repeatable.")
@click.option(
    "--out",
    required=True,
    metavar="FILE.html",
    type=click.Path(path_type=Path),
    help="The page to write.",
)
@click.option(
    "--target",
    metavar="LIMIT",
    help="Find the highest load within a limit: 'response_time_p99<=50ms'.",
)
@click.option("--over", metavar="DAY", help="Follow a load over time: a CSV, or 24h.")
@click.option(
    "--method",
    metavar="NAME",
    type=MethodName(),
    help="Method for the day, with --over: any of 'headway methods'.",
)
@click.option("--baseline", metavar="PLACE", help="Load test of the previous build; without MODEL.")
@free_option
@click.option(
    "--forms",
    metavar="A,B",
    help="Candidate forms: names, files or all.",
    shell_complete=complete_model,
)
@preset_option
@set_option
@range_options
@hint_options
@window_options
@click.pass_context
def command(
    context: click.Context,
    model: str | None,
    data: tuple[str, ...],
    out: Path,
    target: str | None,
    over: str | None,
    method: str | None,
    baseline: str | None,
    free: str | None,
    forms: str | None,
    preset: str | None,
    settings: tuple[str, ...],
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    hints: "Hints",
) -> None:
    """Write a report; for the name of a family, on its form that suits the measurements."""
    from headway.models.reports.kinds.making import Asked, page_of, refuse
    from headway.models.reports.report import page_place

    page_place(out)
    typed = shlex.join(["headway", *(context.obj or [])])
    goal = None if target is None else _limit(target)
    unset = free is None and preset is None and not settings
    report: Paged
    with working("making the page") as tell:
        if data and over is None and unset and model in families():
            refuse({"--baseline": baseline}, "a page without a model")
            report = _of_family(model, data, hints, forms, x, y, low, high, typed, goal, tell)
        else:
            chosen = None if model is None else chosen_model(model, preset, settings)
            read: Callable[..., Measured] = _load_test if model is None else _measured
            low_end, high_end = load_limits(low, high, chosen)
            asked = Asked(
                model=chosen,
                measurements=read(data, hints) if data else None,
                baseline=None if baseline is None else _load_test((baseline,), hints),
                free=names_of(free),
                x=x,
                y=y,
                low=low_end,
                high=high_end,
                fixed=_set_by_hand(settings),
                target=goal,
                over=over,
                method=method,
                command=typed,
                forms=forms,
                preset=preset,
                settings=settings,
            )
            page = page_of(asked, _spelling())
            many = ", ".join(families())
            refuse({"--forms": forms}, f"{many} as the model, without --free, --preset and --set")
            report = page.make(asked)
        content = report.to_html().encode()
    write_whole(out, content)
    click.echo(f"wrote {visible(str(out))} ({len(content) / 1000:.0f} kB)", err=True)


def _spelling() -> "Spelling":
    """How a command names arguments, and says what to give."""
    from headway.models.reports.kinds.making import Spelling

    return Spelling(
        lambda name: f"--{_OPTIONS.get(name, name)}",
        "a model; give MODEL, such as server",
        "measurements; give --data FILE",
        "a load over time; give --over DAY",
        "--over",
    )


def _load_test(data: tuple[str, ...], hints: "Hints") -> "LoadTest":
    """What load tests measured."""
    from headway.models.reading.loadtest import read_load_test

    return read_load_test(data, hints=hints)


def _limit(target: str) -> "Goal":
    """Read --target."""
    from headway.models.inference.forecasting.highest_load import read_limit

    return read_limit(target)


def _of_family(
    family: str,
    data: tuple[str, ...],
    hints: "Hints",
    forms: str | None,
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    typed: str,
    goal: "Goal | None",
    tell: "Callable[[str, float], None]",
) -> "Report":
    """Fit every form of a family, and report on the best one."""
    from headway.models.inference.server import fit_server
    from headway.models.reports.report import fitted_report

    limits = load_limits(low, high)
    listed = None if forms is None else names_of(forms)
    curve = _curve(data, hints)
    y = y or _limited_column(curve, goal, x)
    fit = fit_server(curve, x, y, *limits, family=family, forms=listed, progress=tell)
    tell("drawing", 0.0)
    return fitted_report(fit, typed, goal)


def _limited_column(curve: "Measurements", goal: "Goal | None", x: str | None) -> str | None:
    """The column that measures a limited percentile, to be fitted; None where there is none."""
    from headway.models.inference.form_curve import limited_column

    return None if goal is None else limited_column(curve, goal, x)


def _set_by_hand(settings: tuple[str, ...]) -> set[str]:
    """Names of parameters that --set gives."""
    return {text.partition("=")[0].strip() for text in settings}


def _measured(data: tuple[str, ...], hints: "Hints") -> "Measurements | Traces":
    """What a model is compared with."""
    from headway.models.reading.traces import traces_at

    return traces_at(data) or _curve(data, hints)


def _curve(data: tuple[str, ...], hints: "Hints") -> "Measurements":
    """One table of a file, of the runs of a load test, or of curves with their settings."""
    if len(data) > 1 and not any("@" in text for text in data):
        return runs_measured(data, hints)
    return one_curve([curve_at_settings(text, hints) for text in data])
