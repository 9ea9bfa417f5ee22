"""Solutions over a grid of operating points as labelled arrays, a dimension per swept input.

Only this module imports xarray, and only on demand.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.lazy import needed
from headway.models.language.units import si_text
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.outputs import part_unit
from headway.models.structure.parts.keys import of_class


def solution_dataset(solution: Solution) -> Any:
    """Make an xarray Dataset of a solution; see `Solution.to_xarray`."""
    [xarray] = needed("a labelled array", "xarray")
    inputs = {name: value for name, value in _varied(solution).items() if value.ndim}
    dims = _dimensions(inputs, solution.shape)
    units = {name: si_text(p.unit.dimension) for name, p in solution.model.parameters.items()}
    coordinates = {
        name: (*_along(value, dims), {"units": units[name]}) for name, value in inputs.items()
    }
    values = {
        name: (dims, np.broadcast_to(solution[name], solution.shape), {"units": units})
        for name, units in result_units(solution)
    }
    if solution.stations:
        values["bottleneck"] = (dims, solution.bottleneck.reshape(solution.shape), {})
        values["saturated"] = (dims, np.broadcast_to(solution.saturated, solution.shape), {})
    fixed = {
        name: float(value)
        for name, value in solution.model.inputs.items()
        if np.ndim(value) == 0 and name not in coordinates
    }
    origin = {"model": solution.model.name, "method": solution.method}
    about = {**fixed, **origin, "approximation": solution.approximation}
    return xarray.Dataset(values, coords=coordinates, attrs=about)


def result_units(solution: Solution) -> Iterator[tuple[str, str]]:
    """Names of all results, and their SI units."""
    for name in solution.outputs:
        yield name, si_text(solution.model.meaning(name).unit.dimension)
    for of in solution.classes:
        for part in solution.class_parts:
            yield str(of_class(of, part)), str(part_unit(part))
    for of in solution.stations:
        for part in solution.station_parts:
            yield f"{of}.{part}", str(part_unit(part))
    for one in solution.station_requests:
        yield one.name, str(part_unit(one.part))


def _varied(solution: Solution) -> dict[str, FloatArray]:
    """The inputs that are arrays, each with as many dimensions as the operating points."""
    rank = len(solution.shape)
    arrays = {name: np.asarray(v, float) for name, v in solution.model.inputs.items() if np.ndim(v)}
    return {name: a.reshape((1,) * (rank - a.ndim) + a.shape) for name, a in arrays.items()}


def _dimensions(inputs: dict[str, FloatArray], shape: tuple[int, ...]) -> tuple[str, ...]:
    """Name each axis by the input that varies only along it; ``point`` if none does."""
    names = []
    for axis, length in enumerate(shape):
        own = [name for name, a in inputs.items() if a.shape[axis] == a.size and a.size == length]
        free = [name for name in own if name not in names]
        names.append(free[0] if free else f"point_{axis}" if len(shape) > 1 else "point")
    return tuple(names)


def _along(value: FloatArray, dims: tuple[str, ...]) -> tuple[tuple[str, ...], FloatArray]:
    """The dimensions of an input, and its values over them."""
    axes = [axis for axis, length in enumerate(value.shape) if length > 1]
    if not axes and dims:
        axes = [next((i for i in range(value.ndim) if value.shape[i] == value.size), 0)]
    kept = tuple(value.shape[axis] for axis in axes)
    return tuple(dims[axis] for axis in axes), value.reshape(kept)
