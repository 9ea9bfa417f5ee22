"""ghz's summary of gRPC calls, as text."""

import re

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, refuse_empty
from headway.models.measured.tools.kit.numbers import filled, percentiles_of
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import ToolText, runs
from headway.numerals import digits

_COUNT = re.compile(r"^[ \t]+Count:[ \t]", re.MULTILINE)
_GOOD = "OK"

_UNSAID = "ghz prints neither its workers (-c) nor the rate set by --rps"
_MIXED = (
    "{} of {} calls failed: the mean includes them, the throughput, the percentiles and the "
    "shortest and longest time do not"
)


def _is_ghz(text: str) -> bool:
    return bool(_COUNT.search(text)) and all(each in text for each in ("Summary:", "Fastest:"))


def _points(text: str, source: str) -> list[Point]:
    return [_point(run) for run in runs(text, source, r"[ \t]*Summary:")]


def _point(run: ToolText) -> Point:
    count = run.needs(r"[ \t]+Count:[ \t]+(\S+)", "Count: 900")
    rate = run.needs(r"[ \t]+Requests/sec:[ \t]+(\S+)", "Requests/sec: 900.00")
    total, good = count.number(), _good(run, count.number())
    refuse_empty(total, 0.0, count.place)
    bad = total - good
    tails = run.all(r"[ \t]+(\S+) % in (\S.*\S)[ \t]*$") if good else []
    ends = {SHORTEST: "Fastest", LONGEST: "Slowest"}
    return Point(
        "ghz",
        Loop.CLOSED,
        throughput=answered(rate.number(), bad, total),
        response_time=_time(run, "Average") if good else None,
        percentiles=percentiles_of({line.number(): line.seconds(group=1) for line in tails}),
        errors=bad,
        samples=total,
        duration=_time(run, "Total"),
        with_failures=bad > 0,
        more={} if bad else filled({name: _time(run, title) for name, title in ends.items()}),
        notes=(_UNSAID, *((_MIXED.format(digits(bad), digits(total)),) if bad else ())),
        name=_name(run),
    )


def _name(run: ToolText) -> str:
    """What ``--name`` called the run."""
    lines = run.all(r"[ \t]+Name:[ \t]+(\S.*\S|\S)[ \t]*$")
    return lines[0].groups[0] if lines else ""


def _time(run: ToolText, title: str) -> float:
    line = run.needs(rf"[ \t]+{title}:[ \t]+(\S.*\S)[ \t]*$", f"{title}: 9.00 ms")
    return line.seconds()


def _good(run: ToolText, total: float) -> float:
    """Calls that succeeded, of those that the statuses say.

    Raises
    ------
    MeasurementError
        If the statuses do not make up all calls.
    """
    run.needs(r"[ \t]*Status code distribution:", "Status code distribution:")
    lines = run.all(r"[ \t]+\[([^\]]*)\][ \t]+(\S+) responses[ \t]*$")
    counts = {line.groups[0]: line.number(1) for line in lines}
    if sum(counts.values()) != total:
        what = f"its statuses are of {digits(sum(counts.values()))} calls, not {digits(total)}"
        raise broken(run.end, what)
    return counts.get(_GOOD, 0.0)


GHZ_TEXT = tool_reader(
    "ghz (text)",
    _is_ghz,
    _points,
    "calls/s, calls by status, mean time, seven percentiles",
)
"""Reads what ghz prints."""
