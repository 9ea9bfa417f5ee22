"""diskspd's ``-Rxml``: one point per time span, with latencies if run with ``-L``."""

import re
from collections.abc import Sequence
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.runs import xml_of
from headway.models.measured.tools.kit.documents import amount

_IS_DISKSPD = re.compile(r"\s*(<\?xml\b[^>]*>\s*)?<Results\b")
_PART_OF_DISKSPD = re.compile(r"<TestTimeSeconds>|<TimeSpans>|<ProcessorTopology")
_MILLI, _PERCENT, _ALL = 1e-3, 1e-2, 100.0

_NO_LATENCY = "diskspd did not measure latencies; run it with -L"
_LIMITED = "a limit on throughput was set: latency starts when an I/O is issued"


def _is_diskspd(text: str) -> object:
    return _IS_DISKSPD.match(text) and _PART_OF_DISKSPD.search(text)


def _points(text: str, source: str) -> Sequence[Point]:
    root = xml_of(text, source)
    spans = root.findall("TimeSpan")
    profiled = root.findall("Profile/TimeSpans/TimeSpan")
    if not spans:
        msg = f"{source}: this diskspd run has no result; let the run finish"
        raise MeasurementError(msg)
    profiles = profiled if len(profiled) == len(spans) else [None] * len(spans)
    names = [f"time span {i + 1}" if len(spans) > 1 else "" for i in range(len(spans))]
    return [
        _point(span, profile, name, source)
        for span, profile, name in zip(spans, profiles, names, strict=True)
    ]


def _number(element: Any, path: str, source: str, scale: float = 1.0) -> float | None:
    """The number in a child element; None if it is missing."""
    text = element.findtext(path)
    return None if text is None else amount({path: text.strip()}, path, source=source, scale=scale)


def _sum(elements: Sequence[Any], name: str, source: str) -> float:
    return sum(_number(each, name, source) or 0.0 for each in elements)


def _point(span: Any, profile: Any, name: str, source: str) -> Point:
    duration = _number(span, "TestTimeSeconds", source)
    targets = span.findall("Thread/Target")
    done = _sum(targets, "IOCount", source)
    if not duration or not done:
        msg = f"{source}: diskspd finished no I/O in this run; run it again"
        raise MeasurementError(msg)
    mean = _number(span, "Latency/AverageTotalMilliseconds", source, _MILLI)
    busy = _number(span, "CpuUtilization/Average/UsagePercent", source, _PERCENT)
    limited = profile is not None and _sum(profile.findall("Targets/Target"), "Throughput", source)
    return Point(
        "diskspd",
        Loop.OPEN if limited else Loop.CLOSED,
        population=None if profile is None else _outstanding(profile, source),
        throughput=done / duration,
        response_time=mean,
        percentiles=_percentiles(span, source),
        samples=done,
        duration=duration,
        utilisation={} if busy is None else {"cpu": busy},
        more={"bandwidth_bytes_s": _sum(targets, "BytesCount", source) / duration},
        name=name,
        notes=(*([_NO_LATENCY] if mean is None else []), *([_LIMITED] if limited else [])),
    )


def _outstanding(profile: Any, source: str) -> float | None:
    """Outstanding I/O: of each thread, on each target (``-o``) or on all (``-O``)."""
    threads = _number(profile, "ThreadCount", source)
    targets = profile.findall("Targets/Target")
    together = _number(profile, "RequestCount", source)
    if threads:
        return threads * (together or _sum(targets, "RequestCount", source)) or None
    each = [
        (_number(t, "ThreadsPerFile", source) or 1.0) * (_number(t, "RequestCount", source) or 0.0)
        for t in targets
    ]
    return sum(each) or None


def _percentiles(span: Any, source: str) -> dict[float, float]:
    percentiles = {}
    for bucket in span.findall("Latency/Bucket"):
        percent = _number(bucket, "Percentile", source)
        value = _number(bucket, "TotalMilliseconds", source, _MILLI)
        if percent and percent < _ALL and value is not None:
            percentiles[percent] = value
    return percentiles


DISKSPD = tool_reader(
    "diskspd",
    _is_diskspd,
    _points,
    "all targets together: I/O per second, outstanding I/O, mean and percentiles (with -L), "
    "bandwidth, CPU utilisation",
)
