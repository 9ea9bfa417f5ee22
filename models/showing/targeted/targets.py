"""What a target takes, as a table, a row and CSV."""

from typing import Any

from headway.models.analysis.target import Target, shown_in, value_now
from headway.models.showing.solutions import labels
from headway.models.tables.table import Column, Table


def target_tables(found: Target) -> list[Table]:
    """One row: from, to, and by which factor."""
    parameter = found.model.parameters[found.parameter]
    now = value_now(found.model, found.parameter)
    meant = shown_in(found.model, found.output, found.wanted)
    factor = f"x {found.value / now:.4g}" if now else "-"
    cells = {
        "parameter": found.parameter,
        "now": parameter.shown(now),
        "needed": parameter.shown(found.value),
        "factor": factor,
    }
    target = f"{found.wanted / meant.scale:.6g} {meant}".strip()
    title = f"{found.model.name}: what it takes for {found.output} of {target}"
    columns = tuple(Column(name, (cell,)) for name, cell in cells.items())
    fitted = [f"fitted: {found.axes}"] if found.axes else []
    return [Table(title, columns, (*fitted, *labels(found.solution)))]


def target_rows(found: Target) -> list[dict[str, Any]]:
    """One dict."""
    return [
        {
            "model": found.model.name,
            "output": found.output,
            "target": found.wanted,
            "parameter": found.parameter,
            "value": found.value,
            "initial": value_now(found.model, found.parameter),
            "approximation": found.solution.approximation or None,
            **(found.axes.document() if found.axes else {}),
        }
    ]


def target_document(found: Target) -> dict[str, Any]:
    """The JSON contract's document: the row."""
    return target_rows(found)[0]


def target_csv(found: Target) -> str:
    """One CSV row in SI."""
    row = target_rows(found)[0]
    return Table("", tuple(Column(name, (value,)) for name, value in row.items())).to_csv()
