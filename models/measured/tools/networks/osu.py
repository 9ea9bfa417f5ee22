"""OSU micro-benchmarks: a table by message size, after messages of the MPI library."""

import re
from collections.abc import Iterator, Mapping

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import bytes_words, cell, filled, percentiles_of
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import ToolText, by_title
from headway.records import dataclass

_TITLE = re.compile(r"\s*# (OSU .*\S)\s+v(\d[\w.]*)\s*")
_HEADER = re.compile(r"\s*#\s*((?:Size|(?:Avg )?Latency ?\().*)")
_ROW = re.compile(r"\s*(?:-?\d+(?:\.\d+)?|nan)(?:\s+\S+)*\s*", re.IGNORECASE)
_TAIL = re.compile(r"P(\d+(?:\.\d+)?) Tail Lat ?\(us\)")
_US, _MB = 1e-6, 1e6
_MEANS = ("Latency (us)", "Avg Latency(us)", "Avg Latency (us)", "Avg Lat(us)")
_MORE = {
    "Min Latency(us)": ("response_time_min_s", _US),
    "Max Latency(us)": ("response_time_max_s", _US),
    "Min Lat(us)": ("response_time_min_s", _US),
    "Max Lat(us)": ("response_time_max_s", _US),
    "Bandwidth (MB/s)": ("bandwidth_bytes_s", _MB),
    "Bi-Bandwidth (MB/s)": ("bandwidth_bytes_s", _MB),
    "MB/s": ("bandwidth_bytes_s", _MB),
}
_HALF = "latency is half the round trip"
_BOTH = "bandwidth is the sum of both directions"
_HALVED = ("OSU MPI Latency Test", "OSU MPI Multi Latency Test", "OSU MPI Multi-threaded Latency")


@dataclass(frozen=True)
class _Row:
    """A row of a table: the test's title, and the cells by title."""

    test: str
    cells: Mapping[str, str]
    place: str

    def of(self, title: str, scale: float = 1.0) -> float | None:
        """The cell under a title in SI; None if there is no such title."""
        return cell(self.cells.get(title, ""), f"{self.place}: {title}", scale)


def _is_osu(text: str) -> object:
    return re.search(r"^[ \t]*# OSU .* v\d", text, re.MULTILINE)


def _points(text: str, source: str) -> list[Point]:
    """One point per message size, in the order of the file."""
    output = ToolText(text, source)
    rows = list(_rows(output))
    if not rows:
        raise output.missing("row below its title")
    several = len({row.test for row in rows}) > 1
    return [_point(row, named=several) for row in rows]


def _rows(text: ToolText) -> Iterator[_Row]:
    test = ""
    titles: tuple[str, ...] = ()
    for place, line in text:
        if title := _TITLE.fullmatch(line):
            test, titles = title[1], ()
        elif test and (header := _HEADER.fullmatch(line)):
            titles = tuple(re.split(r"\s{2,}|\t+", header[1].strip()))
        elif titles and _ROW.fullmatch(line):
            yield _row(test, titles, line, place)


def _row(test: str, titles: tuple[str, ...], line: str, place: str) -> _Row:
    cells = by_title(titles, line.split(), place)
    if "Fail" in cells.values():
        msg = (
            f"{place}: the received data differ from the sent data (Validation: Fail); repair the "
            "network"
        )
        raise MeasurementError(msg)
    return _Row(test, cells, place)


def _point(row: _Row, *, named: bool) -> Point:
    size = row.of("Size")
    means = (row.of(title, _US) for title in _MEANS)
    mean = next((value for value in means if value is not None), None)
    further = filled({"message_size_bytes": size})
    for title, (name, scale) in _MORE.items():
        further |= filled({name: row.of(title, scale)})
    rate = row.of("Messages/s")
    if not any((mean, further.get("bandwidth_bytes_s"), rate)):
        raise nothing(row.place, "no message")
    parts = (row.test if named or size is None else "", bytes_words(size))
    return Point(
        "OSU micro-benchmarks",
        Loop.CLOSED,
        throughput=rate,
        response_time=mean,
        percentiles=_percentiles(row),
        samples=row.of("Iterations"),
        more=further,
        name=", ".join(filter(None, parts)),
        notes=_notes(row),
    )


def _notes(row: _Row) -> tuple[str, ...]:
    both = "Bi-Bandwidth (MB/s)" in row.cells or "Bi-Directional" in row.test
    return (_HALF,) * row.test.startswith(_HALVED) + (_BOTH,) * both


def _percentiles(row: _Row) -> dict[float, float]:
    named = {float(tail[1]): t for t in row.cells if (tail := _TAIL.fullmatch(t))}
    percentiles = {percent: row.of(title, _US) for percent, title in named.items()}
    return percentiles_of(percentiles)


OSU = tool_reader(
    "OSU micro-benchmarks",
    _is_osu,
    _points,
    "one point per message size: latency, or bandwidth and messages per second",
)
"""Reads the output of any OSU micro-benchmark."""
