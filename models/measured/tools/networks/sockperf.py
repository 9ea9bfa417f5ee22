"""sockperf: ping-pong, under load (latency), and throughput (one way)."""

import re

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import cell, filled, percentiles_of
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import ToolText

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PERCENTILE = re.compile(r"^sockperf: ---> percentile ([\d.]+)\s*=\s*(\S+)", re.MULTILINE)
_US, _MIB = 1e-6, 2.0**20
_HALF = "latency is half the round trip"
_RATE = "throughput is answered messages divided by the valid duration: sockperf prints none"
_SOME = (
    "only some messages are answered (--reply-every), and only those are timed: "
    "offered_rate is sent messages divided by the valid duration"
)
_ONE_WAY = "messages went one way, and none was answered"


def _is_sockperf(text: str) -> bool:
    return text.startswith("sockperf: ") or "\nsockperf: Summary:" in text


def _points(text: str, source: str) -> list[Point]:
    """The one point of a run."""
    output = ToolText(_COLOURS.sub("", text), source)
    if output.find(r"^sockperf: Summary: (Message Rate)"):
        return [_one_way(output)]
    failed = output.find(r"^sockperf: ERROR: (.*)")
    if failed and not output.find("^sockperf: (Summary)"):
        msg = f"{output.place(failed)}: sockperf says {failed[1]}; run it again, or omit the file"
        raise MeasurementError(msg)
    return [_latency(output)]


def _latency(text: ToolText) -> Point:
    answered = text.needed(rf"{_VALID}.*ReceivedMessages=(\d+)", "valid duration")
    sent = text.needed(rf"{_VALID}.*SentMessages=(\d+)", "valid duration")
    duration = text.needed(rf"{_VALID} RunTime=([\d.]+) sec", "valid duration")
    if answered > sent:
        raise broken(text.source, "more messages were received than sent")
    if answered == 0 or duration <= 0:
        raise nothing(text.source, "no message")
    half = text.find(r"^sockperf: Summary: (Latency)") is not None
    mean = text.needed(r"^sockperf: Summary: (?:Latency|Round trip) is CELL usec", "mean", _US)
    closed = answered == sent
    return Point(
        "sockperf",
        Loop.CLOSED if closed else Loop.OPEN,
        offered_rate=None if closed else sent / duration,
        throughput=answered / duration if closed else None,
        response_time=mean,
        percentiles=_percentiles(text),
        errors=text.number(r"^sockperf: # dropped messages = ([^;\s]+)"),
        samples=text.number(r"^sockperf: Total (\S+) observations"),
        duration=duration,
        more=filled(
            {
                "response_time_deviation_s": text.number(r"\(std-dev=([^)]+)\)", _US),
                "response_time_min_s": text.number(r"<MIN> observation =\s+CELL", _US),
                "response_time_max_s": text.number(r"<MAX> observation =\s+CELL", _US),
            }
        ),
        notes=(_HALF,) * half + (_RATE if closed else _SOME,),
    )


_VALID = r"^sockperf: \[Valid Duration\]"


def _percentiles(text: ToolText) -> dict[float, float]:
    values = {
        number: cell(line[2], text.place(line), _US)
        for line in _PERCENTILE.finditer(text.text)
        if (number := cell(line[1], text.place(line))) is not None
    }
    return percentiles_of(values)


def _one_way(text: ToolText) -> Point:
    rate = text.needed(r"^sockperf: Summary: Message Rate is CELL \[msg/sec\]", "message rate")
    if rate == 0:
        raise nothing(text.source, "no message")
    band = text.number(r"^sockperf: Summary: BandWidth is CELL MBps", _MIB)
    return Point(
        "sockperf",
        throughput=rate,
        samples=text.number(r"^sockperf: Total of (\S+) messages sent"),
        duration=text.number(r"messages sent in (\S+) sec"),
        more=filled({"bandwidth_bytes_s": band}),
        notes=(_ONE_WAY,),
    )


SOCKPERF = tool_reader(
    "sockperf",
    _is_sockperf,
    _points,
    "half the round trip with percentiles, messages per second, dropped messages",
)
"""Reads sockperf's output."""
