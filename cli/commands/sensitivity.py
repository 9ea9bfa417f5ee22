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
)
from headway.cli.output import present
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints

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
    metavar="OUTPUT=VALUE",
    help="What an output should be.",
    shell_complete=complete_output,
)
@click.option(
    "--solve-for",
    "parameter",
    metavar="NAME",
    help="The parameter that is to do it.",
    shell_complete=complete_parameters,
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
    target: str | None,
    parameter: str | None,
    hints: "Hints",
    output_format: Format | None,
    plot: Path | None,
) -> None:
    """Differentiate a model."""
    from headway.models.analysis.sensitivity import sensitivity
    from headway.models.analysis.target import solution_with, what_it_takes
    from headway.models.language.units import quantity

    if (target is None) != (parameter is None):
        raise InvalidParameter("--target and --solve-for go together")
    if outputs is not None and (target is not None or data is not None):
        raise InvalidParameter("--output goes without --data and without --target")
    if (data is None) != (free is None):
        raise InvalidParameter("--data and --free go together")
    chosen = chosen_model(model, preset, settings, closed_settings(closed, None, think))
    axes = None
    if data is not None:
        found = chosen.fit(measured(data, hints), names_of(free))
        if target is None:
            present(found.sensitivity(), output_format, plot)
            return
        chosen, axes = found.model, found.comparison.axes
    if target is None or parameter is None:
        present(sensitivity(chosen, names_of(outputs) or None), output_format, plot)
        return
    output, equals, text = target.partition("=")
    if not equals:
        msg = f"--target {target}: write OUTPUT=VALUE, such as response_time=10ms"
        raise InvalidParameter(msg)
    solution_with(chosen, output.strip())
    wanted = quantity(text, chosen.meaning(output.strip()).unit, output.strip())
    answer = what_it_takes(chosen, output.strip(), wanted, parameter)
    present(replace(answer, axes=axes), output_format, plot)
