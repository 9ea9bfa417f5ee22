"""Bounds: what of each resource is needed at least, and what is too much at any rate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headway.kinds import FloatArray
from headway.models.sizing.choices import Grid
from headway.models.sizing.cost import Cost
from headway.models.sizing.judge import Judge

_MOST_TRIED = 200_000


@dataclass(frozen=True)
class Bounded:
    """What bounds leave of a grid.

    Parameters
    ----------
    grid
        With the values of resources that may yet be the answer.
    ceiling
        A cost at which goals are met, so that none above it need be looked at.
    """

    grid: Grid
    ceiling: float


def bounded(grid: Grid, resources: Sequence[str], cost: Cost, judge: Judge) -> Bounded:
    """Leave out values of resources that the cheapest configuration surely has not.

    Too little is what does not meet the goals with the most of every other resource, whatever
    the other choices are; too much is what costs more than a configuration that is known to
    meet them, with the least of every other one.

    Parameters
    ----------
    grid
        What can be chosen.
    resources
        Choices of which more can only help.
    cost, judge
        What configurations cost, and who says which meet the goals.
    """
    ceiling = np.inf
    for name in resources:
        grid, seen = _enough(grid, resources, name, cost, judge)
        ceiling = min(ceiling, seen)
    if not np.isfinite(ceiling):
        return Bounded(grid, ceiling)
    ceiling = min(ceiling, _descended(grid, resources, cost, judge))
    if all(cost.rises(name) for name in resources) and min(grid.ends(0).values()) >= 0:
        for name in resources:
            grid = _affordable(grid, resources, name, cost, ceiling)
    return Bounded(grid, ceiling)


def _lined(grid: Grid, resources: Sequence[str], name: str, place: int) -> Grid:
    """The grid with every resource but one at an end of its values."""
    ends = grid.ends(place)
    fixed = {other: (ends[other],) for other in resources if other != name}
    return replace(grid, values={**grid.values, **fixed})


def _along(grid: Grid, name: str, values: FloatArray) -> FloatArray:
    """What was found for each configuration of a grid: a row a value of one choice."""
    axis = grid.names.index(name)
    return np.moveaxis(values.reshape(grid.shape), axis, 0).reshape(grid.shape[axis], -1)


def _keeping(grid: Grid, name: str, kept: slice) -> Grid:
    return replace(grid, values={**grid.values, name: grid.values[name][kept]})


def _enough(
    grid: Grid, resources: Sequence[str], name: str, cost: Cost, judge: Judge
) -> tuple[Grid, float]:
    """Leave out too little of a resource; also the least cost seen at which all goals hold."""
    line = _lined(grid, resources, name, -1)
    if line.size > _MOST_TRIED:
        return grid, np.inf
    columns = line.at(np.arange(line.size))
    met = judge(columns).met
    if not met.any():  # then nothing does, and this line has what comes nearest
        return line, np.inf
    rows = _along(line, name, met.astype(float)).any(axis=1)
    return _keeping(grid, name, slice(int(np.argmax(rows)), None)), cost.of(columns)[met].min()


def _descended(grid: Grid, resources: Sequence[str], cost: Cost, judge: Judge) -> float:
    """The least cost found by taking of one resource after the other as little as will do."""
    line = _lined(grid, resources, "", -1)
    if line.size > _MOST_TRIED:
        return float(np.inf)
    columns = line.at(np.arange(line.size))
    costs = np.where(judge(columns).met, cost.of(columns), np.inf)
    here = {name: float(column[np.argmin(costs)]) for name, column in columns.items()}
    for name in resources:
        here = _lowered(grid, name, here, judge)
    return float(cost.of({name: np.array([value]) for name, value in here.items()})[0])


def _lowered(grid: Grid, name: str, here: dict[str, float], judge: Judge) -> dict[str, float]:
    """The same configuration with the least of a resource that meets all goals."""
    line = Grid({**{other: (value,) for other, value in here.items()}, name: grid.values[name]})
    met = judge(line.at(np.arange(line.size))).met
    return {**here, name: grid.values[name][int(np.argmax(met))]}


def _affordable(
    grid: Grid, resources: Sequence[str], name: str, cost: Cost, ceiling: float
) -> Grid:
    """Leave out what of a resource costs too much with the least of every other one."""
    line = _lined(grid, resources, name, 0)
    if line.size > _MOST_TRIED:
        return grid
    rows = _along(line, name, cost.of(line.at(np.arange(line.size)))).min(axis=1) <= ceiling
    return _keeping(grid, name, slice(0, int(np.flatnonzero(rows)[-1]) + 1))
