"""Sizes as tables, rows, JSON and CSV."""

import math
from collections.abc import Iterator
from typing import Any

from headway.models.showing.solutions import labels
from headway.models.sizing.size import Configuration, Scope, Size
from headway.models.structure.model import Model
from headway.models.tables.table import Column, Table

_SCOPES = {Scope.CHEAPEST: "the cheapest", Scope.AROUND: "those around the cheapest that does"}
_MOST_STEPS = 12
"""Configurations of the front that a table shows."""


def size_tables(found: Size) -> list[Table]:
    """The cheapest configuration among those that cost less, and the front."""
    return [_choice_table(found), _front_table(found)]


def named(found: Size) -> Iterator[tuple[str, Configuration]]:
    """The best configuration and those that cost less, each once, with what it is."""
    yield "cheapest", found.best
    less = {"nearest cheaper": found.nearest, "next cheaper": found.cheaper}
    less |= {f"less {name}": step for name, step in found.steps.items()}
    seen: list[Any] = [found.best.values]
    for name, one in less.items():
        if one is not None and one.values not in seen:
            seen.append(one.values)
            yield name, one


def _choice_table(found: Size) -> Table:
    rows = list(named(found))
    each = [one for _, one in rows]
    columns = [Column("configuration", tuple(name for name, _ in rows)), *_values(found, each)]
    columns += [_outputs(found, place, each) for place in range(len(found.goals))]
    if found.chance is not None:
        columns.append(Column("probability", tuple(one.probability for one in each)))
    missed = "misses" if found.chance is None else "misses at best values"
    columns.append(Column(missed, tuple(_missed(found.model, one) for one in each)))
    said = " and ".join(goal.text(found.model) for goal in found.goals)
    title = f"{found.model.title}: the cheapest configuration with {said}"
    return Table(title, tuple(columns), tuple(_notes(found)), 1)


def _values(found: Size, each: list[Configuration]) -> list[Column]:
    known = found.model.parameters
    chosen = [
        Column.of(name, [one.values[name] for one in each], known[name].unit)
        for name in found.grid.names
    ]
    return [*chosen, Column("cost", tuple(one.cost for one in each))]


def _outputs(found: Size, place: int, each: list[Configuration]) -> Column:
    goal = found.goals[place]
    values = [one.outputs[place] for one in each]
    return Column.of(goal.output.replace("_", " "), values, found.model.meaning(goal.output).unit)


def _missed(model: Model, one: Configuration) -> str | None:
    """The goals that a configuration misses, and by how much."""
    if not one.missed:
        return None
    if all(math.isinf(by) for _, by in one.missed):
        return "saturated"
    return ", ".join(f"{goal.output} {goal.by(model, by)}" for goal, by in one.missed)


def _notes(found: Size) -> Iterator[str]:
    yield f"cost: {found.cost.text}"
    if found.chance is not None:
        yield (
            f"probability that all targets hold: of {found.chance.draws} draws of "
            f"{', '.join(found.chance.names)}; {100 * found.chance.confidence:g} % is asked"
        )
    yield from _binding(found)
    if not found.proven:
        yield (
            f"not proven: {found.grid.size:.4g} configurations are too many to look at each; "
            "nothing near this one is cheaper, but something else may be"
        )
    yield from labels(found.solution)


def _binding(found: Size) -> Iterator[str]:
    """Say what stops each choice from being cheaper."""
    for name, step in found.steps.items():
        shown = found.model.parameters[name].shown(step.values[name])
        missed = _missed(found.model, step)
        if step.probability is not None:
            yield f"{name} binds: with {shown} they hold with {100 * step.probability:.3g} %"
        elif missed == "saturated":
            yield f"{name} binds: with {shown} the network saturates"
        elif missed:
            yield f"{name} binds: with {shown} it misses {missed}"


