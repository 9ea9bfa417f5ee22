"""Any number of times in bounded memory: a count and a sum for each bin of similar times.

A bin holds times with the same exponent and the same first 11 bits of mantissa. A percentile is the
mean of the bin that it lies in: within a relative 2**-11 of the exact one, and equal to it if all
times of the bin are equal.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.records import dataclass

_BITS = 52 - 11  # bits of a double's mantissa that a bin leaves out

WIDTH = 2.0**-11
"""Relative width of a bin, and so the largest relative error of a percentile: 0.05%."""


@dataclass(frozen=True, eq=False)
class Times:
    """Counts of times by bin, in ascending order.

    Parameters
    ----------
    bins
        Leading bits of the times, each bin once, shape (bins,).
    counts, sums
        Number of times in each bin, and their sum [s].

    Examples
    --------
    >>> times = Times.of(np.array([0.2, 0.3, 0.3, 5.0]))
    >>> times.count, round(times.percentile(50), 12)
    (4, 0.3)
    """

    bins: NDArray[np.int64]
    counts: NDArray[np.int64]
    sums: FloatArray

    @classmethod
    def of(cls, times: FloatArray) -> "Times":
        """The times of some journeys, in bins.

        Parameters
        ----------
        times
            The times, each 0 or more, shape (journeys,) [s].
        """
        rising = np.sort(np.ascontiguousarray(times, float))
        return cls(rising.view(np.int64) >> _BITS, np.ones(rising.size, np.int64), rising).merged()

    def merged(self) -> "Times":
        """The same, with entries of one bin merged; bins are ascending but may repeat."""
        first = np.flatnonzero(np.diff(self.bins, prepend=-1))
        counts, sums = (np.add.reduceat(each, first) for each in (self.counts, self.sums))
        return Times(self.bins[first], counts, sums)

    @classmethod
    def of_all(cls, some: Iterable["Times"]) -> "Times":
        """Several of them together."""
        known = [one for one in some if one.bins.size] or [NONE]
        if len(known) == 1:
            return known[0]
        bins, counts, sums = (
            np.concatenate([getattr(one, name) for one in known])
            for name in ("bins", "counts", "sums")
        )
        order = np.argsort(bins, kind="stable")
        return cls(bins[order], counts[order], sums[order]).merged()

    @property
    def count(self) -> int:
        """Number of journeys."""
        return int(self.counts.sum())

    def percentile(self, percent: float) -> float:
        """The time that so many percent of the times do not exceed [s]; NaN if there are none."""
        if not self.count:
            return float("nan")
        within = np.cumsum(self.counts)
        place = int(np.searchsorted(within, percent / 100 * (self.count - 1), side="right"))
        return float(self.sums[place] / self.counts[place])


NONE = Times.of(np.zeros(0))
"""No times."""
