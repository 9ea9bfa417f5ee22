"""hey's output: a summary, or one request per row."""

import math
import re
from collections.abc import Iterable, Mapping
from itertools import islice

from headway.errors import MeasurementError
from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import log_reader, tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty, statuses
from headway.models.measured.tools.kit.numbers import filled, number
from headway.models.measured.tools.kit.requests import Requests, rounding
from headway.models.measured.tools.kit.text import HEAD, ToolText, begins, placed, runs
from headway.models.measured.tools.kit.times import TimeSketch
from headway.models.measured.window import RunWindow

_SUMMARY = re.compile(r"^Summary:\n  Total:\s+\S+ secs\n", re.MULTILINE)
_HEADER = (
    "response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset"
)
_RESOLUTION = 1e-4  # s: times have four decimals
_PERCENTS = (10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0)

_UNSAID = (
    "hey prints neither its workers nor the rate set by -q; workers that fall behind leave no sign"
)
_COUNTED = "rate, mean and percentiles are computed from its rows; failed requests have no row"


def _is_hey(text: str) -> bool:
    return bool(_SUMMARY.search(text[:HEAD]))


def _of_hey(text: str, source: str) -> list[Point]:
    return [_point(run) for run in runs(text, source, "Summary:")]


def _point(run: ToolText) -> Point:
    total = _seconds(run, "Total")
    rate = run.needs(r"\s+Requests/sec:\s+(\S+)", "Requests/sec: 900")
    bad, answers = statuses(_statuses(run))
    lost = _lost(run)
    refuse_empty(answers, lost, rate.place)
    every = rate.number()
    return Point(
        "hey",
        Loop.CLOSED,
        throughput=answered(every, bad + lost, answers + lost),
        response_time=_seconds(run, "Average") if answers else None,
        percentiles=_percentiles(run) if answers else {},
        errors=bad + lost,
        samples=answers,
        duration=total,
        with_failures=bool(bad),
        more=filled({SHORTEST: _edge(run, "Fastest"), LONGEST: _edge(run, "Slowest")})
        if answers
        else {},
        notes=(_UNSAID, *of_errors(bad + lost, answers + lost)),
    )


def _seconds(run: ToolText, title: str) -> float:
    line = run.needs(rf"\s+{title}:\s+(\S+) secs", f"{title}: 5.0 secs")
    return line.number()


def _edge(run: ToolText, title: str) -> float | None:
    return run.number(rf"^\s+{title}:\s+CELL secs")


def _statuses(run: ToolText) -> Mapping[str, float]:
    run.needs("Status code distribution:", "Status code distribution:")
    lines = run.all(r"\s+\[(\S+)\]\s+(\S+) responses$")
    return {f.groups[0]: f.number(1) for f in lines}


def _lost(run: ToolText) -> float:
    """Requests without an answer."""
    lines = run.all(r"\s+\[(\S+)\]\s+(?!\S+ responses$)[^\s|]")
    return sum(f.number() for f in lines)


def _percentiles(run: ToolText) -> Mapping[float, float]:
    lines = run.all(r"\s+(\d+)%%? in (\S+) secs")
    return {f.number(): f.number(1) for f in lines}


def _of_csv(lines: Iterable[str], source: str, window: RunWindow) -> list[Point]:
    requests = Requests(1.0, window, origin=0.0, resolution=_RESOLUTION)
    for place, row in islice(placed(lines, source), 1, None):
        if row:
            time, code, start = _row(row, place)
            requests.add(start, time, code[:1] in "123")
    requests.check_window(source)
    times, total = requests.times, len(requests.times) + requests.failed
    if not total:
        msg = (
            f"{source}:1: no request was answered (hey omits failures); check that the server is up"
        )
        raise MeasurementError(msg)
    sending = requests.sending
    return [
        Point(
            "hey",
            Loop.CLOSED,
            throughput=sending.rate if times and sending.rate > 0 else None,
            response_time=times.mean if times else None,
            percentiles={percent: _at(times, percent) for percent in _PERCENTS if times},
            errors=requests.failed,
            samples=total,
            duration=sending.length,
            more=_ends(times) | requests.drain,
            notes=(_UNSAID, _COUNTED, *requests.cut, *sending.notes, *rounding(times)),
            course=requests.timeline.course(),
            gaps=requests.gaps,
        )
    ]


def _row(row: str, place: str) -> tuple[float, str, float]:
    """A request's time, its status, and when it was sent."""
    cells = row.split(",")
    if len(cells) != _HEADER.count(",") + 1 or not cells[6].isdigit():
        msg = f"{place}: this row does not have hey's eight columns; use the complete file"
        raise MeasurementError(msg)
    return number(cells[0], place), cells[6], number(cells[7], place)


def _ends(times: TimeSketch) -> dict[str, float]:
    """The shortest and the longest time; empty if there is none."""
    return {SHORTEST: times.order(0), LONGEST: times.order(len(times) - 1)} if times else {}


def _at(times: TimeSketch, percent: float) -> float:
    """The smallest time that this percentage of the requests does not exceed."""
    return times.order(max(math.ceil(len(times) * percent / 100) - 1, 0))


HEY = tool_reader(
    "hey", _is_hey, _of_hey, "requests/s, answers by status, mean time, seven percentiles"
)
"""Reads hey's summary."""

HEY_CSV = log_reader(
    "hey (CSV)",
    begins(_HEADER),
    _of_csv,
    "one request per row: time, status and when it was sent",
)
"""Reads the CSV of ``hey -o csv``."""
