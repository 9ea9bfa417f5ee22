"""httperf's output, with the command line that it repeats."""

import re

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.http.answers import of_errors, refuse_empty
from headway.models.measured.tools.kit.numbers import filled, number
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import ToolText, runs
from headway.numerals import digits, four_digits

_START = r"[ \t]*Total: connections (\S+) requests (\S+) replies (\S+) test-duration (\S+) s"
_RESULT = re.compile(rf"^{_START}", re.MULTILINE)
_COMMAND = re.compile(r"^[ \t$]*httperf .*$", re.MULTILINE)
_DASH = "(?:--|\u2013)"  # web pages turn two hyphens into a dash
_RATE = re.compile(rf"{_DASH}rate[= ](\S+)")
_CALLS = re.compile(rf"{_DASH}num-calls[= ](\S+)")
_MS = 1e-3
# relative difference of a rate from requests over time; and absolute [1/s]
_APART, _LAST = 0.02, 0.06

_PARTS = "its mean is from the request to the end of the reply, without connecting"
_AT_RATE = "open: connections start at a rate; at most {} were open at once"
_IN_SERIES = "each connection sends {} requests, one after the other's reply"
_SESSIONS = "its offered rate is that of the requests sent: sessions send several"
_IN_TURN = "closed: without --rate one connection follows the other"


def _points(text: str, source: str) -> list[Point]:
    """One point per result; the command line comes before it."""
    points, before = [], text[: _first(text)]
    for run in runs(text, source, _START):
        points.append(_point(run, _commands(before)))
        before = run.text
    return points


def _first(text: str) -> int:
    match = _RESULT.search(text)
    return match.start() if match else len(text)


def _commands(text: str) -> str:
    """The last command line before a result, which httperf repeats with all its options."""
    found = _COMMAND.findall(text)
    return found[-1] if found else ""


def _point(run: ToolText, command: str) -> Point:
    total = run.needs(_START, "Total: connections 90 requests 90 replies 90 test-duration 9.0 s")
    sent, replies, length = (total.number(group) for group in (1, 2, 3))
    bad, (lost, unsent) = _bad(run, replies), _errors(run)
    refuse_empty(replies, lost + unsent, total.place)
    if not length:
        raise broken(total.place, "the test took no time")
    _check_rate(run, sent, length, total.place)
    loop, offered, most, notes = _roles(run, command, sent / length)
    times = run.needs(
        r"[ \t]*Reply time \[ms\]: response (\S+) transfer (\S+)",
        "Reply time [ms]: response 9.0 transfer 0.0",
    )
    connecting = run.number(r"^[ \t]*Connection time \[ms\]: connect CELL", _MS)
    return Point(
        "httperf",
        loop,
        offered_rate=offered,
        population=most if loop is Loop.CLOSED else None,
        throughput=(replies - bad) / length if replies > bad else None,
        response_time=(times.number() + times.number(1)) * _MS if replies else None,
        errors=bad + lost,
        samples=replies,
        duration=length,
        dropped=_share(run, unsent),
        with_failures=bad > 0,
        more=filled({"connecting_s": connecting}),
        notes=(_PARTS, *notes, *of_errors(bad + lost, replies + lost)),
    )


def _bad(run: ToolText, replies: float) -> float:
    """Replies with an error status."""
    statuses = r"1xx=(\S+) 2xx=(\S+) 3xx=(\S+) 4xx=(\S+) 5xx=(\S+)"
    line = run.needs(rf"[ \t]*Reply status: {statuses}", "Reply status: 1xx=0 2xx=90 3xx=0 ...")
    counts = [line.number(group) for group in range(5)]
    if sum(counts) != replies:
        what = f"its statuses are of {digits(sum(counts))} replies, not {digits(replies)}"
        raise broken(line.place, what)
    return counts[3] + counts[4]


def _errors(run: ToolText) -> tuple[float, float]:
    """Requests without a reply, and connections that found no descriptor and never began."""
    first = run.needs(
        r"[ \t]*Errors: total (\S+) client-timo (\S+) socket-timo (\S+) connrefused (\S+)"
        r" connreset (\S+)",
        "Errors: total 0 client-timo 0 ...",
    )
    second = run.needs(
        r"[ \t]*Errors: fd-unavail (\S+) addrunavail (\S+) ftab-full (\S+) other (\S+)",
        "Errors: fd-unavail 0 addrunavail 0 ...",
    )
    lost = [first.number(group) for group in range(1, 5)]
    unsent = [second.number(group) for group in range(4)]
    if first.number() != sum(lost) + sum(unsent):
        what = f"{digits(first.number())} errors, but its kinds are {digits(sum(lost + unsent))}"
        raise broken(first.place, what)
    return sum(lost) + unsent[3], sum(unsent[:3])


def _share(run: ToolText, unsent: float) -> float | None:
    """The share of the connections due that never began."""
    opened = run.needs(_START, "Total: connections 90 ...").number()
    return unsent / (opened + unsent) if unsent else None


def _check_rate(run: ToolText, sent: float, length: float, place: str) -> None:
    """Refuse a rate of requests that does not agree with requests and time."""
    line = run.needs(r"[ \t]*Request rate: (\S+) req/s", "Request rate: 9.0 req/s")
    made = sent / length
    if abs(line.number() - made) > _APART * made + _LAST:
        what = f"a request rate of {four_digits(line.number())}/s is not"
        made_of = f"{digits(sent)} requests in {four_digits(length)} s"
        raise broken(place, f"{what} that of {made_of}")


def _roles(
    run: ToolText, command: str, rate: float
) -> tuple[Loop | None, float | None, float, tuple[str, ...]]:
    """The loop, the offered rate [1/s], connections at once, and a note on these."""
    line = run.needs(r"[ \t]*Connection rate: .*<=(\S+) concurrent", "<=9 concurrent connections")
    most, place = line.number(), line.place
    note = _AT_RATE.format(digits(most))
    asked, calls = _RATE.search(command), _CALLS.search(command)
    if asked and "wsess" in command:
        return Loop.OPEN, rate, most, (note, _SESSIONS)
    if asked:
        each = number(calls[1], place) if calls else 1.0
        series = (_IN_SERIES.format(digits(each)),) if each > 1 else ()
        return Loop.OPEN, number(asked[1], place) * each, most, (note, *series)
    if command and not any(word in command for word in ("wsess", "period")):
        return Loop.CLOSED, None, most, (_IN_TURN,)
    return (Loop.OPEN, None, most, (note,)) if most > 1 else (None, None, most, ())


HTTPERF = tool_reader(
    "httperf",
    lambda text: bool(_RESULT.search(text)),
    _points,
    "the rate asked for, replies by status, mean time from request to the end of the reply",
)
"""Reads httperf's output."""
