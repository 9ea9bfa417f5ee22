"""The JSON of ``vegeta report -type=json``."""

from collections.abc import Mapping
from typing import Any

from headway.models.measured.arrivals import CONSTANT
from headway.models.measured.points import DRAIN, LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import of_errors, refuse_empty, statuses
from headway.models.measured.tools.kit.documents import amount, at, counts_of, document, needed
from headway.models.measured.tools.kit.numbers import filled, percentiles_of
from headway.models.measured.tools.kit.text import recognised_by

_SENT = (
    "its offered rate is the rate at which it sent; if this is below the requested rate,"
    " workers or the machine fell behind"
)


UNTIL_THE_LAST = (
    "its throughput is successful requests divided by the time until the last answer; its times"
    " include failed requests"
)
"""Note on vegeta's numbers."""


def _points(text: str, source: str) -> list[Point]:
    report = document(text, source)
    total = needed(report, "requests", source=source)
    bad = statuses(_codes(report, source))[0]
    refuse_empty(total, bad, source)
    throughput = needed(report, "throughput", source=source)
    return [
        Point(
            "vegeta",
            Loop.OPEN,
            offered_rate=needed(report, "rate", source=source),
            throughput=throughput if bad < total and throughput else None,
            response_time=amount(report, "latencies", "mean", source=source, scale=1e-9),
            percentiles=_percentiles(report, source),
            errors=bad,
            samples=total,
            arrival_scv=CONSTANT,
            duration=needed(report, "duration", source=source, scale=1e-9),
            with_failures=bool(bad),
            more=_more(report, source),
            notes=(_SENT, UNTIL_THE_LAST, *of_errors(bad, total)),
        )
    ]


def _codes(document: Any, source: str) -> Mapping[str, float]:
    """Answers by status; status 0 stands for requests without an answer."""
    name = "status_codes"
    return counts_of(at(document, name, source=source), name, source)


def _percentiles(document: Any, source: str) -> Mapping[float, float]:
    names = {50.0: "50th", 90.0: "90th", 95.0: "95th", 99.0: "99th"}
    cells = {
        percent: amount(document, "latencies", name, source=source, scale=1e-9)
        for percent, name in names.items()
    }
    return percentiles_of(cells)


def _more(document: Any, source: str) -> Mapping[str, float]:
    """The wait for the last answer after the last request, and the extreme times."""
    ends = {SHORTEST: ("latencies", "min"), LONGEST: ("latencies", "max"), DRAIN: ("wait",)}
    return filled(
        {name: amount(document, *path, source=source, scale=1e-9) for name, path in ends.items()}
    )


VEGETA = tool_reader(
    "vegeta",
    recognised_by('"latencies"', '"bytes_in"', '"50th"'),
    _points,
    "rates sent and successful, answers by status, mean time, four percentiles",
)
"""Reads vegeta's JSON report."""
