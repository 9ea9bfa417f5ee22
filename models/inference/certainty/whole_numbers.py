"""Intervals of counts: the whole numbers whose best fit is not significantly worse."""

from collections.abc import Callable
from dataclasses import replace

from headway.errors import Saturated
from headway.models.inference.searching.problem import Problem
from headway.models.inference.searching.search import polish, search

_STARTS = 2
_FARTHEST = 1 << 12  # step at which looking for an end is given up


def count_interval(problem: Problem, k: int, best: int, most: float) -> tuple[float, float]:
    """Interval of a count by profile likelihood: the others are fitted anew for each number.

    Parameters
    ----------
    problem
        Started from the best values.
    k, best
        Which free parameter, and its best value.
    most
        Cost up to which a fit is not significantly worse.

    Returns
    -------
    Both ends; a bound where the data set no limit.
    """
    name, scale = problem.names[k], problem.scales[k]

    starts = _STARTS if problem.evaluate.smooth else 1  # solving takes long, and the best is near

    def fits(count: int) -> bool:
        held = problem.holding(name, float(count))
        try:
            return _fits_here(held, most) or search(held, starts).cost <= most
        except Saturated:
            return False

    low, high = max(1, round(scale.low)), min(scale.high, float(best + _FARTHEST))
    down, up = best - low, int(high) - best
    return (
        float(best - _farthest(lambda step: fits(best - step), down)),
        float(best + _farthest(lambda step: fits(best + step), up)),
    )


def _fits_here(problem: Problem, most: float) -> bool:
    """Whether the best values near by fit already, the other counts as they are."""
    near = replace(problem, still=frozenset(problem.whole))
    return bool(polish(near, near.initial).cost <= most)


def _farthest(fits: Callable[[int], bool], most: int) -> int:
    """The largest step that still fits: doubled while it does, then halved in between."""
    inside, outside = 0, 1
    while outside <= most and fits(outside):
        inside, outside = outside, 2 * outside
    outside = min(outside, most + 1)
    while outside - inside > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if fits(middle) else (inside, middle)
    return inside
