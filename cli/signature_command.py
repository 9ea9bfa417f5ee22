"""``headway signature``: what a measured curve says by itself."""

from pathlib import Path

import click

from headway.cli.main import COMMANDS
from headway.cli.options import (
    Format,
    check_picture,
    format_options,
    load_limits,
    measured,
    plot_option,
    range_options,
)
from headway.cli.output import present

EXAMPLE = "Example: headway signature sfs curve.csv --from 190 --to 1060"


@click.group("signature", help=COMMANDS["signature"])
def command() -> None:
    """Read signatures off measured curves."""


@command.command("sfs", epilog=EXAMPLE)
@click.argument("file", type=click.Path(path_type=Path))
@range_options
@format_options
@plot_option
def sfs(
    file: Path,
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
    output_format: Format | None,
    plot: Path | None,
) -> None:
    """Base, slope, saturation and overall response time of an SFS curve in FILE."""
    from headway.models.signature import MeasuredSignature, Range, curve

    check_picture(plot)
    found = MeasuredSignature.of(curve(measured(file), x, y), Range(*load_limits(low, high)))
    present(found, output_format, plot)
