"""Bounds of solutions, described: those of the system by method, and those of each class."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from headway.models.language.units import unit
from headway.models.solving.solutions.solution import Solution
from headway.models.tables.description import Field

if TYPE_CHECKING:
    from headway.queueing.bounds.common import Bounds

_BOUNDED = {"throughput": unit("1/s"), "response_time": unit("s")}


def bound_fields(solution: Solution) -> Iterator[Field]:
    """Both ends of each bound, such as ``asymptotic_throughput_upper`` in CSV."""
    for method, bounds in solution.bounds().items():
        yield from _fields(solution, ("bounds", method), method, bounds)
    for name, methods in solution.class_bounds().items():
        for method, bounds in methods.items():
            yield from _fields(solution, ("class_bounds", name, method), f"{name}_{method}", bounds)


def _fields(
    solution: Solution, path: tuple[str, ...], name: str, bounds: "Bounds"
) -> Iterator[Field]:
    for what, own_unit in _BOUNDED.items():
        ends = tuple(f"{what}_{end}" for end in ("lower", "upper"))
        values = [np.broadcast_to(getattr(bounds, end), solution.shape).ravel() for end in ends]
        pairs = np.stack(values, axis=1, dtype=float).tolist()
        columns = tuple(f"{name.replace(' ', '_')}_{end}" for end in ends)
        yield Field((*path, what), pairs, own_unit, columns)
