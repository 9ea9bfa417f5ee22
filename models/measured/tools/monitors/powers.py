"""bcc: histograms in powers of two."""

import re
from dataclasses import dataclass, field

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import number
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.tools.monitors.buckets import BucketCounts, point_of
from headway.models.measured.tools.monitors.sysstat import clock
from headway.numerals import digits

_HEADER = re.compile(r"^[ \t]*([a-zA-Z]+)[ \t]+: count[ \t]+distribution", re.MULTILINE)
_ROW = re.compile(r"([0-9]{1,20})\s*->\s*([0-9]{1,20})\s*:\s*([0-9]{1,20})\s*\|[^|]*\|")
_LIKE_ROW = re.compile(r"\S+\s*->")
_NAME = re.compile(r"(\w[\w ]*?)\s*= '?([^',]+)'?")
_MEAN = re.compile(r"avg = (\S+) (\w+), total: (\S+) (\w+), count: (\S+)")
UNITS = {"nsecs": 1e-9, "usecs": 1e-6, "msecs": 1e-3, "secs": 1.0}
_LARGEST = 2**64


def _is_powers(text: str) -> bool:
    match = _HEADER.search(text[:20_000])
    return match is not None and "->" in text


def _points(text: str, source: str) -> list[Point]:
    histograms = [each for each in _histograms(text, source) if each.count]
    if not histograms:
        msg = f"{source}: all its histograms of times are empty; let the tool run longer"
        raise MeasurementError(msg)
    names = dict.fromkeys(each.name for each in histograms)
    return [
        point_of("bcc histogram", name, [each for each in histograms if each.name == name])
        for name in names
    ]


@dataclass
class _Reading:
    """The histograms of times read so far, and the lines above the next one."""

    histograms: list[BucketCounts] = field(default_factory=list)
    current: BucketCounts | None = None
    name: str = ""
    time: float | None = None


def _histograms(text: str, source: str) -> list[BucketCounts]:
    """Histograms of times, each with the name and time above it."""
    reading = _Reading()
    for place, written in placed(text, source):
        content = written.strip()
        if header := _HEADER.match(written):
            _begin(reading, header[1])
        elif _LIKE_ROW.match(content):
            _count(reading.current, content, place)
        elif content:
            _take_words(reading, content, place)
    return reading.histograms


def _begin(reading: _Reading, unit: str) -> None:
    reading.current = (
        BucketCounts(reading.name, UNITS[unit], reading.time) if unit in UNITS else None
    )
    reading.histograms += [reading.current] if reading.current else []
    reading.name = ""


def _take_words(reading: _Reading, content: str, place: str) -> None:
    if (stamp := clock(content.rstrip(":"))) is not None:
        reading.time = stamp
    elif mean := _MEAN.match(content):
        _take_mean(reading.histograms, mean, place)
    elif named := _NAME.fullmatch(content):
        reading.name = named[2].strip()


def _count(current: BucketCounts | None, content: str, place: str) -> None:
    """Add a row; ignore rows of histograms without times."""
    row = _ROW.fullmatch(content)
    if row is None or not _is_power(int(row[1]), int(row[2])):
        msg = (
            f"{place}: not a row of a histogram such as '4 -> 7 : 12 |***|'; the file may be "
            "truncated"
        )
        raise MeasurementError(msg)
    if current is not None:
        low, high, count = (number(cell, place) for cell in row.groups())
        current.buckets[low * current.scale, (high + 1) * current.scale] = count


def _is_power(low: int, high: int) -> bool:
    """Whether a row is from a power of two to just below the next; the first begins at 0."""
    return high < _LARGEST and high == max(2 * low - 1, 1) and low & (low - 1) == 0


def _take_mean(histograms: list[BucketCounts], mean: re.Match[str], place: str) -> None:
    """Add the exact sum of the times, which some tools print below a histogram."""
    if not histograms or mean[4] not in UNITS:
        msg = f"{place}: there is no histogram of times above this mean; use the complete file"
        raise MeasurementError(msg)
    count = number(mean[5], place)
    if count != histograms[-1].count:
        held = digits(histograms[-1].count)
        raise broken(place, f"its mean is of {mean[5]} values, but its histogram holds {held}")
    histograms[-1].total = number(mean[3], place) * UNITS[mean[4]]


BCC = tool_reader(
    "bcc histogram", _is_powers, _points, "one point per histogram: coarse mean and percentiles"
)
