"""autocannon's tables as text: in boxes since version 3, in columns separated by spaces before."""

import re
from collections.abc import Mapping

from headway.models.measured.points import LONGEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty
from headway.models.measured.tools.http.autocannon import CUT, LEAST, of_pipelines
from headway.models.measured.tools.kit.numbers import count, filled, number, percentiles_of, seconds
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import MatchedLine, ToolText, by_title, runs

_BOXED = re.compile(r"^[ \t]*│[ \t]*Stat[ \t]+│", re.MULTILINE)
_SPACED = re.compile(r"^Stat[ \t]+Avg[ \t]+Stdev[ \t]+Max[ \t]*$", re.MULTILINE)
_RUNNING = r"[ \t]*Running \S+(?: requests)? test @"
_PERCENT = re.compile(r"(\d+(?:\.\d+)?)%")
_APART = 0.1  # relative difference between rate times time and the number of requests
_CODE = r"[ \t]*│[ \t]*[1-5]\d\d[ \t]*│[ \t]*([^│\s]+)[ \t]*│[ \t]*$"
_SECONDS = "autocannon rounds its number of requests, and averages its rate over whole seconds"
_AMOUNT = "a number of requests was asked for: its time ends with a second, so its rate is too low"


def _is_text(text: str) -> bool:
    return bool(_BOXED.search(text) or _SPACED.search(text)) and "Req/Sec" in text


def _points(text: str, source: str) -> list[Point]:
    started = re.search(rf"^{_RUNNING}", text, re.MULTILINE)
    return [
        _point(run)
        for run in (runs(text, source, _RUNNING) if started else [ToolText(text, source)])
    ]


def _point(run: ToolText) -> Point:
    rates, place = _row(run, "Req/Sec")
    end = run.needs(r"[ \t]*(\S+) requests in (\S+), ", "9k requests in 10.02s, 1.2 MB read")
    rate, bad, lost = number(rates["Avg"], place), *_failures(run)
    clients, deep = _clients(run)
    answers = _answers(run, rate, end, lost)
    refuse_empty(answers, lost, end.place)
    _check(end, answers, lost + (clients or 0.0) * deep)
    times = _times(run) if answers else {}
    tails = {float(m[1]): time for name, time in times.items() if (m := _PERCENT.fullmatch(name))}
    return Point(
        "autocannon",
        Loop.CLOSED,
        population=None if clients is None else clients * deep,
        throughput=answered(rate, bad, answers),
        response_time=times.get("Avg"),
        percentiles=percentiles_of({p: time for p, time in tails.items() if p >= LEAST}),
        errors=bad + lost,
        samples=answers,
        duration=end.seconds(group=1),
        with_failures=bad > 0,
        more=filled({LONGEST: times.get("Max")}),
        notes=(CUT, _SECONDS, *_of_amount(run), *of_pipelines(clients or 1.0, deep),
               *of_errors(bad + lost, answers + lost)),
    )  # fmt: skip


def _of_amount(run: ToolText) -> tuple[str, ...]:
    """A note on a test with a fixed number of requests, whose last second is incomplete."""
    return (_AMOUNT,) if run.all(r"[ \t]*Running \S+ requests test @") else ()


def _row(run: ToolText, name: str) -> tuple[Mapping[str, str], str]:
    """The cells of a row by the titles of its table, and its place."""
    titles: list[str] = []
    for place, line in run:
        cells = _cells(line)
        if cells[0] == "Stat":
            titles = cells
        elif cells[0].startswith(name) and "Avg" in titles:
            return by_title(titles, cells, place), place
    what = f"row {name} below its titles"
    raise run.missing(what)


def _cells(line: str) -> list[str]:
    """The cells of a row: between bars; before the boxes, separated by several spaces."""
    if "│" in line:
        return [cell.strip() for cell in line.strip().strip("│").split("│")]
    parts = re.split(r"[ \t]+", line.strip())
    joined = " ".join(parts).replace("Latency (ms)", "Latency")
    return joined.split(" ")


def _times(run: ToolText) -> dict[str, float]:
    """Times of requests by title, and by percentage if there is the table of ``--latency``."""
    cells, place = _row(run, "Latency")
    rows = run.all(r"[ \t]*│[ \t]*([\d.]+)[ \t]*│[ \t]*([^│\s]+)[ \t]*│[ \t]*$")
    table = {f"{row.groups[0]}%": row.seconds("ms", group=1) for row in rows}
    named = {name: cell for name, cell in cells.items() if name not in ("Stat", "Stdev")}
    return {name: seconds(cell, place, "ms") for name, cell in named.items()} | table


def _failures(run: ToolText) -> tuple[float, float]:
    """Answers without a good status, and requests without an answer."""
    bad = run.all(r"[ \t]*\S+ 2xx responses, (\S+) non 2xx responses")
    lost = run.all(r"[ \t]*(\S+) errors \((\S+) timeouts\)")
    return sum(line.number() for line in bad), sum(_count(line) for line in lost)


def _count(line: MatchedLine) -> float:
    return count(line.groups[0], line.place)


def _answers(run: ToolText, rate: float, end: MatchedLine, lost: float) -> float:
    """Number of answers as counted; if the count is rounded, the rate times its seconds."""
    codes = run.all(_CODE)
    if codes:
        return sum(line.number() for line in codes)
    by_status = run.all(r"[ \t]*(\S+) 2xx responses, (\S+) non 2xx responses")
    if by_status:
        return sum(line.number() + line.number(1) for line in by_status)
    if end.groups[0].isdigit() and not lost:
        return end.number()
    ticks = run.all(r"[ \t]*# of samples: (\S+)")
    return round(rate * (ticks[0].number() if ticks else end.seconds(group=1)))


def _check(end: MatchedLine, answers: float, others: float) -> None:
    """Refuse a number of requests that answers and failures do not account for.

    Some versions count all requests sent, others only those that were answered.
    """
    printed = _count(end)
    half = 0.0 if end.groups[0].isdigit() else 500.0
    least, most = answers * (1 - _APART) - half, (answers + others) * (1 + _APART) + half
    if not least <= printed <= most:
        what = f"{end.groups[0]} requests contradict {answers:.15g} answers by rate and time"
        raise broken(end.place, what)


def _clients(run: ToolText) -> tuple[float | None, float]:
    """Number of connections, and of outstanding requests on each."""
    lines = run.all(r"[ \t]*(\S+) connections(?: with (\S+) pipelining factor)?[ \t]*$")
    if not lines:
        return None, 1.0
    return lines[0].number(), lines[0].number(1) if lines[0].groups[1] else 1.0


AUTOCANNON_TEXT = tool_reader(
    "autocannon (text)",
    _is_text,
    _points,
    "connections, requests/s, failures, mean time, percentiles",
)
"""Reads what autocannon prints without ``--json``."""
