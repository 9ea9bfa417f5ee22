"""Curves as commands accept them: one file each, optionally with settings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from headway.cli.options import measured
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.measured.measurements import Measurements
    from headway.models.reading.hints import Hints
    from headway.models.reading.traces import Traces

curves_option = click.option(
    "--data",
    required=True,
    multiple=True,
    metavar="FILE",
    help="Measurements; slow.csv@delay=+1ms.",
)


def one_curve(tables: "Sequence[Measurements]") -> "Measurements":
    """Make one table of curves of one system, with what differed in each.

    Raises
    ------
    InvalidParameter
        For several curves without any settings.
    """
    from headway.models.reading.curves import together

    if len(tables) > 1 and not any(map(has_settings, tables)):
        msg = (
            f"{len(tables)} curves, but none states what differed; write FILE@NAME=VALUE, "
            f"such as {tables[1].source}@delay=+1ms, or give one --data"
        )
        raise InvalidParameter(msg)
    return together(tables)


def measured_at(data: Sequence[str], hints: "Hints") -> "Measurements | Traces":
    """What ``--data`` names: traces, or curves as one table."""
    from headway.models.reading.traces import traces_at

    return traces_at(data) or one_curve([curve_at_settings(text, hints) for text in data])


def curve_at_settings(text: str, hints: "Hints") -> "Measurements":
    """Read one file, and the settings after its @."""
    from headway.models.reading.curves import curve_and_settings

    path, settings = curve_and_settings(text)
    table = measured(path, hints)
    return table.given(settings) if settings else table


def has_settings(table: "Measurements") -> bool:
    """Whether the settings of a curve are given."""
    return any(column.stated for column in table.columns.values())
