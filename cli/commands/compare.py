"""``headway compare``: compare predictions with measurements."""

from typing import TYPE_CHECKING

import click

from headway.cli.curves import curve_at_settings, curves_option, one_curve
from headway.cli.main import COMMANDS
from headway.cli.options import (
    Format,
    chosen_model,
    closed_options,
    closed_settings,
    format_options,
    hint_options,
    load_limits,
    model_argument,
    preset_option,
    range_options,
    set_option,
    window_options,
)
from headway.cli.output import present
from headway.cli.pictures import Drawing, plot_option

if TYPE_CHECKING:
    from headway.models.reading.hints import Hints

EXAMPLE = "Example: headway compare nfs-server --preset raid --data curve.csv --plot curve.svg"


@click.command("compare", help=COMMANDS["compare"], epilog=EXAMPLE)
@model_argument
@curves_option
@preset_option
@set_option
@closed_options
@range_options
@hint_options
@window_options
@format_options
@plot_option
def command(
    model: str,
    data: tuple[str, ...],
    preset: str | None,
    settings: tuple[str, ...],
    closed: str | None,
    think: str | None,
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    hints: "Hints",
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Compare a model's predictions with measurements."""
    chosen = chosen_model(model, preset, settings, closed_settings(closed, None, think))
    limits = load_limits(low, high, chosen)
    curve = one_curve([curve_at_settings(text, hints) for text in data])
    comparison = chosen.compare(curve, x, y, *limits)
    present(comparison, output_format, plot)
