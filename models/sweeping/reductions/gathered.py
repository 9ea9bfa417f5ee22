"""The value at every point, for few points."""

import math
from collections.abc import Mapping

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.units import Unit
from headway.models.sweeping.reductions.reduction import (
    Reduction,
    ReductionKind,
    Row,
    State,
    no_arguments,
)
from headway.numerals import digits
from headway.records import dataclass

MOST_GATHERED = 10_000_000
"""Most values that a reduction gathers: 80 MB."""


@dataclass(frozen=True)
class Gathered(Reduction):
    """The value at every point, in the order of the points.

    Examples
    --------
    >>> points = Gathered("time")
    >>> left, right = (points.of({"time": np.array([k / 2])}, k) for k in (0, 1))
    >>> [(row["point"], row["value"]) for row in points.rows(points.merge(left, right))]
    [(0, 0.0), (1, 0.5)]
    """

    @property
    def text(self) -> str:
        """As one writes it."""
        return f"points({self.output})"

    def check(self, size: int) -> None:
        """Refuse a space with too many points to gather.

        Raises
        ------
        InvalidParameter
            States the limit and an alternative.
        """
        if size > MOST_GATHERED:
            msg = (
                f"{self.text}: {digits(size)} points exceed the limit of {digits(MOST_GATHERED)}; "
                f"reduce them instead, for example by moments({self.output})"
            )
            raise InvalidParameter(msg)

    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:
        """The values, and the index of the first point."""
        values = self.column(columns).copy()
        self.check(values.size)
        return {"values": values, "first": np.array(first)}

    def merge(self, left: State, right: State) -> State:
        """Values of both."""
        self.check(left["values"].size + right["values"].size)
        values = np.concatenate((left["values"], right["values"]))
        return {"values": values, "first": left["first"]}

    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:  # noqa: ARG002
        """A row for each point; NaN without a value."""
        first = int(state["first"])
        return [
            self.row(
                f"point {number}",
                value,
                (int(not math.isnan(value)), int(value != value)),
                point=number,
            )
            for number, value in enumerate(state["values"].tolist(), first)
        ]


def _read(output: str, arguments: tuple[str, ...], unit: Unit) -> Reduction:
    no_arguments("points", output, arguments)
    return Gathered(output, unit)


POINTS = ReductionKind("points(OUTPUT)", "the value at every point, for few points", _read)
