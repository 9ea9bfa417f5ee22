"""Answers with 95% bands as rows, JSON and CSV: null where an end is infinite."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.showing.solutions import solution_columns, solution_document, solution_rows
from headway.models.solving.solutions.solution import STATION_RESULTS
from headway.models.structure.outputs import part_unit
from headway.models.structure.parts.keys import of_class
from headway.models.tables.table import Column, Table
from headway.models.uncertain.importance import Importance
from headway.models.uncertain.propagation import Propagation

Pairs = list[list[float]]
"""Both ends of a band, by operating point."""


def propagation_rows(propagation: Propagation) -> list[dict[str, Any]]:
    """One dict an operating point, as of a solution, with ``ci95`` and ``saturated_share``."""
    solution = propagation.solution
    outputs = _pairs(propagation, [(name, name) for name in solution.outputs])
    components = {
        name: _pairs(propagation, [(part, f"{name}.{part}") for part in STATION_RESULTS])
        for name in solution.stations
    }
    classes = {
        name: _pairs(
            propagation, [(part, str(of_class(name, part))) for part in solution.class_parts]
        )
        for name in solution.classes
    }
    rows = solution_rows(solution)
    for k, (row, share) in enumerate(zip(rows, propagation.saturated_share.ravel(), strict=True)):
        row["ci95"] = {"outputs": _at(outputs, k)}
        for kind, each in (("components", components), ("classes", classes)):
            if each:
                row["ci95"][kind] = {name: _at(parts, k) for name, parts in each.items()}
        if solution.stations:
            row["saturated_share"] = float(share)
    return rows


def _pairs(propagation: Propagation, names: Iterable[tuple[str, str]]) -> dict[str, Pairs]:
    bands = {part: propagation.band(name) for part, name in names}
    return {part: np.stack([*map(np.ravel, band)], axis=1).tolist() for part, band in bands.items()}


def _at(bands: dict[str, Pairs], point: int) -> dict[str, list[float]]:
    return {name: pairs[point] for name, pairs in bands.items()}


def propagation_document(propagation: Propagation) -> dict[str, Any]:
    """The JSON contract's document for ``solve --uncertain``."""
    importance, points = propagation.importance, propagation_rows(propagation)
    for k, point in enumerate(points):
        point["importance"] = {name: _indices(importance, name, k) for name in importance.first}
    parameters = propagation.model.parameters
    document = solution_document(propagation.solution)
    del document["points"]
    return {
        **document,
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
        "points": points,
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


def propagation_csv(propagation: Propagation) -> str:
    """A CSV row an operating point: a solution's columns, then both ends of each band."""
    solution = propagation.solution
    columns = solution_columns(solution)
    for name in solution.outputs:
        columns += _ends(propagation, name, name, solution.model.meaning(name).unit)
    for name in solution.classes:
        for part in solution.class_parts:
            columns += _ends(
                propagation, f"{name}_{part}", str(of_class(name, part)), part_unit(part)
            )
    for name in solution.stations:
        for part in STATION_RESULTS:
            columns += _ends(propagation, f"{name}_{part}", f"{name}.{part}", part_unit(part))
    if solution.stations:
        columns.append(
            Column("saturated_share", tuple(propagation.saturated_share.ravel().tolist()))
        )
    return Table(solution.model.name, tuple(columns)).to_csv()


def _ends(propagation: Propagation, title: str, name: str, unit: Any) -> list[Column]:
    each = zip(("low", "high"), propagation.band(name), strict=True)
    return [Column(f"{title}_{end}", tuple(np.ravel(b).tolist()), unit) for end, b in each]
