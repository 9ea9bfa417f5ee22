"""Simulations described: every number with its interval."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from headway.models.language.digits import in_unit, shown_unit, with_unit
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import Unit, si_text, unit
from headway.models.showing.parts.alternatives import alone_note
from headway.models.showing.solutions import set_note
from headway.models.simulating.simulation import Simulation
from headway.models.structure.model import Model
from headway.models.structure.outputs import part_unit
from headway.models.structure.parts.keys import of_class
from headway.models.tables.description import (
    Description,
    Records,
    field,
    interval,
    only_csv,
)
from headway.models.tables.table import Column, Table
from headway.numerals import MANY, digits
from headway.queueing.playing.estimates import CONFIDENCE, Estimate

_ANY = Scale()
"""Units by the size of each number."""

_ENDS = ("ci95_low", "ci95_high")

Parts = Mapping[str, Mapping[str, Estimate]]


def describe(simulation: Simulation) -> Description:
    """One row per result, in SI, with its interval; units differ by row, and have a column."""
    numbers, model = list(every(simulation)), simulation.model
    records = Records(
        (
            field("name", (name for name, _, _ in numbers)),
            field("unit", (si_text(unit.dimension) for *_, unit in numbers)),
            field("value", (one.mean for _, one, _ in numbers)),
            interval("ci95", (list(one.interval()) for _, one, _ in numbers), _ENDS),
            only_csv("method", ("simulation" for _ in numbers)),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of(((one.mean, unit) for _, one, unit in numbers), model.stated),
        tables=lambda scale: _tables(simulation, scale),
        document=lambda _rows: _document(simulation),
    )


def _tables(simulation: Simulation, scale: Scale) -> list[Table]:
    """Outputs with their half-widths, then classes, stations and regions."""
    values = tuple(shown(one, own_unit, scale=scale) for _, one, own_unit in system(simulation))
    columns = Column("output", simulation.outputs), Column("simulated", values)
    notes = (
        *set_note(simulation.model, scale=scale),
        *alone_note(simulation.model),
        *effort_notes(simulation),
    )
    parts = (
        ("classes", "class", simulation.classes),
        ("stations", "station", simulation.stations),
        ("regions", "region", simulation.regions),
        *((kind, kind, each) for kind, each in simulation.layers.items()),
    )
    bare = "" if simulation.layers else "stations"
    tables = (parts_table(*each, scale) for each in parts if each[2] or each[0] == bare)
    return [Table(simulation.model.title, columns, notes), *tables]


def parts_table(title: str, kind: str, each: Parts, scale: Scale) -> Table:
    """One row for each part of a kind, with its results."""
    parts = dict.fromkeys(part for known in each.values() for part in known)
    columns = [Column(kind, tuple(each))]
    for part in parts:
        cells = [known.get(part) for known in each.values()]
        texts = tuple(
            None if one is None else shown(one, part_unit(part), scale=scale) for one in cells
        )
        columns.append(Column(part.replace("_", " "), texts))
    return Table(title, tuple(columns))


def shown(
    estimate: Estimate, own_unit: Unit, confidence: float = CONFIDENCE, scale: Scale = _ANY
) -> str:
    """A mean and the half-width of its interval, in an answer's unit.

    Examples
    --------
    >>> from headway.queueing.playing.estimates import estimate
    >>> shown(estimate([0.010, 0.012, 0.011]), unit("s"))
    '11.0 ± 2.5 ms'
    """
    return scale.with_error(estimate.mean, estimate.half_width(confidence), own_unit)


def effort_notes(simulation: Simulation) -> list[str]:
    """Say how long was simulated, how certain the results are, and what was assumed."""
    effort = simulation.effort
    shown = _unit_of_runs(simulation)
    warm_up, window = (
        with_unit(in_unit(time, shown), shown) for time in (effort.warm_up, effort.window)
    )
    notes = [
        f"simulated: {effort.replicas} replicas of {window} each, after a warm-up of {warm_up}; "
        f"seed {effort.seed}"
    ]
    if effort.interrupted:
        notes.append(
            "interrupted: intervals may be wider than the "
            f"{digits(100 * effort.half_width)}% requested"
        )
    return [*notes, *simulation.notes]


def _unit_of_runs(simulation: Simulation) -> Unit:
    """The answer's unit of times, unless a run is too long to read well in it."""
    own, window = units_of(simulation).unit(unit("s")), simulation.effort.window
    return own if window < MANY * own.scale else shown_unit(unit("s"), window)


def system(simulation: Simulation) -> Iterator[tuple[str, Estimate, Unit]]:
    """The results of the whole system."""
    for name in simulation.outputs:
        yield name, simulation[name], simulation.model.meaning(name).unit


def every(simulation: Simulation) -> Iterator[tuple[str, Estimate, Unit]]:
    """All estimates with their units: of the system, of classes, stations and other parts."""
    yield from system(simulation)
    for name, parts in simulation.classes.items():
        own = simulation.model.meaning
        yield from ((of_class(name, part), one, own(part).unit) for part, one in parts.items())
    others = (simulation.stations, simulation.regions, *simulation.layers.values())
    for name, parts in (one for each in others for one in each.items()):
        yield from ((f"{name}.{part}", one, part_unit(part)) for part, one in parts.items())


def interval_document(estimate: Estimate) -> dict[str, Any]:
    """A value with its 95% interval."""
    return {"value": estimate.mean, "ci95": list(estimate.interval())}


def effort_document(simulation: Simulation) -> dict[str, Any]:
    """What was simulated, for the JSON contract."""
    effort = simulation.effort
    return {
        "seed": effort.seed,
        "half_width": effort.half_width,
        "replicas": effort.replicas,
        "warm_up": effort.warm_up,
        "window": effort.window,
        "interrupted": effort.interrupted,
        "notes": list(simulation.notes),
    }


def _document(simulation: Simulation) -> dict[str, Any]:
    """The JSON contract's document: as for `solve`, with an interval for each number."""
    model = simulation.model
    head = {"model": model.name, "preset": model.preset, "method": "simulation"}
    return {**head, **effort_document(simulation), "points": [point_document(simulation)]}


def point_document(simulation: Simulation) -> dict[str, Any]:
    """Inputs, and numbers with intervals."""
    model = simulation.model
    point: dict[str, Any] = {
        "inputs": inputs_document(model),
        "outputs": {name: interval_document(one) for name, one, _ in system(simulation)},
        "components": _documents(simulation.stations),
    }
    if simulation.classes:
        point["classes"] = _documents(simulation.classes)
    if simulation.regions:
        point["regions"] = _documents(simulation.regions)
    return point | {kind: _documents(each) for kind, each in simulation.layers.items()}


def inputs_document(model: Model) -> dict[str, float]:
    """Every parameter's value at the one operating point."""
    return {name: float(np.ravel(value)[0]) for name, value in model.inputs.items()}


def _documents(each: Parts) -> dict[str, Any]:
    return {
        name: {part: interval_document(one) for part, one in parts.items()}
        for name, parts in each.items()
    }
