"""kafka-producer-perf-test's output: windows of some seconds, and a last line of all records."""

import re
from collections.abc import Mapping, Sequence

from headway.models.measured.points import LONGEST, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import number, percentiles_of
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import MatchedLine, ToolText

_LINE = re.compile(r"\brecords sent, \S+ records/sec \(\S+ MB/sec\)")
_SHAPE = re.compile(
    r"[ \t]*(\S+) (steady state )?records sent, (\S+) records/sec \((\S+) MB/sec\), "
    r"(\S+) ms avg latency, (\S+) ms max latency[,.](.*)"
)
_TAIL = re.compile(r"(\S+) ms (\d+(?:\.\d+)?)th")
_TAILS = 4  # percentiles in the line of all records
_MS, _MIB = 1e-3, 1024.0**2

_UNSAID = (
    "the producer prints neither its --throughput nor how many records may wait in its buffer;"
    " a time is from sending into the buffer to the acknowledgement"
)
_WINDOWS = "the last line, of all records, is missing: these numbers are those of the windows"


class _Line:
    """The numbers of a line: of all records if it has percentiles, otherwise of a window."""

    def __init__(self, line: MatchedLine) -> None:
        self.count, self.rate = line.number(), line.number(2)
        self.bandwidth = line.number(3) * _MIB
        self.mean, self.longest = line.number(4) * _MS, line.number(5) * _MS
        self.is_steady = bool(line.groups[1])
        self.tails = _tails(line)

    @property
    def length(self) -> float:
        """The time that its records took [s]."""
        return self.count / self.rate if self.rate else 0.0


def _tails(line: MatchedLine) -> Mapping[float, float]:
    """Percentiles of a line of all records; empty for a window.

    Raises
    ------
    MeasurementError
        For a line that is cut off in them.
    """
    rest = line.groups[6].strip().rstrip(".")
    cells = [_TAIL.fullmatch(part.strip()) for part in rest.split(",")] if rest else []
    if None in cells or (cells and len(cells) < _TAILS):
        raise broken(line.place, "this line of records ends within its percentiles")
    return percentiles_of(
        {float(cell[2]): number(cell[1], line.place) * _MS for cell in cells if cell}
    )


def _points(text: str, source: str) -> list[Point]:
    """One point per run, from its line of all records, without the warm-up if there was one."""
    run, lines = ToolText(text, source), []
    for place, line in run:
        if _LINE.search(line):
            match = _SHAPE.match(line)
            if match is None:
                raise broken(place, "this line of records is cut")
            lines.append(_Line(MatchedLine(match.groups(), place)))
    if not any(line.count for line in lines):
        raise nothing(run.end, "no record")
    totals = [line for line in lines if line.tails]
    chosen = [line for line in totals if line.is_steady] or totals
    return [_of_total(line) for line in chosen] if chosen else [_of_windows(lines)]


def _of_total(line: _Line) -> Point:
    return Point(
        "kafka-producer-perf-test",
        throughput=line.rate,
        response_time=line.mean,
        percentiles=line.tails,
        samples=line.count,
        duration=line.length,
        more={LONGEST: line.longest, "bandwidth_bytes_s": line.bandwidth},
        notes=(_UNSAID,),
    )


def _of_windows(lines: Sequence[_Line]) -> Point:
    """The point of a run that did not finish, from its consecutive windows."""
    count, length = (sum(part) for part in zip(*((w.count, w.length) for w in lines), strict=True))
    return Point(
        "kafka-producer-perf-test",
        throughput=count / length if length else None,
        response_time=sum(line.count * line.mean for line in lines) / count,
        samples=count,
        duration=length,
        more={LONGEST: max(line.longest for line in lines)},
        notes=(_WINDOWS, _UNSAID),
    )


KAFKA_PRODUCER = tool_reader(
    "kafka-producer-perf-test",
    lambda text: bool(_LINE.search(text)),
    _points,
    "records/s, mean and percentiles of the time until a record is acknowledged, bandwidth",
)
"""Reads what kafka-producer-perf-test prints."""
