"""Intel MPI Benchmarks: a table by message size for each group of processes."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import bytes_words, cell, filled
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import ToolText, by_title

_NAME = re.compile(r"\s*# Benchmarking (\S+).*")
_ALONE = re.compile(r"\s*# \(? ?#processes = (\d+).*")
_GROUPS = re.compile(r"\s*# \( (\d+) groups of (\d+) processes .*")
_MODE = re.compile(r"\s*#\s+MODE: (.*\S)\s*")
_HEADER = re.compile(r"\s*(#(?:bytes|repetitions)\s.*)")
_ROW = re.compile(r"\s*(?:-?\d+|nan)(?:\s+\S+)*\s*", re.IGNORECASE)
_TAIL = re.compile(r"\s*\[(.*)\]\s*")
_PERCENTS = (10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.99)
_US, _MB, _MIB = 1e-6, 1e6, 2.0**20
_HALF = "time is half the round trip"


@dataclass
class _Table:
    """A table as it is read: its benchmark, titles and rows, and the percentiles of some rows."""

    test: str
    processes: str = ""
    mode: str = ""
    titles: tuple[str, ...] = ()
    rows: "list[_Row] | None" = None


@dataclass
class _Row:
    """Cells by title in the tool's units, and the line below: minimum, percentiles, maximum."""

    cells: dict[str, float | None]
    place: str
    tail: Sequence[float] = ()

    def of(self, *titles: str, scale: float = 1.0) -> float | None:
        known = (self.cells.get(title) for title in titles)
        first = next((value for value in known if value is not None), None)
        return None if first is None else first * scale


def _is_imb(text: str) -> object:
    return re.search(r"^[ \t]*#[ \t]+Intel ?\(R\) MPI Benchmark", text, re.MULTILINE)


def _points(text: str, source: str) -> list[Point]:
    """One point per message size, in the order of the file."""
    output = ToolText(text, source)
    tables = [table for table in _tables(output) if table.rows]
    if not tables:
        raise output.missing("row below the title of a benchmark")
    several = len(tables) > 1
    return [point for table in tables for point in _of_table(table, named=several)]


def _tables(text: ToolText) -> Iterator[_Table]:
    table = None
    for place, line in text:
        if name := _NAME.fullmatch(line):
            if table:
                yield table
            table = _Table(name[1])
        elif table:
            _add(table, line, place)
    if table:
        yield table


def _add(table: _Table, line: str, place: str) -> None:
    """Add a line to its table; skip the tool's other words."""
    if match := _ALONE.fullmatch(line):
        table.processes = f"{match[1]} processes"
    elif match := _GROUPS.fullmatch(line):
        table.processes = f"{match[1]} groups of {match[2]} processes"
    elif match := _MODE.fullmatch(line):
        table.mode = match[1].lower()
    elif match := _HEADER.fullmatch(line):
        table.titles, table.rows = tuple(match[1].split()), table.rows or []
    elif table.rows and (match := _TAIL.fullmatch(line)):
        table.rows[-1].tail = _tail(match[1], place)
    elif table.rows is not None and _ROW.fullmatch(line) and "time-out" not in line:
        table.rows.append(_row(table, line, place))


def _row(table: _Table, line: str, place: str) -> _Row:
    cells = by_title(table.titles, line.split(), place)
    return _Row({title: cell(text, f"{place}: {title}") for title, text in cells.items()}, place)


def _tail(text: str, place: str) -> list[float]:
    cells = [cell(part, place) for part in text.split(",")]
    known = [value for value in cells if value is not None]
    if len(known) != len(_PERCENTS) + 2:
        raise broken(place, f"{len(known)} numbers in a tail of {len(_PERCENTS) + 2}")
    return known


def _of_table(table: _Table, *, named: bool) -> Iterator[Point]:
    rows = table.rows or []
    megabyte = _megabyte(rows)
    for row in rows:
        yield _point(table, row, megabyte, named=named)


def _point(table: _Table, row: _Row, megabyte: float, *, named: bool) -> Point:
    size, mean = row.of("#bytes"), row.of("t_avg[usec]", "t[usec]", scale=_US)
    if mean is None:
        raise nothing(row.place, "no message")
    parts = [table.test, table.processes, table.mode] if named or size is None else []
    words = [*parts, bytes_words(size)]
    return Point(
        "Intel MPI Benchmarks",
        Loop.CLOSED,
        throughput=row.of("Msg/sec"),
        response_time=mean,
        percentiles=dict(zip(_PERCENTS, (v * _US for v in row.tail[1:-1]), strict=False)),
        samples=row.of("#repetitions"),
        more=filled(
            {
                "message_size_bytes": size,
                "bandwidth_bytes_s": row.of("Mbytes/sec", scale=megabyte),
                "response_time_min_s": _edge(row, 0, "t_min[usec]"),
                "response_time_max_s": _edge(row, -1, "t_max[usec]"),
            }
        ),
        name=", ".join(filter(None, words)),
        notes=(_HALF,) * table.test.endswith("PingPong"),
    )


def _edge(row: _Row, place: int, title: str) -> float | None:
    """The smallest or largest time: of one message if the tool prints it, else of a process."""
    return row.tail[place] * _US if row.tail else row.of(title, scale=_US)


def _megabyte(rows: Sequence[_Row]) -> float:
    """Bytes in the table's Mbytes: 2**20 in old versions, which size divided by time shows."""
    for row in sorted(rows, key=lambda row: -(row.of("#bytes") or 0.0)):
        size, rate = row.of("#bytes"), row.of("Mbytes/sec")
        time = row.of("t_max[usec]", "t[usec]", scale=_US)
        if size and rate and time and min(size, rate, time) > 0:
            megabyte = size / time / rate
            return min((_MB, _MIB), key=lambda unit: _miss(megabyte, unit))
    return _MB


def _miss(computed: float, unit: float) -> float:
    """The error of a unit, whether one, two or four messages travelled at a time."""
    return min(abs(math.log(computed * several / unit)) for several in (1, 2, 4))


IMB = tool_reader(
    "Intel MPI Benchmarks",
    _is_imb,
    _points,
    "one point per message size and group of processes: time with percentiles, bandwidth",
)
"""Reads the output of IMB-MPI1 and its siblings."""
