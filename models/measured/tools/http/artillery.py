"""artillery's summary: as text, of version 2 and of version 1, and the JSON of its ``--output``."""

import re
from collections.abc import Mapping
from dataclasses import field, replace

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty
from headway.models.measured.tools.kit.documents import (
    amount,
    at,
    counts_of,
    document,
    needed,
    under,
)
from headway.models.measured.tools.kit.numbers import filled, number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import ToolText, recognised_by, runs
from headway.numerals import digits
from headway.records import dataclass

_START = r"[ \t#]*Summary report\b"
_SUMMARY = re.compile(rf"^{_START}", re.MULTILINE)
_TOTAL = r"[ \t]*All VUs finished\. Total time:[ \t]*(\S.*\S)[ \t]*$"
_PARTS = re.compile(r"(\S+) (day|hour|minute|second)s?")
_UNITS = {"day": 86400.0, "hour": 3600.0, "minute": 60.0, "second": 1.0}
_MS = 1e-3
_HOPS = 2.0  # answers per request: redirects that are followed are answers too
_PERCENT = re.compile(r"p(\d\d)(\d?)(\.\d+)?")
_CODES = "http.codes."
_STATUS = re.compile(r"[1-5]\d\d")

_ARRIVING = "open, because virtual users arrive whatever came back; each waits for its own answers"
_WHOLE = "its rates are those of the total time, in whole seconds"
_OF_PERIODS = "its rate is the mean of its periods': the total time is not in the output"


@dataclass(frozen=True)
class _Summary:
    """Counts and rates by name, and times [s] by name and statistic."""

    counts: Mapping[str, float]
    times: Mapping[str, Mapping[str, float]]
    end: str
    codes: Mapping[str, float] = field(default_factory=dict)


def _is_artillery(text: str) -> bool:
    marks = ("http.requests:", "vusers.created", "Scenarios launched:")
    return bool(_SUMMARY.search(text)) and any(mark in text for mark in marks)


def _points(text: str, source: str) -> list[Point]:
    """One point per summary; the total time comes before it."""
    before = ToolText(text[: _first(text)], source)
    points = []
    for run in runs(text, source, _START):
        points.append(_point(_read(run), _total(before)))
        before = run
    return points


def _first(text: str) -> int:
    match = _SUMMARY.search(text)
    return match.start() if match else len(text)


def _total(run: ToolText) -> float | None:
    """The time of the whole test, such as ``1 minute, 2 seconds`` [s]; None if it is missing."""
    lines = run.all(_TOTAL)
    if not lines:
        return None
    [words], place = lines[-1].groups, lines[-1].place
    parts = [_PARTS.fullmatch(part) for part in words.split(", ")]
    if None in parts:
        raise broken(place, "the total time is not such as '1 minute, 2 seconds'")
    return sum(number(part[1], place) * _UNITS[part[2]] for part in parts if part)


def _read(run: ToolText) -> _Summary:
    """The numbers of a summary, up to the first line of what follows it."""
    counts: dict[str, float] = {}
    codes: dict[str, float] = {}
    times: dict[str, dict[str, float]] = {}
    section = ""
    for place, line in run:
        name, value = _parted(line)
        if not name:
            section = value or section
        elif _is_statistic(name):
            times.setdefault(section, {})[name] = number(value, place) * _MS
        elif _STATUS.fullmatch(name.removeprefix(_CODES)):
            codes[name[-3:]] = number(value, place)
        elif name in _COUNTS or name.startswith("errors.") or section == "Errors":
            counts[name] = number(value.removesuffix("/sec"), place)
    return _Summary(counts, times, run.end, codes)


_COUNTS = frozenset({
    "http.requests", "http.responses", "http.request_rate", "Requests completed",
    "Mean response/sec",
})  # fmt: skip


def _parted(line: str) -> tuple[str, str]:
    """The name and number of a line; a name alone begins a section."""
    words = line.strip()
    if words.endswith(":"):
        return "", words[:-1]
    name, _, value = words.partition(": ")
    return name, value.lstrip(". ").partition(" ")[0]


def _is_statistic(name: str) -> bool:
    return name in ("min", "max", "mean", "median") or bool(_PERCENT.fullmatch(name))


