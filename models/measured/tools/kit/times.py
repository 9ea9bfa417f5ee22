"""Millions of times: their exact mean, and percentiles from counts of distinct values."""

import math
from array import array
from dataclasses import dataclass, field

import numpy as np

from headway.kinds import FloatArray

CHUNK = 2**16
"""Number of times kept before they are counted."""

MOST_DIFFERENT = 2**19
"""Distinct times that are counted separately; beyond it, times within 0.05% share a bucket."""

PRECISION = 5e-4
"""Relative error of a percentile when times share buckets."""

_WIDTH = math.log1p(PRECISION) - math.log1p(-PRECISION)


def _no_values() -> FloatArray:
    return np.empty(0)


@dataclass
class TimeSketch:
    """Times as they are read, in memory that does not grow with their number.

    Parameters
    ----------
    most
        Distinct times that are counted separately.

    Examples
    --------
    >>> result = TimeSketch()
    >>> for time in (3.0, 1.0, 2.0):
    ...     result.append(time)
    >>> len(result), result.mean, result.percentile(75), result.exact
    (3, 2.0, 2.5, True)
    """

    most: int = MOST_DIFFERENT
    fresh: "array[float]" = field(default_factory=lambda: array("d"))
    values: FloatArray = field(default_factory=_no_values)
    counts: FloatArray = field(default_factory=_no_values)
    sums: list[float] = field(default_factory=list)
    exact: bool = True

    def append(self, time: float) -> None:
        """Add a time, 0 or more."""
        self.fresh.append(time)
        if len(self.fresh) >= CHUNK:
            self._count()

    def extend(self, times: FloatArray) -> None:
        """Add times, each 0 or more."""
        self.fresh.extend(times.tolist())
        if len(self.fresh) >= CHUNK:
            self._count()

    def __len__(self) -> int:
        return len(self.fresh) + int(self.counts.sum())

    @property
    def mean(self) -> float:
        """Their mean, exact to rounding."""
        self._count()
        return math.fsum(self.sums) / len(self)

    def order(self, place: int) -> float:
        """The time with this rank, from 0."""
        self._count()
        return float(self.values[np.searchsorted(np.cumsum(self.counts), place, side="right")])

    def percentile(self, percent: float) -> float:
        """A percentile, interpolated linearly between order statistics."""
        place = (len(self) - 1) * percent / 100
        low, high = self.order(math.floor(place)), self.order(math.ceil(place))
        return low + (high - low) * (place - math.floor(place))

    def _count(self) -> None:
        """Move pending times to the counts."""
        if not self.fresh:
            return
        fresh = np.array(self.fresh)
        del self.fresh[:]
        self.sums.append(math.fsum(fresh))
        self._merge(fresh, np.ones(len(fresh)))
        if len(self.values) > self.most:
            self.exact = False
            self._merge(_no_values(), _no_values())

    def _merge(self, values: FloatArray, counts: FloatArray) -> None:
        both = np.concatenate([self.values, values])
        if not self.exact:
            both = _rounded(both)
        self.values, places = np.unique(both, return_inverse=True)
        weights = np.concatenate([self.counts, counts])
        self.counts = np.bincount(places, weights).astype(np.float64)


def _rounded(values: FloatArray) -> FloatArray:
    """Times rounded to the middle of their bucket; rounding twice changes nothing."""
    positive = values > 0
    buckets = np.round(np.log(values, where=positive, out=np.zeros_like(values)) / _WIDTH)
    return np.where(positive, np.exp(buckets * _WIDTH), 0.0)
