"""Intervals of counts: the whole numbers whose best fit is not significantly worse."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from headway.models.inference.searching.problem import Problem
from headway.models.inference.searching.search import (
    FEW,
    WHOLE,
    Optimum,
    lowest,
    over_whole,
    polish_all,
    with_count,
)
from headway.records import dataclass

_FARTHEST = 1 << 12  # step at which the search for an end is given up
_FIRST = 1.3  # factor by which the other counts change at first
# steps that are tried side by side, and parts into which the last one is divided
_DOUBLINGS, _PARTS = 3, 4

Fits = Callable[[Sequence[int]], Sequence[bool]]
"""A function that says which of several counts fit not significantly worse."""


def count_interval(
    problem: Problem, k: int, best: int, most: float, worth: float
) -> tuple[float, float]:
    """Interval of a count by profile likelihood: the other parameters are refitted for each number.

    Parameters
    ----------
    problem
        The fit, started from the best values.
    k, best
        Index of the free parameter, and its best value.
    most
        Largest cost of a fit that is not significantly worse.
    worth
        Gain in cost that makes a step worthwhile.

    Returns
    -------
    Both ends; a bound where the data set no limit.
    """
    scale, fits = problem.scales[k], _fitting(problem, k, best, most, worth)
    low, high = max(1, round(scale.low)), min(scale.high, float(best + _FARTHEST))
    ends = _Reach(-1, 0, best - low + 1), _Reach(1, 0, int(high) - best + 1)
    pending = [reach.steps() for reach in ends]
    while any(pending):
        counts = [
            best + reach.side * n for reach, own in zip(ends, pending, strict=True) for n in own
        ]
        good = dict(zip(counts, fits(counts), strict=True))
        pairs = zip(ends, pending, strict=True)
        down, up = (
            one.narrowed([good[best + one.side * n] for n in own], own) for one, own in pairs
        )
        ends = down, up
        pending = [reach.steps() for reach in ends]
    return float(best - ends[0].inside), float(best + ends[1].inside)


@dataclass(frozen=True)
class _Reach:
    """How far a count can move to one side.

    Parameters
    ----------
    side
        Direction: -1 or 1.
    inside, outside
        The largest step known to fit, and the smallest known not to.
    most
        The first step that is out of bounds.
    """

    side: int
    inside: int
    most: int
    outside: int | None = None

    def steps(self) -> list[int]:
        """Steps to try next: doubled while all fit; later ones that divide what is left."""
        if self.outside is None:
            tried = {min(max(2 * self.inside, 1) * 2**n, self.most - 1) for n in range(_DOUBLINGS)}
        else:
            width = self.outside - self.inside
            tried = {self.inside + width * part // _PARTS for part in range(1, _PARTS)}
        return sorted(n for n in tried if self.inside < n < (self.outside or self.most))

    def narrowed(self, good: Sequence[bool], steps: Sequence[int]) -> "_Reach":
        """The search after some steps have been tried."""
        fitting = list(takewhile(lambda pair: pair[1], zip(steps, good, strict=True)))
        inside = fitting[-1][0] if fitting else self.inside
        missed = steps[len(fitting)] if len(fitting) < len(steps) else self.outside
        return replace(self, inside=inside, outside=missed)


def _fitting(problem: Problem, k: int, best: int, most: float, worth: float) -> Fits:
    """Fit with a count held, each time starting from the nearest number fitted before."""
    fixed = replace(problem, still=frozenset(problem.whole))
    others = frozenset(problem.whole) - {problem.names[k]}
    effort = replace(WHOLE, worth=worth)
    known = {best: problem.initial}

    def fits(counts: Sequence[int]) -> list[bool]:
        near = [known[min(known, key=lambda one: abs(one - count))] for count in counts]
        pairs = zip(near, counts, strict=True)
        starts = [lowest(fixed, with_count(fixed, free, k, count)) for free, count in pairs]
        ends: list[Optimum] = polish_all(fixed, np.array(starts), effort)
        if others:
            ends = over_whole(fixed, ends, others, _FIRST, most, effort)
        known.update({count: end.free for count, end in zip(counts, ends, strict=True)})
        return [end.cost <= most for end in ends]

    if len(problem.names) > FEW:  # with many parameters, fits descend one after another
        return lambda counts: [good for count in counts for good in fits([count])]
    return fits
