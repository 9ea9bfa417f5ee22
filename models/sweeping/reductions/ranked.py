"""The points with the largest or smallest values."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter, quoted
from headway.kinds import FloatArray
from headway.models.language.units import Unit
from headway.models.sweeping.reductions.reduction import (
    Reduction,
    ReductionKind,
    Row,
    State,
    no_arguments,
)
from headway.records import dataclass

MOST_KEPT = 10_000
"""Most points of a ranking."""


@dataclass(frozen=True)
class RankedValues(Reduction):
    """The largest or smallest values in order, with the indices of their points.

    Infinite values are above every number; equal values are in the order of their points.

    Parameters
    ----------
    output, unit
        As for `Reduction`.
    count
        Number of points to keep.
    largest
        Whether to keep the largest values rather than the smallest.

    Examples
    --------
    >>> top = RankedValues("time", count=2)
    >>> left = top.of({"time": np.array([3.0, 1.0, 5.0])}, 0)
    >>> right = top.of({"time": np.array([5.0, np.nan])}, 3)
    >>> rows = top.rows(top.merge(left, right))
    >>> [(row["statistic"], row["value"], row["point"]) for row in rows]
    [('top 1', 5.0, 2), ('top 2', 5.0, 3)]
    """

    count: int = 1
    largest: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_KEPT:
            msg = f"{self.text}: give 1 to {MOST_KEPT} points to keep"
            raise InvalidParameter(msg)

    @property
    def text(self) -> str:
        """As one writes it."""
        if self.count == 1:
            return f"{'most' if self.largest else 'least'}({self.output})"
        return f"{'top' if self.largest else 'bottom'}({self.output}, {self.count})"

    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:
        """Kept values, their points, and counts of points with and without a value."""
        values = self.column(columns)
        there = np.flatnonzero(~np.isnan(values))
        kept = values if there.size == values.size else values[there]
        places = self._places(kept)
        return {
            "values": kept[places],
            "points": there[places].astype(np.int64) + first,
            "counts": np.array((there.size, values.size - there.size)),
        }

    def _places(self, values: FloatArray) -> NDArray[Any]:
        """Positions of the values to keep, in order."""
        if self.count == 1 and values.size:
            return np.array([values.argmax() if self.largest else values.argmin()])
        falling = -values if self.largest else values
        if values.size <= self.count:
            return np.argsort(falling, kind="stable")
        last = np.partition(falling, self.count - 1)[self.count - 1]
        near = np.flatnonzero(falling <= last)
        return near[np.argsort(falling[near], kind="stable")][: self.count]

    def merge(self, left: State, right: State) -> State:
        """Keep the best of both; among equals, those from the left come first."""
        values = np.concatenate((left["values"], right["values"]))
        places = self._places(values)
        return {
            "values": values[places],
            "points": np.concatenate((left["points"], right["points"]))[places],
            "counts": left["counts"] + right["counts"],
        }

    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:  # noqa: ARG002
        """A row for each value; ``point`` is the index of the point in the space."""
        points, absent = state["counts"].tolist()
        kind = self.text.partition("(")[0]
        ranked = list(zip(state["values"].tolist(), state["points"].tolist(), strict=True))
        return [
            self.row(kind if self.count == 1 else f"{kind} {k}", value, (points, absent), point=at)
            for k, (value, at) in enumerate(ranked or [(math.nan, None)], 1)
        ]


def _one(kind: str, *, largest: bool) -> ReductionKind:
    def read(output: str, arguments: tuple[str, ...], unit: Unit) -> Reduction:
        no_arguments(kind, output, arguments)
        return RankedValues(output, unit, 1, largest)

    means = f"the {'largest' if largest else 'smallest'} value, and the first point that has it"
    return ReductionKind(f"{kind}(OUTPUT)", means, read)


def _several(kind: str, *, largest: bool) -> ReductionKind:
    pattern = f"{kind}(OUTPUT, 10)"

    def read(output: str, arguments: tuple[str, ...], unit: Unit) -> Reduction:
        count = arguments[0] if len(arguments) == 1 else ""
        if not (count.isascii() and count.isdigit() and 1 <= int(count[:9]) <= MOST_KEPT):
            written = quoted(f"{kind}({', '.join((output, *arguments))})")
            msg = f"{written}: give a number from 1 to {MOST_KEPT}: {pattern}"
            raise InvalidParameter(msg)
        return RankedValues(output, unit, int(count), largest)

    means = f"the given number of points with the {'largest' if largest else 'smallest'} values"
    return ReductionKind(pattern, means, read)


LEAST, MOST = _one("least", largest=False), _one("most", largest=True)
TOP, BOTTOM = _several("top", largest=True), _several("bottom", largest=False)
