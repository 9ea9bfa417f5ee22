"""Demands from utilisations described: the demand of each operation at each resource."""

from typing import Any

from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.signatures.utilisation import Demand, MeasuredUse, Use
from headway.models.tables.description import (
    Description,
    Field,
    Records,
    field,
    interval,
    only_json,
)
from headway.models.tables.table import Column, Table

_MS, _SECOND = unit("ms"), unit("s")


def describe(measured: MeasuredUse) -> Description:
    """One row per demand, in SI; people read a table for each resource."""
    rows = [(use.resource, demand) for use in measured.resources for demand in use.demands]
    demands = [demand for _, demand in rows]
    records = Records(
        (
            field("resource", (resource for resource, _ in rows)),
            field("rate", (demand.rate for demand in demands)),
            Field(("value",), [demand.value for demand in demands], _SECOND, ("demand",)),
            interval("ci95", ((d.low, d.high) for d in demands), ("low", "high"), _SECOND),
            only_json("standard_error", (demand.standard_error for demand in demands)),
            field("variance_inflation", (demand.inflation for demand in demands)),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of([([demand.value for demand in demands], _MS)]),
        tables=lambda scale: [_table(measured, use, scale) for use in measured.resources],
        document=lambda _: {
            "source": measured.source,
            "resources": {use.resource: _resource(use) for use in measured.resources},
        },
    )


def _resource(use: Use) -> dict[str, Any]:
    return {
        "demands": {demand.rate: _demand(demand) for demand in use.demands},
        "idle": _demand(use.idle),
        "scatter": use.scatter,
        "points": use.points,
        "warnings": list(use.warnings),
    }


def _demand(demand: Demand) -> dict[str, Any]:
    return {
        "value": demand.value,
        "ci95": [demand.low, demand.high],
        "standard_error": demand.standard_error,
        "variance_inflation": demand.inflation,
    }


def _table(measured: MeasuredUse, use: Use, scale: Scale) -> Table:
    demands = use.demands
    columns = (
        Column("rate", tuple(demand.rate for demand in demands)),
        Column("demand of one", tuple(scale.text(demand.value, _MS) for demand in demands)),
        Column("95% interval", tuple(scale.ends(d.low, d.high, _MS) for d in demands)),
    )
    notes = [
        f"columns: {use.resource} over {', '.join(demand.rate for demand in demands)}",
        f"U = sum of X D through the origin, {use.points} points about it by {use.scatter:.2%}",
        *(f"warning: {text}" for text in use.warnings),
        "of several servers in one column, demands are those of one operation by their number",
    ]
    return Table(
        f"{measured.source}: what operations take of {use.resource}", columns, tuple(notes)
    )
