"""The cheapest configuration that meets all goals: all of them looked at, in order of cost."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.sizing.choices import Grid, Places
from headway.models.sizing.cost import Cost
from headway.models.sizing.judge import Judge, Verdict

_FIRST_BLOCK, _LAST_BLOCK = 128, 65536
_PRICED = 1 << 20  # configurations that are priced together
_STEP = 0.01
"""By which share the next configuration on the front is better than the one before, at least."""


@dataclass(frozen=True, eq=False)
class Explored:
    """What a search in order of cost has seen.

    Parameters
    ----------
    grid
        What could be chosen.
    places, costs
        The configurations in order of cost, and what each costs.
    verdict
        Of those up to where the search stopped.
    measures
        Of these and perhaps some more.
    best
        Number in that order of the cheapest that meets all goals; None where none does.
    cheaper, nearest
        Of those that cost less: of the next lower cost, and of all of them, the one that misses
        the goals by the least; None where nothing costs less, or all of that saturates.
    """

    grid: Grid
    places: Places
    costs: FloatArray
    verdict: Verdict
    measures: FloatArray
    best: int | None
    cheaper: int | None
    nearest: int | None

    def front(self) -> list[int]:
        """Numbers of configurations that no cheaper one beats, each at least 1 % faster."""
        order = np.lexsort((self.measures, self.costs[: self.measures.size]))
        kept: list[int] = []
        for number in order[_falls(self.measures[order])].tolist():
            if not kept or self._is_step(kept[-1], number):
                kept.append(number)
        return kept

    def _is_step(self, before: int, number: int) -> bool:
        least = self.measures[before]
        return bool(self.measures[number] < least - _STEP * abs(least))


def _falls(values: FloatArray) -> NDArray[np.bool_]:
    """Where values are finite and lower than all before."""
    lowest = np.minimum.accumulate(values)
    return np.asarray(np.r_[True, lowest[1:] < lowest[:-1]] & np.isfinite(lowest))


def in_order(grid: Grid, cost: Cost, ceiling: float = np.inf) -> tuple[Places, FloatArray]:
    """The configurations of a grid that cost no more than a ceiling, the cheapest first.

    At equal cost they come as they are counted.
    """
    blocks = [np.arange(a, min(a + _PRICED, grid.size)) for a in range(0, grid.size, _PRICED)]
    kept_places, kept_costs = [], []
    for places in blocks:
        costs = cost.of(grid.at(places))
        kept_places.append(places[costs <= ceiling])
        kept_costs.append(costs[costs <= ceiling])
    all_places, all_costs = np.concatenate(kept_places), np.concatenate(kept_costs)
    order = np.argsort(all_costs, kind="stable")
    return all_places[order], all_costs[order]


def search(grid: Grid, ordered: tuple[Places, FloatArray], judge: Judge, most: int = 0) -> Explored:
    """Look for the cheapest configuration that meets all goals, the cheapest first.

    Parameters
    ----------
    grid
        What can be chosen.
    ordered
        Its configurations in order of cost, and what each costs.
    judge
        Who says which meet all goals.
    most
        How many are looked at for the front; at least those up to the cheapest.
    """
    places, costs = ordered
    verdicts: list[Verdict] = []
    limit, end = np.inf, 0
    for start, stop in _blocks(costs.size):
        if costs[start] > limit:
            break
        verdicts.append(judge(grid.at(places[start:stop])))
        end = stop
        if not np.isfinite(limit) and verdicts[-1].met.any():
            limit = costs[start + int(np.argmax(verdicts[-1].met))]
    seen = _joined(verdicts)
    rest = places[end : max(most, end)]
    more = [judge.measures(grid.at(rest[a:b])) for a, b in _blocks(rest.size)]
    measures = np.concatenate([seen.measure, *more])
    best = _best_of(seen, np.flatnonzero(seen.met), costs)
    below = int(np.searchsorted(costs, costs[best])) if best is not None else 0
    level = int(np.searchsorted(costs, costs[below - 1])) if below else 0
    cheaper, nearest = (_nearest(seen, start, below) for start in (level, 0))
    if nearest is not None and not np.isfinite(seen.misses[nearest]):
        nearest = None
    return Explored(grid, places, costs, seen, measures, best, cheaper, nearest)


def _best_of(verdict: Verdict, among: Places, costs: FloatArray) -> int | None:
    """The cheapest of those that meet all goals; at equal cost that with the least measure."""
    if not among.size:
        return None
    level = among[costs[among] == costs[among[0]]]
    return int(level[np.argmin(verdict.measure[level])])


def _nearest(verdict: Verdict, start: int, stop: int) -> int | None:
    """Of some, the configuration that misses its goals by the least."""
    if start == stop:
        return None
    part = slice(start, stop)
    return start + int(np.lexsort((verdict.measure[part], verdict.misses[part]))[0])


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    """Ends of blocks that grow, so that a search that ends soon has done little in vain."""
    start, size = 0, _FIRST_BLOCK
    while start < count:
        yield start, min(start + size, count)
        start, size = start + size, min(2 * size, _LAST_BLOCK)


def _joined(verdicts: list[Verdict]) -> Verdict:
    shares = [verdict.share for verdict in verdicts if verdict.share is not None]
    return Verdict(
        np.concatenate([verdict.met for verdict in verdicts]),
        np.concatenate([verdict.outputs for verdict in verdicts]),
        np.concatenate([verdict.measure for verdict in verdicts]),
        np.concatenate([verdict.misses for verdict in verdicts]),
        np.concatenate(shares) if shares else None,
    )
