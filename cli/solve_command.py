"""``headway solve``: a model at its operating points."""

from pathlib import Path

import click

from headway.cli.main import COMMANDS
from headway.cli.options import (
    Format,
    check_picture,
    chosen_model,
    format_options,
    model_argument,
    plot_option,
    preset_option,
    set_option,
)
from headway.cli.output import present

EXAMPLE = "Example: headway solve nfs-server --preset raid --set arrival_rate=200:1600:200"


@click.command("solve", help=COMMANDS["solve"], epilog=EXAMPLE)
@model_argument
@preset_option
@set_option
@format_options
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    output_format: Format | None,
    plot: Path | None,
) -> None:
    """Solve a model."""
    check_picture(plot)
    solution = chosen_model(model, preset, settings).solve()
    present(solution, output_format, plot)
