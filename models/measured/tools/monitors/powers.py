"""bcc: histograms in powers of two."""

import math
import re
from dataclasses import dataclass, field, replace

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import number
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.tools.monitors.sysstat import Row, clock, span

_HEADER = re.compile(r"^[ \t]*([a-zA-Z]+)[ \t]+: count[ \t]+distribution", re.MULTILINE)
_ROW = re.compile(r"([0-9]+)\s*->\s*([0-9]+)\s*:\s*([0-9]+)\s*\|[^|]*\|")
_LIKE_ROW = re.compile(r"[0-9]+\s*->")
_NAME = re.compile(r"(\w[\w ]*?)\s*= '?([^',]+)'?")
_MEAN = re.compile(r"avg = ([0-9]+) (\w+), total: ([0-9]+) (\w+), count: ([0-9]+)")
_UNITS = {"nsecs": 1e-9, "usecs": 1e-6, "msecs": 1e-3, "secs": 1.0}
_ASKED = (50.0, 90.0, 95.0, 99.0)
_LARGEST = 2**64


@dataclass
class _Histogram:
    """Counts of values from ``low`` up to and without ``above``, in seconds."""

    name: str
    scale: float
    time: float | None
    buckets: dict[tuple[float, float], float] = field(default_factory=dict)
    total: float | None = None

    @property
    def count(self) -> float:
        return math.fsum(self.buckets.values())


def _is_powers(text: str) -> bool:
    found = _HEADER.search(text[:20_000])
    return found is not None and "->" in text


def _points(text: str, source: str) -> list[Point]:
    found = [each for each in _histograms(text, source) if each.count]
    if not found:
        msg = f"{source}: no histogram of times in it counts anything"
        raise MeasurementError(msg)
    names = dict.fromkeys(each.name for each in found)
    return [_point(name, [each for each in found if each.name == name]) for name in names]


@dataclass
class _Seen:
    """What was read so far: histograms of times, and what stands above the next."""

    found: list[_Histogram] = field(default_factory=list)
    current: _Histogram | None = None
    name: str = ""
    time: float | None = None


def _histograms(text: str, source: str) -> list[_Histogram]:
    """Histograms of times, each with the name and the clock that stand above it."""
    seen = _Seen()
    for place, written in placed(text, source):
        content = written.strip()
        if header := _HEADER.match(written):
            _begin(seen, header[1])
        elif _LIKE_ROW.match(content):
            _count(seen.current, content, place)
        elif content:
            _take_words(seen, content, place)
    return seen.found


def _begin(seen: _Seen, unit: str) -> None:
    seen.current = _Histogram(seen.name, _UNITS[unit], seen.time) if unit in _UNITS else None
    seen.found += [seen.current] if seen.current else []
    seen.name = ""


def _take_words(seen: _Seen, content: str, place: str) -> None:
    if (stamp := clock(content.rstrip(":"))) is not None:
        seen.time = stamp
    elif mean := _MEAN.match(content):
        _take_mean(seen.found, mean, place)
    elif named := _NAME.fullmatch(content):
        seen.name = named[2].strip()


def _count(current: _Histogram | None, content: str, place: str) -> None:
    """Take a row; those of histograms that are not of times go nowhere."""
    row = _ROW.fullmatch(content)
    if row is None or int(row[1]) > int(row[2]) or int(row[2]) >= _LARGEST:
        msg = f"{place}: is no row of a histogram such as '4 -> 7 : 12 |***|'; it may be cut"
        raise MeasurementError(msg)
    if current is not None:
        low, high, count = (number(cell, place) for cell in row.groups())
        current.buckets[low * current.scale, (high + 1) * current.scale] = count


def _take_mean(found: list[_Histogram], mean: re.Match[str], place: str) -> None:
    """Take the exact sum of the times, which some tools print below a histogram."""
    if not found or mean[4] not in _UNITS:
        msg = f"{place}: no histogram of times stands above this mean"
        raise MeasurementError(msg)
    if number(mean[5], place) == found[-1].count:
        found[-1].total = number(mean[3], place) * _UNITS[mean[4]]


def _point(name: str, mine: list[_Histogram]) -> Point:
    whole = _summed(mine)
    rows = [Row("", {}, each.time) for each in mine]
    duration = span(rows) if len(mine) > 1 else None
    exact, (least, most) = whole.total, _bounds(whole)
    mean = (least + most) / 2 if exact is None else exact / whole.count
    said = "The mean is exact." if exact is not None else f"The mean is {_between(least, most)}."
    wide = ", ".join(f"p{q:g} {_between(*_bucket(whole, q)[0])}" for q in _ASKED)
    return Point(
        "bcc histogram",
        throughput=whole.count / duration if duration else None,
        response_time=mean,
        percentiles={percent: _percentile(whole, percent) for percent in _ASKED},
        samples=whole.count,
        duration=duration,
        name=name,
        notes=(said, f"Times are known to their bucket only: {wide}."),
    )


def _between(least: float, most: float) -> str:
    return f"between {least:.4g} and {most:.4g} s"


def _summed(mine: list[_Histogram]) -> _Histogram:
    """Intervals of one name as one."""
    whole = replace(mine[0], buckets={})
    for each in mine:
        for bucket, count in each.buckets.items():
            whole.buckets[bucket] = whole.buckets.get(bucket, 0.0) + count
    totals = [each.total for each in mine]
    known = [total for total in totals if total is not None]
    whole.total = math.fsum(known) if len(known) == len(totals) else None
    return whole


def _bounds(whole: _Histogram) -> tuple[float, float]:
    """Between what the mean lies: all at the lower ends of their buckets, all at the upper."""
    ends = [
        math.fsum(bucket[end] * count for bucket, count in whole.buckets.items()) for end in (0, 1)
    ]
    return ends[0] / whole.count, ends[1] / whole.count


def _bucket(whole: _Histogram, percent: float) -> tuple[tuple[float, float], float]:
    """The bucket of a percentile, and how far into its count the percentile lies."""
    wanted = percent / 100 * whole.count
    reached = 0.0
    for bucket in sorted(bucket for bucket, count in whole.buckets.items() if count):
        count = whole.buckets[bucket]
        if reached + count >= wanted - 1e-9:
            return bucket, (wanted - reached) / count
        reached += count
    return bucket, 1.0


def _percentile(whole: _Histogram, percent: float) -> float:
    (low, above), share = _bucket(whole, percent)
    return low + min(share, 1.0) * (above - low)


BCC = tool_reader(
    "bcc histogram", _is_powers, _points, "a point a histogram: its mean and percentiles, coarse"
)
