"""The output of npm's loadtest, whose lines may begin with a time and INFO."""

from headway.models.measured.points import LONGEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import of_errors, refuse_empty
from headway.models.measured.tools.kit.numbers import number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import MatchedLine, ToolText, runs
from headway.numerals import digits, four_digits

_LEAD = r"(?:.*\bINFO\b)?[ \t]*"
_MARKS = ("Completed requests:", "Total errors:", "Mean latency:")
_MS = 1e-3
# relative difference of a rate from requests over time; and absolute [1/s]
_APART, _LAST = 0.02, 1.0

_AT_RATE = "open: a rate was set, at which its clients send without waiting for answers"


def _is_loadtest(text: str) -> bool:
    return all(mark in text for mark in _MARKS)


def _points(text: str, source: str) -> list[Point]:
    whole = ToolText(text, source)
    if not whole.all(rf"{_LEAD}Target URL:"):
        return [_point(whole)]
    return [_point(run) for run in runs(text, source, rf"{_LEAD}Target URL:")]


def _point(run: ToolText) -> Point:
    done = _line(run, "Completed requests", "900")
    total, bad = done.number(), _line(run, "Total errors", "0").number()
    length = _line(run, "Total time", "9.0 s").number()
    mean = _line(run, "Mean latency", "9.1 ms").number() * _MS
    refuse_empty(total, 0.0, done.place)
    if bad > total or not length:
        what = f"{digits(bad)} errors of {digits(total)} requests in {four_digits(length)} s"
        raise broken(done.place, what)
    _check_rate(run, total, length)
    asked, clients = _asked(run), _clients(run)
    tails = _percentiles(run)
    return Point(
        "loadtest",
        Loop.CLOSED if asked is None else Loop.OPEN,
        offered_rate=asked,
        population=clients if asked is None else None,
        throughput=(total - bad) / length if total > bad else None,
        response_time=mean,
        percentiles=percentiles_of({p: time for p, time in tails.items() if p < 100}),
        errors=bad,
        samples=total,
        duration=length,
        with_failures=bad > 0,
        more={LONGEST: tails[100.0]} if 100.0 in tails else {},
        notes=(*((_AT_RATE,) if asked is not None else ()), *of_errors(bad, total)),
    )


def _line(run: ToolText, title: str, shape: str) -> MatchedLine:
    return run.needs(rf"{_LEAD}{title}:[ \t]+(\S+)", f"{title}: {shape}")


def _rates(run: ToolText) -> list[tuple[bool, MatchedLine]]:
    """Rates before and after the number of requests: the one asked for, and the one achieved."""
    titles = r"(Requests per second|Target rps|Effective rps|Completed requests)"
    found, done = [], False
    for line in run.all(rf"{_LEAD}{titles}:[ \t]+(\S+)"):
        done = done or line.groups[0] == "Completed requests"
        if line.groups[0] != "Completed requests":
            found.append((done, line))
    return found


def _asked(run: ToolText) -> float | None:
    """The rate that was set; None if there is none."""
    return next((line.number(1) for done, line in _rates(run) if not done), None)


def _check_rate(run: ToolText, total: float, length: float) -> None:
    """Refuse a rate that does not agree with requests and time."""
    for done, line in _rates(run):
        if done and abs(line.number(1) - total / length) > _APART * total / length + _LAST:
            made_of = f"{digits(total)} requests in {four_digits(length)} s"
            what = f"a rate of {four_digits(line.number(1))}/s is not that of {made_of}"
            raise broken(line.place, what)


def _clients(run: ToolText) -> float | None:
    lines = run.all(rf"{_LEAD}(?:Concurrency level|Concurrent clients):[ \t]+(\S+)")
    return lines[0].number() if lines else None


def _percentiles(run: ToolText) -> dict[float, float]:
    """Times by percentage; 100 is the longest.

    Raises
    ------
    MeasurementError
        For a time in another unit than milliseconds, for instance if a line was cut.
    """
    tails = {}
    for line in run.all(rf"{_LEAD}(\S+)%[ \t]+(\S*)[ \t]*(\S*)"):
        percent, time, unit = line.groups
        if unit != "ms":
            raise broken(line.place, "the time has no unit of ms")
        tails[number(percent, line.place)] = number(time, line.place) * _MS
        if max(tails) > 100:
            raise broken(line.place, "a percentage exceeds 100")
    return tails


LOADTEST = tool_reader(
    "loadtest",
    _is_loadtest,
    _points,
    "clients or the rate asked for, requests/s, failures, mean time, percentiles",
)
"""Reads the output of loadtest."""
