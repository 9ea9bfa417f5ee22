"""``headway sensitivity``: effects of parameters, the bottleneck, and values that meet a target."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.crews import CrewContext, crew_options, names_workers
from headway.cli.main import INTERRUPTED, used
from headway.cli.numbers import Whole
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    complete_output,
    complete_parameters,
    format_options,
    hint_options,
    measured,
    model_argument,
    names_of,
    preset_option,
    set_option,
    twins,
)
from headway.cli.output import Presentable, points_progress, present
from headway.cli.pictures import Drawing, plot_option
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.analysis.joint import JointTarget
    from headway.models.analysis.target import Target
    from headway.models.inference.fit import Fit
    from headway.models.reading.hints import Hints
    from headway.models.structure.model import Model
    from headway.models.sweeping.sweep import Sweep

_DATA, _FREE = twins("--data FILE, --free A,B", "First fit A,B to FILE, for intervals.")
_GLOBAL, _SAMPLES = twins("--global, --sample N", "Sobol indices over LOW:HIGH, A,B or ci95.")

FORMS = (
    "headway sensitivity nfs-server --set arrival_rate=500",
    "headway sensitivity nfs-server --preset raid --set arrival_rate=1000 \\\n"
    "  --target response_time=10ms --solve-for cpu_time",
)


@used("sensitivity", *FORMS)
@model_argument
@preset_option
@set_option
@closed_options
@click.option(
    "--data",
    cls=_DATA,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="First fit to this file, for intervals.",
)
@click.option(
    "--free",
    cls=_FREE,
    metavar="A,B",
    help="Parameters to fit.",
    shell_complete=complete_parameters,
)
@click.option(
    "--output",
    "outputs",
    metavar="A,B",
    help="Only these outputs, such as response_time_p99.",
)
@click.option(
    "--target",
    "targets",
    metavar="OUTPUT=VALUE",
    multiple=True,
    help="Target for an output; repeat with <= or >=.",
    shell_complete=complete_output,
)
@click.option(
    "--solve-for",
    "parameter",
    metavar="NAME",
    help="Parameter to vary to meet the targets.",
    shell_complete=complete_parameters,
)
@click.option(
    "--global",
    "is_global",
    cls=_GLOBAL,
    is_flag=True,
    help="Sobol indices of parameters with several values, otherwise of uncertain ones.",
)
@click.option(
    "--sample", "samples", cls=_SAMPLES, metavar="N", type=Whole(), help="Number of samples."
)
@click.option("--seed", metavar="N", type=Whole(), help="Random seed of the samples.")
@crew_options
@hint_options
@format_options
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    think: str | None,
    data: Path | None,
    free: str | None,
    outputs: str | None,
    targets: tuple[str, ...],
    parameter: str | None,
    is_global: bool,  # noqa: FBT001
    samples: int | None,
    seed: int | None,
    hands: CrewContext,
    hints: "Hints",
    output_format: Format | None,
    plot: Drawing | None,
) -> int:
    """Differentiate a model."""
    alone = bool(targets) or data is not None
    for wrong, words in (
        ((not targets) != (parameter is None), "use --target and --solve-for together"),
        (outputs is not None and alone, "--output cannot be combined with --data or --target"),
        ((data is None) != (free is None), "use --data and --free together"),
        (is_global and alone, "--global cannot be combined with --data or --target"),
        (samples is not None and not is_global, "--sample needs --global"),
        (seed is not None and not is_global, "--seed needs --global"),
        (names_workers(hands) and not is_global, "--workers and --cluster need --global"),
    ):
        if wrong:
            raise InvalidParameter(words)
    closing = closed_settings(closed, None, think)
    if is_global:
        chosen = chosen_model(model, preset, (), closing and ("population=1",))
        sweep = _global(chosen, (*settings, *closing), names_of(outputs), samples, seed, hands)
        present(sweep, output_format, plot)
        click.echo(str(sweep.effort), err=True)
        return INTERRUPTED if sweep.effort.interrupted else 0
    chosen = chosen_model(model, preset, settings, closing)
    if data is not None:
        answer = _fitted(chosen.fit(measured(data, hints), names_of(free)), targets, parameter)
    else:
        answer = _local(chosen, names_of(outputs), targets, parameter)
    present(answer, output_format, plot)
    return 0


def _global(
    model: "Model",
    settings: tuple[str, ...],
    outputs: list[str],
    samples: int | None,
    seed: int | None,
    hands: CrewContext,
) -> "Sweep":
    """Indices of parameters with ranges or several values, otherwise of uncertain ones."""
    from headway.cli.spaces import SpaceOptions, model_and_spreads
    from headway.models.sweeping.crossing.importance import SAMPLES, global_sensitivity

    count = SAMPLES if samples is None else samples
    fixed, spreads = model_and_spreads(model, SpaceOptions(settings, count))
    with hands as crew, points_progress("sampling") as advance:
        return global_sensitivity(
            fixed,
            outputs or ("response_time",),
            ranges=spreads or None,
            samples=count,
            seed=1 if seed is None else seed,
            executor=crew,
            progress=advance,
        )


def _fitted(fit: "Fit", targets: tuple[str, ...], parameter: str | None) -> Presentable:
    """Derivatives of a fitted model, with their intervals, or the value that meets a target."""
    if parameter is None:
        return fit.sensitivity()
    return replace(_target(fit.model, targets, parameter), axes=fit.comparison.axes)


def _local(
    model: "Model", outputs: list[str], targets: tuple[str, ...], parameter: str | None
) -> Presentable:
    """Derivatives at the model's operating point, or the value that meets a target."""
    from headway.models.analysis.sensitivity import sensitivity

    if parameter is None:
        return sensitivity(model, outputs or None)
    return _target(model, targets, parameter)


def _target(model: "Model", targets: tuple[str, ...], parameter: str) -> "Target | JointTarget":
    """The value that reaches one target, or that meets several."""
    from headway.models.analysis.goals import is_goal
    from headway.models.analysis.joint import what_all_take
    from headway.models.analysis.target import solution_with, what_it_takes
    from headway.models.language.units import quantity

    if len(targets) > 1 or is_goal(targets[0]):
        return what_all_take(model, targets, parameter)
    output, equals, text = (part.strip() for part in targets[0].partition("="))
    if not equals:
        msg = f"--target {targets[0]}: write OUTPUT=VALUE, such as response_time=10ms"
        raise InvalidParameter(msg)
    solution_with(model, output)
    wanted = quantity(text, model.meaning(output).unit, output)
    return what_it_takes(model, output, wanted, parameter)
