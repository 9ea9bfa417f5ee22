"""The output of ``nats bench``: a line of statistics for publishers, subscribers or requesters."""

import re
from collections.abc import Mapping

from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import filled, number, percentiles_of, seconds
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import MatchedLine, ToolText, runs

_STATS = re.compile(r" stats: \S+ msgs/sec ~ ")
_LINE = r"[ \t]*(?:NATS )?(\S.*) stats: (\S+) msgs/sec ~ (\S+) ([KMGT]?i?B)/sec(.*)$"
_START = r"(?:\S+ ){0,2}Starting [^\[]*benchmark \["
_BOTH = "Pub/Sub"
_SIDES = {"Pub": ("pubs", "publishers"), "Sub": ("subs", "subscribers")}
_BYTES = {"B": 1.0, "KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "TB": 1024.0**4}
_STATISTIC = re.compile(r"(?:(min|avg|max|P\d+(?:\.\d+)?): )?(\S+)")
_MEAN = "avg"

_OF_CALLS = (
    "a time is that of a call: a publisher that is not synchronous ends it before the message is"
    " delivered"
)
_OF_RATE = "the mean is that of the rate, so Little's law checks nothing"
_IN_TURN = "closed: each client sends or takes as fast as it can"


def _points(text: str, source: str) -> list[Point]:
    """A point for each line of statistics of each run, except lines for both sides together."""
    whole = ToolText(text, source)
    started = whole.all(rf"{_START}(.*)\]")
    parts = runs(text, source, _START) if started else [whole]
    points = [point for run in parts for point in _of_run(run)]
    if not points:
        raise whole.missing("line of statistics such as 'Pub stats: 900 msgs/sec ~ 9 MB/sec'")
    return points


def _of_run(run: ToolText) -> list[Point]:
    options = _options(run)
    return [_point(line, options) for line in run.all(_LINE) if line.groups[0] != _BOTH]


def _options(run: ToolText) -> Mapping[str, tuple[str, str]]:
    """The options in the first line of a run, each with the line's place."""
    lines = run.all(rf"{_START}(.*)\][ \t]*$")
    if not lines:
        return {}
    pairs = (pair.partition("=") for pair in lines[0].groups[0].split(", "))
    return {name: (value, lines[0].place) for name, _, value in pairs}


def _point(line: MatchedLine, options: Mapping[str, tuple[str, str]]) -> Point:
    side, rate = line.groups[0], line.number(1)
    if not rate:
        raise nothing(line.place, "no message")
    short, name = _SIDES.get(side, ("clients", side.lower()))
    clients = _option(options, short)
    times = _times(line)
    computed = set(times) == {_MEAN}
    tails = {float(key[1:]): time for key, time in times.items() if key[0] == "P"}
    sends = "pub" in side.lower()
    samples = _option(options, "msgs") if sends else None
    ends = {SHORTEST: times.get("min"), LONGEST: times.get("max")}
    unit = line.groups[3].replace("i", "")
    return Point(
        "nats bench",
        Loop.CLOSED,
        population=clients,
        throughput=rate,
        response_time=times.get(_MEAN),
        percentiles=percentiles_of(tails),
        samples=samples,
        duration=None if samples is None else samples / rate,
        mean_of_rate=computed,
        more=filled(ends) | {"bandwidth_bytes_s": line.number(2) * _BYTES[unit]},
        name=name,
        notes=(_IN_TURN, *((_OF_RATE,) if computed else ()), *((_OF_CALLS,) if times else ())),
    )


def _option(options: Mapping[str, tuple[str, str]], name: str) -> float | None:
    return number(*options[name]) if name in options else None


def _times(line: MatchedLine) -> Mapping[str, float]:
    """Times of calls by statistic: since version 0.2 a mean, and later also percentiles."""
    times = {}
    for part in line.groups[4].split(" ~ ")[1:]:
        cell = _STATISTIC.fullmatch(part.strip())
        if cell is None:
            raise broken(line.place, "the times are not such as 'avg: 0.2us ~ P50: 0.1us'")
        times[cell[1] or _MEAN] = seconds(cell[2], line.place)
    return times


NATS = tool_reader(
    "nats bench",
    lambda text: bool(_STATS.search(text)),
    _points,
    "one point each for publishers and subscribers: clients, messages/s, times of calls",
)
"""Reads what ``nats bench`` prints."""
