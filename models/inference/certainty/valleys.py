"""Other answers: values far from the best that fit not significantly worse.

Two times may exchange their roles, or one may fall to zero while another takes its place. Each
minimum with such values is an answer with its own numbers.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.models.inference.certainty.uncertainty import (
    Uncertainty,
    intervals,
    least_gain,
    uncertainty,
    worst_cost,
)
from headway.models.inference.searching.problem import Ends, Problem
from headway.models.inference.searching.search import (
    WHOLE,
    Optimum,
    follow,
    polish,
    polish_all,
)
from headway.models.inference.searching.starts import starts_of
from headway.records import dataclass

_LOOKED_AT = 3  # starts that are followed in search of other minima
_MOST = 4  # most answers reported


@dataclass(frozen=True)
class Minimum:
    """Values that fit, with their intervals.

    Parameters
    ----------
    free
        Values of the free parameters.
    cost
        Half the sum of squared residuals, by the loss.
    ends
        95% interval of each value.
    """

    free: FloatArray
    cost: float
    ends: tuple[Ends, ...]

    def holds(self, free: FloatArray) -> bool:
        """Whether all values lie within its intervals."""
        pairs = zip(free.tolist(), self.ends, strict=True)
        return all(low <= value <= high for value, (low, high) in pairs)


def answers(problem: Problem, optimum: Optimum, known: Uncertainty) -> tuple[Minimum, ...]:
    """The best answer first, then others that fit about as well.

    Parameters
    ----------
    problem, optimum, known
        The fit.
    """
    minima = [Minimum(optimum.free, optimum.cost, intervals(problem, optimum, known))]
    if known.degrees <= 0:
        return tuple(minima)
    most = worst_cost(optimum, known)
    worth = least_gain(optimum, known)
    ends = sorted(_other_ends(problem, optimum, worth), key=lambda end: end.cost)
    for near in ends:
        new = near.cost <= most and not any(answer.holds(near.free) for answer in minima)
        if new and len(minima) < _MOST:
            end = polish(problem, near.free)
            own = intervals(problem, end, uncertainty(problem, end), most)
            minima.append(Minimum(end.free, end.cost, own))
    return tuple(minima)


def hull(minima: tuple[Minimum, ...]) -> list[Ends]:
    """Intervals that cover every answer."""
    return [
        (min(low for low, _ in ends), max(high for _, high in ends))
        for ends in zip(*(answer.ends for answer in minima), strict=True)
    ]


def _other_ends(problem: Problem, optimum: Optimum, worth: float) -> list[Optimum]:
    """Minima from starts with roles exchanged, or elsewhere; none if a parameter is a count."""
    if problem.whole or len(problem.names) < 2:
        return []
    exchanged = _exchanged(problem, optimum.free)
    effort = replace(WHOLE, worth=worth)
    ends = polish_all(problem, np.array(exchanged), effort) if exchanged else []
    try:
        starts = starts_of(problem, 1 + _LOOKED_AT)[1:]  # the first is where the search began
    except Saturated:
        return ends
    return [*ends, *follow(problem, starts, worth)]


def _exchanged(problem: Problem, free: FloatArray) -> list[FloatArray]:
    """The values with each pair of one dimension exchanged."""
    parameters = [problem.model.parameters[name] for name in problem.names]
    starts = []
    for i, j in combinations(range(len(free)), 2):
        swapped = free.copy()
        swapped[[i, j]] = free[[j, i]]
        alike = parameters[i].unit.dimension == parameters[j].unit.dimension
        inside = all(s.low <= v <= s.high for s, v in zip(problem.scales, swapped, strict=True))
        if alike and inside and np.isfinite(problem.predict(swapped)).all():
            starts.append(swapped)
    return starts