def _front_table(found: Size) -> Table:
    """The front, thinned out where it is long."""
    count = len(found.front)
    shown = min(count, _MOST_STEPS)
    each = [found.front[round(k * (count - 1) / max(shown - 1, 1))] for k in range(shown)]
    columns = _values(found, each)
    measure = found.ranking.output
    unit = found.model.meaning(measure).unit
    columns.append(Column.of(measure.replace("_", " "), [one.measure for one in each], unit))
    if found.chance is not None:
        columns.append(Column("probability", tuple(one.probability for one in each)))
    columns.append(Column("meets all", tuple("yes" if one.meets else None for one in each)))
    notes = [_extent(found)]
    if count > _MOST_STEPS:
        notes.append(f"{_MOST_STEPS} of {count}; --csv and --json have all")
    title = f"what more money buys: each 1 % better in {measure} at least"
    return Table(title, tuple(columns), tuple(notes), len(found.grid.names))


def _extent(found: Size) -> str:
    """Say of which configurations the front is."""
    if found.scope is Scope.ALL:
        return f"of all {found.grid.size} configurations"
    return f"of {found.looked_at} of {found.grid.size} configurations, {_SCOPES[found.scope]}"


def size_rows(found: Size) -> list[dict[str, Any]]:
    """A dict a configuration: the cheapest, those that cost less, and the front."""
    front = [("front", one) for one in found.front]
    return [{"configuration": name, **_row(found, one)} for name, one in (*named(found), *front)]


def _row(found: Size, one: Configuration) -> dict[str, Any]:
    outputs = zip(found.goals, one.outputs, strict=True)
    measured = {found.ranking.output: one.measure}
    row: dict[str, Any] = {
        "values": dict(one.values),
        "cost": one.cost,
        "outputs": {**measured, **{goal.output: value for goal, value in outputs}},
        "meets": one.meets,
        "missed": [{"output": goal.output, "by": by} for goal, by in one.missed],
    }
    return row if one.probability is None else {**row, "probability": one.probability}


def size_document(found: Size) -> dict[str, Any]:
    """The JSON contract's document."""
    less = {"next_cheaper": found.cheaper, "nearest_cheaper": found.nearest}
    goals = [{"output": g.output, "sense": str(g.sense), "limit": g.limit} for g in found.goals]
    return {
        "model": found.model.name,
        "preset": found.model.preset,
        "targets": goals,
        "cost": found.cost.text,
        "choices": {name: list(values) for name, values in found.grid.values.items()},
        "configurations": found.grid.size,
        "confidence": None if found.chance is None else 100 * found.chance.confidence,
        "draws": None if found.chance is None else found.chance.draws,
        "approximation": found.solution.approximation or None,
        "proven": found.proven,
        "cheapest": _row(found, found.best),
        **{name: None if one is None else _row(found, one) for name, one in less.items()},
        "less": {name: _row(found, one) for name, one in found.steps.items()},
        "front": [_row(found, one) for one in found.front],
        "front_of": {"configurations": found.looked_at, "which": found.scope.value},
    }


def size_csv(found: Size) -> str:
    """A CSV row a configuration."""
    rows = [*named(found), *(("front", one) for one in found.front)]
    each = [one for _, one in rows]
    known, model = found.model.parameters, found.model
    outputs: dict[str, tuple[float | None, ...]] = {
        found.ranking.output: tuple(one.measure for one in each),
        **{g.output: tuple(one.outputs[k] for one in each) for k, g in enumerate(found.goals)},
    }
    chosen = {name: tuple(one.values[name] for one in each) for name in found.grid.names}
    probability = [Column("probability", tuple(one.probability for one in each))]
    columns = (
        Column("configuration", tuple(name for name, _ in rows)),
        *(Column(name, values, known[name].unit) for name, values in chosen.items()),
        Column("cost", tuple(one.cost for one in each)),
        *(Column(name, values, model.meaning(name).unit) for name, values in outputs.items()),
        *(probability if found.chance is not None else []),
        Column("meets", tuple("true" if one.meets else "false" for one in each)),
        Column("approximation", (found.solution.approximation,) * len(rows)),
    )
    return Table("", columns).to_csv()
