"""bombardier's JSON, alone or after its banner."""

import re
from collections.abc import Mapping
from typing import Any

from headway.models.measured.points import LONGEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import of_errors, refuse_empty
from headway.models.measured.tools.kit.documents import amount, at, document, needed
from headway.models.measured.tools.kit.numbers import filled, percentiles_of
from headway.models.measured.tools.kit.text import HEAD

_JSON = re.compile(r'\{\s*"spec"\s*:\s*\{\s*"numberOfConnections"')
_GOOD = ("req1xx", "req2xx", "req3xx")
_BAD = ("req4xx", "req5xx", "others")

_COUNTED = "the rate is answers divided by time: bombardier's own rps is a mean of samples"
_FROM_SENT = (
    "times start when a request was sent, not when it was due;"
    " if its connections run out, the test is closed"
)


def _is_bombardier(text: str) -> bool:
    return text.lstrip()[:10].startswith(("{", "Bombarding")) and bool(_JSON.search(text[:HEAD]))


def _points(text: str, source: str) -> list[Point]:
    start = _JSON.search(text)
    before = text[: start.start()] if start else ""
    report = document("\n" * before.count("\n") + text[len(before) :], source)
    result, rate = (
        at(report, "result", source=source),
        amount(report, "spec", "rate", source=source),
    )
    good, bad = (
        sum(needed(result, name, source=source) for name in names) for names in (_GOOD, _BAD)
    )
    refuse_empty(good, bad, source)
    duration = needed(result, "timeTakenSeconds", source=source)
    return [
        Point(
            "bombardier",
            Loop.OPEN if rate else Loop.CLOSED,
            offered_rate=rate,
            population=needed(report, "spec", "numberOfConnections", source=source),
            throughput=good / duration if good > 0 and duration > 0 else None,
            response_time=amount(result, "latency", "mean", source=source, scale=1e-6),
            percentiles=_percentiles(result, source),
            errors=bad,
            samples=good + bad,
            duration=duration,
            with_failures=bool(bad),
            more=_more(result, duration, source),
            notes=(_COUNTED, *((_FROM_SENT,) if rate else ()), *of_errors(bad, good + bad)),
        )
    ]


def _percentiles(result: Any, source: str) -> Mapping[float, float]:
    names = ("50", "75", "90", "95", "99")
    cells = {
        float(name): amount(result, "latency", "percentiles", name, source=source, scale=1e-6)
        for name in names
    }
    return percentiles_of(cells)


def _more(result: Any, duration: float, source: str) -> Mapping[str, float]:
    read = amount(result, "bytesRead", source=source)
    bandwidth = read / duration if read is not None and duration > 0 else None
    longest = amount(result, "latency", "max", source=source, scale=1e-6)
    return filled({"bandwidth_bytes_s": bandwidth, LONGEST: longest})


BOMBARDIER = tool_reader(
    "bombardier",
    _is_bombardier,
    _points,
    "connections, rate limit, answers by status, mean time, percentiles (with --latencies)",
)
"""Reads the JSON of ``bombardier -o json``."""
