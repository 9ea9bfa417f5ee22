"""The JSON of ``oha --output-format json``."""

import re
from collections.abc import Mapping
from typing import Any

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty, statuses
from headway.models.measured.tools.kit.documents import amount, at, counts_of, document, needed
from headway.models.measured.tools.kit.numbers import filled, percentiles_of
from headway.models.measured.tools.kit.text import recognised_by
from headway.numerals import digits

_PERCENT = re.compile(r"p(\d+(?:\.\d+)?)")
AT_THE_END = "aborted due to deadline"
"""Errors that oha counts only because the test ended before the answer."""

_UNSAID = (
    "oha prints neither its connections nor the rate set by -q;"
    " it counts every answer as a success, this reader only those without an error status"
)


def _points(text: str, source: str) -> list[Point]:
    report = document(text, source)
    bad, answers = statuses(_counts(report, "statusCodeDistribution", source))
    failed = _counts(report, "errorDistribution", source)
    lost = sum(n for name, n in failed.items() if name != AT_THE_END)
    cut = failed.get(AT_THE_END, 0.0)
    refuse_empty(answers, lost, source)
    every = needed(report, "summary", "requestsPerSec", source=source)
    return [
        Point(
            "oha",
            Loop.CLOSED,
            throughput=answered(every, bad + lost + cut, answers + lost + cut),
            response_time=amount(report, "summary", "average", source=source),
            percentiles=_percentiles(report, source),
            errors=bad + lost,
            samples=answers,
            duration=needed(report, "summary", "total", source=source),
            with_failures=bool(bad),
            more=_ends(report, source) if answers else {},
            notes=(_UNSAID, *of_end(cut), *of_errors(bad + lost, answers + lost)),
        )
    ]


def _counts(document: Any, name: str, source: str) -> Mapping[str, float]:
    return counts_of(at(document, name, source=source), name, source)


def _ends(document: Any, source: str) -> Mapping[str, float]:
    names = {SHORTEST: "fastest", LONGEST: "slowest"}
    return filled(
        {name: amount(document, "summary", key, source=source) for name, key in names.items()}
    )


def of_end(cut: float) -> tuple[str, ...]:
    """Requests that oha counts as errors only because the test ended before the answer."""
    if not cut:
        return ()
    return (
        f"{digits(cut)} requests were in progress when the test ended; they do not count as errors",
    )


def _percentiles(document: Any, source: str) -> Mapping[float, float]:
    names = at(document, "latencyPercentiles", source=source)
    cells = {
        float(match[1]): amount(names, name, source=source)
        for name in (names if isinstance(names, Mapping) else ())
        if (match := _PERCENT.fullmatch(name))
    }
    return percentiles_of(cells)


OHA = tool_reader(
    "oha",
    recognised_by('"summary"', '"successRate"', '"requestsPerSec"'),
    _points,
    "requests/s, answers by status, mean time, nine percentiles",
)
"""Reads oha's JSON."""
