"""Simulations as tables, rows, CSV and JSON: every number with its interval."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from headway.models.language.digits import shown_unit, with_error
from headway.models.language.units import Unit, si_text, unit
from headway.models.showing.solutions import set_note
from headway.models.simulating.estimates import CONFIDENCE, Estimate
from headway.models.simulating.simulation import Simulation
from headway.models.solving.arrays import part_unit
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import of_class
from headway.models.tables.table import Column, Table

Parts = Mapping[str, Mapping[str, Estimate]]


def simulation_tables(found: Simulation) -> list[Table]:
    """Outputs with their half widths, then classes and stations."""
    values = tuple(shown(one, meant) for _, one, meant in system(found))
    columns = Column("output", found.outputs), Column("simulated", values)
    tables = [Table(found.model.title, columns, (*set_note(found.model), *effort_notes(found)))]
    if found.classes:
        tables.append(_parts_table("classes", "class", found.classes))
    tables.append(_parts_table("stations", "station", found.stations))
    return [*tables, *([_parts_table("regions", "region", found.regions)] if found.regions else [])]


def _parts_table(title: str, kind: str, each: Parts) -> Table:
    parts = dict.fromkeys(part for known in each.values() for part in known)
    columns = [Column(kind, tuple(each))]
    for part in parts:
        cells = [known.get(part) for known in each.values()]
        texts = tuple(None if one is None else shown(one, part_unit(part)) for one in cells)
        columns.append(Column(part.replace("_", " "), texts))
    return Table(title, tuple(columns))


def shown(found: Estimate, meant: Unit, confidence: float = CONFIDENCE) -> str:
    """A mean and the half width of its interval, in a unit that shows it with few digits.

    Examples
    --------
    >>> from headway.models.simulating.estimates import estimate
    >>> shown(estimate([0.010, 0.012, 0.011]), unit("s"))
    '11.0 ± 2.5 ms'
    """
    best = shown_unit(meant, abs(found.mean))
    return with_error(found.mean, found.half_width(confidence), best)


def effort_notes(found: Simulation) -> list[str]:
    """Say how long was simulated, how sure the numbers are, and what was taken for granted."""
    effort = found.effort
    warm_up, window = (_time(time) for time in (effort.warm_up, effort.window))
    notes = [
        f"simulated: {effort.replicas} replicas of {window} each, after a warm-up of {warm_up}; "
        f"seed {effort.seed}"
    ]
    if effort.interrupted:
        notes.append(
            f"interrupted: intervals may be wider than the {100 * effort.half_width:g} % asked for"
        )
    return [*notes, *found.notes]


def _time(seconds: float) -> str:
    best = shown_unit(unit("s"), seconds)
    return f"{seconds / best.scale:.3g} {best}"


def system(found: Simulation) -> Iterator[tuple[str, Estimate, Unit]]:
    """What is told of the whole system."""
    for name in found.outputs:
        yield name, found[name], found.model.meaning(name).unit


def every(found: Simulation) -> Iterator[tuple[str, Estimate, Unit]]:
    """Each estimate with its unit: of the system, of classes, of stations, of regions."""
    yield from system(found)
    for name, parts in found.classes.items():
        yield from ((of_class(name, part), one, part_unit(part)) for part, one in parts.items())
    for name, parts in (*found.stations.items(), *found.regions.items()):
        yield from ((f"{name}.{part}", one, part_unit(part)) for part, one in parts.items())


def simulation_rows(found: Simulation) -> list[dict[str, Any]]:
    """A dict a number: its name, unit, value and interval, in SI."""
    return [
        {"name": name, "unit": si_text(meant.dimension), **interval_document(one)}
        for name, one, meant in every(found)
    ]


def interval_document(found: Estimate) -> dict[str, Any]:
    """A value with its 95 % interval."""
    return {"value": found.mean, "ci95": list(found.interval())}


def effort_document(found: Simulation) -> dict[str, Any]:
    """What was simulated, for the JSON contract."""
    effort = found.effort
    return {
        "seed": effort.seed,
        "half_width": effort.half_width,
        "replicas": effort.replicas,
        "warm_up": effort.warm_up,
        "window": effort.window,
        "interrupted": effort.interrupted,
        "notes": list(found.notes),
    }


def simulation_document(found: Simulation) -> dict[str, Any]:
    """The JSON contract's document: as of `solve`, each number with its interval."""
    model = found.model
    point: dict[str, Any] = {
        "inputs": inputs_document(model),
        "outputs": {name: interval_document(one) for name, one, _ in system(found)},
        "components": _documents(found.stations),
    }
    if found.classes:
        point["classes"] = _documents(found.classes)
    if found.regions:
        point["regions"] = _documents(found.regions)
    head = {"model": model.name, "preset": model.preset, "method": "simulation"}
    return {**head, **effort_document(found), "points": [point]}


def inputs_document(model: Model) -> dict[str, float]:
    """Every parameter's value at the one operating point."""
    return {name: float(np.ravel(value)[0]) for name, value in model.inputs.items()}


def _documents(each: Parts) -> dict[str, Any]:
    return {
        name: {part: interval_document(one) for part, one in parts.items()}
        for name, parts in each.items()
    }


def simulation_csv(found: Simulation) -> str:
    """A CSV row a number; SI, the unit in a column of its own as rows differ in it."""
    rows = simulation_rows(found)
    columns = {
        "name": [row["name"] for row in rows],
        "unit": [row["unit"] for row in rows],
        "value": [row["value"] for row in rows],
        "ci95_low": [row["ci95"][0] for row in rows],
        "ci95_high": [row["ci95"][1] for row in rows],
        "method": ["simulation"] * len(rows),
    }
    return Table("", tuple(Column(n, tuple(cells)) for n, cells in columns.items())).to_csv()
