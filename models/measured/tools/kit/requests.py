"""Logs with a request a line, summed up as they are read: what JMeter, k6 and Gatling share."""

import math
from array import array
from dataclasses import dataclass, field

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.measured.points import Point

PERCENTAGES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
"""Percentages of the percentiles that are made of a log."""


@dataclass
class Requests:
    """Requests as they come; eight bytes are kept of each.

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
    times: "array[float]" = field(default_factory=lambda: array("d"))
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
        times = np.frombuffer(self.times)
        return Point(
            tool,
            throughput=len(times) / duration,
            response_time=float(times.mean()) * self.tick,
            percentiles=percentiles(times, self.tick),
            errors=float(self.failed),
            samples=float(len(times)),
            duration=duration,
            notes=("rate, mean and percentiles were computed from the log of requests",),
        )


def percentiles(times: FloatArray, tick: float) -> dict[float, float]:
    """Percentiles between order statistics by a straight line, as k6 does.

    Examples
    --------
    >>> percentiles(np.array([1.0, 2.0, 3.0]), 1.0)[75.0]
    2.5
    """
    values = np.percentile(times, PERCENTAGES) * tick
    return dict(zip(PERCENTAGES, map(float, values), strict=True))
