"""Several goals at once, described."""

from headway.models.analysis.joint import JointTarget
from headway.models.analysis.target import value_now
from headway.models.language.scales import Scale
from headway.models.showing.parts.alternatives import alone_note
from headway.models.showing.solutions import labels
from headway.models.showing.targeted.targets import now_text
from headway.models.tables.description import (
    Description,
    Field,
    Records,
    field,
    only_csv,
    words,
)
from headway.models.tables.table import Table
from headway.numerals import four_digits


def describe(target: JointTarget) -> Description:
    """One row per goal: its limit, the value reached, and whether it limits the parameter."""
    model, parameter = target.model, target.model.parameters[target.parameter]
    now = value_now(model, target.parameter)
    facts = {
        "parameter": target.parameter,
        "value": target.value,
        "initial": now,
        "approximation": target.solution.approximation or None,
        **(target.axes.document() if target.axes else {}),
    }
    pairs = list(zip(target.goals, target.reached, strict=True))
    outputs = [(x, model.meaning(goal.output).unit) for goal, y in pairs for x in (goal.limit, y)]
    shown = [(now, parameter.unit), (target.value, parameter.unit), *outputs]
    return Description(
        records=lambda: _records(target, {"model": model.name, **facts}),
        scale=lambda: Scale.of(shown, [parameter.unit, *model.stated]),
        tables=lambda scale: [_table(target, scale)],
        document=lambda rows: {"model": model.name, "targets": rows, **facts},
    )


def _records(target: JointTarget, facts: dict[str, object]) -> Records:
    goals, count = target.goals, len(target.goals)
    limiting = tuple(goal in target.limiting for goal in goals)
    return Records(
        (
            field("output", (goal.output for goal in goals)),
            field("sense", (str(goal.sense) for goal in goals)),
            field("limit", (goal.limit for goal in goals)),
            field("reached", target.reached),
            Field(("limiting",), limiting, csv=("limiting",), flags=("true", "false")),
            *(only_csv(name, (value,) * count) for name, value in facts.items()),
        )
    )


def _table(target: JointTarget, scale: Scale) -> Table:
    model, goals = target.model, target.goals
    reached = zip(goals, target.reached, strict=True)
    records = Records(
        (
            words("target", (goal.text(model, scale) for goal in goals)),
            words("reached", (goal.shown(model, value, scale) for goal, value in reached)),
            words("limiting", ("yes" if goal in target.limiting else None for goal in goals)),
        )
    )
    fitted = [f"fitted: {target.axes}"] if target.axes else []
    notes = (
        _change(target, scale),
        *fitted,
        *alone_note(target.solution.model),
        *labels(target.solution),
    )
    title = f"{model.name}: {target.parameter} for {len(goals)} targets at once"
    return records.table(title, scale, notes)


def _change(target: JointTarget, scale: Scale) -> str:
    parameter = target.model.parameters[target.parameter]
    now = value_now(target.model, target.parameter)
    factor = f" (x {four_digits(target.value / now)})" if now else ""
    needed = scale.text(target.value, parameter.unit)
    shown = f"{now_text(now, parameter, scale)} now, {needed} needed"
    return f"{target.parameter}: {shown}{factor}"
