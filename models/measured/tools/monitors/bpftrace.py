"""bpftrace: maps made by ``hist()`` and ``lhist()`` whose names end in a unit of time."""

import math
import re

from headway.errors import MeasurementError, quoted
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.tools.monitors.buckets import BucketCounts, point_of

_MAP = re.compile(r"@(\w*)(?:\[(.*)\])?: *")
_BAR = r"\s+(\d{1,15}) \|[@ ]{52}\|"
_ONE = re.compile(rf"\[(\d{{1,18}})\]{_BAR}", re.ASCII)
_WIDE = re.compile(
    rf"[\[(](\.\.\.|-?\d{{1,18}}[KMGTPE]?), (\.\.\.|-?\d{{1,18}}[KMGTPE]?)\){_BAR}", re.ASCII
)
_HEAD = re.compile(rf"^@\w*(?:\[.*\])?: *\n(?:{_WIDE.pattern}|{_ONE.pattern})", re.MULTILINE)
_LOOKED_AT = 20_000
_UNITS = {"ns": 1e-9, "nsecs": 1e-9, "us": 1e-6, "usecs": 1e-6, "ms": 1e-3, "msecs": 1e-3,
          "s": 1.0, "secs": 1.0}  # fmt: skip
_POWERS = "KMGTPE"
_BELOW = 1 - 1e-9  # of the previous bucket's end: floats do not meet exactly


def _is_bpftrace(text: str) -> bool:
    return _HEAD.search(text[:_LOOKED_AT]) is not None


def _points(text: str, source: str) -> list[Point]:
    """One point per name, from all its printed histograms."""
    histograms: dict[str, list[BucketCounts]] = {}
    current, others = None, dict[str, None]()
    for place, line in placed(text, source):
        if named := _MAP.fullmatch(line):
            current = _histogram(named)
            if current is None:
                others[f"@{named[1]}"] = None
            else:
                histograms.setdefault(current.name, []).append(current)
        elif line.startswith(("[", "(")):
            _count(current, line, place)
    counted = {name: mine for name, mine in histograms.items() if any(each.count for each in mine)}
    if not counted:
        raise _untimed(list(others), source)
    return [point_of("bpftrace", name, mine) for name, mine in counted.items()]


def _untimed(others: list[str], source: str) -> MeasurementError:
    maps = quoted(", ".join(others[:3])) if others else "none"
    msg = (
        f"{source}: no histogram has times (maps: {maps}); end the names of maps in _us, _ns or _ms"
    )
    return MeasurementError(msg)


def _histogram(named: re.Match[str]) -> BucketCounts | None:
    """The histogram of a map by its name; None if that does not end in a unit of time."""
    unit = _UNITS.get(named[1].rpartition("_")[2])
    label = named[1] if named[2] is None else f"{named[1]}[{named[2]}]"
    return None if unit is None else BucketCounts(label, unit, None)


def _count(current: BucketCounts | None, line: str, place: str) -> None:
    """Add a row; ignore rows of maps without times."""
    one, wide = _ONE.fullmatch(line), _WIDE.fullmatch(line)
    if one:
        low, above, count = float(one[1]), float(one[1]) + 1, float(one[2])
    elif wide:
        low, above = _edge(wide[1], -math.inf), _edge(wide[2], math.inf)
        count = float(wide[3])
    else:
        raise broken(place, "this is not a row of a histogram such as '[4, 8)  12 |@@@|'")
    if current is None or not count:
        return
    reached = max((end for _, end in current.buckets), default=0.0)
    if above <= 0 or low >= above or low * current.scale < reached * _BELOW:
        raise broken(place, "a time is negative, or its bucket is empty or below the one before it")
    current.buckets[max(low, 0.0) * current.scale, above * current.scale] = count


def _edge(text: str, endless: float) -> float:
    """An edge of a bucket: K is 1024."""
    if text == "...":
        return endless
    power = _POWERS.find(text[-1]) + 1
    return float(text[: len(text) - bool(power)]) * 1024.0**power


BPFTRACE = tool_reader(
    "bpftrace",
    _is_bpftrace,
    _points,
    "one point per map of times (its name ends in us, ns or ms): coarse mean and percentiles",
)
"""Reads bpftrace's output of ``hist()`` and ``lhist()``."""
