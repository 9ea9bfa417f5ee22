"""``headway balance``: the load at which each resource of a machine saturates."""

from typing import TYPE_CHECKING

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
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.analysis.balance import Balance
    from headway.models.analysis.growth import Growth

FORMS = (
    "headway balance nfs-server --preset scsi --preset raid",
    "headway balance streaming-io --preset sort-cluster",
)


@used("balance", *FORMS)
@model_argument
@click.option(
    "--preset",
    "presets",
    metavar="NAME",
    multiple=True,
    help="A published set of values; repeatable.",
    shell_complete=complete_preset,
)
@set_option
@click.option(
    "--from", "load", metavar="LOAD", help="Present load, for the date of each saturation."
)
@click.option("--per-year", metavar="SHARE", help="Growth of the load per year, such as 30%.")
@click.option("--start", metavar="MONTH", help="The present month, such as 2026-11.")
@format_options
@plot_option
def command(
    model: str,
    presets: tuple[str, ...],
    settings: tuple[str, ...],
    load: str | None,
    per_year: str | None,
    start: str | None,
    output_format: Format | None,
    plot: Drawing | None,
) -> None:
    """Find the resource that saturates first, and compare machines."""
    from headway.models.analysis.balance import Balance, balance

    chosen = [chosen_model(model, name, settings) for name in presets or (None,)]
    machines = tuple(balance(one).machines[0] for one in chosen)
    if (load is None) != (per_year is None):
        raise InvalidParameter("use --from and --per-year together")
    if start is not None and load is None:
        raise InvalidParameter("--start needs --from and --per-year; add them")
    balanced = Balance(machines)
    grown = (
        balanced if load is None or per_year is None else _growth(balanced, load, per_year, start)
    )
    present(grown, output_format, plot)


def _growth(balance: "Balance", load: str, per_year: str, start: str | None) -> "Growth":
    from headway.models.analysis.growth import Growth, month
    from headway.models.language.units import ONE, quantity

    now = quantity(load, balance.machines[0].unit, "--from")
    share = quantity(per_year, ONE, "--per-year")
    return Growth(balance, now, share, None if start is None else month(start))
