"""Tables that are denser in load where the output bends, as where a pool of threads fills.

A table starts with a few loads. Solving in the middle of each interval shows the interpolation
error there. Where it is too large, the middle becomes a row of the table, and both halves are
tried. No point is solved twice, and all points of a round are solved together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from headway.kinds import FloatArray
from headway.models.reports.between.grids import Along, SolvedGrid
from headway.models.structure.parts.counts import counts
from headway.records import dataclass

_Interval: TypeAlias = tuple[float, float]


@dataclass(frozen=True)
class Refined:
    """A table with the loads that it needs.

    Parameters
    ----------
    grid, values
        The points, and the results there.
    error, lost
        Errors at the centres of cells: the largest relative error of the output, and the largest
        error of utilisations.
    """

    grid: SolvedGrid
    values: FloatArray
    error: float
    lost: float


def refined(grid: SolvedGrid, target: float, most: int) -> Refined:
    """Solve a table, adding loads wherever its interpolation error exceeds a target.

    Parameters
    ----------
    grid
        The grid to start with; its load is in numbers, not in shares of what saturates.
    target
        Relative error in the middle of an interval below which it needs no further load.
    most
        Most loads, whatever the error.

    Raises
    ------
    HeadwayError
        Where a point cannot be solved.
    """
    rows = _Rows(grid)
    loads = [float(load) for load in grid.axes[grid.load]]
    rows.solve(loads)
    errors: list[tuple[float, float]] = []
    todo = list(pairwise(loads))
    while todo:
        rows.solve(rows.middle(each) for each in todo)
        todo.sort(key=rows.bend, reverse=True)
        room = most - len(loads)
        bent = [each for each in todo[:room] if rows.bend(each) > target]
        errors += [rows.errors(each) for each in todo if each not in bent]
        loads += [rows.middle(each) for each in bent]
        todo = [half for each in bent for half in pairwise((each[0], rows.middle(each), each[1]))]
    loads.sort()
    found = replace(grid, axes=grid.axes | {grid.load: np.array(loads)})
    error, lost = np.max(errors, axis=0)
    return Refined(found, np.stack([rows.known(load) for load in loads], axis=1), error, lost)


class _Rows:
    """Points at one load each: at the other parameters' values, and midway between them."""

    def __init__(self, grid: SolvedGrid) -> None:
        self.grid = grid
        whole = counts(grid.model.graph)
        others = {name: axis for name, axis in grid.axes.items() if name != grid.load}
        self.axes = {n: a if n in whole else _with_middles(a) for n, a in others.items()}
        halves = [slice(None) if n in whole else slice(1, None, 2) for n in others]
        own = [slice(None) if n in whole else slice(None, None, 2) for n in others]
        self.own, self.halves = (..., *own), (..., *halves)
        self.spread = [1 + k for k, name in enumerate(others) if name not in whole]
        self.busy = slice(1, -1 if grid.along is Along.JOBS else None)
        self._rows: dict[float, FloatArray] = {}

    def solve(self, loads: Iterable[float]) -> None:
        """Solve at loads that have not been solved yet."""
        new = np.array(sorted(set(loads) - self._rows.keys()))
        if new.size:
            axes: Mapping[str, FloatArray] = {self.grid.load: new} | self.axes
            found = self.grid.solved_at(axes)
            self._rows |= {float(load): found[:, k] for k, load in enumerate(new)}

    def known(self, load: float) -> FloatArray:
        """The results at a load, at the other parameters' own values."""
        return self._rows[load][self.own]

    def middle(self, between: _Interval) -> float:
        """The load in the middle of an interval."""
        return float(self.grid.midway(np.array(between))[0])

    def _read(self, between: _Interval) -> FloatArray:
        """The logarithm of the output and other results, interpolated to an interval's middle."""
        low, high, here = self.grid.place(np.array([*between, self.middle(between)]))
        share = (here - low) / (high - low)
        first, last = map(self.known, between)
        ends = [np.concatenate([np.log(each[:1]), each[1:]]) for each in (first, last)]
        return np.asarray((1 - share) * ends[0] + share * ends[1])

    def bend(self, between: _Interval) -> float:
        """The relative error in the middle of an interval, at the other parameters' values."""
        with np.errstate(all="ignore"):
            return _relative(self._read(between)[0], self.known(self.middle(between))[0])

    def errors(self, between: _Interval) -> tuple[float, float]:
        """Errors at the centres of cells: relative for the output, and of utilisations."""
        with np.errstate(all="ignore"):
            read, exact = self._read(between), self._rows[self.middle(between)][self.halves]
            for axis in self.spread:
                read = (np.delete(read, 0, axis) + np.delete(read, -1, axis)) / 2
            lost = np.abs(read[self.busy] - exact[self.busy])
            return _relative(read[0], exact[0]), float(np.max(lost, initial=0.0))


def _with_middles(axis: FloatArray) -> FloatArray:
    """Values with their geometric means in between."""
    both = np.empty(2 * axis.size - 1)
    both[::2], both[1::2] = axis, np.sqrt(axis[:-1] * axis[1:])
    return both


def _relative(logarithm: FloatArray, exact: FloatArray) -> float:
    """The largest relative error; infinite where there is no logarithm."""
    error = float(np.max(np.abs(np.exp(logarithm) / exact - 1)))
    return error if np.isfinite(error) else np.inf
