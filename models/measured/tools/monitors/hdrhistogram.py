"""HdrHistogram: interval logs, and percentile distributions as text and CSV."""

import math
import re
from collections import Counter
from dataclasses import dataclass, field

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import number
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.tools.monitors.hdr_encoding import Bucket, counts_of

_LOG = re.compile(r"(?:Tag=([^,]*),)?([^,]+),([^,]+),([^,]+),(HIST\S*)")
_LOG_HEAD = re.compile(
    r"\s*(?:#.*\n\s*)*(?:#\[Histogram log format|\"StartTimestamp\",\"Interval_Length\""
    r"|(?:Tag=[^,\n]*,)?[0-9.]+,[0-9.]+,[0-9.]+,HIST)"
)
_TITLES = re.compile(r"\s*(?:#.*\n\s*)*\"?Value\"?[\s,]+\"?Percentile\"?[\s,]+\"?TotalCount\b")
_FOOT = re.compile(r"(Mean|Max|Total ?[cC]ount)\s*=\s*([^,\]\s]+)")
_PERCENTS = (50.0, 90.0, 95.0, 99.0, 99.9)
_UNITS = {1e6: ("nanoseconds", 1e-9), 1e3: ("microseconds", 1e-6), 1.0: ("milliseconds", 1e-3)}
_NEAR = 1.5


@dataclass
class _Tagged:
    """The data of a log under one tag."""

    counts: Counter[Bucket] = field(default_factory=Counter)
    length: float = 0.0
    largest: float = 0.0


def _is_log(text: str) -> bool:
    return _LOG_HEAD.match(text[:4000]) is not None


def _of_log(text: str, source: str) -> list[Point]:
    tagged: dict[str, _Tagged] = {}
    for place, written in placed(text, source):
        if written.strip() and not written.startswith(("#", '"')):
            _take(tagged, written.strip(), place)
    filled = {tag: each for tag, each in tagged.items() if each.counts.total()}
    if not filled:
        msg = f"{source}: this log has no values; record at least one"
        raise MeasurementError(msg)
    return [_point(tag, each, source) for tag, each in filled.items()]


def _take(tagged: dict[str, _Tagged], written: str, place: str) -> None:
    """Add an interval of a log to its tag."""
    parts = _LOG.fullmatch(written)
    if parts is None:
        msg = (
            f"{place}: a row needs start, length, maximum and histogram; the file may be truncated"
        )
        raise MeasurementError(msg)
    length, largest = (number(parts[n], place) for n in (3, 4))
    if length < 0 or largest < 0:
        msg = f"{place}: an interval has a negative length or maximum; check the log"
        raise MeasurementError(msg)
    each = tagged.setdefault(parts[1] or "", _Tagged())
    each.counts.update(counts_of(parts[5], place))
    each.length += length
    each.largest = max(each.largest, largest)


def _point(tag: str, each: _Tagged, source: str) -> Point:
    unit, scale = _unit(each, source)
    total = each.counts.total()
    spent = math.fsum(bucket.middle * count for bucket, count in each.counts.items())
    return Point(
        "HdrHistogram",
        throughput=total / each.length if each.length else None,
        response_time=spent / total * scale,
        percentiles={percent: _percentile(each.counts, percent) * scale for percent in _PERCENTS},
        samples=float(total),
        duration=each.length or None,
        name=tag,
        notes=(
            "All intervals together; the rate is recorded values divided by the time of the "
            "intervals.",
            f"Values are in {unit}, according to the log's maxima in milliseconds.",
        ),
    )


def _unit(each: _Tagged, source: str) -> tuple[str, float]:
    """The unit of recorded values, and its seconds: maxima are printed in milliseconds."""
    highest = max(bucket.high for bucket in each.counts)
    if not each.largest or not highest:
        return _UNITS[1e6]
    ratio = highest / each.largest
    near = (known for known in _UNITS if known / _NEAR < ratio < known * _NEAR)
    if (known := next(near, None)) is None:
        msg = (
            f"{source}: its maxima differ from those of its histograms in milliseconds; check the "
            "log"
        )
        raise MeasurementError(msg)
    return _UNITS[known]


def _percentile(counts: Counter[Bucket], percent: float) -> float:
    """The highest value of the bucket that contains a percentile."""
    wanted = max(math.ceil(percent / 100 * counts.total() - 1e-9), 1)
    reached = 0
    for bucket in sorted(counts):
        reached += counts[bucket]
        if reached >= wanted:
            return bucket.high
    return math.nan


def _is_distribution(text: str) -> bool:
    return _TITLES.match(text[:4000]) is not None


def _of_distribution(text: str, source: str) -> list[Point]:
    rows: list[tuple[float, float, float]] = []
    feet: dict[str, float] = {}
    for place, written in placed(text, source):
        content = written.strip()
        if content.startswith("#"):
            feet |= {_key(name): number(cell, place) for name, cell in _feet(content)}
        elif content and "Value" not in content:
            rows.append(_row(content, place))
    _check(rows, source)
    mean = feet.get("mean")
    return [
        Point(
            "HdrHistogram percentiles",
            response_time=None if mean is None else mean * 1e-3,
            percentiles={percent: _value(rows, percent) * 1e-3 for percent in _PERCENTS},
            samples=feet.get("totalcount", rows[-1][2]),
            notes=(
                "Values are assumed to be in milliseconds: the file does not say.",
                "A percentile is the value of the first row that reaches it.",
            ),
        )
    ]


def _feet(content: str) -> list[tuple[str, str]]:
    return _FOOT.findall(content)


def _key(name: str) -> str:
    return name.replace(" ", "").lower()


def _row(content: str, place: str) -> tuple[float, float, float]:
    cells = re.split(r"[\s,]+", content)
    if len(cells) not in (3, 4):
        msg = (
            f"{place}: {len(cells)} cells instead of value, percentile and count; the file may be "
            "truncated"
        )
        raise MeasurementError(msg)
    value, share, count = (number(cell, place) for cell in cells[:3])
    if not 0 <= share <= 1 or value < 0 or count < 0:
        msg = f"{place}: a row needs a value, a percentile from 0 to 1 and a count"
        raise MeasurementError(msg)
    return value, share, count


def _check(rows: list[tuple[float, float, float]], source: str) -> None:
    if not rows or rows[-1][1] < 1:
        msg = f"{source}: the last percentile is missing; the file may be truncated"
        raise MeasurementError(msg)
    if rows != sorted(rows) or [row[1] for row in rows] != sorted(row[1] for row in rows):
        msg = f"{source}: its values or percentiles do not increase; use the file as it was written"
        raise MeasurementError(msg)
    if not rows[-1][2]:
        msg = f"{source}: it has no values; record at least one"
        raise MeasurementError(msg)


def _value(rows: list[tuple[float, float, float]], percent: float) -> float:
    return next(value for value, share, _ in rows if share >= percent / 100 - 1e-12)


HDR_LOG = tool_reader(
    "HdrHistogram log",
    _is_log,
    _of_log,
    "one point per tag: recorded values per second and their times",
)
HDR_PERCENTILES = tool_reader(
    "HdrHistogram percentiles", _is_distribution, _of_distribution, "percentiles and the mean"
)
