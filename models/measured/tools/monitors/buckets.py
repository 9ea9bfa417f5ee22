"""Histograms of times with wide buckets: bounds of mean and percentiles."""

import math
from dataclasses import dataclass, field, replace

from headway.models.measured.points import LONGEST, Point
from headway.models.measured.tools.kit.numbers import filled
from headway.models.measured.tools.monitors.sysstat import TitledRow, span
from headway.numerals import digits, four_digits, times

_PERCENTS = (50.0, 90.0, 95.0, 99.0)


@dataclass
class BucketCounts:
    """Counts of values from ``low`` to just below ``above`` [s]."""

    name: str
    scale: float
    time: float | None
    buckets: dict[tuple[float, float], float] = field(default_factory=dict)
    total: float | None = None

    @property
    def count(self) -> float:
        """The number of values."""
        return math.fsum(self.buckets.values())


def point_of(tool: str, name: str, mine: list[BucketCounts]) -> Point:
    """The point of all histograms with one name."""
    whole = _summed(mine)
    rows = [TitledRow("", {}, each.time) for each in mine]
    duration = span(rows) if len(mine) > 1 else None
    exact, (least, most) = whole.total, _bounds(whole)
    middle = (least + most) / 2 if math.isfinite(most) else None
    mean = middle if exact is None else exact / whole.count
    mean_note = (
        "The mean is exact." if exact is not None else f"The mean is {_between(least, most)}."
    )
    wide = ", ".join(f"p{digits(q)} {_between(*_bucket(whole, q)[0])}" for q in _PERCENTS)
    return Point(
        tool,
        throughput=whole.count / duration if duration else None,
        response_time=mean,
        percentiles=filled({percent: _percentile(whole, percent) for percent in _PERCENTS}),
        samples=whole.count,
        duration=duration,
        more=filled({LONGEST: _longest(whole)}),
        coarseness=max(_coarse(_bucket(whole, q)[0]) for q in _PERCENTS),
        name=name,
        notes=(mean_note, f"Times are known only to their bucket: {wide}."),
    )


def _longest(whole: BucketCounts) -> float | None:
    """The upper end of the highest bucket with values; None if it is open."""
    above = max(above for (_, above), count in whole.buckets.items() if count)
    return above if math.isfinite(above) else None


_COARSEST = 1e9  # relative: of a bucket that begins at 0


def _coarse(bucket: tuple[float, float]) -> float:
    """Relative error of a time within a bucket."""
    low, above = bucket
    return min(above / low - 1, _COARSEST) if low else _COARSEST


def _between(least: float, most: float) -> str:
    if not math.isfinite(most):
        return f"{times(least)[0]} or more"
    return " and ".join((f"between {four_digits(least)}", f"{four_digits(most)} s"))


def _summed(mine: list[BucketCounts]) -> BucketCounts:
    """Merge the intervals of one name."""
    whole = replace(mine[0], buckets={})
    for each in mine:
        for bucket, count in each.buckets.items():
            whole.buckets[bucket] = whole.buckets.get(bucket, 0.0) + count
    totals = [each.total for each in mine]
    known = [total for total in totals if total is not None]
    whole.total = math.fsum(known) if len(known) == len(totals) else None
    return whole


def _bounds(whole: BucketCounts) -> tuple[float, float]:
    """Bounds of the mean: all values at the lower ends of their buckets, all at the upper."""
    ends = [
        math.fsum(bucket[end] * count for bucket, count in whole.buckets.items() if count)
        for end in (0, 1)
    ]
    return ends[0] / whole.count, ends[1] / whole.count


def _bucket(whole: BucketCounts, percent: float) -> tuple[tuple[float, float], float]:
    """The bucket of a percentile, and the share of its count below the percentile."""
    wanted = percent / 100 * whole.count
    reached = 0.0
    for bucket in sorted(bucket for bucket, count in whole.buckets.items() if count):
        count = whole.buckets[bucket]
        if reached + count >= wanted - 1e-9:
            return bucket, (wanted - reached) / count
        reached += count
    return bucket, 1.0


def _percentile(whole: BucketCounts, percent: float) -> float | None:
    """A percentile, if values are spread evenly within the bucket; None in an open bucket."""
    (low, above), share = _bucket(whole, percent)
    return low + min(share, 1.0) * (above - low) if math.isfinite(above) else None
