"""``headway fit``: fit parameters to measured curves."""

import os.path
import shlex
from collections.abc import Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from headway.cli.crews import CrewContext, crew_options
from headway.cli.curves import curve_at_settings, curves_option, has_settings, one_curve
from headway.cli.main import used
from headway.cli.numbers import Reals, Whole
from headway.cli.options import (
    Format,
    check_place,
    chosen_model,
    complete_limit,
    complete_model,
    complete_setting,
    families,
    family_of,
    format_options,
    free_option,
    hint_options,
    load_limits,
    model_argument,
    names_of,
    preset_option,
    range_options,
    set_option,
    twins,
    window_options,
)
from headway.cli.output import Advance, Presentable, present, progress, working
from headway.cli.pictures import Drawing, plot_option
from headway.cli.sweeps import check_above
from headway.errors import InvalidParameter
from headway.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from headway.models.inference.fit import Fit
    from headway.models.inference.server import ServerFit
    from headway.models.inference.side_by_side import SideBySide
    from headway.models.measured.measurements import Measurements
    from headway.models.reading.hints import Hints
    from headway.models.structure.model import Model

LOSSES = ("linear", "soft_l1", "huber", "cauchy")
MOST_ROUNDS = 100_000
_SATURATION = "saturation_throughput"
FORMS = (
    "headway fit server --data curve.csv",
    "headway fit nfs-server --data curve.csv --free delay,cpu_time",
)


def _model_file(_c: click.Context, _p: click.Parameter, out: Path | None) -> Path | None:
    """Refuse a model file that cannot be written, before doing any work."""
    if out is not None and out.suffix != ".toml":
        msg = f"--out {out}: the name of a model file must end in .toml"
        raise InvalidParameter(msg)
    if out is not None:
        check_place(out)
    return out


def _rounds(_c: click.Context, _p: click.Parameter, rounds: int) -> int:
    if not 0 <= rounds <= MOST_ROUNDS:
        msg = f"--bootstrap is {rounds}; it must be between 0 and {MOST_ROUNDS}"
        raise InvalidParameter(msg)
    return rounds


_FIX, _BOUND = twins("--fix, --bound NAME=VALUE", "Fix at a value, or bound within LOW:HIGH.")
_BOOTSTRAP, _LOSS = twins(
    "--bootstrap N, --loss NAME", "N refits; loss linear, soft_l1, huber or cauchy."
)
_OUT, _ANYWAY = twins(
    "--out FILE.toml, --anyway", "Write the fitted model, even if the fit is poor."
)
_AT, _NEXT = twins("--at, --next, --target", "Predict at 200:1400:100; suggest the next run.")


@used("fit", *FORMS)
@model_argument
@curves_option
@free_option
@click.option(
    "--fix",
    cls=_FIX,
    multiple=True,
    metavar="NAME=VALUE",
    help="Fix a parameter; same as --set.",
    shell_complete=complete_setting,
)
@click.option(
    "--bound",
    cls=_BOUND,
    multiple=True,
    metavar="NAME=LOW:HIGH",
    help="Bounds of a free parameter.",
    shell_complete=complete_setting,
)
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
@click.option(
    "--loss",
    cls=_LOSS,
    metavar="NAME",
    type=click.Choice(LOSSES),
    default="linear",
    help="linear, soft_l1, huber or cauchy.",
)
@click.option(
    "--bootstrap",
    cls=_BOOTSTRAP,
    type=Whole(),
    default=0,
    metavar="N",
    help="Bootstrap intervals from N refits.",
    callback=_rounds,
)
@click.option(
    "--out",
    cls=_OUT,
    metavar="FILE.toml",
    type=click.Path(path_type=Path),
    help="Write the fitted model.",
    callback=_model_file,
)
@click.option(
    "--anyway", cls=_ANYWAY, is_flag=True, help="Write it even if it does not describe the data."
)
@click.option("--at", cls=_AT, metavar="LOADS", help="Predict at loads: 1200, or 200:1400:100.")
@click.option(
    "--percentile",
    "percents",
    cls=_NEXT,
    type=Reals(),
    metavar="P,Q",
    help="Also predict percentiles of the response time: 95,99.",
)
@click.option(
    "--next",
    "wanted",
    cls=_NEXT,
    is_flag=False,
    flag_value=_SATURATION,
    metavar="[WHAT]",
    help="Suggest which load to measure next.",
)
@click.option(
    "--target",
    cls=_NEXT,
    metavar="LIMIT",
    help="For --next: seek the highest load under a limit, 'response_time_p99<=300ms'.",
    shell_complete=complete_limit,
)
@click.option(
    "--budget", cls=_NEXT, type=Whole(), metavar="N", help="For --target: the most further runs."
)
@click.option(
    "--precision",
    cls=_NEXT,
    metavar="SHARE",
    help="For --target: width of the interval to stop at, 5%.",
)
@crew_options
@format_options
@plot_option
def command(
    model: str,
    data: tuple[str, ...],
    free: str | None,
    fix: tuple[str, ...],
    bound: tuple[str, ...],
    forms: str | None,
    preset: str | None,
    settings: tuple[str, ...],
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    hints: "Hints",
    loss: str,
    bootstrap: int,
    out: Path | None,
    anyway: bool,  # noqa: FBT001 - a flag
    at: str | None,
    percents: tuple[float, ...] | None,
    wanted: str | None,
    target: str | None,
    budget: int | None,
    precision: str | None,
    hands: CrewContext,
    output_format: Format | None,
    plot: Drawing | None,
) -> int:
    """Fit a model to measurements; exit code 1 where it does not describe them."""
    limits = load_limits(low, high)
    family = family_of(model) if free is None and preset is None else ""
    every = f"--free; without it headway tries every form of {model}"
    needs = {
        "--percentile": (percents, at, "--at; give the loads at which to predict"),
        "--forms": (
            forms,
            model == family,
            f"{', '.join(families())} as the model, without --free",
        ),
        "--fix": (fix, not family, every),
        "--set": (settings, not family, every),
        "--bound": (bound, not family, every),
    }
    _check_needs(needs)
    seek = _sought(wanted, target, budget, precision)
    check_above(at)  # a fit takes long
    y = y or _column_of(target, data, hints, x, is_of_forms=bool(family))
    fitted: Fit | ServerFit | SideBySide
    if family:
        listed = forms if model == family else model
        fitted = _family(family, data, hints, x, y, limits, loss, listed, hands)
    else:
        chosen = chosen_model(model, preset, (*settings, *fix))
        fitted = _fitted(chosen, data, hints, free, bound, x, y, limits, loss, bootstrap, hands)
    is_plain, is_good = at is None and wanted is None, fitted.describes
    files = [] if out is None else [(out, _toml(fitted, out))]
    answer = fitted if is_plain else _forecast(fitted, at, percents, wanted, seek)
    present(answer, output_format, plot, files if is_good or anyway else [])
    if files and not (is_good or anyway):
        reason = "the model does not describe these data"
        click.echo(f"{out} is not written: {reason}; --anyway writes it", err=True)
    return 0 if is_good else 1


