"""Bounds: the least of each resource that can suffice, and the most that can be worth its cost."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.kinds import FloatArray
from headway.models.sizing.choices import ChoiceGrid
from headway.models.sizing.cost import Cost
from headway.models.sizing.judge import Judge
from headway.records import dataclass

_MOST_TRIED = 200_000


@dataclass(frozen=True)
class BoundedGrid:
    """The part of a grid within bounds.

    Parameters
    ----------
    grid
        The grid, reduced to values that may still be the answer.
    ceiling
        A cost at which the goals can be met, so that dearer configurations need not be examined.
    """

    grid: ChoiceGrid
    ceiling: float


def bounded(grid: ChoiceGrid, resources: Sequence[str], cost: Cost, judge: Judge) -> BoundedGrid:
    """Exclude values of resources that the cheapest configuration cannot have.

    A value is too small if it misses the goals even with the most of every other resource, whatever
    the other choices. It is too large if, with the least of every other resource, it costs more
    than a configuration that is known to meet the goals.

    Parameters
    ----------
    grid
        The values to choose from.
    resources
        Names of choices of which more can only help.
    cost, judge
        The cost of a configuration, and the judge that says which meet the goals.
    """
    ceiling = np.inf
    for name in resources:
        grid, cheapest = _without_too_small(grid, resources, name, cost, judge)
        ceiling = min(ceiling, cheapest)
    if not np.isfinite(ceiling):
        return BoundedGrid(grid, ceiling)
    ceiling = min(ceiling, _descended(grid, resources, cost, judge))
    if all(cost.rises(name) for name in resources) and min(grid.ends(0).values()) >= 0:
        for name in resources:
            grid = _affordable(grid, resources, name, cost, ceiling)
    return BoundedGrid(grid, ceiling)


def _at_end(grid: ChoiceGrid, resources: Sequence[str], name: str, place: int) -> ChoiceGrid:
    """The grid with every resource but one at an end of its range."""
    ends = grid.ends(place)
    fixed = {other: (ends[other],) for other in resources if other != name}
    return replace(grid, values={**grid.values, **fixed})


def _rows_by_value(grid: ChoiceGrid, name: str, values: FloatArray) -> FloatArray:
    """Results for each configuration of a grid, in rows by the value of one choice."""
    axis = grid.names.index(name)
    return np.moveaxis(values.reshape(grid.shape), axis, 0).reshape(grid.shape[axis], -1)


def _keeping(grid: ChoiceGrid, name: str, kept: slice) -> ChoiceGrid:
    return replace(grid, values={**grid.values, name: grid.values[name][kept]})


def _without_too_small(
    grid: ChoiceGrid, resources: Sequence[str], name: str, cost: Cost, judge: Judge
) -> tuple[ChoiceGrid, float]:
    """Exclude too small values of a resource; also return the least cost that meets all goals."""
    line = _at_end(grid, resources, name, -1)
    if line.size > _MOST_TRIED:
        return grid, np.inf
    columns = line.at(np.arange(line.size))
    met = judge(columns).met
    if not met.any():  # no configuration does, and this row contains the nearest
        return line, np.inf
    rows = _rows_by_value(line, name, met.astype(float)).any(axis=1)
    return _keeping(grid, name, slice(int(np.argmax(rows)), None)), cost.of(columns)[met].min()


def _descended(grid: ChoiceGrid, resources: Sequence[str], cost: Cost, judge: Judge) -> float:
    """The least cost found by reducing one resource after another as far as possible."""
    line = _at_end(grid, resources, "", -1)
    if line.size > _MOST_TRIED:
        return float(np.inf)
    columns = line.at(np.arange(line.size))
    costs = np.where(judge(columns).met, cost.of(columns), np.inf)
    here = {name: float(column[np.argmin(costs)]) for name, column in columns.items()}
    for name in resources:
        here = _lowered(grid, name, here, judge)
    return float(cost.of({name: np.array([value]) for name, value in here.items()})[0])


def _lowered(grid: ChoiceGrid, name: str, here: dict[str, float], judge: Judge) -> dict[str, float]:
    """A configuration with the least of one resource that still meets all goals."""
    line = ChoiceGrid(
        {**{other: (value,) for other, value in here.items()}, name: grid.values[name]}
    )
    met = judge(line.at(np.arange(line.size))).met
    return {**here, name: grid.values[name][int(np.argmax(met))]}


def _affordable(
    grid: ChoiceGrid, resources: Sequence[str], name: str, cost: Cost, ceiling: float
) -> ChoiceGrid:
    """Exclude values of a resource that cost too much even with the least of every other."""
    line = _at_end(grid, resources, name, 0)
    if line.size > _MOST_TRIED:
        return grid
    rows = _rows_by_value(line, name, cost.of(line.at(np.arange(line.size)))).min(axis=1) <= ceiling
    return _keeping(grid, name, slice(0, int(np.flatnonzero(rows)[-1]) + 1))
