"""What ``redis-benchmark --csv`` writes since version 6.2: one test a row, one after another."""

from itertools import dropwhile, islice

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import cell, filled
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import Text, by_title, cells_of

_HEADER = '"test","rps","avg_latency_ms"'
_MS = 1e-3
_UNTOLD = (
    "neither the clients (-c) nor pipelining (-P) are told: throughput times mean shows how many "
    "requests were outstanding"
)


def _is_redis(text: str) -> bool:
    return text.lstrip().startswith(_HEADER) or f"\n{_HEADER}" in text[:2000]


def _points(text: str, source: str) -> list[Point]:
    """Tests in the order of the file."""
    found = Text(text, source)
    lines = dropwhile(lambda told: not told[1].startswith(_HEADER), found)
    titles = [title for place, line in islice(lines, 1) for title in cells_of(line, place)]
    points = [_point(titles, line, place) for place, line in lines if line.strip()]
    if not points:
        raise found.missing("test below the header")
    return points


def _point(titles: list[str], line: str, place: str) -> Point:
    row = cells_of(line, place)
    (_, test), *rest = by_title(titles, row, place).items()
    found = {title: cell(text, f"{place}: {title}") for title, text in rest}
    rate, times = found.get("rps"), _times(found)
    if not rate:
        raise nothing(place, f"no request of {test!r}")
    return Point(
        "redis-benchmark",
        Loop.CLOSED,
        throughput=rate,
        response_time=times.get("avg"),
        percentiles={float(n[1:]): v for n, v in times.items() if n[1:].isdigit()},
        more=filled({f"response_time_{n}_s": times.get(n) for n in ("min", "max")}),
        name=test,
        notes=(_UNTOLD,),
    )


def _times(found: dict[str, float | None]) -> dict[str, float]:
    """Latencies [s] by what stands before ``_latency_ms``."""
    ending = "_latency_ms"
    known = filled(found).items()
    return {t.removesuffix(ending): v * _MS for t, v in known if t.isascii() and t.endswith(ending)}


REDIS = tool_reader(
    "redis-benchmark",
    _is_redis,
    _points,
    "a point a test: requests a second, mean and percentiles of latency",
)
"""Reads the CSV of redis-benchmark."""
