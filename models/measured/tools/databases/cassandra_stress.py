"""The results of cassandra-stress since version 2, as text, with units after the numbers."""

import re

from headway.models.measured.points import LONGEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import filled, number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import ToolText, runs
from headway.numerals import digits, four_digits

_START = r"[ \t]*(?i:op rate)[ \t]*:"
_RESULT = re.compile(rf"^{_START}", re.MULTILINE)
_LATENCY = re.compile(r"^[ \t]*(?i:latency 99th percentile)[ \t]*:", re.MULTILINE)
_CLOCK = re.compile(r"(\S+):(\d\d):(\d\d)")
_THREADS = (
    r"[ \t]*(?:Running .*with (\S+) thread|Improvement over \S+ threadCount|Thread Count: (\S+))"
)
_MS = 1e-3
_APART, _CUT = 0.02, 1.0  # relative difference of rates; resolution of the printed time [s]

_UNSAID = "the results say neither threads nor a rate: keep the lines before them"


def _points(text: str, source: str) -> list[Point]:
    """One point per result; how it was sent is in lines before it, which some runs share."""
    match = _RESULT.search(text)
    head = ToolText(text[: match.start() if match else len(text)], source)
    before, points = head, []
    for run in runs(text, source, _START):
        points.append(_point(run, before, head))
        before = run
    return points


def _point(run: ToolText, before: ToolText, head: ToolText) -> Point:
    rate = _cell(run, "op rate")
    if not rate:
        raise nothing(run.source, "no operation")
    length, samples = _length(run), _operations(run, rate)
    made = None if samples is None else samples / rate
    if made is not None and not length * (1 - _APART) <= made <= length * (1 + _APART) + _CUT:
        what = f"{digits(samples or 0.0)} operations at {four_digits(rate)}/s take"
        msg = f"{what} {four_digits(made)} s, not {digits(length)} s"
        raise broken(run.end, msg)
    threads, pace = _threads(before), _pace(head)
    tails = {float(p): _cell(run, f"latency {p}th percentile") for p in ("95", "99", "99.9")}
    median, longest = _optional(run, "latency median"), _optional(run, "latency max")
    return Point(
        "cassandra-stress",
        Loop.CLOSED,
        offered_rate=pace,
        population=threads,
        throughput=rate,
        response_time=_cell(run, "latency mean") * _MS,
        percentiles=percentiles_of(
            {p: t * _MS for p, t in filled({50.0: median, **tails}).items()}
        ),
        errors=_optional(run, "total errors"),
        samples=samples,
        duration=length if made is None else made,
        more=filled({LONGEST: None if longest is None else longest * _MS}),
        notes=() if threads is not None else (_UNSAID,),
    )


def _cell(run: ToolText, title: str) -> float:
    value = _optional(run, title)
    if value is None:
        what = f"line '{title} : ...'"
        raise run.missing(what)
    return value


def _optional(run: ToolText, title: str) -> float | None:
    """The number for all kinds of operations, before those of each kind in brackets."""
    lines = run.all(rf"[ \t]*(?i:{re.escape(title)})[ \t]*:[ \t]*([^\s\[]+)")
    return number(lines[0].groups[0], lines[0].place) if lines else None


def _operations(run: ToolText, rate: float) -> float | None:
    """Number of operations, each of which has as many partitions as the two rates imply."""
    partitions, per_second = _optional(run, "total partitions"), _optional(run, "partition rate")
    if partitions is None or not per_second:
        return None
    return round(partitions * rate / per_second)


def _length(run: ToolText) -> float:
    """The length of the test, truncated to whole seconds [s]."""
    line = run.needs(r"[ \t]*(?i:total operation time)[ \t]*:[ \t]*(\S+)", "Total operation time")
    clock = _CLOCK.fullmatch(line.groups[0])
    if clock is None:
        raise broken(line.place, "the total operation time is not such as 00:01:20")
    return 3600 * number(clock[1], line.place) + 60 * float(clock[2]) + float(clock[3])


def _threads(run: ToolText) -> float | None:
    """Number of threads, by the last line that gives it."""
    found = [line for line in run.all(_THREADS) if any(line.groups)]
    if not found:
        return None
    last = found[-1]
    return number(last.groups[0] or last.groups[1], last.place)


def _pace(run: ToolText) -> float | None:
    """The rate that ``-rate throttle=`` or ``fixed=`` sets [1/s]; None if there is none."""
    lines = run.all(r"[ \t]*OpsPer Sec: (\S+)")
    return (lines[0].number() or None) if lines else None


CASSANDRA = tool_reader(
    "cassandra-stress",
    lambda text: bool(_RESULT.search(text) and _LATENCY.search(text)),
    _points,
    "one point per result: threads, operations/s, failures, mean, percentiles",
)
"""Reads the results of cassandra-stress."""
