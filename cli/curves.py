"""Curves as commands accept them: one file each, optionally with settings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from headway.cli.options import load_limits, measured
from headway.errors import InvalidParameter

if TYPE_CHECKING:
    from headway.models.analysis.comparison import Comparison
    from headway.models.measured.measurements import Measurements
    from headway.models.reading.hints import Hints
    from headway.models.structure.model import Model

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


def traces_among(data: Sequence[str]) -> list[tuple[str, dict[str, str]]]:
    """Files of traces and their settings; none where the data are anything else."""
    from headway.models.reading.curves import curve_and_settings
    from headway.models.reading.traces import are_traces

    places = [curve_and_settings(text) for text in data]
    if not are_traces(str(path) for path, _ in places):
        return []
    return [(str(path), settings) for path, settings in places]


def compared(
    model: "Model",
    data: Sequence[str],
    hints: "Hints",
    x: str | None,
    y: str | None,
    low: str | None,
    high: str | None,
) -> "Comparison":
    """Compare a model with the curves that ``--data`` names."""
    limits = load_limits(low, high, model)
    return model.compare(
        one_curve([curve_at_settings(text, hints) for text in data]), x, y, *limits
    )


def curve_at_settings(text: str, hints: "Hints") -> "Measurements":
    """Read one file, and the settings after its @."""
    from headway.models.reading.curves import curve_and_settings

    path, settings = curve_and_settings(text)
    table = measured(path, hints)
    return table.given(settings) if settings else table


def has_settings(table: "Measurements") -> bool:
    """Whether the settings of a curve are given."""
    return any(column.stated for column in table.columns.values())
