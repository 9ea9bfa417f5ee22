"""Sobol indices: how much of an output's variance each parameter causes.

The first index is the share of the variance that vanishes when the parameter is known; the total
index is the share that remains when all others are known.
"""

from collections.abc import Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.sweeping.reductions.crossing import REPLICATES, Crossing
from headway.models.sweeping.reductions.reduction import Reduction, Row, State
from headway.records import dataclass

_STUDENT = 2.131449545559323
"""97.5% quantile of Student's distribution with `REPLICATES` - 1 degrees of freedom."""

_STILL = 1e-9
"""Relative standard deviation below which an output counts as constant."""

_ANY = Crossing(1, together=False, samples=2, block=32)

_MEANS, _SQUARES, _PRODUCT, _DIFFERENCE = slice(0, 3), slice(3, 5), 5, 6


@dataclass(frozen=True)
class Indices(Reduction):
    """First and total Sobol indices, from sums of products over the samples of each replicate.

    The value is the mean of 16 independent replicates, the interval Student's. NaN for an output
    that is infinite somewhere (an infinite variance has no shares) or constant. Sums are rounded:
    they are bit-identical for the same order of merging.

    Source: the estimators of Saltelli et al., 2010, and Jansen, *Analysis of variance designs for
    model output*, 1999.

    Parameters
    ----------
    output, unit
        As for `Reduction`.
    names
        Names of the parameters.
    crossing
        Layout of the points.
    """

    names: tuple[str, ...] = ()
    crossing: Crossing = _ANY

    @property
    def text(self) -> str:
        """Its name in messages: it needs a crossed space."""
        return f"indices({self.output})"

    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:
        """Sums over the blocks of these points, in the rows of their replicates."""
        values, block = self.column(columns), self.crossing.block
        if values.size % block or first % block:
            msg = f"{self.text} needs whole blocks of {block} points"
            raise InvalidParameter(msg)
        parts = enumerate(values.reshape(-1, block), first // block)
        return reduce(self.merge, (self._of_block(part, number) for number, part in parts))

    def _of_block(self, values: FloatArray, number: int) -> State:
        crossing = self.crossing
        replicate, start, stop = crossing.samples_in(number)
        outputs = values[: crossing.rows * (stop - start)].reshape(crossing.rows, -1)
        finite = np.isfinite(outputs).all(axis=0)
        kept = outputs if finite.all() else np.ascontiguousarray(outputs[:, finite])
        counts = np.zeros((REPLICATES, 2), np.int64)
        counts[replicate] = kept.shape[1], outputs.shape[1] - kept.shape[1]
        sums = np.zeros((REPLICATES, 7, len(self.names)))
        if kept.size:
            sums[replicate] = _sums(kept, crossing)
        return {"counts": counts, "sums": sums}

    def merge(self, left: State, right: State) -> State:
        """Add sums about the means of both."""
        few, many = left["counts"][:, :1, None], right["counts"][:, :1, None]
        weight = many / np.maximum(few + many, 1)
        one, other = left["sums"], right["sums"]
        apart = other[:, _MEANS] - one[:, _MEANS]
        sums = one + other
        sums[:, _MEANS] = one[:, _MEANS] + apart * weight
        between = few * weight
        sums[:, _SQUARES] += np.square(apart[:, :2]) * between
        sums[:, _PRODUCT] += (apart[:, 1] * apart[:, 2]) * between[:, 0]
        return {"counts": left["counts"] + right["counts"], "sums": sums}

    def rows(self, state: State, *, sampled: bool = True) -> list[Row]:  # noqa: ARG002
        """Both indices of every parameter, each with its 95% interval."""
        used, lost = state["counts"].sum(axis=0).tolist()
        both = self._shares(state) if not lost and state["counts"][:, 0].all() else None
        rows = []
        for k, name in enumerate(self.names):
            for place, index in enumerate(("first", "total")):
                value, within = (np.nan, None) if both is None else _estimate(both[place][:, k])
                statistic = f"{index} index of {name}"
                row = self.row(statistic, value, (used, lost), measures="share", interval=within)
                rows.append(row | {"parameter": name, "index": index})
        return rows

    def _shares(self, state: State) -> tuple[FloatArray, FloatArray]:
        """First and total indices, each of shape (replicates, parameters)."""
        count, sums = state["counts"][:, :1], state["sums"]
        one, other, apart = (sums[:, k] for k in range(3))
        squares = sums[:, 3] + sums[:, 4] + count / 2 * np.square(one - other)
        variance = squares / (2 * count)
        still = np.sqrt(variance) <= _STILL * np.maximum(np.abs(one), np.abs(other))
        variance = np.where(still, np.nan, variance)
        own = sums[:, _PRODUCT] / count + (other - one) / 2 * apart
        others = np.roll(variance, -1, axis=1) if self.crossing.together else variance
        return own / variance, sums[:, _DIFFERENCE] / (2 * count) / others


def _sums(values: FloatArray, crossing: Crossing) -> FloatArray:
    """Means of A, B and the differences, squares of A and B, products, squared differences."""
    one, other, mixed = (values[rows] for rows in crossing.first_rows())
    apart = mixed - one
    base, turned = (values[rows] for rows in crossing.total_rows())
    means = [np.add.reduce(each, axis=1) / each.shape[1] for each in (one, other, apart)]
    about = [each - mean[:, None] for each, mean in zip((one, other, apart), means, strict=True)]
    squares = [_total(about[0], about[0]), _total(about[1], about[1])]
    change = turned - base
    return np.stack([*means, *squares, _total(about[1], about[2]), _total(change, change)])


def _total(left: FloatArray, right: FloatArray) -> FloatArray:
    """Sum of products by row; added explicitly, as libraries reorder matrix products."""
    sums: NDArray[np.float64] = np.add.reduce(left * right, axis=1)
    return sums


def _estimate(shares: FloatArray) -> tuple[float, tuple[float, float] | None]:
    """Mean of the replicates within 0 and 1, and its 95% interval."""
    mean = float(np.mean(shares))
    if np.isnan(mean):
        return mean, None
    half = _STUDENT * float(np.std(shares, ddof=1)) / REPLICATES**0.5
    low, value, high = (float(np.clip(end, 0, 1)) for end in (mean - half, mean, mean + half))
    return value, (low, high)
