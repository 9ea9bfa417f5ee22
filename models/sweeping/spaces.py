"""Spaces: operating points by number, of which any piece is made without the others.

A space may have more points than any memory holds. It gives pieces of itself, small enough to be
sent to a worker, and a piece gives the values of its points.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.frozen import Kept
from headway.models.sweeping.axes import Axis, cycled


class Piece(Protocol):
    """Points from one number to another; frozen and picklable."""

    def points(self, start: int, stop: int) -> dict[str, FloatArray]:
        """SI values by parameter, shape (stop - start,) each, of points inside the piece."""


class Space(Protocol):
    """Operating points by number; frozen, picklable and equal by value."""

    @property
    def names(self) -> tuple[str, ...]:
        """Parameters it gives values to."""

    @property
    def size(self) -> int:
        """How many points; a whole number of any size."""

    @property
    def sampled(self) -> bool:
        """Whether its points are draws from laws, and not all the points there are."""

    def piece(self, start: int, stop: int) -> Piece:
        """What a worker needs for the points from `start` to before `stop`."""

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""

    def ends(self) -> Mapping[str, FloatArray]:
        """Values by parameter whose bounds are to be checked: the least and the largest."""

    def counting(self, whole: Set[str]) -> "Space":
        """The same, values of some parameters whole numbers where they were drawn from a range."""


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
        """Parameters it gives values to."""
        return tuple(self.axes)

    @property
    def size(self) -> int:
        """How many points: the product of the counts of values."""
        return prod(axis.count for axis in self.axes.values())

    def piece(self, start: int, stop: int) -> "GridPiece":
        """What a worker needs for the points from `start` to before `stop`."""
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
        """The same grid: its values are told."""
        return self

    def describe(self) -> dict[str, Any]:
        """What it is, for JSON."""
        axes = {name: axis.describe() for name, axis in self.axes.items()}
        return {"kind": "grid", "size": self.size, "parameters": axes}


def check_parameters(named: Mapping[str, Any]) -> None:
    """Refuse a space of no parameter.

    Raises
    ------
    InvalidParameter
        Saying what it needs.
    """
    if not named:
        raise InvalidParameter("a space needs parameters; name at least one with its values")


def check_piece(space: Space, start: int, stop: int) -> None:
    """Refuse points that a space does not have.

    Raises
    ------
    InvalidParameter
        Naming them.
    """
    if not 0 <= start <= stop <= space.size:
        msg = f"points {start} to {stop} of a space whose points are 0 to {space.size}"
        raise InvalidParameter(msg)


@dataclass(frozen=True)
class Turn:
    """Values of an axis in the order of a grid's points: each some times, then the next.

    Parameters
    ----------
    axis
        The values that a piece needs.
    run
        How many points in a row have the same.
    period
        How many values the whole axis has.
    offset
        How many runs before the one of the first value here.
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
        return _held(values, self.run, start - before * self.run, stop - start)


def _turn(axis: Axis, run: int, start: int, stop: int) -> Turn:
    """Take of an axis what some points need."""
    first, count = start // run, -(-stop // run) - start // run
    if not 0 < count < axis.count:
        return Turn(axis, run, axis.count, 0)
    needed = axis.around(first % axis.count, count)
    return Turn(needed, run, axis.count, 0 if needed is axis else first)


def _held(values: FloatArray, run: int, skip: int, length: int) -> FloatArray:
    """Each value for a run, without what comes before the first point and after the last."""
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
