"""Sobol indices of a sweep as a table: one row per parameter, the most important first."""

from collections.abc import Iterator, Sequence

from headway.models.sweeping.reductions.reduction import Row
from headway.models.tables.table import Column
from headway.numerals import settled

FIRST, TOTAL = "first", "total"


def index_columns(rows: Sequence[Row]) -> tuple[Column, ...]:
    """Output, parameter, and both indices with their intervals [%].

    Parameters
    ----------
    rows
        Pairs of first and total index, for every parameter.
    """
    pairs = sorted(_pairs(rows), key=lambda pair: (pair[0]["output"], -settled(pair[1]["value"])))
    columns = (
        Column("output", tuple(first["output"].replace("_", " ") for first, _ in pairs)),
        Column("parameter", tuple(first["parameter"] for first, _ in pairs)),
        Column("first [%]", tuple(_percent(first["value"]) for first, _ in pairs)),
        Column("95% interval", tuple(_interval(first) for first, _ in pairs)),
        Column("total [%]", tuple(_percent(total["value"]) for _, total in pairs)),
        Column("95% interval ", tuple(_interval(total) for _, total in pairs)),
    )
    return columns if len(set(columns[0].cells)) > 1 else columns[1:]


def _pairs(rows: Sequence[Row]) -> Iterator[tuple[Row, Row]]:
    """First and total index of each parameter."""
    totals = {(r["output"], r["parameter"]): r for r in rows if r["index"] == TOTAL}
    for row in rows:
        if row["index"] == FIRST:
            yield row, totals[row["output"], row["parameter"]]


def _percent(share: float) -> str | None:
    return f"{100 * share:.1f}" if share == share else None


def _interval(row: Row) -> str | None:
    if row["interval"] is None:
        return None
    low, high = row["interval"]
    return f"{100 * low:.1f} to {100 * high:.1f}"
