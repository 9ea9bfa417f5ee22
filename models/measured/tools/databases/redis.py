"""redis-benchmark since version 6.2, reports or CSV: one test after another."""

import re
from collections.abc import Mapping
from itertools import dropwhile, islice

from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.numbers import cell, filled
from headway.models.measured.tools.kit.refusals import nothing
from headway.models.measured.tools.kit.text import HEAD, ToolText, by_title, cells_of, runs

_HEADER = '"test","rps","avg_latency_ms"'
_ENDING = "_latency_ms"
_PROGRESS = r".*: rps=\S+ \(overall: "
_TITLE = r"====== .* ======\s+\d+ requests completed in "
# progress reports overwrite each other
_REPORT = re.compile(rf"(?:^|[\r\n])[ \t]*(?:{_PROGRESS}|{_TITLE})")
_SUMMARY = r"^\s*latency summary \(msec\):\s+(avg .*\S)\s*\n\s*(\S.*\S)\s*$"
_MS = 1e-3
_UNTOLD = (
    "neither clients (-c) nor pipelining (-P) are printed: throughput times mean shows how many "
    "requests were outstanding"
)
_PIPELINED = (
    "pipelining (-P) is not printed: with it, each client has that many requests outstanding"
)


def _is_redis(text: str) -> bool:
    table = text.lstrip().startswith(_HEADER) or f"\n{_HEADER}" in text[:2000]
    return table or bool(_REPORT.search(text[:HEAD]))


def _points(text: str, source: str) -> list[Point]:
    """Tests in the order of the file."""
    if _HEADER in text:
        return _of_table(ToolText(text, source))
    return [_of_report(report) for report in runs(text, source, "====== ")]


def _of_report(report: ToolText) -> Point:
    [test] = report.needs(r"====== (.*) ======", "====== GET ======").groups
    clients = report.needed(r"^\s*CELL parallel clients", "parallel clients")
    sent = report.needs(r"\s*(\d+) requests completed in (\S+) seconds", "9 requests completed in")
    rate = report.needed(r"^\s*throughput summary: CELL requests", "throughput summary")
    match = report.find(_SUMMARY)
    if match is None:
        raise report.missing("latency summary")
    place = report.place(match)
    row = by_title(match[1].split(), match[2].split(), place)
    times = {title: cell(text, f"{place}: {title}") for title, text in row.items()}
    if not rate:
        raise nothing(sent.place, f"no request of {test!r}")
    return _point(
        test, rate, times, _PIPELINED, clients=clients,
        samples=sent.number(), duration=sent.seconds("s", group=1),
    )  # fmt: skip


def _of_table(text: ToolText) -> list[Point]:
    lines = dropwhile(lambda placed_line: not placed_line[1].startswith(_HEADER), text)
    titles = [title for place, line in islice(lines, 1) for title in cells_of(line, place)]
    points = [_of_row(titles, line, place) for place, line in lines if line.strip()]
    if not points:
        raise text.missing("test after the header")
    return points


def _of_row(titles: list[str], line: str, place: str) -> Point:
    (_, test), *rest = by_title(titles, cells_of(line, place), place).items()
    cells = dict(rest)
    rate = cell(cells.get("rps", ""), f"{place}: rps")
    if not rate:
        raise nothing(place, f"no request of {test!r}")
    times = {
        title.removesuffix(_ENDING): cell(text, f"{place}: {title}")
        for title, text in cells.items()
        if title.isascii() and title.endswith(_ENDING)
    }
    return _point(test, rate, times, _UNTOLD)


def _point(
    test: str,
    rate: float,
    times: Mapping[str, float | None],
    note: str,
    *,
    clients: float | None = None,
    samples: float | None = None,
    duration: float | None = None,
) -> Point:
    """The point of a test, from its rate and its times by name [ms]."""
    seconds = {name: value * _MS for name, value in filled(times).items()}
    return Point(
        "redis-benchmark",
        Loop.CLOSED,
        population=clients,
        throughput=rate,
        response_time=seconds.get("avg"),
        percentiles={float(n[1:]): v for n, v in seconds.items() if n[1:].isdigit()},
        samples=samples,
        duration=duration,
        more=filled({f"response_time_{n}_s": seconds.get(n) for n in ("min", "max")}),
        name=test,
        notes=(note,),
    )


REDIS = tool_reader(
    "redis-benchmark",
    _is_redis,
    _points,
    "one point per test: requests per second, mean and percentiles of latency; "
    "clients, except in CSV",
)
"""Reads the reports and the CSV of redis-benchmark."""
