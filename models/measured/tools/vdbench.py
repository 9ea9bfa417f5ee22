"""vdbench's ``flatfile.html``: columns under titles, one line per interval."""

import re
from collections.abc import Mapping, Sequence

from headway.errors import MeasurementError
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import number
from headway.models.measured.tools.kit.text import placed

_HEADER = re.compile(r"^[ \t]*tod[ \t]+(\S+[ \t]+)?Run[ \t]+Interval[ \t]+\S", re.MULTILINE)
_LOOKED_AT = 20_000  # characters: its explanations come first
_AVERAGE = "avg_"
_AS_MUCH_AS_GOES = 999_900.0  # vdbench writes iorate=max and curve as 999988 and 999977
_MILLI, _PERCENT, _MIB = 1e-3, 1e-2, 2.0**20

_THREADS = "threads are counted per storage definition"
_RATED = "vdbench keeps its rate while a thread is free, and latency starts when it sends"

Row = Mapping[str, str]


def _is_vdbench(text: str) -> object:
    return _HEADER.search(text, 0, _LOOKED_AT)


def _points(text: str, source: str) -> Sequence[Point]:
    points = [_point(row, place) for row, place in _averages(text, source)]
    if not points:
        msg = f"{source}: no vdbench run finished: the line of averages ({_AVERAGE}) is missing"
        raise MeasurementError(msg)
    return points


def _averages(text: str, source: str) -> list[tuple[Row, str]]:
    """Lines of averages, one per run; they exclude the first interval."""
    titles: list[str] = []
    rows: list[tuple[Row, str]] = []
    for place, content in placed(text, source):
        cells = content.split()
        if _HEADER.match(content):
            titles = cells
        elif titles and any(cell.startswith(_AVERAGE) for cell in cells):
            if len(cells) != len(titles):
                msg = (
                    f"{place}: {len(cells)} cells under {len(titles)} titles; check that the file "
                    "is complete"
                )
                raise MeasurementError(msg)
            rows.append((dict(zip(titles, cells, strict=True)), place))
    return rows


def _point(row: Row, place: str) -> Point:
    def cell(title: str, scale: float = 1.0) -> float | None:
        text = row.get(title, "n/a")
        return None if text == "n/a" else number(text, f"{place}, {title}") * scale

    rate, requested = cell("rate"), cell("reqrate")
    if not rate:
        msg = f"{place}: vdbench finished no I/O in this run; run it again"
        raise MeasurementError(msg)
    offered = requested if requested and requested < _AS_MUCH_AS_GOES else None
    threads, busy, bandwidth = cell("threads"), cell("cpu_used", _PERCENT), cell("MB/sec", _MIB)
    return Point(
        "vdbench",
        Loop.OPEN if offered else Loop.CLOSED,
        offered_rate=offered,
        population=threads,
        throughput=rate,
        response_time=cell("resp", _MILLI),
        utilisation={} if busy is None else {"cpu": busy},
        more={} if bandwidth is None else {"bandwidth_bytes_s": bandwidth},
        name=row.get("Run", ""),
        notes=(*([_THREADS] if threads else []), *([_RATED] if offered else [])),
    )


VDBENCH = tool_reader(
    "vdbench",
    _is_vdbench,
    _points,
    "averages of each run in flatfile.html: requested and observed rate, mean, threads, "
    "bandwidth, CPU utilisation",
)
