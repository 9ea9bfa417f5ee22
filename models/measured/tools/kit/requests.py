"""Logs with one request per line, summed as they are read, for JMeter, k6 and Gatling."""

import math
from array import array
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.measured.arrivals import Gaps
from headway.models.measured.points import DRAIN, LONGEST, SHORTEST, Point
from headway.models.measured.tools.kit import times as kept
from headway.models.measured.tools.kit.sending import Sending
from headway.models.measured.tools.kit.spacing import Spacing
from headway.models.measured.tools.kit.timeline import Timeline
from headway.models.measured.tools.kit.times import PRECISION, TimeSketch
from headway.models.measured.window import WHOLE, RunWindow
from headway.numerals import four_digits

PERCENTAGES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
"""The percentiles computed from a log."""


@dataclass
class Requests:
    """Requests as they are read, in memory that does not grow with their number.

    Parameters
    ----------
    tick
        The unit of the log's times [s].
    window
        The part of the run that counts, counted from the first request sent: the first of those
        read in one step, within 65,536 lines.
    resolution
        Resolution of the log's times, in this unit.

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
    window: RunWindow = WHOLE
    times: TimeSketch = field(default_factory=TimeSketch)
    failed: int = 0
    sending: Sending = field(default_factory=Sending)
    spent: float = 0.0
    timeline: Timeline = field(default_factory=Timeline)
    origin: float = math.nan
    latest: float = -math.inf
    fresh: "array[float]" = field(default_factory=lambda: array("d"))
    resolution: float = 1.0
    spacing: Spacing = field(default_factory=Spacing)

    def add(self, start: float, elapsed: float, good: bool) -> None:  # noqa: FBT001
        """Add a request: when it was sent, how long it took, and whether it succeeded."""
        self.fresh.extend((start, elapsed, good))
        if len(self.fresh) >= 3 * kept.CHUNK:
            self.count()

    def count(self) -> None:
        """Move pending requests to the sums."""
        if not self.fresh:
            return
        start, elapsed, good = np.array(self.fresh).reshape(-1, 3).T
        del self.fresh[:]
        if math.isnan(self.origin):
            self.origin = float(start.min())
        self.latest = max(self.latest, float(start.max()))
        since = (start - self.origin) * self.tick
        counts = (since >= self.window.start) & (since < self.window.end)
        counts |= self.window.is_whole
        self._sum(start[counts], elapsed[counts], good[counts] > 0)
        self.timeline.add(np.maximum(since[counts], 0.0), elapsed[counts] * self.tick, good[counts])

    def _sum(self, start: FloatArray, elapsed: FloatArray, good: NDArray[np.bool_]) -> None:
        if start.size:
            self.spent += math.fsum(elapsed)
            self.sending.extend(start, elapsed, good)
            self.spacing.extend(start)
            self.times.extend(elapsed[good])
            self.failed += int((~good).sum())

    @property
    def is_empty(self) -> bool:
        """Whether no request was added."""
        return not self.fresh and self.latest == -math.inf

    def point(self, tool: str, source: str) -> Point:
        """Their point: rate and times of successful requests.

        Raises
        ------
        MeasurementError
            If none was sent within the window, none succeeded, or all have the same time.
        """
        self.check_window(source)
        if not self.times:
            msg = (
                f"{source}: none of {self.failed} requests succeeded; omit the file with --skip-bad"
            )
            raise MeasurementError(msg)
        if not self.sending.rate > 0:
            msg = f"{source}: all requests have the same time, so there is no rate"
            raise MeasurementError(msg)
        return Point(
            tool,
            throughput=self.sending.rate / self.tick,
            response_time=self.times.mean * self.tick,
            percentiles={p: self.times.percentile(p) * self.tick for p in PERCENTAGES},
            errors=float(self.failed),
            samples=float(len(self.times)),
            duration=self.sending.length * self.tick,
            more=self.drain
            | {
                SHORTEST: self.times.order(0) * self.tick,
                LONGEST: self.times.order(len(self.times) - 1) * self.tick,
            },
            notes=(COMPUTED, *self.cut, *self.sending.notes, *rounding(self.times)),
            course=self.timeline.course(),
            gaps=self.gaps,
        )

    @property
    def gaps(self) -> Gaps | None:
        """The times between requests as they were sent."""
        return self.spacing.gaps(self.resolution)

    @property
    def drain(self) -> dict[str, float]:
        """The wait for the last answer [s]; empty for a part that ends before the run does."""
        ends = math.isinf(self.window.end)
        return {DRAIN: self.sending.drain * self.tick} if ends else {}

    def check_window(self, source: str) -> None:
        """Refuse a window in which no request was sent.

        Raises
        ------
        MeasurementError
            With the length of the run.
        """
        self.count()
        if not (self.times or self.failed or self.is_empty):
            lasts = four_digits((self.latest - self.origin) * self.tick)
            msg = f"{source}: no request was sent {self.window}; the run sent for {lasts} s"
            raise MeasurementError(msg)

    @property
    def cut(self) -> tuple[str, ...]:
        """A note that only a part of the run counts."""
        if self.window.is_whole:
            return ()
        return (f"only requests sent {self.window} of the run count",)


COMPUTED = "headway computed rate, mean and percentiles from the log of requests"


def rounding(times: TimeSketch) -> tuple[str, ...]:
    """A note on percentiles of times that share a bucket.

    Examples
    --------
    >>> rounding(TimeSketch())
    ()
    """
    if times.exact:
        return ()
    return (
        f"percentiles have a relative error of up to {PRECISION:.2%}: the log has more than "
        f"{times.most}"
        " different times",
    )