def _check_needs(needs: Mapping[str, tuple[object, object, str]]) -> None:
    """Refuse an option that is given without what it needs.

    Parameters
    ----------
    needs
        By option: what was given, whether what it needs is there, and what that is.
    """
    for option, (given, is_there, what) in needs.items():
        if given not in (None, ()) and is_there in (None, False):
            msg = f"{option} needs {what}"
            raise InvalidParameter(msg)


@dataclass(frozen=True)
class _Sought:
    """A limit under which the highest load is sought, runs that are left, and the precision."""

    target: str
    budget: int | None
    precision: float


def _sought(
    wanted: str | None, target: str | None, budget: int | None, precision: str | None
) -> _Sought | None:
    """Read --target, --budget and --precision, which belong to --next."""
    from headway.models.inference.forecasting.highest_load import (
        PRECISION,
        check_search,
        read_limit,
    )
    from headway.models.language.units import ONE, quantity

    if target is None:
        if budget is not None or precision is not None:
            raise InvalidParameter("--budget and --precision need --next with --target; add them")
        return None
    if wanted is None:
        raise InvalidParameter("--target needs --next; add it")
    if wanted != _SATURATION:
        msg = f"--next {wanted} and --target ask for two things; give one of them"
        raise InvalidParameter(msg)
    read_limit(target)
    share = PRECISION if precision is None else quantity(precision, ONE, "--precision")
    check_search(budget, share)
    return _Sought(target, budget, share)


def _column_of(
    target: str | None,
    data: tuple[str, ...],
    hints: "Hints",
    x: str | None,
    *,
    is_of_forms: bool,
) -> str | None:
    """The column of a limited percentile in the only file; None where there is none."""
    if target is None:
        return None
    from headway.models.inference.forecasting.highest_load import percentile_column
    from headway.models.inference.form_curve import limited_column

    tables = [curve_at_settings(text, hints) for text in data if len(data) == 1]
    if not tables:
        return None
    return (
        limited_column(tables[0], target, x)
        if is_of_forms
        else percentile_column(tables[0], target)
    )


def _forecast(
    answer: Presentable,
    at: str | None,
    percents: tuple[float, ...] | None,
    wanted: str | None,
    sought: _Sought | None,
) -> Presentable:
    """Add predictions at given loads, and advice on what to measure next."""
    from headway.cli.sweeps import sweep
    from headway.models.inference.fit import Fit
    from headway.models.inference.forecast import Forecast
    from headway.models.inference.server import ServerFit

    if not isinstance(answer, Fit | ServerFit):
        raise InvalidParameter("--at and --next need one curve; give one --data")
    one = answer.best if isinstance(answer, ServerFit) else answer
    loads = None if at is None else sweep(at, one.comparison.load.unit, "--at")
    predictions = None if loads is None else answer.predict(loads, percents)
    if sought is not None:
        highest = answer.highest_load(sought.target, sought.budget, sought.precision)
        return Forecast(answer, predictions, highest)
    return Forecast(answer, predictions, None if wanted is None else answer.next_loads(wanted))


