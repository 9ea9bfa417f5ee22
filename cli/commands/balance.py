"""``headway balance``: at which load each resource of a machine is full."""

from pathlib import Path

import click

from headway.cli.main import COMMANDS
from headway.cli.options import (
    Format,
    chosen_model,
    complete_preset,
    format_options,
    model_argument,
    plot_option,
    set_option,
)
from headway.cli.output import present

EXAMPLE = "Example: headway balance streaming-io --preset sort-cluster"


@click.command("balance", help=COMMANDS["balance"], epilog=EXAMPLE)
@model_argument
@click.option(
    "--preset",
    "presets",
    metavar="NAME",
    multiple=True,
    help="May be repeated.",
    shell_complete=complete_preset,
)
@set_option
@format_options
@plot_option
def command(
    model: str,
    presets: tuple[str, ...],
    settings: tuple[str, ...],
    output_format: Format | None,
    plot: Path | None,
) -> None:
    """Say what saturates first, and set machines side by side."""
    from headway.models.analysis.balance import Balance, balance

    chosen = [chosen_model(model, name, settings) for name in presets or (None,)]
    machines = tuple(balance(one).machines[0] for one in chosen)
    present(Balance(machines), output_format, plot)
