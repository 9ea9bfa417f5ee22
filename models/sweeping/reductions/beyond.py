"""Number of points above or below a limit."""

import math
from collections.abc import Mapping

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.digits import shown_unit, with_unit
from headway.models.language.units import Unit, quantity
from headway.models.sweeping.reductions.reduction import (
    Reduction,
    ReductionKind,
    Row,
    State,
    share_interval,
)
from headway.records import dataclass


@dataclass(frozen=True)
class Beyond(Reduction):
    """Count and share of the points with values above or below a limit (the limit excluded).

    Infinite values are above every limit. The share refers to points that have the output.

    Parameters
    ----------
    output, unit
        As for `Reduction`.
    limit
        In SI, finite.
    above
        Side of the limit to count.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> late = Beyond("time", unit("s"), 0.3)
    >>> rows = late.rows(late.of({"time": np.array([0.2, 0.3, 0.4, np.inf, np.nan])}, 0))
    >>> late.text, [row["value"] for row in rows], rows[0]["absent"]
    ('exceeds(time, 300 ms)', [2, 0.5], 1)
    """

    limit: float = 0.0
    above: bool = True

    def __post_init__(self) -> None:
        if not math.isfinite(self.limit):
            msg = f"{self.output}: the limit {self.limit} must be a finite number"
            raise InvalidParameter(msg)

    @property
    def text(self) -> str:
        """Its text form."""
        kind = "exceeds" if self.above else "below"
        return f"{kind}({self.output}, {limit_text(self.limit, self.unit)})"

    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:  # noqa: ARG002
        """Counts of points beyond the limit, and of points with and without a value."""
        values = self.column(columns)
        beyond = np.count_nonzero(values > self.limit if self.above else values < self.limit)
        absent = np.count_nonzero(np.isnan(values))
        return {"counts": np.array((beyond, values.size - absent, absent))}

    def merge(self, left: State, right: State) -> State:
        """Add the counts."""
        return {"counts": left["counts"] + right["counts"]}

    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:
        """The count and the share."""
        count, points, absent = state["counts"].tolist()
        side = f"{'above' if self.above else 'below'} {limit_text(self.limit, self.unit)}"
        share = count / points if points else math.nan
        within = share_interval(count, points) if sampled and points else None
        of = (points, absent)
        return [
            self.row(f"points {side}", count, of, measures="count"),
            self.row(f"share {side}", share, of, measures="share", interval=within),
        ]


def limit_text(limit: float, unit: Unit, *, exact: bool = True) -> str:
    """Write a limit so that it reads back as the same float, or with six digits if not `exact`.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> limit_text(0.3, unit("s")), limit_text(1 / 3, unit("s")), limit_text(0.8, unit(""))
    ('300 ms', '0.3333333333333333', '0.8')
    """
    best = shown_unit(unit, limit)
    text = with_unit(f"{limit / best.scale:.6g}", best)
    return text if not exact or quantity(text) == limit else repr(limit)


def _reader(kind: str, *, above: bool) -> ReductionKind:
    pattern = f"{kind}(OUTPUT, LIMIT)"

    def read(output: str, arguments: tuple[str, ...], unit: Unit) -> Reduction:
        if len(arguments) != 1:
            msg = f"{kind}({', '.join((output, *arguments))}): give one limit: {pattern}"
            raise InvalidParameter(msg)
        return Beyond(output, unit, quantity(arguments[0], unit, output), above)

    means = f"count and share of the points {'above' if above else 'below'} a limit"
    return ReductionKind(pattern, means, read)


EXCEEDS, BELOW = _reader("exceeds", above=True), _reader("below", above=False)
