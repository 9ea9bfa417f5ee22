"""``headway solve``: a model at its operating points."""

from pathlib import Path

import click

from headway.cli.main import COMMANDS
from headway.cli.numbers import Reals
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    format_options,
    model_argument,
    plot_option,
    preset_option,
    set_option,
)
from headway.cli.output import present

METHODS = ("auto", "exact", "convolution", "schweitzer", "linearizer")
EXAMPLE = "Example: headway solve nfs-server --preset raid --set arrival_rate=200:1600:200"


@click.command("solve", help=COMMANDS["solve"], epilog=EXAMPLE)
@model_argument
@preset_option
@set_option
@closed_options
@click.option("--population", metavar="RANGE", help="Close it for several: 1:200 or 10,20,50.")
@click.option(
    "--method",
    metavar="NAME",
    type=click.Choice(METHODS),
    default="auto",
    help="auto, exact, convolution, schweitzer or linearizer.",
)
@click.option(
    "--percentile",
    "percents",
    type=Reals(),
    default=(),
    metavar="P,Q",
    help="Add percentiles of the response time: 50,95,99.",
)
@format_options
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    population: str | None,
    think: str | None,
    method: str,
    percents: tuple[float, ...],
    output_format: Format | None,
    plot: Path | None,
) -> None:
    """Solve a model."""
    chosen = chosen_model(model, preset, settings, closed_settings(closed, population, think))
    solution = chosen.solve(method=method)
    for percent in percents:
        solution = solution.with_percentile(percent)
    present(solution, output_format, plot)
