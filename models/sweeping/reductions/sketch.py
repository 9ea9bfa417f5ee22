"""Counts of values by the leading bits of their floats: a distribution to 0.1%, merged exactly.

A bin contains the floats with the same sign, exponent and first 9 bits of the mantissa: 512 bins
per octave, the same for all data, so that the counts of two sketches add. The middle of its bin
represents a value with a relative error of at most 1/1024. The normal floats of both signs need 2 x
2046 x 512 bins, or 17 MB if all were used; only the run between the first and the last used bin is
kept, 41 kB for values over three decades.

Below 2.3e-308, where floats lose bits, the absolute error is at most 4.4e-311. Zeros, infinite and
missing values have separate counts.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.sweeping.reductions.reduction import Reduction, State
from headway.records import dataclass

BITS = 9
"""Bits of the mantissa that a bin keeps."""

ERROR = 2.0 ** -(BITS + 1)
"""Largest relative error of the middle of a bin: half a bin."""

DROPPED = 52 - BITS
"""Bits of the mantissa that a bin drops."""

_MINUS, _ZERO, _PLUS, _ABSENT = range(4)


def sketch_of(values: FloatArray) -> State:
    """Sketch of values, of shape (points,), contiguous.

    Examples
    --------
    >>> answer = sketch_of(np.array([1.0, 1.001, 2.0, 0.0, -np.inf, np.nan]))
    >>> answer["above"].size, int(answer["above"].sum()), answer["counts"].tolist()
    (513, 3, [1, 1, 0, 1])
    """
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if low > 0 and high < np.inf:
        return _state(values, values[:0], (low, high), (0, 0, 0, 0))
    finite = values[np.isfinite(values)]
    ends = (float(finite.min()), float(finite.max())) if finite.size else (np.inf, -np.inf)
    others = (values == -np.inf, values == 0, values == np.inf, np.isnan(values))
    counts = tuple(int(np.count_nonzero(each)) for each in others)
    return _state(finite[finite > 0], -finite[finite < 0], ends, counts)


def _state(
    above: FloatArray, below: FloatArray, ends: tuple[float, float], counts: tuple[int, ...]
) -> State:
    up, down = _counted(above), _counted(below)
    return {
        "above": up[1],
        "below": down[1],
        "starts": np.array((up[0], down[0])),
        "counts": np.array(counts),
        "ends": np.array(ends),
    }


def _counted(sizes: FloatArray) -> tuple[int, NDArray[np.int64]]:
    """First bin of positive numbers, and how many are in each bin from there."""
    if not sizes.size:
        return 0, np.zeros(0, np.int64)
    bins = sizes.view(np.int64) >> DROPPED
    first = int(bins.min())
    bins -= first
    return first, np.bincount(bins)


def merged(left: State, right: State) -> State:
    """Sketch of two sets of values together: sums, a minimum and a maximum."""
    up, down = (_aligned(left, right, side, k) for k, side in enumerate(("above", "below")))
    low, high = np.minimum(left["ends"], right["ends"]), np.maximum(left["ends"], right["ends"])
    return {
        "above": up[1],
        "below": down[1],
        "starts": np.array((up[0], down[0])),
        "counts": left["counts"] + right["counts"],
        "ends": np.array((low[0], high[1])),
    }


def _aligned(left: State, right: State, side: str, k: int) -> tuple[int, NDArray[np.int64]]:
    parts = [(int(s["starts"][k]), s[side]) for s in (left, right) if s[side].size]
    if not parts:
        return 0, np.zeros(0, np.int64)
    first = min(start for start, _ in parts)
    last = max(start + counts.size for start, counts in parts)
    total = np.zeros(last - first, np.int64)
    for start, counts in parts:
        total[start - first : start - first + counts.size] += counts
    return first, total


@dataclass(frozen=True)
class Distribution:
    """A sketch as ranges of values in rising order.

    Parameters
    ----------
    low, high
        Least and largest value of each range, both included.
    counts
        Number of values in each, at least 1.
    absent
        Number of points without a value.

    Examples
    --------
    >>> summary = Distribution.of(sketch_of(np.array([3.0, 1.0, 2.0, np.inf])))
    >>> [round(end, 4) for end in summary.at(2)], summary.size, summary.at(4)
    ([2.0, 2.0039], 4, (inf, inf))
    """

    low: FloatArray
    high: FloatArray
    counts: NDArray[np.int64]
    absent: int

    @classmethod
    def of(cls, state: State) -> "Distribution":
        """Read a sketch; the exact minimum and maximum bound the outermost ranges."""
        least, most = state["ends"]
        up, down = (_edges(state, side, k) for k, side in enumerate(("above", "below")))
        alone = state["counts"]
        low = np.concatenate(([-np.inf], -down[1][::-1], [0.0], up[0], [np.inf]))
        high = np.concatenate(([-np.inf], -down[0][::-1], [0.0], up[1], [np.inf]))
        ones = ([alone[_MINUS]], down[2][::-1], [alone[_ZERO]], up[2], [alone[_PLUS]])
        counts = np.concatenate(ones).astype(np.int64)
        inner = np.isfinite(low)
        low = np.where(inner, np.maximum(low, least), low)
        high = np.where(inner, np.minimum(high, most), high)
        used = counts > 0
        return cls(low[used], high[used], counts[used], int(alone[_ABSENT]))

    @property
    def size(self) -> int:
        """Number of values, including infinite ones."""
        return int(self.counts.sum())

    def at(self, rank: int) -> tuple[float, float]:
        """Bounds of the value with a rank; the least has rank 1."""
        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(self.low[place]), float(self.high[place])


def _edges(state: State, side: str, k: int) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Least and largest size in each used bin, and its count."""
    used = np.flatnonzero(state[side])
    bins = (used + int(state["starts"][k])).astype(np.int64) << DROPPED
    last = bins + ((1 << DROPPED) - 1)
    return bins.view(np.float64), last.view(np.float64), state[side][used]


@dataclass(frozen=True)
class Sketched(Reduction):
    """A reduction whose state is a sketch of its output's distribution."""

    def of(self, columns: Mapping[str, FloatArray], first: int) -> State:  # noqa: ARG002
        """Sketch of the block."""
        return sketch_of(self.column(columns))

    def merge(self, left: State, right: State) -> State:
        """Sketch of both."""
        return merged(left, right)
