"""Response times in traces beside a model's: rows for all requests, each service, each entry."""

from math import isfinite

from headway.models.analysis.traces import Beside, TracesBeside
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.tables.description import Description, Records, field
from headway.models.tables.table import Column, Table
from headway.numerals import four_digits

_TIME, _RATE = unit("s"), unit("/s")
_SURE = 1.96  # standard errors of a 95% interval
_ALL = "all requests"


def describe(beside: TracesBeside) -> Description:
    """One row per part of a load, in SI; people read a table for each load."""
    rows = beside.parts
    records = Records(
        (
            field("load", (row.load for row in rows)),
            field("arrival_rate", (beside.rates[row.load] for row in rows), _RATE),
            field("part", (row.part for row in rows)),
            field("name", (row.name or None for row in rows)),
            field("requests", (row.requests for row in rows)),
            field("measured", (row.measured for row in rows), _TIME),
            field("standard_error", (row.error for row in rows), _TIME),
            field("predicted", (row.predicted for row in rows), _TIME),
            field("relative_error", (row.relative_error for row in rows)),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of([([row.measured for row in rows], _TIME)]),
        tables=lambda scale: _tables(beside, scale),
        document=lambda rows: {
            "model": beside.model.name,
            "parts": rows,
            "notes": list(beside.notes),
        },
    )


def _tables(beside: TracesBeside, scale: Scale) -> list[Table]:
    loads = list(beside.rates)
    tables = [_table(beside, load, scale) for load in loads]
    notes = (*beside.notes, "response time, mean and half of its 95% interval")
    last = tables[-1]
    return [*tables[:-1], Table(last.title, last.columns, notes)]


def _table(beside: TracesBeside, load: str, scale: Scale) -> Table:
    rows = [row for row in beside.parts if row.load == load]
    return Table(
        f"{beside.model.name} beside {load}, {four_digits(beside.rates[load])}/s",
        (
            Column("of", tuple(row.name or _ALL for row in rows)),
            Column("requests", tuple(row.requests for row in rows)),
            Column(
                "traced",
                tuple(scale.with_error(row.measured, _SURE * row.error, _TIME) for row in rows),
            ),
            Column("predicted", tuple(_predicted(row, scale) for row in rows)),
            Column(
                "error [%]",
                tuple(
                    None if row.relative_error is None else 100 * row.relative_error for row in rows
                ),
            ),
        ),
    )


def _predicted(row: Beside, scale: Scale) -> str | None:
    if row.predicted is None or not isfinite(row.predicted):
        return None
    return scale.text(row.predicted, _TIME)
