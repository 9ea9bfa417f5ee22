"""Several goals at once: the value of one parameter at which all hold."""

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal, read_goals
from headway.models.analysis.points import method_of, outputs_over
from headway.models.analysis.target import counts_tried, value_now, values_tried
from headway.models.measured.columns import Axes
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.models.tables.shown import Answer
from headway.numerals import digits, four_digits
from headway.records import dataclass

_HALVINGS = 60  # for a ratio of 1.12, down to the last digits of a float

Worst = Callable[[Sequence[float]], FloatArray]
"""By value, the largest miss of any goal; 0 or less if all hold."""


@dataclass(frozen=True)
class JointTarget(Answer):
    """The value of one parameter, nearest to its present one, at which all goals just hold.

    Parameters
    ----------
    model
        The original model.
    goals
        What must hold.
    parameter, value
        The parameter, and its last value at which all goals hold [SI].
    beyond
        The next value, at which a goal fails: one more or less for counts [SI].
    reached
        Each goal's output at the value [SI].
    limiting
        The goals that fail beyond the value.
    axes
        The measured columns to which parameters were fitted; None without a fit.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.1, arrival_rate=1)
    >>> answer = what_all_take(one, ["response_time<=250ms", "utilisation<=50%"], "arrival_rate")
    >>> round(answer.value, 9), [goal.output for goal in answer.limiting]
    (5.0, ['utilisation'])
    """

    model: Model
    goals: tuple[Goal, ...]
    parameter: str
    value: float
    beyond: float
    reached: tuple[float, ...]
    limiting: tuple[Goal, ...]
    axes: Axes | None = None

    def __repr__(self) -> str:
        outputs = ", ".join(goal.output for goal in self.goals)
        return f"JointTarget({outputs} by {self.parameter}={digits(self.value)})"

    @cached_property
    def solution(self) -> Solution:
        """The model with that value."""
        solution = self.model.at({self.parameter: self.value}).solve()
        return solution.answering(*(goal.output for goal in self.goals))


def what_all_take(model: Model, goals: Sequence[str | Goal], parameter: str) -> JointTarget:
    """Find the value of a parameter, nearest to its present one, at which all goals just hold.

    Parameters
    ----------
    model
        With a single value for every parameter.
    goals
        As ``response_time<=300ms`` and ``utilisation<=0.8``.
    parameter
        The one to change.

    Raises
    ------
    InvalidParameter, UnknownParameter
        For an unknown output or parameter, and if no value meets all goals, or every value does.

    Examples
    --------
    For counts, one fewer or one more would not suffice:

    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
    >>> busy = pool.at(s=0.002, m=2, arrival_rate=1400)
    >>> what_all_take(busy, ["response_time<=2.5ms", "utilisation<=50%"], "m").value
    6.0
    """
    model = model.exposing(parameter)
    solution = model.solve()
    read = read_goals(solution, goals)
    outputs, method = [goal.output for goal in read], method_of(solution)

    def outputs_of(values: Sequence[float]) -> FloatArray:
        return outputs_over(model, {parameter: np.array(values, float)}, outputs, method)

    def worst(values: Sequence[float]) -> FloatArray:
        return np.asarray(_missed(read, outputs_of(values)).max(axis=1))

    value, beyond = _edge(model, read, parameter, worst)
    here, there = outputs_of([value, beyond])
    limiting = tuple(goal for goal, x in zip(read, there, strict=True) if not goal.met(x))
    return JointTarget(model, read, parameter, value, beyond, tuple(here.tolist()), limiting)


def _missed(goals: Sequence[Goal], values: FloatArray) -> FloatArray:
    """By how much each goal is missed; 0 if it holds."""
    columns = [
        np.where(goal.met(column), 0.0, goal.misses(column))
        for goal, column in zip(goals, values.T, strict=True)
    ]
    return np.stack(columns, axis=1)


def _edge(model: Model, goals: Sequence[Goal], parameter: str, worst: Worst) -> tuple[float, float]:
    """The last value that meets all goals, and the next, which does not."""
    tried = _tried(model, parameter)
    missed = worst(tried)
    met = missed == 0
    if met.all() or not met.any():
        raise InvalidParameter(_nowhere(model, goals, parameter, tried, missed))
    now = value_now(model, parameter) or tried[len(tried) // 2]
    edges = [k for k in range(len(tried) - 1) if met[k] != met[k + 1]]
    nearest = min(edges, key=lambda k: abs(math.log(tried[k] * tried[k + 1] / now**2)))
    ends = (nearest, nearest + 1) if met[nearest] else (nearest + 1, nearest)
    between = _between_counts if parameter in counts(model.graph) else _between
    return _halved(worst, between, tried[ends[0]], tried[ends[1]])


def _tried(model: Model, parameter: str) -> list[float]:
    """Values in order, including the bounds of the parameter."""
    if parameter in counts(model.graph):
        return [float(count) for count in counts_tried(model, parameter)]
    bounds = model.parameters[parameter]
    grid = values_tried(model, parameter)
    ends = (end for end in (bounds.minimum, bounds.maximum) if grid[0] < end < grid[-1])
    return sorted({*ends, *(x for x in grid if bounds.minimum <= x <= bounds.maximum)})


def _between(inside: float, outside: float) -> float:
    return (inside + outside) / 2


def _between_counts(inside: float, outside: float) -> float:
    return float((inside + outside) // 2)


def _halved(
    worst: Worst, between: Callable[[float, float], float], inside: float, outside: float
) -> tuple[float, float]:
    """Bisect between a value that meets all goals and one that does not, down to neighbours."""
    for _ in range(_HALVINGS):
        middle = between(inside, outside)
        if middle in (inside, outside):
            break
        if worst([middle])[0] == 0:
            inside = middle
        else:
            outside = middle
    return inside, outside


def _nowhere(
    model: Model, goals: Sequence[Goal], parameter: str, tried: list[float], missed: FloatArray
) -> str:
    """Report that every value meets all goals, or by how much the best one misses them."""
    shown = model.parameters[parameter].shown
    goals_text = " and ".join(goal.text(model) for goal in goals)
    if not missed.any():
        span = f"{shown(tried[0])} to {shown(tried[-1])}"
        return f"every value of {parameter} from {span} meets {goals_text}; choose another target"
    best = int(np.argmin(missed))
    if not math.isfinite(missed[best]):
        return (
            f"no value of {parameter} meets {goals_text}; the model saturates at every value "
            "tried; choose another parameter"
        )
    return (
        f"no value of {parameter} meets {goals_text}; the best value, {shown(tried[best])}, misses "
        f"one by {four_digits(100 * missed[best])}%; choose another target or parameter"
    )
