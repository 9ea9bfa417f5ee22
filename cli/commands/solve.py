"""``headway solve``: a model at its operating points."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from headway.cli.main import COMMANDS
from headway.cli.numbers import Reals, Whole
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
    twins,
)
from headway.cli.output import Answer, present
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.structure.model import Model

METHODS = ("auto", "exact", "convolution", "schweitzer", "linearizer")
DRAWS, SEED = 1000, 1
_UNCERTAIN, _DRAWS = twins("--uncertain, --draws N", "Add 95 % bands from ci95; N draws (1000).")
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
@click.option("--uncertain", cls=_UNCERTAIN, is_flag=True, help="Add 95 % bands from ci95.")
@click.option("--draws", cls=_DRAWS, type=Whole(), metavar="N", help="How many (1000).")
@click.option("--seed", type=Whole(), metavar="N", help="Of what is drawn (1).")
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
    uncertain: bool,  # noqa: FBT001 - a flag
    draws: int | None,
    seed: int | None,
    output_format: Format | None,
    plot: Path | None,
) -> None:
    """Solve a model."""
    chosen = chosen_model(model, preset, settings, closed_settings(closed, population, think))
    if uncertain:
        count, start = DRAWS if draws is None else draws, SEED if seed is None else seed
        answer: Answer = chosen.propagate(count, start, method, percents)
    else:
        answer = _solved(chosen, method, percents, {"--draws": draws, "--seed": seed})
    present(answer, output_format, plot)


def _solved(
    model: "Model", method: str, percents: tuple[float, ...], drawn: dict[str, int | None]
) -> Answer:
    """Solve without draws; refuse options that are of draws."""
    for option, given in drawn.items():
        if given is not None:
            msg = f"{option} goes with --uncertain"
            raise InvalidParameter(msg)
    solution = model.solve(method=method)
    for percent in percents:
        solution = solution.with_percentile(percent)
    return solution
