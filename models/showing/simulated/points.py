"""Simulations at several operating points described: one row per point, with intervals."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from headway.models.language.scales import Scale
from headway.models.language.units import si_text
from headway.models.showing.simulated.simulations import (
    effort_notes,
    every,
    parts_table,
    point_document,
    shown,
    system,
)
from headway.models.showing.solutions import set_note
from headway.models.simulating.several import Simulations
from headway.models.simulating.simulation import Simulation
from headway.models.tables.description import Description, Records, field, interval, only_csv
from headway.models.tables.table import Column, Table

_EFFORT = ("replicas", "warm_up", "window")


def describe(simulations: Simulations) -> Description:
    """In tables one row per point; in CSV one row per result of each point, in SI."""
    return Description(
        records=lambda: _records(simulations),
        scale=lambda: _scale(simulations),
        tables=lambda scale: list(_tables(simulations, scale)),
        document=lambda _rows: _document(simulations),
    )


def _records(simulations: Simulations) -> Records:
    rows = [(point, *row) for point in simulations.points for row in every(point)]
    model = simulations.model
    varied = (
        field(name, [_value(point, name) for point, *_ in rows], model.parameters[name].unit)
        for name in simulations.varied
    )
    return Records(
        (
            *varied,
            field("name", (name for _, name, _, _ in rows)),
            field("unit", (si_text(unit.dimension) for *_, unit in rows)),
            field("value", (one.mean for _, _, one, _ in rows)),
            interval(
                "ci95",
                [list(one.interval()) for _, _, one, _ in rows],
                ("ci95_low", "ci95_high"),
            ),
            only_csv("method", ("simulation" for _ in rows)),
        )
    )


def _value(point: Simulation, name: str) -> float:
    return float(np.ravel(point.model.inputs[name])[0])


def _scale(simulations: Simulations) -> Scale:
    numbers = ((one.mean, unit) for point in simulations.points for _, one, unit in every(point))
    return Scale.of(numbers, simulations.model.stated)


def _tables(simulations: Simulations, scale: Scale) -> Iterator[Table]:
    """Outputs by point; then a table each for stations, classes and regions."""
    points, model = simulations.points, simulations.model
    columns = _inputs(simulations, scale)
    rows = [list(system(point)) for point in points]
    for place, (name, _, unit) in enumerate(rows[0]):
        texts = tuple(shown(row[place][1], unit, scale=scale) for row in rows)
        columns.append(Column(name, texts))
    notes = (*set_note(model, simulations.varied, scale), *_effort(simulations))
    yield Table(model.title, tuple(columns), notes)
    for title in ("classes", "stations", "regions"):
        kept = [getattr(point, title) for point in points]
        for name in kept[0]:
            own = {str(k): each[name] for k, each in enumerate(kept)}
            parts = parts_table(name, "", own, scale)
            yield Table(name, (*_inputs(simulations, scale), *parts.columns[1:]))


def _inputs(simulations: Simulations, scale: Scale) -> list[Column]:
    columns = []
    for name in simulations.varied:
        values = [_value(point, name) for point in simulations.points]
        columns.append(Column.of(name, values, simulations.model.parameters[name].unit, scale))
    return columns


def _effort(simulations: Simulations) -> list[str]:
    """The number of replicas of the points; the rest is about the last, perhaps incomplete."""
    counts = sorted({point.effort.replicas for point in simulations.points})
    replicas = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    said = (
        f"simulated: {replicas} replicas of each point, with the same random numbers; seed "
        f"{simulations.points[0].effort.seed}"
    )
    missing = simulations.wanted - len(simulations.points)
    cut = [f"interrupted: {missing} points are missing"] if missing else []
    return [said, *cut, *effort_notes(simulations.points[-1])[1:]]


def _document(simulations: Simulations) -> dict[str, Any]:
    """The JSON contract's document: as for one simulation, with the effort of each point."""
    model, first = simulations.model, simulations.points[0]
    points = [
        {**point_document(point), **{key: getattr(point.effort, key) for key in _EFFORT}}
        for point in simulations.points
    ]
    return {
        "model": model.name,
        "preset": model.preset,
        "method": "simulation",
        "seed": first.effort.seed,
        "half_width": first.effort.half_width,
        "interrupted": simulations.interrupted,
        "notes": list(first.notes),
        "points": points,
    }
