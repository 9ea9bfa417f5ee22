"""The JSON of ``autocannon --json``: times in whole milliseconds."""

import re
from collections.abc import Mapping
from typing import Any

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty
from headway.models.measured.tools.kit.documents import amount, document, needed
from headway.models.measured.tools.kit.numbers import filled, percentiles_of
from headway.models.measured.tools.kit.text import recognised_by
from headway.numerals import digits

_MS = 1e-3
_PERCENT = re.compile(r"p(\d+(?:_\d+)?)")
LEAST = 10.0
"""Percentage below which times are the extremes of few requests, and no percentiles."""

CUT = (
    "times were cut to whole milliseconds before they were averaged: half a millisecond is missing"
)
"""Note on autocannon's mean."""


def _points(text: str, source: str) -> list[Point]:
    report = document(text, source)
    good, bad = _number(report, "2xx", source), _number(report, "non2xx", source)
    lost = _number(report, "errors", source)
    refuse_empty(good + bad, lost, source)
    span = needed(report, "duration", source=source)
    deep = amount(report, "pipelining", source=source) or 1.0
    connections = needed(report, "connections", source=source)
    ends = {SHORTEST: "min", LONGEST: "max"}
    return [
        Point(
            "autocannon",
            Loop.CLOSED,
            population=connections * deep,
            throughput=answered((good + bad) / span, bad, good + bad),
            response_time=amount(report, "latency", "mean", source=source, scale=_MS),
            percentiles=_percentiles(report, source),
            errors=bad + lost,
            samples=good + bad,
            duration=span,
            with_failures=bad > 0,
            more=filled(
                {
                    name: amount(report, "latency", key, source=source, scale=_MS)
                    for name, key in ends.items()
                }
            ),
            notes=(
                CUT,
                *of_pipelines(connections, deep),
                *of_errors(bad + lost, good + bad + lost),
            ),
        )
    ]


def _number(report: Mapping[str, Any], name: str, source: str) -> float:
    return amount(report, name, source=source) or 0.0


def of_pipelines(connections: float, deep: float) -> tuple[str, ...]:
    """A note on connections with several requests outstanding; empty for one."""
    if deep == 1:
        return ()
    return (f"each of {digits(connections)} connections has {digits(deep)} requests outstanding",)


def _percentiles(report: Mapping[str, Any], source: str) -> Mapping[float, float]:
    latency = report.get("latency")
    named = {
        float(match[1].replace("_", ".")): amount(latency, key, source=source, scale=_MS)
        for key in (latency if isinstance(latency, Mapping) else ())
        if (match := _PERCENT.fullmatch(key))
    }
    return percentiles_of({p: value for p, value in named.items() if p >= LEAST})


AUTOCANNON = tool_reader(
    "autocannon",
    recognised_by('"latency"', '"p97_5"', '"pipelining"'),
    _points,
    "connections, requests/s, answers by status, mean time, percentiles",
)
"""Reads the JSON of autocannon."""
