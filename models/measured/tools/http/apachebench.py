"""ApacheBench (ab): its output, and the percentiles that it writes with ``-e``."""

import re
from collections.abc import Mapping
from itertools import islice

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty
from headway.models.measured.tools.kit.numbers import number, seconds
from headway.models.measured.tools.kit.text import HEAD, ToolText, begins, placed, runs
from headway.numerals import digits

_HEADER = "Percentage served,Time in ms"
_PRINTED = (50.0, 66.0, 75.0, 80.0, 90.0, 95.0, 98.0, 99.0)
_START = "This is ApacheBench"

_OF_RATE = (
    "ab computes its mean time from the rate, so Little's law checks nothing;"
    " percentiles are in whole milliseconds"
)


def _is_ab(text: str) -> bool:
    return f"{_START}, Version" in text[:HEAD]


def _of_ab(text: str, source: str) -> list[Point]:
    return [_point(run) for run in runs(text, source, _START)]


def _point(run: ToolText) -> Point:
    total = _number(run, "Complete requests:", "500")
    lost, refused = _lost(run), _optional(run, "Non-2xx responses:")
    refuse_empty(total, lost + refused, run.source)
    bad = min(lost - _parts(run).get("Connect", 0.0) + refused, total)
    return Point(
        "ab",
        Loop.CLOSED,
        population=_number(run, "Concurrency Level:", "8"),
        throughput=answered(_number(run, "Requests per second:", "90"), bad, total),
        response_time=_mean(run) if total else None,
        percentiles=_percentiles(run) if total else {},
        errors=lost + refused,
        samples=total,
        duration=_number(run, "Time taken for tests:", "5.0 seconds"),
        mean_of_rate=bool(total),
        with_failures=bad > 0,
        more=_more(run),
        notes=(_OF_RATE, *_of_lengths(run), *of_errors(bad, total)),
    )


def _number(run: ToolText, title: str, shape: str) -> float:
    line = run.needs(rf"{re.escape(title)}\s+(\S+)", f"{title} {shape}")
    return line.number()


def _optional(run: ToolText, title: str) -> float:
    lines = run.all(rf"{re.escape(title)}\s+(\S+)")
    return lines[0].number() if lines else 0.0


def _mean(run: ToolText) -> float:
    """The mean for a client; a second line has it divided by the number of clients."""
    line = run.needs(r"Time per request:\s+(\S+) \[ms\] \(mean\)", "Time per request: 5 [ms]")
    return line.seconds("ms")


def _parts(run: ToolText) -> Mapping[str, float]:
    """Failed requests by kind of failure."""
    lines = run.all(r"\s*\((Connect: .*)\)")
    return {
        name: number(cell, lines[0].place)
        for name, cell in re.findall(r"(\w+): ([^,)\s]+)", lines[0].groups[0] if lines else "")
    }


def _lost(run: ToolText) -> float:
    """Failed requests, without those whose answer only had a different length."""
    parts = _parts(run)
    if not parts:
        return _optional(run, "Failed requests:")
    return sum(n for name, n in parts.items() if name != "Length")


def _of_lengths(run: ToolText) -> tuple[str, ...]:
    differing = _parts(run).get("Length", 0.0)
    if not differing:
        return ()
    return (
        f"{digits(differing)} answers that ab counts as failed only differ in length from "
        "the first",
    )


def _percentiles(run: ToolText) -> Mapping[float, float]:
    cells = {
        number(percent, line.place): seconds(time, line.place, "ms")
        for line in run.all(r"\s*(\d+)%\s+(\S+)")
        for percent, time in [line.groups]
    }
    if run.all("Percentage of the requests") and 100.0 not in cells:
        run.needs(r"\s*100%\s+\d+", "100% 224")
    return cells


def _more(run: ToolText) -> Mapping[str, float]:
    """The bandwidth, and the measured mean, in whole milliseconds."""
    rate = run.needs(r"Transfer rate:\s+(\S+) \[Kbytes/sec\]", "Transfer rate: 40 [Kbytes/sec]")
    bandwidth = {"bandwidth_bytes_s": 1024 * rate.number()}
    total = run.all(r"Total:\s+\S+\s+(\S+)\s")
    if not total:
        return bandwidth
    return {**bandwidth, "measured_mean_s": total[0].seconds("ms")}


def _of_csv(text: str, source: str) -> list[Point]:
    rows = {}
    for place, row in islice(placed(text, source), 1, None):
        percent, comma, time = row.partition(",")
        if not comma:
            msg = f"{place}: a row needs a percentage and a time; use the complete file"
            raise MeasurementError(msg)
        rows[number(percent, place)] = seconds(time, place, "ms")
    if 99.0 not in rows:
        msg = f"{source}:{len(rows) + 1}: its percentages end before 99; use the complete file"
        raise MeasurementError(msg)
    return [
        Point(
            "ab",
            Loop.CLOSED,
            percentiles={percent: rows[percent] for percent in _PRINTED if percent in rows},
            notes=("the file has neither rate nor clients; ab's printed output has both",),
        )
    ]


AB = tool_reader(
    "ab",
    _is_ab,
    _of_ab,
    "clients, requests/s, a mean computed from both, percentiles in whole milliseconds",
)
"""Reads ab's output."""

AB_CSV = tool_reader(
    "ab (CSV)", begins(_HEADER), _of_csv, "percentiles in microseconds, without rate or clients"
)
"""Reads the CSV of ``ab -e``."""
