"""Logs with one request per line, summed as they are read, for JMeter, k6 and Gatling."""

import math
from dataclasses import dataclass, field

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.tools.kit.times import PRECISION, Times

PERCENTAGES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
"""The percentiles computed from a log."""


@dataclass
class Requests:
    """Requests as they are read, in memory that does not grow with their number.

    Parameters
    ----------
    tick
        The unit of the log's times [s].

    Examples
    --------
    >>> result = Requests(1e-3)
    >>> result.add(0, 500, True)
    >>> result.add(500, 1000, True)
    >>> point = result.point("log", "a.log")
    >>> point.throughput, point.response_time, point.duration
    (1.3333333333333333, 0.75, 1.5)
    """

    tick: float
    times: Times = field(default_factory=Times)
    failed: int = 0
    first: float = math.inf
    last: float = -math.inf

    def add(self, start: float, elapsed: float, good: bool) -> None:  # noqa: FBT001
        """Add a request: when it was sent, how long it took, and whether it succeeded."""
        self.first = min(self.first, start)
        self.last = max(self.last, start + elapsed)
        if good:
            self.times.append(elapsed)
        else:
            self.failed += 1

    def point(self, tool: str, source: str) -> Point:
        """Their point: rate and times of successful requests.

        Raises
        ------
        MeasurementError
            If none succeeded, or all have the same time.
        """
        if not self.times:
            msg = (
                f"{source}: none of {self.failed} requests succeeded; omit the file with --skip-bad"
            )
            raise MeasurementError(msg)
        duration = (self.last - self.first) * self.tick
        if not 0 < duration < math.inf:
            msg = f"{source}: all requests have the same time, so there is no rate"
            raise MeasurementError(msg)
        return Point(
            tool,
            throughput=len(self.times) / duration,
            response_time=self.times.mean * self.tick,
            percentiles={p: self.times.percentile(p) * self.tick for p in PERCENTAGES},
            errors=float(self.failed),
            samples=float(len(self.times)),
            duration=duration,
            notes=(COMPUTED, *rounding(self.times)),
        )


COMPUTED = "headway computed rate, mean and percentiles from the log of requests"


def rounding(times: Times) -> tuple[str, ...]:
    """A note on percentiles of times that share a bucket.

    Examples
    --------
    >>> rounding(Times())
    ()
    """
    if times.exact:
        return ()
    return (
        f"percentiles have a relative error of up to {PRECISION:.2%}: the log has more than "
        f"{times.most}"
        " different times",
    )
