"""Targets: the value of one parameter at which an output reaches a target."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.edges import last_kept
from headway.models.analysis.points import checked_outputs, method_of, outputs_at
from headway.models.language.digits import in_unit
from headway.models.language.units import Unit
from headway.models.measured.columns import Axes
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.meanings import Better
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.models.tables.shown import Answer
from headway.models.tables.table import scale_of
from headway.numerals import digits
from headway.records import dataclass

_DECADES = 6.0  # to each side of the present value
_GRID = 241
_LARGEST_COUNT = 1e4


@dataclass(frozen=True)
class Target(Answer):
    """The value of one parameter at which an output reaches a target.

    Parameters
    ----------
    model
        The original model.
    output, wanted
        The output and its target [SI].
    parameter, value
        The parameter and its value that reaches the target [SI].
    axes
        The measured columns to which parameters were fitted; None without a fit.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.1, arrival_rate=8)
    >>> what_it_takes(one, "response_time", 0.25, "arrival_rate")
    Target(response_time by arrival_rate=6)
    """

    model: Model
    output: str
    wanted: float
    parameter: str
    value: float
    axes: Axes | None = None

    def __repr__(self) -> str:
        return f"Target({self.output} by {self.parameter}={digits(self.value)})"

    @cached_property
    def solution(self) -> Solution:
        """The model with that value.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.1, arrival_rate=8)
        >>> answer = what_it_takes(one, "response_time", 0.25, "arrival_rate")
        >>> round(answer.solution.response_time, 9), round(answer.solution["cpu.utilisation"], 9)
        (0.25, 0.6)
        """
        return self.model.at({self.parameter: self.value}).solve().answering(self.output)


def value_now(model: Model, parameter: str) -> float:
    """The single value of a parameter [SI]; the first of several."""
    return float(np.ravel(np.asarray(model.inputs[parameter], float))[0])


def solution_with(model: Model, output: str) -> Solution:
    """Solve a model, and refuse an unknown output.

    Raises
    ------
    InvalidParameter
        Suggests the nearest names.
    GraphError
        For a percentile that is not available; says why.
    """
    solution = model.solve().answering(output)
    checked_outputs(solution, [output])
    return solution


def what_it_takes(model: Model, output: str, wanted: float, parameter: str) -> Target:
    """Find the value of a parameter, nearest to its present one, that brings an output to a target.

    Parameters
    ----------
    model
        With a single value for every parameter.
    output, wanted
        An output and its target [SI].
    parameter
        The one to change.

    Raises
    ------
    InvalidParameter, UnknownParameter
        For an unknown output or parameter, or a target that no value reaches.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.002, arrival_rate=400)
    >>> round(what_it_takes(one, "response_time", 0.005, "s").value, 9)
    0.001666667

    For servers and jobs, the number that just meets the target:

    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
    >>> busy = pool.at(s=0.002, m=2, arrival_rate=1400)
    >>> what_it_takes(busy, "response_time", 0.0025, "m").value
    5.0
    """
    model = model.exposing(parameter)
    method = method_of(solution_with(model, output))

    def misses(values: Sequence[float]) -> FloatArray:
        changes = [{parameter: float(value)} for value in values]
        return outputs_at(model, changes, [output], method)[:, 0] - wanted

    whole = parameter in counts(model.graph)
    value = _whole(misses, model, output, parameter) if whole else _any(misses, model, parameter)
    if value is None:
        tried = counts_tried(model, parameter) if whole else values_tried(model, parameter)
        raise InvalidParameter(_out_of_reach(model, output, wanted, parameter, misses(tried)))
    return Target(model, output, wanted, parameter, value)


def _start(model: Model, parameter: str) -> float:
    return value_now(model, parameter) or model.parameters[parameter].unit.scale


def _any(
    misses: Callable[[Sequence[float]], FloatArray], model: Model, parameter: str
) -> float | None:
    """Find the value nearest to the present one that reaches the target."""
    bracket = _nearest_change(misses, _start(model, parameter))
    if bracket is None or bracket[0] == bracket[1]:
        return bracket[0] if bracket else None
    from scipy.optimize import brentq

    return float(brentq(lambda value: float(misses([value])[0]), *bracket, xtol=1e-300))


def _whole(
    misses: Callable[[Sequence[float]], FloatArray], model: Model, output: str, parameter: str
) -> float | None:
    """Find the count nearest to the present one that just meets a target, unlike its neighbour."""
    sign = 1 if _better(model, output) is Better.LESS else -1

    def meets(counts: Sequence[float]) -> NDArray[np.bool_]:
        met: NDArray[np.bool_] = sign * misses(counts) <= 0
        return met

    now = _count_now(model, parameter)
    outwards = sorted(
        pairwise(counts_tried(model, parameter)),
        key=lambda pair: abs(math.log(pair[0] * pair[1] / now**2)),
    )
    change = next((pair for pair in outwards if meets(pair).sum() == 1), None)
    if change is None:
        return None
    low_meets = bool(meets(change)[0])
    last = last_kept(lambda counts: meets(counts) == low_meets, *change, whole=True)
    return last if low_meets else last + 1


def _better(model: Model, output: str) -> Better:
    """Whether smaller or larger values of an output meet a target."""
    better = model.better(output)
    if better is None:
        msg = (
            f"{output}: a whole number seldom meets a target exactly, and the model does not say "
            f'whether less or more is better; write better = "less" or "more" in [outputs.{output}]'
        )
        raise InvalidParameter(msg)
    return better


def _count_now(model: Model, parameter: str) -> float:
    return max(value_now(model, parameter), 1.0)


def counts_tried(model: Model, parameter: str) -> list[int]:
    """Whole numbers from doubling and halving the present one, within the parameter's bounds."""
    bounds = model.parameters[parameter]
    low, high = max(bounds.minimum, 1.0), min(bounds.maximum, _LARGEST_COUNT)
    now = _count_now(model, parameter)
    steps = math.ceil(math.log2(_LARGEST_COUNT))
    each = now * 2.0 ** np.arange(-steps, steps + 1)
    return sorted({int(count) for count in np.clip(each, low, high).round()})


