"""memtier_benchmark's ``--json-out-file``, with times in ms."""

import re
from collections.abc import Mapping
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import amount, at, document
from headway.models.measured.tools.kit.numbers import filled, percentile_cells, percentiles_of
from headway.models.measured.tools.kit.refusals import nothing
from headway.numerals import digits

_MS, _KIB = 1e-3, 1024.0
_PERCENT = re.compile(r"p(\d{1,3}(?:\.\d+)?)")
_WHOLE = re.compile(r"ALL STATS|AGGREGATED AVERAGE RESULTS.*")
_KINDS = ("Sets", "Gets", "Waits")


def _is_memtier(text: str) -> bool:
    known = '"ALL STATS"', '"run information"', '"BEST RUN RESULTS"'
    return text.lstrip()[:1] == "{" and any(key in text for key in known)


def _points(text: str, source: str) -> list[Point]:
    """The point of all requests, with further numbers of sets and gets."""
    report = document(text, source)
    stats = _stats(report, source)
    totals = at(stats, "Totals", source=source)
    rate = amount(totals, "Ops/sec", source=source)
    if not rate:
        raise nothing(source, "no request")
    pipeline = amount(report, "configuration", "pipeline", source=source) or 1.0
    more = {"bandwidth_bytes_s": amount(totals, "KB/sec", source=source, scale=_KIB)}
    for kind in _KINDS:
        more |= _kind(stats.get(kind), kind.lower().rstrip("s"), source)
    connections = _connections(report, source)
    return [
        Point(
            "memtier_benchmark",
            Loop.CLOSED,
            population=None if connections is None else connections * pipeline,
            throughput=rate,
            response_time=_mean(totals, source),
            percentiles=_percentiles(totals, source),
            samples=amount(totals, "Count", source=source),
            duration=amount(stats, "Runtime", "Total duration", source=source, scale=_MS),
            more=filled(more | _ends(totals, source)),
            notes=_notes(connections, pipeline),
        )
    ]


def _notes(connections: float | None, pipeline: float) -> tuple[str, ...]:
    if pipeline == 1 or connections is None:
        return ()
    many = f"{digits(connections)} connections has {digits(pipeline)} requests"
    text = f"each of {many} outstanding (pipeline)"
    return (text,)


def _stats(document: Mapping[str, Any], source: str) -> Mapping[str, Any]:
    """The results of the run, or the average of several."""
    for key, stats in document.items():
        if _WHOLE.fullmatch(key) and isinstance(stats, Mapping):
            return stats
    msg = f"{source}: ALL STATS is missing; check that the file is complete"
    raise MeasurementError(msg)


def _connections(document: Mapping[str, Any], source: str) -> float | None:
    """Threads times the connections of each."""
    run = ("run information", "Threads"), ("run information", "Connections per thread")
    paths = ("configuration", "threads"), ("configuration", "clients")
    for pair in (run, paths):
        threads, clients = (amount(document, *path, source=source) for path in pair)
        if threads is not None and clients is not None:
            return threads * clients
    return None


def _mean(document: Any, source: str) -> float | None:
    """The mean latency; newer versions print it in whole ms, but also its sum and count.

    Versions before 1.3 call it simply Latency.
    """
    spent = amount(document, "Accumulated Latency", source=source, scale=_MS)
    count = amount(document, "Count", source=source)
    if spent and count:
        return spent / count
    mean = amount(document, "Average Latency", source=source, scale=_MS)
    return amount(document, "Latency", source=source, scale=_MS) if mean is None else mean


def _ends(document: Any, source: str) -> dict[str, float | None]:
    names = {SHORTEST: "Min Latency", LONGEST: "Max Latency"}
    return {name: amount(document, key, source=source, scale=_MS) for name, key in names.items()}


def _percentiles(document: Any, source: str) -> dict[float, float]:
    cells = document.get("Percentile Latencies") if isinstance(document, Mapping) else None
    named = {
        float(percent[1]): amount(cells, key, source=source, scale=_MS)
        for key in (cells if isinstance(cells, Mapping) else ())
        if (percent := _PERCENT.fullmatch(key))
    }
    return percentiles_of(named)


def _kind(document: Any, name: str, source: str) -> dict[str, float | None]:
    """Rate and times of one kind of request; empty if there were none."""
    rate = amount(document, "Ops/sec", source=source)
    if not rate:
        return {}
    return {
        f"{name}_throughput_ops_s": rate,
        f"{name}_response_time_s": _mean(document, source),
        **percentile_cells(name, _percentiles(document, source)),
    }


MEMTIER = tool_reader(
    "memtier_benchmark",
    _is_memtier,
    _points,
    "connections, rate, mean and percentiles of latency of all requests, of sets and of gets",
)
"""Reads the JSON of memtier_benchmark."""
