"""Count, mean, standard deviation, minimum and maximum of the finite values.

Source: Chan, Golub and LeVeque, *Updating formulae and a pairwise algorithm for computing sample
variances*, 1979.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.language.units import Unit
from headway.models.sweeping.reductions.reduction import (
    NORMAL,
    Reduction,
    ReductionKind,
    Row,
    State,
    no_arguments,
)
from headway.records import dataclass

OF_FINITE = " of the finite"
"""Suffix of a statistic if other values are infinite."""

_PLAIN = (1e-140, 1e140)
"""Deviations between these have representable squares."""


@dataclass(frozen=True)
class Moments(Reduction):
    """Count, mean, standard deviation (divided by the count), least and most of finite values.

    Infinite values are counted separately. Means and deviations are rounded: they are bit-identical
    for the same order of merging, and otherwise differ by about 1e-15 of the largest value.

    Examples
    --------
    >>> moments = Moments("time")
    >>> left = moments.of({"time": np.array([1.0, 2.0])}, 0)
    >>> right = moments.of({"time": np.array([6.0])}, 2)
    >>> rows = moments.rows(moments.merge(left, right))
    >>> [(row["statistic"], round(row["value"], 3)) for row in rows]
    [('finite points', 3), ('mean', 3.0), ('sd', 2.16), ('least', 1.0), ('most', 6.0)]
    """

    @property
    def text(self) -> str:
        """As one writes it."""
        return f"moments({self.output})"

    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:  # noqa: ARG002
        """Counts of finite, minus infinite, infinite and missing values; mean, root, ends."""
        values = self.column(columns)
        with np.errstate(over="ignore", invalid="ignore"):
            total = np.add.reduce(values)
            if np.isfinite(total):
                return _state(values, (0, 0, 0), float(total) / values.size)
            finite = values[np.isfinite(values)]
            others = (values == -np.inf, values == np.inf, np.isnan(values))
            mean = float(np.add.reduce(finite / finite.size)) if finite.size else 0.0
            return _state(finite, tuple(map(np.count_nonzero, others)), mean)

    def merge(self, left: State, right: State) -> State:
        """Add the counts; weight mean and root by counts."""
        counts = left["counts"] + right["counts"]
        few, many = int(left["counts"][0]), int(right["counts"][0])
        if not few or not many:
            return {"counts": counts, "moments": (left if few else right)["moments"]}
        one, other = left["moments"].tolist(), right["moments"].tolist()
        apart, weight = other[0] - one[0], many / (few + many)
        between = apart * math.sqrt(few * weight)
        merged = (
            one[0] + apart * weight,
            math.hypot(one[1], other[1], between),
            min(one[2], other[2]),
            max(one[3], other[3]),
        )
        return {"counts": counts, "moments": np.array(merged)}

    def rows(self, state: State, *, sampled: bool = False) -> list[Row]:
        """Counts, mean, standard deviation, least and most."""
        count, low, high, absent = state["counts"].tolist()
        mean, root, least, most = state["moments"].tolist() if count else [math.nan] * 4
        of = (count, absent)
        infinite = {"minus infinite points": low, "infinite points": high}
        counted = {"finite points": count} | {k: n for k, n in infinite.items() if n}
        partly = OF_FINITE if low or high else ""
        half = NORMAL * root / math.sqrt(count * (count - 1)) if count > 1 else math.inf
        within = (mean - half, mean + half) if sampled and not partly else None
        deviation = root / math.sqrt(count) if count else math.nan
        return [
            *(self.row(name, number, of, measures="count") for name, number in counted.items()),
            self.row(f"mean{partly}", _finite(mean), of, interval=within),
            self.row(f"sd{partly}", _finite(deviation), of),
            self.row(f"least{partly}", least, of),
            self.row(f"most{partly}", most, of),
        ]


def _state(values: FloatArray, others: tuple[Any, ...], mean: float) -> State:
    if not values.size:
        return {"counts": np.array((0, *others)), "moments": np.zeros(4)}
    least, most = float(values.min()), float(values.max())
    moments = np.array((mean, _root(values - mean, max(most - mean, mean - least)), least, most))
    return {"counts": np.array((values.size, *others)), "moments": moments}


def _root(deviations: FloatArray, largest: float) -> float:
    """Root of the sum of squares; added explicitly, as libraries reorder dot products."""
    scale = 1.0 if _PLAIN[0] < largest < _PLAIN[1] or largest == 0 else largest
    if scale != 1.0:
        deviations /= scale
    np.square(deviations, out=deviations)
    return scale * math.sqrt(float(np.add.reduce(deviations)))


def _finite(value: float) -> float:
    """NaN on overflow: a mean of finite numbers is never infinite."""
    return value if math.isfinite(value) else math.nan


def _read(output: str, arguments: tuple[str, ...], unit: Unit) -> Reduction:
    no_arguments("moments", output, arguments)
    return Moments(output, unit)


MOMENTS = ReductionKind(
    "moments(OUTPUT)", "mean, standard deviation, least and most of the finite values", _read
)
