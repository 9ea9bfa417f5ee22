"""h2load's output, whose times are in columns that differ by version."""

import re
from collections.abc import Mapping

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty
from headway.models.measured.tools.kit.numbers import filled, percentiles_of, seconds
from headway.models.measured.tools.kit.text import ToolText, by_title, runs
from headway.numerals import digits

_STARTED = "spawning thread #"
_END = r"[ \t]*finished in (\S+), (\S+) req/s, \S+/s"
_FINISHED = re.compile(rf"^{_END}", re.MULTILINE)
_SENT = (
    r"[ \t]*requests: (\S+) total, (\S+) started, (\S+) done, (\S+) succeeded, (\S+) failed, "
    r"(\S+) errored, (\S+) timeout"
)
_MANY = 1.05  # outstanding requests per client, above which it has several streams
_PERCENT = re.compile(r"p(\d+(?:\.\d+)?)")

_ONE = "h2load prints neither its streams a client (-m) nor a rate (--rps, -r): one stream is taken"
_SEVERAL = (
    "its {} clients had several requests outstanding each: h2load does not print how many (-m)"
)


def _points(text: str, source: str) -> list[Point]:
    """One point per run; what it says about its clients comes before its results."""
    end = _FINISHED.search(text)
    if end is None:
        raise ToolText(text, source).missing("line 'finished in ...'")
    points, before = [], _clients(ToolText(text[: end.start()], source))
    for run in runs(text, source, _END):
        points.append(_point(run, before))
        before = _clients(run)
    return points


def _clients(run: ToolText) -> float | None:
    """Clients of all threads; None if the output lacks its first lines."""
    lines = run.all(rf"[ \t]*{_STARTED}\S+ (\S+) total client\(s\)")
    return sum(line.number() for line in lines) if lines else None


def _point(run: ToolText, clients: float | None) -> Point:
    end = run.needs(_END, "finished in 10.00s, 900.00 req/s, 1.20MB/s")
    shape = "requests: 900 total, 900 started, 900 done, 900 succeeded, 0 failed, ..."
    sent = run.needs(_SENT, shape)
    good, failed, lost = (sent.number(group) for group in (3, 4, 5))
    answers = good + max(failed - lost, 0.0)
    refuse_empty(answers, lost, sent.place)
    times = _times(run) if answers else {}
    rate, mean = end.number(1), times.get("mean")
    several = clients is not None and mean is not None and rate * mean > _MANY * clients
    ends = {SHORTEST: times.get("min"), LONGEST: times.get("max")}
    tails = {float(m[1]): time for name, time in times.items() if (m := _PERCENT.fullmatch(name))}
    return Point(
        "h2load",
        Loop.CLOSED,
        population=None if several else clients,
        throughput=answered(rate, answers - good, answers),
        response_time=mean,
        percentiles=percentiles_of({50.0: times.get("median"), **tails}),
        errors=failed,
        samples=answers,
        duration=end.seconds(),
        with_failures=answers > good,
        more=filled(ends),
        notes=(_SEVERAL.format(digits(clients or 0.0)) if several else _ONE,
               *of_errors(failed, good + failed)),
    )  # fmt: skip


def _times(run: ToolText) -> Mapping[str, float]:
    """Times of requests by the titles of their columns."""
    titles = run.needs(r"[ \t]*(min[ \t]+max[ \t].*)\+/- sd[ \t]*$", "min max mean sd +/- sd")
    row = run.needs(r"[ \t]*(?:time for )?request[ \t]*:[ \t]*(.*)$", "time for request: 9ms ...")
    names = [*titles.groups[0].split(), "share"]
    cells = by_title(names, row.groups[0].split(), row.place)
    return {
        name: seconds(cell, row.place)
        for name, cell in cells.items()
        if name not in ("sd", "share")
    }


H2LOAD = tool_reader(
    "h2load",
    lambda text: bool(_FINISHED.search(text)) or (_STARTED in text and " total client(s)" in text),
    _points,
    "clients (of one stream each), requests/s, failures, mean time, extremes",
)
"""Reads h2load's output."""
