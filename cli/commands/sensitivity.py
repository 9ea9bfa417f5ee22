"""``headway sensitivity``: what each parameter does, what binds, what a target would take."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.main import COMMANDS
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    complete_output,
    complete_parameters,
    format_options,
    free_option,
    hint_options,
    measured,
    model_argument,
    names_of,
    plot_option,
    preset_option,
    set_option,
    twins,
)
from headway.cli.output import present
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.analysis.joint import JointTarget
    from headway.models.analysis.target import Target
    from headway.models.reading.hints import Hints
    from headway.models.structure.model import Model
    from headway.models.sweeping.sweep import Sweep

_GLOBAL, _SAMPLES = twins("--global, --sample N", "Sobol indices over several values or ci95.")

EXAMPLE = "Example: headway sensitivity nfs-server --preset raid --set arrival_rate=1200"


@click.command("sensitivity", help=COMMANDS["sensitivity"], epilog=EXAMPLE)
@model_argument
@preset_option
@set_option
@closed_options
@click.option(
    "--data",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Fit to this first: intervals.",
)
@free_option
@click.option(
    "--output",
    "outputs",
    metavar="A,B",
    help="Of these outputs, e.g. response_time_p99.",
)
@click.option(
    "--target",
    "targets",
    metavar="OUTPUT=VALUE",
    multiple=True,
    help="What an output should be; several with <= or >=.",
    shell_complete=complete_output,
)
@click.option(
    "--solve-for",
    "parameter",
    metavar="NAME",
    help="The parameter that is to do it.",
    shell_complete=complete_parameters,
)
@click.option(
    "--global",
    "is_global",
    cls=_GLOBAL,
    is_flag=True,
    help="Sobol indices of what has several values, or else of what is uncertain.",
)
@click.option(
    "--sample", "samples", cls=_SAMPLES, metavar="N", type=int, help="Of so many samples."
)
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
    hints: "Hints",
    output_format: Format | None,
    plot: Path | None,
) -> None:
    """Differentiate a model."""
    from headway.models.analysis.sensitivity import sensitivity

    alone = bool(targets) or data is not None
    for wrong, words in (
        ((not targets) != (parameter is None), "--target and --solve-for go together"),
        (outputs is not None and alone, "--output goes without --data and without --target"),
        ((data is None) != (free is None), "--data and --free go together"),
        (is_global and alone, "--global goes without --data and without --target"),
        (samples is not None and not is_global, "--sample goes with --global"),
    ):
        if wrong:
            raise InvalidParameter(words)
    chosen = chosen_model(model, preset, settings, closed_settings(closed, None, think))
    if is_global:
        present(_global(chosen, names_of(outputs), samples), output_format, plot)
        return
    axes = None
    if data is not None:
        found = chosen.fit(measured(data, hints), names_of(free))
        if parameter is None:
            present(found.sensitivity(), output_format, plot)
            return
        chosen, axes = found.model, found.comparison.axes
    if parameter is None:
        present(sensitivity(chosen, names_of(outputs) or None), output_format, plot)
        return
    present(replace(_target(chosen, targets, parameter), axes=axes), output_format, plot)


def _global(model: "Model", outputs: list[str], samples: int | None) -> "Sweep":
    """Indices of the parameters with several values, all equally likely; else of the uncertain."""
    import numpy as np

    from headway.models.sweeping.crossing.importance import SAMPLES, global_sensitivity

    several = {name: value for name, value in model.inputs.items() if np.size(value) > 1}
    return global_sensitivity(
        model,
        outputs or ("response_time",),
        ranges=several or None,
        samples=SAMPLES if samples is None else samples,
    )


def _target(model: "Model", targets: tuple[str, ...], parameter: str) -> "Target | JointTarget":
    """What one target takes that is to be reached, or all of those that must hold."""
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
