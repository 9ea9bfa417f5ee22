"""Spaces: operating points by index; any part can be generated without the others.

A space may have more points than fit into memory. It gives pieces, small enough to be sent to a
worker, and a piece gives the values of its points.
"""

from collections.abc import Mapping, Set
from math import prod
from typing import Any, Protocol

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.frozen import Kept
from headway.models.sweeping.axes import Axis, cycled
from headway.records import dataclass


class PointRange(Protocol):
    """A range of points; frozen and picklable."""

    def points(self, start: int, stop: int) -> dict[str, FloatArray]:
        """SI values by parameter, shape (stop - start,) each, for points of the piece."""


class Space(Protocol):
    """Operating points by index; frozen, picklable and equal by value."""

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters to which it gives values."""

    @property
    def size(self) -> int:
        """Number of points; a whole number of any size."""

    @property
    def sampled(self) -> bool:
        """Whether its points are random draws rather than all points."""

    def piece(self, start: int, stop: int) -> PointRange:
        """The part that a worker needs for the points from `start` to before `stop`."""

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""

    def ends(self) -> Mapping[str, FloatArray]:
        """Values by parameter whose bounds must be checked: the least and the largest."""

    def counting(self, whole: Set[str]) -> "Space":
        """The same, with whole numbers for some parameters that are drawn from a range."""


@dataclass(frozen=True, eq=False)
class Grid(Kept):
    """Every combination of values; those of the last parameter vary fastest.

    Parameters
    ----------
    axes
        By parameter, at least one: its values.

    Raises
    ------
    InvalidParameter
        For no parameter.

    Examples
    --------
    >>> from headway.models.sweeping.axes import Choices, Steps
    >>> plane = Grid({"rate": Steps(100.0, 1.0, 10**15), "disks": Choices(np.array([2.0, 4.0]))})
    >>> plane.size == 2 * 10**15
    True
    >>> points = plane.piece(3, 6).points(3, 6)
    >>> points["rate"].tolist(), points["disks"].tolist()
    ([101.0, 102.0, 102.0], [4.0, 2.0, 4.0])
    """

    axes: Mapping[str, Axis]
    sampled = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_parameters(self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters to which it gives values."""
        return tuple(self.axes)

    @property
    def size(self) -> int:
        """Number of points: the product of the numbers of values."""
        return prod(axis.count for axis in self.axes.values())

    def piece(self, start: int, stop: int) -> "GridPiece":
        """The part that a worker needs for the points from `start` to before `stop`."""
        check_piece(self, start, stop)
        run, turns = self.size, {}
        for name, axis in self.axes.items():
            run //= axis.count
            turns[name] = _turn(axis, run, start, stop)
        return GridPiece(turns)

    def ends(self) -> dict[str, FloatArray]:
        """The least and the largest value of each parameter."""
        return {name: axis.ends() for name, axis in self.axes.items()}

    def counting(self, whole: Set[str]) -> "Grid":  # noqa: ARG002
        """The same grid: its values are given."""
        return self

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""
        axes = {name: axis.describe() for name, axis in self.axes.items()}
        return {"kind": "grid", "size": self.size, "parameters": axes}


def check_parameters(named: Mapping[str, Any]) -> None:
    """Refuse a space without parameters.

    Raises
    ------
    InvalidParameter
        If there is no parameter.
    """
    if not named:
        raise InvalidParameter("a space needs parameters; give at least one with its values")


def check_piece(space: Space, start: int, stop: int) -> None:
    """Refuse points outside a space.

    Raises
    ------
    InvalidParameter
        If there are any; names them.
    """
    if not 0 <= start <= stop <= space.size:
        msg = f"points {start} to {stop} are outside a space of {space.size} points"
        raise InvalidParameter(msg)


@dataclass(frozen=True)
class Turn:
    """Values of an axis in the order of a grid's points, each one repeated.

    Parameters
    ----------
    axis
        The values needed by a piece.
    run
        Number of consecutive points with the same value.
    period
        Number of values of the whole axis.
    offset
        Number of runs before that of the first value here.
    """

    axis: Axis
    run: int
    period: int
    offset: int

    def column(self, start: int, stop: int) -> FloatArray:
        """Values of points, shape (stop - start,)."""
        before = start // self.run
        first = (before - self.offset) % self.period
        values = cycled(self.axis, first, -(-stop // self.run) - before)
        return _repeated(values, self.run, start - before * self.run, stop - start)


def _turn(axis: Axis, run: int, start: int, stop: int) -> Turn:
    """Take the part of an axis that some points need."""
    first, count = start // run, -(-stop // run) - start // run
    if not 0 < count < axis.count:
        return Turn(axis, run, axis.count, 0)
    needed = axis.around(first % axis.count, count)
    return Turn(needed, run, axis.count, 0 if needed is axis else first)


def _repeated(values: FloatArray, run: int, skip: int, length: int) -> FloatArray:
    """Each value repeated for its run, cut to the points wanted."""
    if run == 1:
        return values
    if run < length:
        return np.repeat(values, run)[skip : skip + length]
    first = min(run - skip, length)
    return np.repeat(values, [first, length - first][: values.size])


@dataclass(frozen=True, eq=False)
class GridPiece(Kept):
    """Points of a grid."""

    turns: Mapping[str, Turn]

    def points(self, start: int, stop: int) -> dict[str, FloatArray]:
        """SI values by parameter, shape (stop - start,) each."""
        return {name: turn.column(start, stop) for name, turn in self.turns.items()}
