"""Outputs at many values of parameters; NaN where the model cannot be solved."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from headway.errors import HeadwayError, UnknownParameter, alike, nearest
from headway.kinds import FloatArray, Number
from headway.models.solving.solutions.on_demand import named_outputs
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.outputs import read_output
from headway.queueing.network.names import Method


def method_of(solution: Solution) -> str:
    """The method for solving again: a difference between two methods is not a derivative.

    Networks that mean value analysis only approximates are solved station by station if these are
    small.
    """
    return "auto" if solution.method == Method.LINEARIZER else solution.marks.again


def checked_outputs(solution: Solution, names: Iterable[str]) -> list[str]:
    """Names of outputs as in answers; refuses unknown names.

    Raises
    ------
    InvalidParameter
        Suggests the nearest names.
    """
    outputs = (*solution.outputs, *solution.class_outputs)
    missing = f"{solution.model.name} has no output"
    return named_outputs(names, outputs, solution.classes, missing, solution.stations)


def outputs_at(
    model: Model,
    changes: Sequence[Mapping[str, float]],
    outputs: Sequence[str],
    method: str = "auto",
) -> FloatArray:
    """Solve a model with other values of its parameters.

    Parameters
    ----------
    model
        At one operating point.
    changes
        Other values by parameter [SI], one mapping for each point.
    outputs
        Names of outputs [SI].
    method
        As for `headway.models.Model.solve`.

    Returns
    -------
    A row for every point; NaN if a value is refused or the model saturates.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.5, arrival_rate=1)
    >>> outputs_at(one, [{"s": 0.25}, {"s": -1.0}, {"s": 2.0}], ["response_time"]).round(6).tolist()
    [[0.333333], [nan], [nan]]
    """
    rows = np.full((len(changes), len(outputs)), np.nan)
    inside = [place for place, change in enumerate(changes) if _in_bounds(model, change)]
    if inside:
        columns = _columns(model, [changes[place] for place in inside])
        rows[inside] = outputs_over(model, columns, outputs, method)
    return np.where(np.isfinite(rows), rows, np.nan)


def _in_bounds(model: Model, change: Mapping[str, float]) -> bool:
    known = model.parameters
    return all(known[name].minimum <= x <= known[name].maximum for name, x in change.items())


def _columns(model: Model, changes: Sequence[Mapping[str, float]]) -> dict[str, FloatArray]:
    names = dict.fromkeys(name for change in changes for name in change)
    return {
        name: np.array([float(change.get(name, model.inputs[name])) for change in changes])
        for name in names
    }


def outputs_over(
    model: Model, columns: Mapping[str, FloatArray], outputs: Sequence[str], method: str = "auto"
) -> FloatArray:
    """Solve a model over arrays of values, all at once if possible.

    Parameters
    ----------
    model
        At one operating point.
    columns
        Arrays by parameter that broadcast together [SI].
    outputs
        Names as `output_of` knows them.
    method
        As for `headway.models.Model.solve`.

    Returns
    -------
    A row for every point, in flat order; NaN if a value is refused or cannot be sustained.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.5, arrival_rate=1)
    >>> outputs_over(one, {"s": np.array([0.25, 2.0])}, ["utilisation"]).tolist()
    [[0.25], [nan]]
    """
    shape = np.broadcast_shapes(*map(np.shape, columns.values()))
    count = math.prod(shape)
    try:
        values = columns if count > 1 else {name: _only(c) for name, c in columns.items()}
        solution = model.at(values).solve(method=method)
    except HeadwayError:
        if count == 1:
            return np.full((1, len(outputs)), np.nan)
        halves = slice(count // 2), slice(count // 2, None)
        parts = [{name: c[half] for name, c in spread(columns).items()} for half in halves]
        return np.concatenate([outputs_over(model, part, outputs, method) for part in parts])
    return np.stack([_sustained(solution, name, shape) for name in outputs]).T


def spread(columns: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Arrays of one length, an entry for each point in flat order, of some that broadcast together.

    Examples
    --------
    >>> axes = {"s": np.array([[0.5], [1.0]]), "m": np.array([[1.0, 2.0]])}
    >>> {name: column.tolist() for name, column in spread(axes).items()}
    {'s': [0.5, 0.5, 1.0, 1.0], 'm': [1.0, 2.0, 1.0, 2.0]}
    """
    arrays = np.broadcast_arrays(*columns.values())
    return {name: array.reshape(-1) for name, array in zip(columns, arrays, strict=True)}


def _only(column: FloatArray) -> Number:
    return float(column.reshape(-1)[0])


def output_of(solution: Solution, name: str) -> FloatArray:
    """A quantity by name: an output, one of a class or station, or the largest of all stations.

    The utilisation of layered services is that of the busiest pool or processor.

    Raises
    ------
    UnknownParameter
        Suggests the nearest names.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid").solve(800)
    >>> float(output_of(raid, "utilisation")) == raid["cpu.utilisation"]
    True
    """
    known = name in (*solution.outputs, *solution.class_outputs) or name in solution.values
    if known or read_output(name, solution.classes):
        return np.asarray(solution[name], float)
    if parts := _of_parts(solution, name):
        return np.asarray(np.max([np.asarray(solution[part], float) for part in parts], axis=0))
    if solution.stations:
        return np.asarray(solution[name], float)
    of_parts = [value for value in solution.values if "." in value]
    near = of_parts if alike(name, of_parts) else []
    msg = f"{solution.model.name} has no output {name!r}{nearest(name, [*solution.outputs, *near])}"
    raise UnknownParameter(msg)


def _of_parts(solution: Solution, name: str) -> list[str]:
    """The same quantity of all stations, or the utilisation of all pools and processors."""
    layers = solution.model.graph.layers
    if layers and name == "utilisation":
        kinds = [(kind, part) for kind in ("tasks", "processors") for part in layers.told[kind]]
        return [f"{layers.key(*each)}.{name}" for each in kinds]
    parts = [f"{station}.{name}" for station in solution.stations]
    return parts if all(part in solution.values for part in parts) else []


def _sustained(solution: Solution, output: str, shape: tuple[int, ...]) -> FloatArray:
    """An output by point; NaN without a steady state."""
    value = output_of(solution, output)
    if solution.stations and output != "saturation_throughput":
        value = np.where(solution.saturated, np.nan, value)
    return np.broadcast_to(value, shape).reshape(-1)
