"""A model solved at every combination of a few values, for interpolation between them."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.records import dataclass

_NEVER = 1e30  # multiple of every load: stands for a station that is full at some points only


class Along(StrEnum):
    """How a grid's load varies: jobs by factors, others evenly, or as a share of saturation."""

    JOBS = "jobs"
    EVENLY = "evenly"
    SHARE = "share"


@dataclass(frozen=True)
class SolvedGrid:
    """The points at which a model is solved.

    Parameters
    ----------
    model
        The model at its operating point.
    output
        The output that is interpolated.
    along
        How the load varies.
    axes
        Values by parameter, the load first; in SI, except for shares of saturation.
    full
        For shares: the load at which each station is full. Its first axis is the station; the
        others are those of `axes` without the load.
    """

    model: Model
    output: str
    along: Along
    axes: dict[str, FloatArray]
    full: FloatArray

    @property
    def load(self) -> str:
        """The parameter that is the load."""
        return next(iter(self.axes))

    @property
    def places(self) -> tuple[FloatArray, ...]:
        """Positions of the values on axes along which the output changes evenly."""
        first, *rest = self.axes.values()
        return (self.place(first), *map(np.log, rest))

    def place(self, loads: FloatArray) -> FloatArray:
        """Positions of loads on an axis along which the output changes evenly."""
        if self.along is Along.JOBS:
            return np.log(loads)
        return -np.log1p(-loads) if self.along is Along.SHARE else loads

    def midway(self, loads: FloatArray) -> FloatArray:
        """Midpoints between loads; jobs are rounded to whole numbers."""
        place = self.place(loads)
        half = (place[:-1] + place[1:]) / 2
        if self.along is Along.JOBS:
            return np.asarray(np.round(np.exp(half)))
        return -np.expm1(-half) if self.along is Along.SHARE else half

    @property
    def logs(self) -> FloatArray:
        """Logarithms of the loads at which stations are full, for stations that ever are."""
        ever = np.isfinite(self.full).any(axis=tuple(range(1, self.full.ndim)))
        some = self.full[ever]
        return np.log(np.where(np.isfinite(some), some, _NEVER))

    def solved(self) -> FloatArray:
        """The output, the utilisations of stations, and for jobs the throughput, at every point."""
        return self.solved_at(self.axes)

    def solved_at(self, axes: Mapping[str, FloatArray]) -> FloatArray:
        """The results at other values; shares are then of the saturation at those values."""
        return _solved(self, axes, np.exp(np.min(self.logs, axis=0, initial=np.log(_NEVER))))

    def errors(self, values: FloatArray) -> tuple[float, float]:
        """Largest errors at a cell's centre: relative for the output, absolute for utilisations.

        Parameters
        ----------
        values
            The results of `solved`.
        """
        from scipy.interpolate import RegularGridInterpolator

        between, own = self._middles(), self.places
        middle = SolvedGrid(self.model, self.output, self.along, between, np.empty(0)).places
        mesh = np.meshgrid(*middle, indexing="ij")
        rest = np.stack([each[0].ravel() for each in mesh[1:]], axis=1)
        logs = [RegularGridInterpolator(own[1:], each)(rest) for each in self.logs]
        limit = np.exp(np.min(logs, axis=0, initial=np.log(_NEVER)))
        exact = _solved(self, between, _laid(limit, mesh[0].shape[1:]))
        points = np.stack([each.ravel() for each in mesh], axis=1)
        columns = np.stack([np.log(values[0]), *values[1:]], axis=-1)
        interpolated = np.moveaxis(RegularGridInterpolator(own, columns)(points), -1, 0)
        first, *busy = (each.ravel() for each in exact[: len(exact) - (self.along is Along.JOBS)])
        lost = [np.max(np.abs(f - b)) for f, b in zip(interpolated[1:], busy, strict=False)]
        return float(np.max(np.abs(np.exp(interpolated[0]) / first - 1))), float(
            max(lost, default=0.0)
        )

    def _middles(self) -> dict[str, FloatArray]:
        """Midpoints between values; parameters that count something stay whole."""
        whole = counts(self.model.graph) - {self.load}  # nothing lies between these
        middles = {
            name: axis if name in whole else np.sqrt(axis[:-1] * axis[1:])
            for name, axis in self.axes.items()
        }
        return middles | {self.load: np.unique(self.midway(self.axes[self.load]))}

    def table(self, values: FloatArray) -> dict[str, Any]:
        """What a page's script needs in order to interpolate between the points.

        Parameters
        ----------
        values
            The results of `solved`.
        """
        return {
            "along": self.along,
            "axes": [_rounded(place, 12) for place in self.places],
            "full": [_rounded(each, 9) for each in self.logs],
            "output": _rounded(np.log(values[0]), 6),
            "others": [_rounded(each, 5) for each in values[1:]],
        }


def _solved(grid: SolvedGrid, axes: Mapping[str, FloatArray], limit: FloatArray) -> FloatArray:
    """Solve at every combination; `limit` is the load that saturates, by the other parameters."""
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    loads = mesh[0] * limit if grid.along is Along.SHARE else mesh[0]
    given = {n: x.ravel() for n, x in zip(axes, (loads, *mesh[1:]), strict=True)}
    solution = grid.model.at(given).solve()
    busy = [f"{name}.utilisation" for name in solution.stations]
    names = [grid.output, *busy, *["throughput"] * (grid.along is Along.JOBS)]
    every = [np.broadcast_to(np.asarray(solution[n], float), solution.shape) for n in names]
    return np.stack([each.reshape(mesh[0].shape) for each in every])


def _laid(limit: FloatArray, shape: tuple[int, ...]) -> FloatArray:
    """A single limit for all points, or one for each."""
    return limit.reshape(shape) if np.size(limit) > 1 else np.full(shape, limit)


def _rounded(values: FloatArray, digits: int) -> Sequence[float]:
    return [float(f"{value:.{digits}g}") for value in np.ravel(values).tolist()]
