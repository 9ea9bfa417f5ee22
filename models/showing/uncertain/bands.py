"""Answers with 95% bands described: a solution's rows, each number with its band."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.language.scales import units_of
from headway.models.language.units import Unit
from headway.models.showing.solutions import head, records_of
from headway.models.showing.uncertain.tables import bands_tables
from headway.models.solving.solutions.solution import STATION_RESULTS
from headway.models.structure.outputs import part_unit
from headway.models.structure.parts.keys import of_class
from headway.models.tables.description import Description, Field, Records, Row, field
from headway.models.uncertain.importance import Importance
from headway.models.uncertain.propagation import Propagation


def describe(propagation: Propagation) -> Description:
    """One row per operating point, as for a solution, with ``ci95`` and ``saturated_share``."""
    return Description(
        records=lambda: _records(propagation),
        scale=lambda: units_of(propagation.solution),
        tables=lambda scale: bands_tables(propagation, scale),
        document=lambda rows: _document(propagation, rows),
    )


def _records(propagation: Propagation) -> Records:
    solution, more = propagation.solution, list(_fields(propagation))
    if solution.stations:
        more.append(field("saturated_share", propagation.saturated_share.ravel().tolist()))
    return records_of(solution, *more)


def _fields(propagation: Propagation) -> Iterator[Field]:
    """Both ends of each band."""
    solution = propagation.solution
    for name in solution.outputs:
        yield _band(propagation, ("outputs", name), name, solution.model.meaning(name).unit)
    for name in solution.classes:
        for part in solution.class_parts:
            key = str(of_class(name, part))
            yield _band(propagation, ("classes", name, part), key, part_unit(part))
    for name in solution.stations:
        for part in STATION_RESULTS:
            yield _band(propagation, ("components", name, part), f"{name}.{part}", part_unit(part))


def _band(propagation: Propagation, path: tuple[str, ...], key: str, own_unit: Unit) -> Field:
    pairs = np.stack([*map(np.ravel, propagation.band(key))], axis=1).tolist()
    columns = tuple(f"{'_'.join(path[1:])}_{end}" for end in ("low", "high"))
    return Field(("ci95", *path), pairs, own_unit, columns)


def _document(propagation: Propagation, rows: list[Row]) -> dict[str, Any]:
    importance, parameters = propagation.importance, propagation.model.parameters
    return {
        **head(propagation.solution),
        "draws": propagation.count,
        "seed": propagation.seed,
        "uncertain": {
            name: {"value": parameters[name].value, "ci95": list(parameters[name].interval or ())}
            for name in propagation.samples
        },
        "correlations": [
            {"parameters": list(pair), "value": value}
            for pair, value in propagation.model.correlations.items()
        ],
        "importance_error": importance.error,
        "points": [
            {
                **row,
                "importance": {name: _indices(importance, name, k) for name in importance.first},
            }
            for k, row in enumerate(rows)
        ],
    }


def _indices(importance: Importance, output: str, point: int) -> dict[str, dict[str, float]]:
    first, total = (_column(each[output], point) for each in (importance.first, importance.total))
    return {
        name: {"first": one, "total": other}
        for name, one, other in zip(importance.parameters, first, total, strict=True)
    }


def _column(shares: FloatArray, point: int) -> list[float]:
    column: list[float] = shares[:, point].tolist()
    return column
