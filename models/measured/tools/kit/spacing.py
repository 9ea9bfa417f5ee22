"""Interarrival times of requests, in memory that does not grow with their number."""

import math
from dataclasses import dataclass, field

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.arrivals import Gaps
from headway.models.measured.tools.kit import times as kept

# powers of the interarrival times that are summed, for the standard error of their variance
_POWERS = 4
_LATE = 1e-3
"""Share of requests that may come too late in a log to be put in order.

Leaving out a share p at random changes an scv c by p (1 - c), as for every thinned renewal process.
"""


def _no_sums() -> FloatArray:
    return np.zeros(_POWERS + 1)


@dataclass
class Spacing:
    """When requests were sent, put in order as they are read.

    A log is in the order in which requests ended. Up to 65,536 requests are stored until no earlier
    one can be expected; interarrival times before those are only summed.

    Examples
    --------
    >>> sent = Spacing()
    >>> sent.extend(np.random.default_rng(1).permutation(200.0 * np.arange(1000)))
    >>> sent.gaps(resolution=1.0).scv
    0.0
    """

    waiting: FloatArray = field(default_factory=lambda: np.empty(0))
    edge: float = math.nan
    usual: float = math.nan
    last: float = math.nan
    sums: FloatArray = field(default_factory=_no_sums)
    product: float = 0.0
    late: int = 0

    def extend(self, start: FloatArray) -> None:
        """Add requests, by the times at which they were sent."""
        fresh = start[~(start < self.edge)]
        self.late += start.size - fresh.size
        self.waiting = np.sort(np.concatenate([self.waiting, fresh]), kind="stable")
        if self.waiting.size > 2 * kept.CHUNK:
            self._sum(self.waiting[: -kept.CHUNK])
            self.waiting = self.waiting[-kept.CHUNK :].copy()

    def _sum(self, sent: FloatArray) -> None:
        """Sum powers of the interarrival times, relative to their usual length."""
        between = np.diff(sent) if math.isnan(self.edge) else np.diff(sent, prepend=self.edge)
        self.edge = float(sent[-1])
        if math.isnan(self.usual) and between.size:
            self.usual = float(between.mean()) or 1.0
        parts = between / self.usual - 1
        self.sums += [float((parts**k).sum()) for k in range(_POWERS + 1)]
        following = parts if math.isnan(self.last) else np.concatenate([[self.last], parts])
        self.product += float(following[:-1] @ following[1:])
        self.last = float(following[-1]) if following.size else self.last

    def gaps(self, resolution: float) -> Gaps | None:
        """The interarrival times of all requests; None if none are known, or too many are late.

        Parameters
        ----------
        resolution
            Resolution of the log's times, in their unit.
        """
        every = Spacing(
            edge=self.edge, usual=self.usual, last=self.last, sums=self.sums.copy(),
            product=self.product,
        )  # fmt: skip
        if self.waiting.size:
            every._sum(self.waiting)
        count, *sums = every.sums.tolist()
        if count < 2 or self.late > _LATE * count:
            return None
        first, second, third, fourth = (total / count for total in sums)
        mean, variance = 1 + first, max(second - first**2, 0.0)
        if not mean > 0:
            return None
        skew = third - 3 * first * second + 2 * first**3
        tail = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        scv = variance / mean**2
        # the delta method on variance / mean^2, for independent times
        spread = (tail - variance**2) / mean**4 - 4 * skew * variance / mean**5 + 4 * scv**3
        related = every.product / (count - 1) - first**2
        return Gaps(
            int(count),
            round(scv, 4),
            math.sqrt(max(spread, 0.0) / count),
            related / variance if variance > _SAME else 0.0,
            (resolution / (mean * every.usual)) ** 2 / 6,
        )


# relative to the square of the usual time: equal intervals, apart from rounding of 1e-6
_SAME = 1e-12
