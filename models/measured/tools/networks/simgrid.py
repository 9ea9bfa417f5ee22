"""SimGrid's calibration of SMPI: one MPI call per line, without titles."""

import math
import re
from collections.abc import Iterator
from statistics import fmean, median, stdev

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import bytes_words, number
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.text import placed

_LINE = re.compile(r"(MPI_\w+),(\d{1,15}),\d+\.\d{6},(\d\.\d{6}e[-+]\d\d)\s*", re.ASCII)
_WITHOUT_MESSAGE = ("MPI_Wtime", "MPI_Iprobe", "MPI_Test")
_IN_CALL = (
    "the time is that within a call; in a ping-pong, sending and receiving add up to a round trip"
)


def _is_simgrid(text: str) -> object:
    return _LINE.match(text)


def _points(text: str, source: str) -> list[Point]:
    """One point per call and message size, from all its repeats."""
    times: dict[tuple[str, int], list[float]] = {}
    for call, size, time in _calls(text, source):
        times.setdefault((call, size), []).append(time)
    return [_point(call, size, times[call, size]) for call, size in sorted(times)]


def _calls(text: str, source: str) -> Iterator[tuple[str, int, float]]:
    for place, line in placed(text, source):
        match = _LINE.fullmatch(line)
        if match is None:
            raise broken(place, "this is not a call of MPI with its size, start and time")
        yield match[1], int(match[2]), number(match[3], place)


def _point(call: str, size: int, times: list[float]) -> Point:
    sized = call not in _WITHOUT_MESSAGE
    deviation = stdev(times) if len(times) > 1 else math.nan
    return Point(
        "SimGrid calibration",
        Loop.CLOSED,
        response_time=fmean(times),
        percentiles={50.0: median(times)},
        samples=float(len(times)),
        more={
            **({"message_size_bytes": float(size)} if sized else {}),
            "response_time_min_s": min(times),
            "response_time_max_s": max(times),
            **({} if math.isnan(deviation) else {"response_time_deviation_s": deviation}),
        },
        name=f"{call}, {bytes_words(size)}" if sized else call,
        notes=(_IN_CALL,),
    )


SIMGRID = tool_reader(
    "SimGrid calibration",
    _is_simgrid,
    _points,
    "one point per MPI call and message size: mean, median and spread of its repeats",
)
"""Reads the CSV files that SimGrid's ``calibrate`` writes."""
