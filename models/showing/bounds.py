"""Bounds of solutions as cells of JSON and CSV."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.models.language.units import unit
from headway.models.solving.solutions.solution import Solution
from headway.models.tables.table import Column
from headway.queueing.bounds.common import Bounds

_ENDS = ("throughput_lower", "throughput_upper", "response_time_lower", "response_time_upper")


def bound_rows(solution: Solution) -> list[dict[str, Any]]:
    """By operating point: ``bounds`` by method, ``class_bounds`` by class and method, if any."""
    count = int(np.prod(solution.shape))
    by_point: list[dict[str, Any]] = [{} for _ in range(count)]
    if solution.bounds():
        for row, each in zip(by_point, _rows(solution, solution.bounds()), strict=True):
            row["bounds"] = each
    for name, methods in solution.class_bounds().items():
        for row, each in zip(by_point, _rows(solution, methods), strict=True):
            row.setdefault("class_bounds", {})[name] = each
    return by_point


def _rows(solution: Solution, methods: Mapping[str, Bounds]) -> list[dict[str, Any]]:
    flat = {name: [_flat(solution, each, end) for end in _ENDS] for name, each in methods.items()}
    return [
        {
            name: {"throughput": [low[k], high[k]], "response_time": [fast[k], slow[k]]}
            for name, (low, high, fast, slow) in flat.items()
        }
        for k in range(int(np.prod(solution.shape)))
    ]


def _flat(solution: Solution, bounds: Bounds, end: str) -> list[float]:
    values = np.broadcast_to(np.asarray(getattr(bounds, end), float), solution.shape)
    flat: list[float] = values.ravel().tolist()
    return flat


def bound_columns(solution: Solution) -> list[Column]:
    """Columns such as ``asymptotic_throughput_upper``, and of a class ``web_asymptotic_...``."""
    named = {"": solution.bounds()} | {f"{c}_": b for c, b in solution.class_bounds().items()}
    return [
        Column(
            f"{prefix}{method.replace(' ', '_')}_{end}",
            tuple(_flat(solution, bounds, end)),
            unit("1/s" if end.startswith("throughput") else "s"),
        )
        for prefix, methods in named.items()
        for method, bounds in methods.items()
        for end in _ENDS
    ]
