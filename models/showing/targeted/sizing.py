"""Sizes described: the cheapest configuration, cheaper ones, and the front."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from headway.errors import GraphError, HeadwayError
from headway.models.language.scales import Scale
from headway.models.showing.parts.alternatives import (
    alone_note,
    beyond_note,
    mixed_note,
    models_document,
)
from headway.models.showing.solutions import labels, replica_note
from headway.models.sizing.size import Configuration, Scope, Size
from headway.models.structure.model import Model
from headway.models.tables.description import (
    ABSENT,
    Description,
    Field,
    Records,
    Row,
    field,
    only_csv,
    only_json,
    without,
)
from headway.models.tables.table import Column, Table
from headway.numerals import digits, four_digits, significant

_SCOPES = {Scope.CHEAPEST: "the cheapest", Scope.AROUND: "those around the cheapest that does"}
_NAME, _FRONT = "configuration", "front"
_KEYS = (_NAME, "values", "cost", "outputs", "meets", "missed", "probability")
_MOST_STEPS = 12
"""Most configurations of the front in a table."""


def describe(size: Size) -> Description:
    """One row per configuration: the cheapest, cheaper ones, and the front."""
    rows = [*named(size), *((_FRONT, one) for one in size.front)]
    names = field(_NAME, (name for name, _ in rows))
    return Description(
        records=lambda: Records((names, *_fields(size, [one for _, one in rows])), _KEYS),
        scale=lambda: _scale(size),
        tables=lambda scale: [_choice_table(size, scale), _front_table(size, scale)],
        document=lambda documents: _document(size, documents),
    )


def _fields(size: Size, each: Sequence[Configuration]) -> Iterator[Field]:
    """The fields of configurations: their values, their outputs, and whether they meet targets."""
    for name in size.grid.names:
        values = [one.values[name] for one in each]
        yield Field(("values", name), values, size.model.parameters[name].unit, (name,))
    yield field("cost", (one.cost for one in each))
    yield from _reached(size, each)
    yield from _kept(size, each)
    yield only_csv("approximation", (size.approximation for _ in each))


def _reached(size: Size, each: Sequence[Configuration]) -> Iterator[Field]:
    """The output that ranks configurations, and those with targets."""
    reached: dict[str, list[float | None]]
    reached = {size.ranking.output: [one.measure for one in each]}
    reached |= {g.output: [one.outputs[k] for one in each] for k, g in enumerate(size.goals)}
    for name, outputs in reached.items():
        yield Field(("outputs", name), outputs, size.model.meaning(name).unit, (name,))


def _kept(size: Size, each: Sequence[Configuration]) -> Iterator[Field]:
    """Whether all targets hold, with what probability, and by how much some are missed."""
    chances = [ABSENT if one.probability is None else one.probability for one in each]
    csv = () if size.chance is None else ("probability",)
    yield Field(("probability",), chances, csv=csv)
    yield Field(("meets",), [one.meets for one in each], csv=("meets",), flags=("true", "false"))
    missed = ([{"output": goal.output, "by": by} for goal, by in one.missed] for one in each)
    yield only_json("missed", missed)


def _document(size: Size, rows: list[Row]) -> Row:
    goals = [{"output": g.output, "sense": str(g.sense), "limit": g.limit} for g in size.goals]
    less = {"next_cheaper": size.cheaper, "nearest_cheaper": size.nearest}
    return {
        "model": size.model.name,
        "preset": size.model.preset,
        "targets": goals,
        "cost": size.cost.text,
        "choices": {name: list(values) for name, values in size.grid.values.items()},
        "configurations": size.grid.size,
        "confidence": None if size.chance is None else 100 * size.chance.confidence,
        "draws": None if size.chance is None else size.chance.draws,
        **({"caution": size.caution} if size.caution else {}),
        "approximation": size.approximation or None,
        **models_document(size.model),
        "proven": size.proven,
        "cheapest": _one(size, size.best),
        **{name: one and _one(size, one) for name, one in less.items()},
        "less": {name: _one(size, one) for name, one in size.steps.items()},
        "front": [without(row, _NAME) for row in rows if row[_NAME] == _FRONT],
        "front_of": {"configurations": size.looked_at, "which": size.scope.value},
    }


def _one(size: Size, configuration: Configuration) -> Row:
    [row] = Records((*_fields(size, [configuration]),), _KEYS).rows()
    return row


def _scale(size: Size) -> Scale:
    """Units chosen by the choices and the outputs."""
    model, each = size.model, [*(one for _, one in named(size)), *size.front]
    known, measure = model.parameters, model.meaning(size.ranking.output).unit
    chosen = [([one.values[n] for one in each], known[n].unit) for n in size.grid.names]
    goals = [(goal.limit, model.meaning(goal.output).unit) for goal in size.goals]
    reached = ([one.measure for one in each], measure)
    stated = [known[n].unit for n in size.grid.names]
    stated += size.model.stated
    return Scale.of([*goals, *chosen, reached], stated)


def named(size: Size) -> Iterator[tuple[str, Configuration]]:
    """The best configuration and cheaper ones, each once, with a description."""
    yield "cheapest", size.best
    less = {"nearest cheaper": size.nearest, "next cheaper": size.cheaper}
    less |= {f"less {name}": step for name, step in size.steps.items()}
    listed: list[Any] = [size.best.values]
    for name, one in less.items():
        if one is not None and one.values not in listed:
            listed.append(one.values)
            yield name, one


def _choice_table(size: Size, scale: Scale) -> Table:
    rows = list(named(size))
    each = [one for _, one in rows]
    columns = [
        Column("configuration", tuple(name for name, _ in rows)),
        *_values(size, each, scale),
    ]
    columns += [_outputs(size, place, each, scale) for place in range(len(size.goals))]
    if size.chance is not None:
        columns.append(Column("probability", tuple(one.probability for one in each)))
    missed = "misses" if size.chance is None else "misses (best fit)"
    columns.append(Column(missed, tuple(_missed(size.model, one) for one in each)))
    goals = " and ".join(goal.text(size.model, scale) for goal in size.goals)
    title = f"{size.model.title}: the cheapest configuration with {goals}"
    return Table(title, tuple(columns), tuple(_notes(size, scale)), 1)


def _values(size: Size, each: list[Configuration], scale: Scale) -> list[Column]:
    known = size.model.parameters
    chosen = [
        Column.of(name, [one.values[name] for one in each], known[name].unit, scale)
        for name in size.grid.names
    ]
    return [*chosen, Column("cost", tuple(one.cost for one in each))]


def _outputs(size: Size, place: int, each: list[Configuration], scale: Scale) -> Column:
    goal = size.goals[place]
    values = [one.outputs[place] for one in each]
    return Column.of(
        goal.output.replace("_", " "), values, size.model.meaning(goal.output).unit, scale
    )


_SATURATED, _UNSOLVED = "saturated", "not solved"
_NO_NUMBERS = {
    _SATURATED: "the network saturates",
    _UNSOLVED: "headway does not solve it; simulate",
}
"""Why a configuration without results misses its goals, and how sentences say it."""


def _missed(model: Model, one: Configuration) -> str | None:
    """The goals that a configuration misses, and by how much."""
    if not one.missed:
        return None
    if all(math.isinf(by) for _, by in one.missed):
        return _SATURATED if _is_solved(model, one) else _UNSOLVED
    return ", ".join(f"{goal.output} {goal.by(model, by)}" for goal, by in one.missed)


def _is_solved(model: Model, one: Configuration) -> bool:
    """Whether some method solves a configuration without results; otherwise it may yet suffice."""
    try:
        model.at(one.values).solve()
    except GraphError:
        return False
    except HeadwayError:  # as for saturation
        return True
    return True


def _notes(size: Size, scale: Scale) -> Iterator[str]:
    yield f"cost: {size.cost.text}"
    yield from replica_note(size.model)
    if size.chance is not None:
        yield (
            f"probability that all targets are met: from {size.chance.draws} draws of "
            f"{', '.join(size.chance.names)}; {digits(100 * size.chance.confidence)}% is required"
        )
    yield from alone_note(size.model) if size.chance is None else mixed_note(size.model)
    yield from [size.caution] if size.caution else []
    yield from beyond_note(size.model, size.best.values)
    yield from _binding(size, scale)
    if not size.proven:
        yield (
            f"not proven: {four_digits(size.grid.size)} configurations are too many to try "
            "each; nothing near this one is cheaper, but another may be"
        )
    yield from labels(size.solution) if size.followed is None else size.followed


def _binding(size: Size, scale: Scale) -> Iterator[str]:
    """Say why each choice cannot be cheaper."""
    for name, step in size.steps.items():
        shown = scale.stated(step.values[name], size.model.parameters[name].unit)
        missed = _missed(size.model, step)
        why = f"one step cheaper, {name} = {shown}:"
        if step.probability is not None:
            chance = significant(100 * step.probability, 3)
            yield f"{why} all targets are met with probability {chance}%"
        elif missed in _NO_NUMBERS:
            yield f"{why} {_NO_NUMBERS[missed]}"
        elif missed:
            yield f"{why} it misses {missed}"


def _front_table(size: Size, scale: Scale) -> Table:
    """The front, thinned out if it is long."""
    count = len(size.front)
    shown = min(count, _MOST_STEPS)
    each = [size.front[round(k * (count - 1) / max(shown - 1, 1))] for k in range(shown)]
    columns = _values(size, each, scale)
    measure = size.ranking.output
    unit = size.model.meaning(measure).unit
    columns.append(Column.of(measure.replace("_", " "), [one.measure for one in each], unit, scale))
    if size.chance is not None:
        columns.append(Column("probability", tuple(one.probability for one in each)))
    columns.append(Column("meets all", tuple("yes" if one.meets else None for one in each)))
    notes = [_extent(size)]
    if count > _MOST_STEPS:
        notes.append(f"{_MOST_STEPS} of {count}; --csv and --json have all")
    words = measure.replace("_", " ")
    title = f"what spending more gains: each row improves the {words} by 1% or more"
    return Table(title, tuple(columns), tuple(notes), len(size.grid.names))


def _extent(size: Size) -> str:
    """Say to which configurations the front refers."""
    if size.scope is Scope.ALL:
        return f"out of {size.grid.size} configurations"
    return f"of {size.looked_at} of {size.grid.size} configurations, {_SCOPES[size.scope]}"
