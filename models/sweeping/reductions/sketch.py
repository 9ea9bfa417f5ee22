"""Counts of values by the first bits of their floats: a distribution to 0.1 %, exact to merge.

A bin holds the floats that share sign, exponent and the first 9 bits of the mantissa: 512 bins
an octave, the same for all data, so that counts of two sketches add. A value is told by the
middle of its bin, at most 1/1024 of it away. From the least normal float to the largest of both
signs there are 2 x 2046 x 512 bins: 17 MB if all were used; only the run between the first and
the last one is kept, 41 kB for values over three decades.

Below 2.3e-308, where floats lose bits, the error is 4.4e-311 at most instead. Zeros, infinite
values and missing ones have counts of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.sweeping.reductions.reduction import Reduction, State

BITS = 9
"""Of the mantissa that a bin keeps."""

ERROR = 2.0 ** -(BITS + 1)
"""Largest relative error of a value told by the middle of its bin: half a bin."""

DROPPED = 52 - BITS
"""Bits of the mantissa that a bin leaves out."""

_MINUS, _ZERO, _PLUS, _ABSENT = range(4)


def sketch_of(values: FloatArray) -> State:
    """Sketch of values, of shape (points,), contiguous.

    Examples
    --------
    >>> found = sketch_of(np.array([1.0, 1.001, 2.0, 0.0, -np.inf, np.nan]))
    >>> found["above"].size, int(found["above"].sum()), found["counts"].tolist()
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
    """A sketch as runs of values from the least up.

    Parameters
    ----------
    low, high
        Least and largest value that each run can hold, both in.
    counts
        How many values each holds; never none.
    absent
        How many points have no value.

    Examples
    --------
    >>> told = Distribution.of(sketch_of(np.array([3.0, 1.0, 2.0, np.inf])))
    >>> [round(end, 4) for end in told.at(2)], told.size, told.at(4)
    ([2.0, 2.0039], 4, (inf, inf))
    """

    low: FloatArray
    high: FloatArray
    counts: NDArray[np.int64]
    absent: int

    @classmethod
    def of(cls, state: State) -> "Distribution":
        """Read a sketch; the exact ends bound the outermost runs."""
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
        held = counts > 0
        return cls(low[held], high[held], counts[held], int(alone[_ABSENT]))

    @property
    def size(self) -> int:
        """How many values there are, infinite ones too."""
        return int(self.counts.sum())

    def at(self, rank: int) -> tuple[float, float]:
        """What the value of a rank lies between, the least having rank 1."""
        place = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(self.low[place]), float(self.high[place])


def _edges(state: State, side: str, k: int) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
    """Least and largest size in each bin that is used, and its count."""
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
