"""Parts of the output of wrk or wrk2 as people paste them: the table of times, the last lines."""

import re
from collections.abc import Mapping, Sequence

from headway.models.measured.points import LONGEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import answered, of_errors, refuse_empty
from headway.models.measured.tools.http.wrk import (
    BYTES,
    CORRECTED,
    FROM_DUE,
    OF_WRK2,
    count_in,
    lost_in,
    percentiles_in,
)
from headway.models.measured.tools.kit.numbers import count, filled, number
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import MatchedLine, ToolText, runs

_TABLE = r"[ \t]*Thread Stats[ \t]+Avg"
_ROW = r"[ \t]*Latency[ \t]+(\S+)[ \t]+\S+[ \t]+(\S+)[ \t]+\S+%[ \t]*$"
_SENT = r"[ \t]*(\S+) requests in (\S+), \S+ read"
_RATE = r"[ \t]*Requests/sec:[ \t]+(\S+)"
_TRANSFER = r"[ \t]*Transfer/sec:[ \t]+(\S+)"
_UNIT = re.compile(r"([^KMGTB]+)([KMGT]?B)")
_CLIENTS = r"[ \t]*\S+ threads and (\S+) connections"
_LATENCY = re.compile(f"^{_ROW}", re.MULTILINE)
_LAST = re.compile(r"^[ \t]*Transfer/sec:[ \t]", re.MULTILINE)

_UNKNOWN = "without its first lines this output may be wrk's, closed, or wrk2's, open"
_UNCORRECTED = "Uncorrected Latency"
_MISSING = {
    "the connections": "'... threads and ... connections'",
    "mean and longest time": "'Latency ...'",
    "the rate": "'Requests/sec: ...'",
    "requests, failures and duration": "'... requests in ...'",
}


def _is_part(text: str) -> bool:
    last = _LAST.search(text) is not None and "Requests/sec:" in text
    return last or _LATENCY.search(text) is not None


def _points(text: str, source: str) -> list[Point]:
    """One point per run, which begins with its table or, without one, with its last lines."""
    whole = ToolText(text, source)
    start = next((mark for mark in (_TABLE, _ROW, _SENT, _RATE) if whole.all(mark)), _RATE)
    parts = runs(text, source, start)
    above = "".join(text.splitlines(keepends=True)[: parts[0].first - 1])
    points, before = [], ToolText(above, source)
    for run in parts:
        points.append(_point(run, before))
        before = run
    return points


def _point(run: ToolText, before: ToolText) -> Point:
    clients, row = _last(before.all(_CLIENTS)), _first(run.all(_ROW))
    sent, rate = _first(run.all(_SENT)), _first(run.all(_RATE))
    transfer = _first(run.all(_TRANSFER))
    if row is None and rate is None:
        raise run.missing("line 'Latency ...' or 'Requests/sec: ...'")
    every = None if rate is None else count(rate.groups[0], rate.place)
    total = None if sent is None else sent.number()
    lost, bad = lost_in(run), count_in(run, r"[ \t]*Non-2xx or 3xx responses:[ \t]+(\S+)")
    if total is not None:
        refuse_empty(total, lost + bad, run.end)
    if total is None and (lost or bad):
        raise run.missing("line '... requests in ...' beside its failures")
    of_all = 1.0 if total is None else total
    lines = dict(zip(_MISSING, (clients, row, rate, sent), strict=True))
    tool, loop, note = _sent_by(run, before, clients)
    return Point(
        tool,
        loop,
        population=None if clients is None else clients.number(),
        throughput=None if every is None else answered(every, bad, of_all),
        response_time=None if row is None else row.seconds(),
        percentiles=percentiles_in(run.until(_UNCORRECTED)),
        errors=None if total is None else lost + bad,
        samples=total,
        duration=None if sent is None else sent.seconds(group=1),
        with_failures=bad > 0,
        more=filled({
            LONGEST: None if row is None else row.seconds(group=1),
            "bandwidth_bytes_s": None if transfer is None else _bytes(transfer),
        }),
        notes=(note, *_missing(lines), *of_errors(bad, of_all)),
    )  # fmt: skip


def _sent_by(
    run: ToolText, before: ToolText, clients: MatchedLine | None
) -> tuple[str, Loop | None, str]:
    """The tool, its loop, and a note on its times.

    wrk2 calibrates its threads between their number and the table, where wrk prints nothing.
    """
    if any(mark in part.text for part in (run, before) for mark in OF_WRK2):
        return "wrk2", Loop.OPEN, FROM_DUE
    return ("wrk", None, _UNKNOWN) if clients is None else ("wrk", Loop.CLOSED, CORRECTED)


def _first(lines: Sequence[MatchedLine]) -> MatchedLine | None:
    return lines[0] if lines else None


def _last(lines: Sequence[MatchedLine]) -> MatchedLine | None:
    return lines[-1] if lines else None


def _bytes(transfer: MatchedLine) -> float:
    """Bytes per second."""
    match = _UNIT.fullmatch(transfer.groups[0])
    if match is None:
        raise broken(transfer.place, "the transfer is not such as 240.11KB")
    return number(match[1], transfer.place) * BYTES[match[2]]


def _missing(lines: Mapping[str, MatchedLine | None]) -> tuple[str, ...]:
    """What is not known, and which lines would say it."""
    return tuple(
        f"{what} unknown: there is no line {_MISSING[what]}"
        for what, line in lines.items()
        if line is None
    )


WRK_PART = tool_reader(
    "wrk (part)",
    _is_part,
    _points,
    "what a pasted part has: requests/s, mean, percentiles; the loop is unknown",
)
"""Reads parts of the output of wrk and wrk2."""
