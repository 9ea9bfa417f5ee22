"""What it would take for several goals at once: the value of one parameter at which all hold."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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

_HALVINGS = 60  # of a ratio of 1.12, to the last digits of a double

Worst = Callable[[Sequence[float]], FloatArray]
"""By how much the goal that is missed most is missed, by value; 0 or less where all hold."""


@dataclass(frozen=True)
class JointTarget(Answer):
    """The value of one parameter, nearest to what it is, on the edge of where all goals hold.

    Parameters
    ----------
    model
        As it was.
    goals
        What must hold.
    parameter, value
        The parameter, and its last value at which all goals hold [SI].
    beyond
        The next value, at which one does not: one more or less of what is counted [SI].
    reached
        Each goal's output at the value [SI].
    binding
        The goals that do not hold beyond.
    axes
        The columns of the measurements that parameters were fitted to; None without.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.1, arrival_rate=1)
    >>> found = what_all_take(one, ["response_time<=250ms", "utilisation<=50%"], "arrival_rate")
    >>> round(found.value, 9), [goal.output for goal in found.binding]
    (5.0, ['utilisation'])
    """

    model: Model
    goals: tuple[Goal, ...]
    parameter: str
    value: float
    beyond: float
    reached: tuple[float, ...]
    binding: tuple[Goal, ...]
    axes: Axes | None = None

    def __repr__(self) -> str:
        outputs = ", ".join(goal.output for goal in self.goals)
        return f"JointTarget({outputs} by {self.parameter}={self.value:g})"

    @cached_property
    def solution(self) -> Solution:
        """The model with that value."""
        solution = self.model.at({self.parameter: self.value}).solve()
        return solution.answering(*(goal.output for goal in self.goals))


def what_all_take(model: Model, goals: Sequence[str | Goal], parameter: str) -> JointTarget:
    """Find the value of a parameter, nearest to what it is, on the edge of where all goals hold.

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
        For an unknown output or parameter, and where no value meets all goals, or every one does.

    Examples
    --------
    Of what is counted, one fewer or one more would not do:

    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
    >>> busy = pool.at(s=0.002, m=2, arrival_rate=1400)
    >>> what_all_take(busy, ["response_time<=2.5ms", "utilisation<=50%"], "m").value
    6.0
    """
    model = model.exposing(parameter)
    solution = model.solve()
    wanted = read_goals(solution, goals)
    outputs, method = [goal.output for goal in wanted], method_of(solution)

    def found(values: Sequence[float]) -> FloatArray:
        return outputs_over(model, {parameter: np.array(values, float)}, outputs, method)

    def worst(values: Sequence[float]) -> FloatArray:
        return np.asarray(_missed(wanted, found(values)).max(axis=1))

    value, beyond = _edge(model, wanted, parameter, worst)
    here, there = found([value, beyond])
    binding = tuple(goal for goal, x in zip(wanted, there, strict=True) if not goal.met(x))
    return JointTarget(model, wanted, parameter, value, beyond, tuple(here.tolist()), binding)


def _missed(goals: Sequence[Goal], values: FloatArray) -> FloatArray:
    """By how much each goal is missed; 0 where it holds."""
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
    """Values in order, the ends of what the parameter may be among them."""
    if parameter in counts(model.graph):
        return [float(count) for count in counts_tried(model, parameter)]
    meant = model.parameters[parameter]
    grid = values_tried(model, parameter)
    ends = (end for end in (meant.minimum, meant.maximum) if grid[0] < end < grid[-1])
    return sorted({*ends, *(x for x in grid if meant.minimum <= x <= meant.maximum)})


def _between(inside: float, outside: float) -> float:
    return (inside + outside) / 2


def _between_counts(inside: float, outside: float) -> float:
    return float((inside + outside) // 2)


def _halved(
    worst: Worst, between: Callable[[float, float], float], inside: float, outside: float
) -> tuple[float, float]:
    """Halve between a value that meets all goals and one that does not, to neighbours."""
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
    """Say that every value meets all goals, or how far the best one is from that."""
    shown = model.parameters[parameter].shown
    said = " and ".join(goal.text(model) for goal in goals)
    if not missed.any():
        span = f"{shown(tried[0])} to {shown(tried[-1])}"
        return f"every value of {parameter} from {span} meets {said}; choose another target"
    best = int(np.argmin(missed))
    if not math.isfinite(missed[best]):
        return (
            f"no value of {parameter} meets {said}; the model saturates at every value tried; "
            "choose another parameter"
        )
    return (
        f"no value of {parameter} meets {said}; at best, at {shown(tried[best])}, one is missed by "
        f"{100 * missed[best]:.3g} %; choose another target or parameter"
    )
