"""What several goals take, as a table, rows and CSV."""

from typing import Any

from headway.models.analysis.joint import JointTarget
from headway.models.analysis.target import value_now
from headway.models.language.scales import Scale
from headway.models.showing.solutions import labels
from headway.models.showing.targeted.targets import now_text
from headway.models.tables.table import Column, Table
from headway.numerals import four_digits


def joint_scale(target: JointTarget) -> Scale:
    """The units of several targets: by the parameter's values, and each limit and output."""
    model, parameter = target.model, target.model.parameters[target.parameter]
    pairs = zip(target.goals, target.reached, strict=True)
    outputs = [(x, model.meaning(goal.output).unit) for goal, y in pairs for x in (goal.limit, y)]
    values = (value_now(model, target.parameter), target.value)
    changed = [(value, parameter.unit) for value in values if value is not None]
    stated = [parameter.unit, *model.stated]
    return Scale.of([*changed, *outputs], stated)


def joint_tables(target: JointTarget) -> list[Table]:
    """A row a goal: its limit, what is reached, and whether it limits the value."""
    model, goals, scale = target.model, target.goals, joint_scale(target)
    reached = list(zip(goals, target.reached, strict=True))
    columns = (
        Column("target", tuple(goal.text(model, scale) for goal in goals)),
        Column("reached", tuple(goal.shown(model, value, scale) for goal, value in reached)),
        Column("limiting", tuple("yes" if goal in target.limiting else None for goal in goals)),
    )
    fitted = [f"fitted: {target.axes}"] if target.axes else []
    notes = (_change(target, scale), *fitted, *labels(target.solution))
    title = f"{model.name}: {target.parameter} for {len(goals)} targets at once"
    return [Table(title, columns, notes)]


def _change(target: JointTarget, scale: Scale) -> str:
    parameter = target.model.parameters[target.parameter]
    now = value_now(target.model, target.parameter)
    factor = f" (x {four_digits(target.value / now)})" if now else ""
    needed = scale.text(target.value, parameter.unit)
    shown = f"{now_text(now, parameter, scale)} now, {needed} needed"
    return f"{target.parameter}: {shown}{factor}"


def joint_rows(target: JointTarget) -> list[dict[str, Any]]:
    """A dict a goal."""
    return [
        {
            "output": goal.output,
            "sense": str(goal.sense),
            "limit": goal.limit,
            "reached": value,
            "limiting": goal in target.limiting,
        }
        for goal, value in zip(target.goals, target.reached, strict=True)
    ]


def joint_document(target: JointTarget) -> dict[str, Any]:
    """The JSON contract's document."""
    return {
        "model": target.model.name,
        "targets": joint_rows(target),
        "parameter": target.parameter,
        "value": target.value,
        "initial": value_now(target.model, target.parameter),
        "approximation": target.solution.approximation or None,
        **(target.axes.document() if target.axes else {}),
    }


def joint_csv(target: JointTarget) -> str:
    """A CSV row a goal, the value in each."""
    document = joint_document(target)
    rows = document.pop("targets")
    same = {name: (value,) * len(rows) for name, value in document.items()}
    cells = {name: tuple(_cell(row[name]) for row in rows) for name in rows[0]} | same
    return Table("", tuple(Column(name, values) for name, values in cells.items())).to_csv()


def _cell(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value
