"""Search for the cheapest configuration that meets all goals, in order of cost."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.sizing.choices import ChoiceGrid, Places
from headway.models.sizing.cost import Cost
from headway.models.sizing.judge import Judge, Verdict, joined
from headway.records import dataclass

_FIRST_BLOCK, _LAST_BLOCK = 128, 65536
# judged first where each takes seconds: judging more than the best one needs is wasted
_FIRST_SLOW = 4
_PRICED = 1 << 20  # configurations whose cost is computed together
_STEP = 0.01
"""Least relative improvement from one configuration on the front to the next."""


@dataclass(frozen=True, eq=False)
class Explored:
    """Results of a search in order of cost.

    Parameters
    ----------
    grid
        The values to choose from.
    places, costs
        The configurations in order of cost, and their costs.
    verdict
        Verdict on the configurations up to where the search stopped.
    measures
        Ranking measures of these configurations, and perhaps of further ones.
    best
        Index in that order of the cheapest configuration that meets all goals; None if none does.
    cheaper, nearest
        The configuration that misses the goals by the least, among those of the next lower cost,
        and among all cheaper ones; None if nothing is cheaper, or all saturate.
    """

    grid: ChoiceGrid
    places: Places
    costs: FloatArray
    verdict: Verdict
    measures: FloatArray
    best: int | None
    cheaper: int | None
    nearest: int | None

    def front(self) -> list[int]:
        """Indices of configurations that no cheaper one beats, each at least 1% faster."""
        costs = self.costs[: self.measures.size]
        levels = np.flatnonzero(np.r_[True, costs[1:] > costs[:-1]])
        fastest = np.minimum.reduceat(self.measures, levels)
        ends = [*levels[1:].tolist(), costs.size]
        kept: list[int] = []
        for level in np.flatnonzero(_falls(fastest)).tolist():
            start = int(levels[level])
            number = start + int(np.argmin(self.measures[start : ends[level]]))
            if not kept or self._is_step(kept[-1], number):
                kept.append(number)
        return kept

    def _is_step(self, before: int, number: int) -> bool:
        least = self.measures[before]
        return bool(self.measures[number] < least - _STEP * abs(least))


def _falls(values: FloatArray) -> NDArray[np.bool_]:
    """Whether values are finite and lower than all before."""
    lowest = np.minimum.accumulate(values)
    return np.asarray(np.r_[True, lowest[1:] < lowest[:-1]] & np.isfinite(lowest))


def in_order(grid: ChoiceGrid, cost: Cost, ceiling: float = np.inf) -> tuple[Places, FloatArray]:
    """Configurations of a grid that cost no more than a ceiling, with costs, cheapest first.

    Configurations of equal cost are in the order of their indices.
    """
    blocks = [np.arange(a, min(a + _PRICED, grid.size)) for a in range(0, grid.size, _PRICED)]
    kept = []
    for places in blocks:
        costs = cost.of(grid.axes() if len(blocks) == 1 else grid.at(places))
        within = slice(None) if np.isinf(ceiling) else costs <= ceiling
        kept.append((places[within], costs[within]))
    all_places, all_costs = map(np.concatenate, zip(*kept, strict=True))
    order = np.argsort(all_costs, kind="stable")
    return all_places[order], all_costs[order]


def search(
    grid: ChoiceGrid, ordered: tuple[Places, FloatArray], judge: Judge, most: int = 0
) -> Explored:
    """Search for the cheapest configuration that meets all goals, in rising order of cost.

    Parameters
    ----------
    grid
        The values to choose from.
    ordered
        Its configurations in order of cost, and their costs.
    judge
        The judge that says which meet all goals.
    most
        Most configurations examined for the front; at least those up to the cheapest.
    """
    places, costs = ordered
    if judge.at_once and grid.size <= most:
        verdict = judge(grid.axes()).of(places)
    else:
        verdict = _judged(grid, ordered, judge)
    end = verdict.measure.size
    measures = np.concatenate([verdict.measure, _measures(grid, places[end:most], judge)])
    best = _best_of(verdict, np.flatnonzero(verdict.met), costs)
    below = int(np.searchsorted(costs, costs[best])) if best is not None else 0
    level = int(np.searchsorted(costs, costs[below - 1])) if below else 0
    cheaper, nearest = (_nearest(verdict, start, below) for start in (level, 0))
    if nearest is not None and not np.isfinite(verdict.misses[nearest]):
        nearest = None
    return Explored(grid, places, costs, verdict, measures, best, cheaper, nearest)


def _judged(grid: ChoiceGrid, ordered: tuple[Places, FloatArray], judge: Judge) -> Verdict:
    """The verdict in order of cost, up to the cost of one that meets all goals."""
    places, costs = ordered
    verdicts: list[Verdict] = []
    limit = np.inf
    for start, stop in _blocks(costs.size, _FIRST_SLOW if judge.is_slow else _FIRST_BLOCK):
        if costs[start] > limit:
            break
        verdicts.append(judge(grid.at(places[start:stop])))
        if not np.isfinite(limit) and verdicts[-1].met.any():
            limit = costs[start + int(np.argmax(verdicts[-1].met))]
    return joined(verdicts)


def _measures(grid: ChoiceGrid, places: Places, judge: Judge) -> FloatArray:
    """The ranking measure of some configurations of a grid."""
    if judge.along_axes and places.size and grid.size <= _PRICED:
        return judge.measures(grid.axes())[places]
    parts = (grid.at(places[start:stop]) for start, stop in _blocks(places.size))
    return np.concatenate([np.empty(0), *map(judge.measures, parts)])


def _best_of(verdict: Verdict, among: Places, costs: FloatArray) -> int | None:
    """The cheapest that meets all goals; at equal cost, the one with the smallest measure."""
    if not among.size:
        return None
    level = among[costs[among] == costs[among[0]]]
    return int(level[np.argmin(verdict.measure[level])])


def _nearest(verdict: Verdict, start: int, stop: int) -> int | None:
    """The configuration, among some, that misses its goals by the least."""
    if start == stop:
        return None
    part = slice(start, stop)
    return start + int(np.lexsort((verdict.measure[part], verdict.misses[part]))[0])


def _blocks(count: int, first: int = _FIRST_BLOCK) -> Iterator[tuple[int, int]]:
    """Ends of blocks of growing size, so that a short search wastes little work."""
    start, size = 0, first
    while start < count:
        yield start, min(start + size, count)
        start, size = start + size, min(2 * size, _LAST_BLOCK)
