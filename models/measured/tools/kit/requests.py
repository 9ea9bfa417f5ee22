"""Logs with a request a line, summed up as they are read: what JMeter, k6 and Gatling share."""

import math
from dataclasses import dataclass, field

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.tools.kit.times import PRECISION, Times

PERCENTAGES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
"""Percentages of the percentiles that are made of a log."""


@dataclass
class Requests:
    """Requests as they come; what is kept does not grow with their number.

    Parameters
    ----------
    tick
        Seconds in a unit of the log's times.

    Examples
    --------
    >>> seen = Requests(1e-3)
    >>> seen.add(0, 500, True)
    >>> seen.add(500, 1000, True)
    >>> point = seen.point("log", "a.log")
    >>> point.throughput, point.response_time, point.duration
    (1.3333333333333333, 0.75, 1.5)
    """

    tick: float
    times: Times = field(default_factory=Times)
    failed: int = 0
    first: float = math.inf
    last: float = -math.inf

    def add(self, start: float, elapsed: float, good: bool) -> None:  # noqa: FBT001
        """Take a request: when it was sent, how long it took, and whether it succeeded."""
        self.first = min(self.first, start)
        self.last = max(self.last, start + elapsed)
        if good:
            self.times.append(elapsed)
        else:
            self.failed += 1

    def point(self, tool: str, source: str) -> Point:
        """The point that they make: rate and times of those that succeeded.

        Raises
        ------
        MeasurementError
            Where none succeeded, or all at one instant.
        """
        if not self.times:
            msg = f"{source}: none of {self.failed} requests succeeded; leave it out (--skip-bad)"
            raise MeasurementError(msg)
        duration = (self.last - self.first) * self.tick
        if not 0 < duration < math.inf:
            msg = f"{source}: all requests are of one instant, so there is no rate"
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


COMPUTED = "rate, mean and percentiles were computed from the log of requests"


def rounding(times: Times) -> tuple[str, ...]:
    """What is to be known of percentiles of times that were taken together.

    Examples
    --------
    >>> rounding(Times())
    ()
    """
    if times.exact:
        return ()
    return (
        f"percentiles are approximate, to {PRECISION:.2%}: the log has more than {times.most}"
        " different times",
    )
