"""Outputs at many values of parameters; those that the model cannot be solved with left out."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from headway.errors import HeadwayError, InvalidParameter, nearest
from headway.kinds import FloatArray, Number
from headway.models.solving.solutions.asked import percentile_asked
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model


def method_of(solution: Solution) -> str:
    """The method to solve with again: a difference between two methods is no derivative."""
    return "auto" if solution.method == "open" else solution.method


def checked_outputs(solution: Solution, names: Iterable[str]) -> list[str]:
    """Names of outputs as answers bear them; a name that is none of a solution's is refused.

    Raises
    ------
    InvalidParameter
        With the nearest names.
    """
    outputs = (*solution.outputs, *solution.class_outputs)
    found = []
    for name in names:
        asked = percentile_asked(name, solution.classes)
        if name not in outputs and asked is None:
            msg = f"{solution.model.name} has no output {name!r}{nearest(name, outputs)}"
            raise InvalidParameter(msg)
        found.append(asked[1] if asked else name)
    return found


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
        Other values by parameter [SI], a mapping a point.
    outputs
        Names of outputs [SI].
    method
        As for `headway.models.Model.solve`.

    Returns
    -------
    Shape (points, outputs); NaN where a value is refused, or the model saturated.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.5, arrival_rate=1)
    >>> outputs_at(one, [{"s": 0.25}, {"s": -1.0}, {"s": 2.0}], ["response_time"]).round(6).tolist()
    [[0.333333], [nan], [nan]]
    """
    found = np.full((len(changes), len(outputs)), np.nan)
    inside = [place for place, change in enumerate(changes) if _in_bounds(model, change)]
    if inside:
        found[inside] = _solved(model, [changes[place] for place in inside], outputs, method)
    return found


def _in_bounds(model: Model, change: Mapping[str, float]) -> bool:
    known = model.parameters
    return all(known[name].minimum <= x <= known[name].maximum for name, x in change.items())


def _solved(
    model: Model, changes: Sequence[Mapping[str, float]], outputs: Sequence[str], method: str
) -> FloatArray:
    """Solve all points at once; where one of them is refused, each half by itself."""
    try:
        solution = model.at(_columns(model, changes)).solve(method=method)
    except HeadwayError:
        if len(changes) == 1:
            return np.full((1, len(outputs)), np.nan)
        half = len(changes) // 2
        parts = (changes[:half], changes[half:])
        return np.concatenate([_solved(model, part, outputs, method) for part in parts])
    return np.stack([_sustained(solution, name, len(changes)) for name in outputs], axis=-1)


def _columns(model: Model, changes: Sequence[Mapping[str, float]]) -> dict[str, Number]:
    """Values by parameter: arrays over several points, plain numbers at one."""
    if len(changes) == 1:
        return dict(changes[0])
    names = dict.fromkeys(name for change in changes for name in change)
    return {
        name: np.array([float(change.get(name, model.inputs[name])) for change in changes])
        for name in names
    }


def _sustained(solution: Solution, output: str, count: int) -> FloatArray:
    """An output by point; NaN where it has no finite value that lasts."""
    value = np.asarray(solution[output], float)
    kept = np.isfinite(value)
    if solution.stations and output != "saturation_throughput":
        kept &= ~solution.saturated
    return np.broadcast_to(np.where(kept, value, np.nan), (count,))
