"""Why no configuration suffices: the nearest one, by how much it fails, and what limits it."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal
from headway.models.analysis.points import output_of
from headway.models.sizing.judge import Chance
from headway.models.sizing.search import Explored
from headway.models.structure.model import Model
from headway.numerals import digits, first_largest, significant

_MOST = 65_536
_IDLE = 0.3  # utilisation below which few jobs wait at a station


def refusal(
    model: Model, goals: Sequence[Goal], explored: Explored, chance: Chance | None, count: int
) -> str:
    """Report in one line that no configuration meets all goals, and by how much the best one fails.

    Parameters
    ----------
    model, goals
        The model and the goals.
    explored
        A search over all configurations, or over those that include the nearest.
    chance
        The required probability; None if nothing is uncertain.
    count
        Number of configurations.
    """
    verdict = explored.verdict
    nearest = int(first_largest(-verdict.misses))
    targets = " and ".join(goal.text(model) for goal in goals)
    start = f"none of {count} configurations meets {targets}"
    if chance is not None:
        return f"{start} {_unsure(model, explored, nearest, chance)}; offer more choices"
    if not np.isfinite(verdict.misses[nearest]):
        return f"{start}; {_saturated(model, explored)}; offer more choices, or change a target"
    values = _values(explored, nearest)
    missed = [
        f"{goal.output} {goal.shown(model, x)}, {goal.by(model, float(goal.misses(x)))}"
        for goal, x in zip(goals, verdict.outputs[nearest].tolist(), strict=True)
        if not (goal.met(x) or math.isnan(x))
    ]
    return (
        f"{start}; the nearest is {shown_values(model, values)}, which misses with "
        f"{' and '.join(missed)}{_limit(model, values)}; offer more choices, or change a target"
    )


def _unsure(model: Model, explored: Explored, nearest: int, chance: Chance) -> str:
    """Report the probability with which the nearest configuration meets all goals."""
    values = _values(explored, nearest)
    share = chance.confidence - float(explored.verdict.misses[nearest])
    return (
        f"with a probability of {digits(100 * chance.confidence)}%; the nearest is "
        f"{shown_values(model, values)} with {significant(100 * share, 3)}%{_limit(model, values)}"
    )


def shown_values(model: Model, values: Mapping[str, float]) -> str:
    """The chosen values as text.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> shown_values(catalogue_model("nfs-server"), {"disks": 4.0, "delay": 0.001})
    'disks 4, delay 1 ms'
    """
    known = model.parameters
    return ", ".join(f"{name} {known[name].shown(value)}" for name, value in values.items())


def _values(explored: Explored, number: int) -> dict[str, float]:
    columns = explored.grid.at(explored.places[[number]])
    return {name: float(column[0]) for name, column in columns.items()}


def _limit(model: Model, values: Mapping[str, float]) -> str:
    """Name the busiest station of a configuration; mostly idle stations do not limit it."""
    solution = model.at(values).solve()
    if not solution.stations:
        return ""
    if solution.marks.overload:
        return f"; {solution.saturation_message}"
    name = str(np.ravel(solution.bottleneck)[0])
    busy = float(np.ravel(solution[f"{name}.utilisation"])[0])
    if busy < _IDLE:
        return f"; no station is busy: the busiest is {name}, {significant(100 * busy, 3)}%"
    return f"; {name} is the bottleneck, {significant(100 * busy, 3)}% busy"


def _saturated(model: Model, explored: Explored) -> str:
    """Name the station that saturates even in the least busy configuration."""
    costly = explored.places[-_MOST:]
    try:
        solution = model.at(explored.grid.at(costly)).solve()
        busy: FloatArray = np.atleast_1d(output_of(solution, "utilisation"))
        values = _values(explored, explored.places.size - costly.size + int(np.argmin(busy)))
        return (
            f"all saturate; the least busy is {shown_values(model, values)}{_limit(model, values)}"
        )
    except HeadwayError as error:
        return f"none can be solved: {error}"