def _out_of_reach(
    model: Model, output: str, wanted: float, parameter: str, missed: FloatArray
) -> str:
    shown = shown_in(model, output, wanted)
    reached = [m + wanted for m in missed.tolist() if math.isfinite(m)]
    span = [in_unit(end, shown) for end in (min(reached), max(reached))] if reached else []
    at_best = (
        f"it only reaches {span[0]} to {span[1]} {shown}"
        if span
        else "the model saturates at every value tried"
    )
    return (
        f"no value of {parameter} brings {output} to {digits(wanted / shown.scale)} {shown}; "
        f"{at_best}; choose another target or parameter"
    )


def shown_in(model: Model, output: str, wanted: float) -> Unit:
    """The unit in which a target needs few digits."""
    return scale_of(np.array([wanted]), model.meaning(output).unit)


def values_tried(model: Model, parameter: str) -> list[float]:
    """Six decades to each side of the present value."""
    return _values(_start(model, parameter))


def _values(start: float) -> list[float]:
    grid: list[float] = (start * 10.0 ** np.linspace(-_DECADES, _DECADES, _GRID)).tolist()
    return grid


def _nearest_change(
    misses: Callable[[Sequence[float]], FloatArray], start: float
) -> tuple[float, float] | None:
    """Find two neighbouring values around a change of sign, nearest to the start."""
    grid = np.array(_values(start))
    values = misses(grid.tolist())
    exact = np.flatnonzero(values == 0)
    middle = _GRID // 2
    if exact.size:
        exact_value = float(grid[exact[np.abs(exact - middle).argmin()]])
        return exact_value, exact_value
    changes = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
    if not changes.size:
        return None
    nearest = int(changes[np.abs(changes + 0.5 - middle).argmin()])
    return float(grid[nearest]), float(grid[nearest + 1])