def _point(report: _Summary, total: float | None) -> Point:
    codes, counts = report.codes, report.counts
    answers = sum(codes.values())
    bad = sum(many for code, many in codes.items() if code[0] in "45")
    lost = _lost(report, answers)
    refuse_empty(answers, lost, report.end)
    every = answers / total if total else _printed(counts, answers)
    times, mixed = _times(report, bad) if answers else ({}, False)
    offered = (answers + lost) / total if total else counts.get("http.request_rate", every)
    return Point(
        "artillery",
        Loop.OPEN,
        offered_rate=offered,
        throughput=None if every is None else answered(every, bad, answers),
        response_time=times.get("mean"),
        percentiles=_percentiles(times),
        errors=bad + lost,
        samples=answers if mixed else answers - bad,
        duration=total,
        with_failures=mixed,
        more=filled({SHORTEST: times.get("min"), LONGEST: times.get("max")}),
        notes=(_ARRIVING, _WHOLE if total else _OF_PERIODS,
               *(of_errors(bad + lost, answers + lost) if mixed or not answers else ())),
    )  # fmt: skip


def _percentiles(times: Mapping[str, float]) -> Mapping[float, float]:
    """Times by percentage, which artillery names ``p95``, and ``p999`` for 99.9."""
    named = {
        float(f"{match[1]}{f'.{match[2]}' if match[2] else match[3] or ''}"): time
        for name, time in times.items()
        if (match := _PERCENT.fullmatch(name))
    }
    return percentiles_of({50.0: times.get("median"), **named})


def _lost(report: _Summary, answers: float) -> float:
    """Requests without an answer.

    Raises
    ------
    MeasurementError
        For a summary without requests, and for one with many more answers than requests.
    """
    sent, done = (report.counts.get(n) for n in ("http.requests", "Requests completed"))
    if sent is None and done is None:
        raise broken(report.end, "there is no http.requests, and only tests of HTTP are read")
    if answers > _HOPS * (sent or done or 0.0):
        what = (
            f"its codes are of {digits(answers)} answers to {digits(sent or done or 0.0)} requests"
        )
        raise broken(report.end, what)
    if sent is not None:
        return max(sent - answers, 0.0)
    return sum(n for name, n in report.counts.items() if name not in _COUNTS)


def _printed(counts: Mapping[str, float], answers: float) -> float | None:
    """Answers per second, if there is no total time: version 2 prints the rate of requests."""
    rate, sent = counts.get("http.request_rate"), counts.get("http.requests")
    if rate is None or not sent:
        return counts.get("Mean response/sec")
    return rate * min(answers / sent, 1.0)


def _times(report: _Summary, bad: float) -> tuple[Mapping[str, float], bool]:
    """Times of answers, and whether those of errors are included.

    Version 2 also prints the times of successful answers alone.
    """
    good = report.times.get("http.response_time.2xx")
    if bad and good and not any(code[0] in "13" for code in report.codes):
        return good, False
    names = ("http.response_time", "Response time (msec)")
    found = next((report.times[name] for name in names if name in report.times), {})
    return found, bad > 0


ARTILLERY = tool_reader(
    "artillery (text)",
    _is_artillery,
    _points,
    "rates of requests and of good answers, answers by status, mean time, percentiles",
)
"""Reads what artillery prints at the end of a test."""


_JSON_TIMES = ("http.response_time", "http.response_time.2xx")
_EXACT = "its rates are those of the time from the first count to the last"


def _of_json(text: str, source: str) -> list[Point]:
    """The point of the aggregate; intervals are not read."""
    report = at(document(text, source), "aggregate", source=source)
    counts = counts_of(at(report, "counters", source=source), "counters", source)
    ends = [needed(report, f"{end}CounterAt", source=source) for end in ("first", "last")]
    codes = {
        name.removeprefix(_CODES): many for name, many in counts.items() if name.startswith(_CODES)
    }
    times = {
        name: {
            key: value
            for key in under(report, "summaries", name)
            if _is_statistic(key)
            and (value := amount(report, "summaries", name, key, source=source, scale=_MS))
            is not None
        }
        for name in _JSON_TIMES
        if under(report, "summaries", name)
    }
    summary = _Summary(counts, times, source, codes)
    if not ends[1] > ends[0]:
        raise broken(source, "its last count is not after its first")
    point = _point(summary, (ends[1] - ends[0]) * _MS)
    return [replace(point, notes=(_ARRIVING, _EXACT, *point.notes[2:]))]


ARTILLERY_JSON = tool_reader(
    "artillery",
    recognised_by('"aggregate"', '"counters"'),
    _of_json,
    "rates of requests and of good answers, answers by status, mean time, percentiles",
)
"""Reads the JSON of ``artillery run --output``."""
