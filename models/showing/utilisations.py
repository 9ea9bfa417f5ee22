"""Demands read off utilisations as tables, rows, CSV and JSON."""

from typing import Any

from headway.models.language.digits import ends, in_unit, shown_unit, with_unit
from headway.models.language.units import unit
from headway.models.signatures.utilisation import Demand, MeasuredUse, Use
from headway.models.tables.table import Column, Table


def use_tables(found: MeasuredUse) -> list[Table]:
    """One table a resource: what each operation takes of it."""
    return [_table(found, use) for use in found.resources]


def _table(found: MeasuredUse, use: Use) -> Table:
    cells = [_cells(demand) for demand in use.demands]
    columns = (
        Column("rate", tuple(demand.rate for demand in use.demands)),
        Column("demand of one", tuple(value for value, _ in cells)),
        Column("95 % interval", tuple(both for _, both in cells)),
    )
    rates = ", ".join(demand.rate for demand in use.demands)
    notes = [
        f"y = {use.resource}, x = {rates}",
        f"U = sum of X D through the origin, {use.points} points about it by {use.scatter:.2%}",
        *(f"warning: {text}" for text in use.warnings),
        "of several servers in one column, demands are those of one operation by their number",
    ]
    return Table(f"{found.source}: what operations take of {use.resource}", columns, tuple(notes))


def _cells(demand: Demand) -> tuple[str, str]:
    shown = shown_unit(unit("ms"), abs(demand.value))
    both = ends(demand.low, demand.high, shown)
    return with_unit(in_unit(demand.value, shown), shown), with_unit(both, shown)


def use_rows(found: MeasuredUse) -> list[dict[str, Any]]:
    """One dict a demand, SI."""
    return [
        {"resource": use.resource, "rate": demand.rate, **_document(demand)}
        for use in found.resources
        for demand in use.demands
    ]


def _document(demand: Demand) -> dict[str, Any]:
    return {
        "value": demand.value,
        "ci95": [demand.low, demand.high],
        "standard_error": demand.standard_error,
        "variance_inflation": demand.inflation,
    }


def use_document(found: MeasuredUse) -> dict[str, Any]:
    """The JSON contract's document."""
    resources = {
        use.resource: {
            "demands": {demand.rate: _document(demand) for demand in use.demands},
            "idle": _document(use.idle),
            "scatter": use.scatter,
            "points": use.points,
            "warnings": list(use.warnings),
        }
        for use in found.resources
    }
    return {"source": found.source, "resources": resources}


def use_csv(found: MeasuredUse) -> str:
    """A row a demand, SI."""
    rows = [(use.resource, demand) for use in found.resources for demand in use.demands]
    columns = (
        Column("resource", tuple(resource for resource, _ in rows)),
        Column("rate", tuple(demand.rate for _, demand in rows)),
        Column("demand", tuple(demand.value for _, demand in rows), unit("s")),
        Column("low", tuple(demand.low for _, demand in rows), unit("s")),
        Column("high", tuple(demand.high for _, demand in rows), unit("s")),
        Column("variance_inflation", tuple(demand.inflation for _, demand in rows)),
    )
    return Table("", columns).to_csv()
