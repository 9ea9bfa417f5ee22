"""memtier_benchmark's table, as text: times in ms, in columns that differ by version."""

import re
from collections.abc import Mapping

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import filled, number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import ToolText

_MS, _KIB = 1e-3, 1024.0
_TITLES = re.compile(r"^Type\s+Ops/sec\s+.*Latency", re.MULTILINE)
_COLUMN = re.compile(
    r"Ops/sec|Hits/sec|Misses/sec|(?:Avg\. |p[\d.]+ )?Latency|KB/sec|MOVED/sec|ASK/sec"
)
_PERCENT = re.compile(r"p([\d.]+) Latency")


def _points(text: str, source: str) -> list[Point]:
    """The point of all requests, from the row of totals of the whole run."""
    run = ToolText(text, source)
    titles, place = _titles(run)
    totals = run.needs(r"Totals\s+(.*\S)\s*$", "Totals   66000.00")
    cells = totals.groups[0].split()
    if len(cells) != len(titles):
        raise broken(totals.place, f"{len(cells)} cells under {len(titles)} titles")
    known = {
        title: number(cell, totals.place)
        for title, cell in zip(titles, cells, strict=True)
        if cell != "---"
    }
    if not known.get("Ops/sec"):
        raise nothing(place, "no request")
    mean = known.get("Avg. Latency", known.get("Latency"))
    bandwidth = known.get("KB/sec")
    return [
        Point(
            "memtier_benchmark",
            Loop.CLOSED,
            population=_connections(run),
            throughput=known["Ops/sec"],
            response_time=None if mean is None else mean * _MS,
            percentiles=_percentiles(known),
            more=filled({"bandwidth_bytes_s": None if bandwidth is None else bandwidth * _KIB}),
        )
    ]


def _titles(run: ToolText) -> tuple[list[str], str]:
    """Titles of the columns after the kind of request, and their positions."""
    for place, line in run:
        if _TITLES.match(line):
            return _COLUMN.findall(line), place
    raise run.missing("line of titles (Type, Ops/sec ...)")


def _connections(run: ToolText) -> float | None:
    threads = run.number(r"^CELL\s+Threads")
    each = run.number(r"^CELL\s+Connections per thread")
    return None if threads is None or each is None else threads * each


def _percentiles(known: Mapping[str, float]) -> dict[float, float]:
    named = {float(m[1]): v * _MS for t, v in known.items() if (m := _PERCENT.fullmatch(t))}
    return percentiles_of(named)


MEMTIER_TEXT = tool_reader(
    "memtier_benchmark (text)",
    lambda text: bool(_TITLES.search(text)),
    _points,
    "connections, rate, mean and percentiles of latency of all requests",
)
"""Reads what memtier_benchmark prints."""
