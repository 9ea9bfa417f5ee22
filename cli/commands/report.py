"""``headway report``: one page of a model, of measurements, or of both compared."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.curves import curve_at_settings, one_curve, traces_among
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
    from headway.models.reading.loadtest import LoadTest
    from headway.models.reports.paged import Paged
    from headway.models.reports.report import Report

FORMS = (
    "headway report server --data curve.csv --out curve.html",
    "headway report nfs-server --preset raid --out raid.html",
)


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
    from headway.models.reports.kinds.making import make_report, refuse, traces_report
    from headway.models.reports.report import page_place

    page_place(out)
    typed = shlex.join(["headway", *(context.obj or [])])
    goal = None if target is None else _limit(target)
    report: Paged
    with working("making the page") as tell:
        fitted = {"--free": free, "--forms": forms, "--x": x, "--from": low, "--to": high}
        by_hand = _set_by_hand(settings)
        if over is None:
            refuse({"--method": method}, "a load over time; give --over DAY")
        if model is None:
            of_model = {"--preset": preset, "--set": settings or None, "--y": y, "--target": target}
            refuse({**fitted, **of_model, "--over": over}, "a model; give MODEL, such as server")
            test, before = _load_test(data, hints), baseline and _load_test((baseline,), hints)
            report = make_report(None, test, command=typed, baseline=before)
        elif over is not None:
            without = {"--data": data or None, "--y": y, "--baseline": baseline}
            refuse({**fitted, **without}, "a page without --over")
            chosen = chosen_model(model, preset, settings)
            report = make_report(
                chosen, fixed=by_hand, command=typed, target=goal, over=over, method=method
            )
        elif not data:
            refuse({**fitted, "--baseline": baseline}, "measurements; give --data FILE")
            chosen = chosen_model(model, preset, settings)
            report = make_report(chosen, y=y, fixed=by_hand, command=typed, target=goal)
        elif model in families() and free is None and preset is None and not settings:
            report = _of_family(model, data, hints, forms, x, y, low, high, typed, goal, tell)
        else:
            many = ", ".join(families())
            refuse({"--forms": forms}, f"{many} as the model, without --free, --preset and --set")
            chosen = chosen_model(model, preset, settings)
            if traces := traces_among(data):
                only = "measurements in a table; traces are one point a load"
                refuse({**fitted, "--y": y, "--target": target, "--baseline": baseline}, only)
                report = traces_report(chosen, traces, typed)
            else:
                limits, curve = load_limits(low, high, chosen), _measured(data, hints)
                names = names_of(free)
                report = make_report(
                    chosen, curve, names, x, y, *limits, by_hand, typed, target=goal
                )
        content = report.to_html().encode()
    write_whole(out, content)
    click.echo(f"wrote {visible(str(out))} ({len(content) / 1000:.0f} kB)", err=True)


def _load_test(data: tuple[str, ...], hints: "Hints") -> "LoadTest | None":
    """What load tests measured; None without files."""
    from headway.models.reading.loadtest import read_load_test

    return read_load_test(data, hints=hints) if data else None


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
    curve = _measured(data, hints)
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


def _measured(data: tuple[str, ...], hints: "Hints") -> "Measurements":
    """One table of a file, of the runs of a load test, or of curves with their settings."""
    if len(data) > 1 and not any("@" in text for text in data):
        return runs_measured(data, hints)
    return one_curve([curve_at_settings(text, hints) for text in data])
