"""What several goals take, as a table, rows and CSV."""

from typing import Any

from headway.models.analysis.joint import JointTarget
from headway.models.analysis.target import value_now
from headway.models.showing.solutions import labels
from headway.models.tables.table import Column, Table


def joint_tables(found: JointTarget) -> list[Table]:
    """A row a goal: its limit, what is reached, and whether it binds."""
    model, goals = found.model, found.goals
    reached = zip(goals, found.reached, strict=True)
    columns = (
        Column("target", tuple(goal.text(model) for goal in goals)),
        Column("reached", tuple(goal.shown(model, value) for goal, value in reached)),
        Column("binds", tuple("yes" if goal in found.binding else None for goal in goals)),
    )
    fitted = [f"fitted: {found.axes}"] if found.axes else []
    notes = (_change(found), *fitted, *labels(found.solution))
    title = f"{model.name}: {found.parameter} for {len(goals)} targets at once"
    return [Table(title, columns, notes)]


def _change(found: JointTarget) -> str:
    parameter = found.model.parameters[found.parameter]
    now = value_now(found.model, found.parameter)
    factor = f" (x {found.value / now:.4g})" if now else ""
    shown = f"{parameter.shown(now)} now, {parameter.shown(found.value)} needed"
    return f"{found.parameter}: {shown}{factor}"


def joint_rows(found: JointTarget) -> list[dict[str, Any]]:
    """A dict a goal."""
    return [
        {
            "output": goal.output,
            "sense": str(goal.sense),
            "limit": goal.limit,
            "reached": value,
            "binds": goal in found.binding,
        }
        for goal, value in zip(found.goals, found.reached, strict=True)
    ]


def joint_document(found: JointTarget) -> dict[str, Any]:
    """The JSON contract's document."""
    return {
        "model": found.model.name,
        "targets": joint_rows(found),
        "parameter": found.parameter,
        "value": found.value,
        "initial": value_now(found.model, found.parameter),
        "approximation": found.solution.approximation or None,
        **(found.axes.document() if found.axes else {}),
    }


def joint_csv(found: JointTarget) -> str:
    """A CSV row a goal, the value in each."""
    document = joint_document(found)
    rows = document.pop("targets")
    same = {name: (value,) * len(rows) for name, value in document.items()}
    cells = {name: tuple(_cell(row[name]) for row in rows) for name in rows[0]} | same
    return Table("", tuple(Column(name, values) for name, values in cells.items())).to_csv()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
