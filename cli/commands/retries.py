"""``headway retries``: whether clients that ask again bring a server down."""

import click

from headway.cli.main import used
from headway.cli.options import (
    Format,
    chosen_model,
    complete_preset,
    format_options,
    model_argument,
    set_option,
)
from headway.cli.output import present
from headway.cli.pictures import Drawing, plot_option

FORMS = (
    "headway retries server.toml",
    "headway retries server.toml --set arrival_rate=400/s",
)


@used("retries", *FORMS)
@model_argument
@click.option(
    "--preset", metavar="NAME", help="A published set of values.", shell_complete=complete_preset
)
@set_option
@format_options
@plot_option
def command(
    model: str,
    preset: str | None,
    settings: tuple[str, ...],
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Find all states that last, and what tips a good one over."""
    from headway.models.analysis.retries import retries

    present(retries(chosen_model(model, preset, settings)), output_format, plot)