def _toml(answer: Any, out: Path) -> bytes:
    from headway.models.files.writing import beside

    if not hasattr(answer, "to_toml"):
        raise InvalidParameter("--out writes one model; give one --data")
    typed = click.get_current_context().obj or []
    text: str = answer.to_toml(shlex.join(["headway", *typed]))
    return beside(out.parent, text).encode()


def _family(
    family: str,
    data: tuple[str, ...],
    hints: "Hints",
    x: str | None,
    y: str | None,
    limits: tuple[float, float],
    loss: str,
    forms: str | None,
    hands: CrewContext,
) -> "ServerFit | SideBySide":
    """Fit every form of a family, or the listed ones, to every curve."""
    from headway.models.inference.server import fit_server
    from headway.models.inference.side_by_side import SideBySide
    from headway.models.reading.systems import systems_in
    from headway.models.running.spreading import spread

    listed = None if forms is None else names_of(forms)
    curves = [curve_at_settings(path, hints) for name in data for path in _expanded(name)]
    curves = [part for curve in curves for part in (systems_in(curve).values() or [curve])]
    curves = [one_curve(curves)] if any(map(has_settings, curves)) else curves
    least, most = limits
    fit = partial(
        fit_server,
        x=x,
        y=y,
        low=least,
        high=most,
        loss=loss,
        family=family,
        forms=listed,
    )
    with progress("fitting", len(curves)) as advance, hands as crew:
        if crew is None or len(curves) == 1:
            fits = [fit(curve, progress=_prefixed(curve, curves, advance)) for curve in curves]
        else:
            fits = [_advanced(one, advance) for one in spread(fit, curves, crew)]
    return fits[0] if len(fits) == 1 else SideBySide(tuple(fits))


def _advanced(fitted: "ServerFit", advance: Advance) -> "ServerFit":
    """Report that a curve is being fitted."""
    advance(fitted.best.measurements.source.rpartition("/")[2])
    return fitted


def _prefixed(
    curve: "Measurements", curves: "list[Measurements]", advance: Advance
) -> "Callable[[str, float], None]":
    return _naming(curve.source, advance) if len(curves) > 1 else advance


def _naming(source: str, advance: Advance) -> "Callable[[str, float], None]":
    """Prefix progress messages with the name of the curve."""
    name = source.rpartition("/")[2]
    return lambda doing, share: advance(f"{name}: {doing}", share)


def _expanded(name: str) -> list[str]:
    """The CSV files of a folder, or a single file."""
    is_folder = os.path.isdir(name)  # noqa: PTH112 - takes any name at all
    return sorted(map(str, Path(name).glob("*.csv"))) or [name] if is_folder else [name]


def _fitted(
    model: "Model",
    data: tuple[str, ...],
    hints: "Hints",
    free: str | None,
    bound: tuple[str, ...],
    x: str | None,
    y: str | None,
    limits: tuple[float, float],
    loss: str,
    bootstrap: int,
    hands: CrewContext,
) -> "Fit":
    """Fit one model to one curve, or to several with known differences."""
    from headway.models.inference.fitting import fit_model

    tables = [curve_at_settings(text, hints) for text in data]
    if len(tables) > 1 and not any(map(has_settings, tables)):
        many = ", ".join(families())
        msg = (
            f"{model.name} is fitted to one --data at a time; for several, use {many} or state "
            f"what differed in each: {data[1]}@NAME=+VALUE"
        )
        raise InvalidParameter(msg)
    bounds = dict(_bound(model, text) for text in bound)
    curve = one_curve(tables)
    told = nullcontext() if bootstrap else working("fitting")
    with told, progress("bootstrap", bootstrap) as advance, hands as crew:
        fit = fit_model(
            model,
            curve,
            names_of(free),
            x,
            y,
            *limits,
            bounds,
            loss,
            bootstrap,
            crew,
            progress=advance,
        )
    return fit.examined()


def _bound(model: "Model", text: str) -> tuple[str, tuple[float, float]]:
    """Read NAME=LOW:HIGH."""
    from headway.cli.sweeps import named_parameter
    from headway.models.language.units import quantity

    name, _, span = text.partition("=")
    low, colon, high = span.partition(":")
    if not colon:
        msg = f"--bound {text}: write NAME=LOW:HIGH, such as cpu_time=10us:2ms"
        raise InvalidParameter(msg)
    unit = named_parameter(model, name.strip()).unit
    ends = quantity(low, unit, name), quantity(high, unit, name)
    if not ends[0] < ends[1]:
        msg = f"--bound {text}: the lower end must be below the upper end"
        raise InvalidParameter(msg)
    return name.strip(), ends
