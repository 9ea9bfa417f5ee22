"""TechEmpower's results.json: what wrk measured of each framework, in each test."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from headway.models.measured.measurements import Measurements
from headway.models.measured.points import LONGEST, Loop, Point, measurements_of, placed_points
from headway.models.measured.reader import Reader
from headway.models.measured.tools.http.answers import answered
from headway.models.measured.tools.kit.documents import amount, at, document, needed, under
from headway.models.measured.tools.kit.numbers import filled, seconds
from headway.models.measured.tools.kit.refusals import broken, nothing
from headway.models.measured.tools.kit.text import recognised_by
from headway.numerals import digits
from headway.records import dataclass

_LEVELS = {
    "json": "concurrencyLevels",
    "db": "concurrencyLevels",
    "fortune": "concurrencyLevels",
    "plaintext": "pipelineConcurrencyLevels",
    "query": "queryIntervals",
    "update": "queryIntervals",
    "cached_query": "cachedQueryIntervals",
    "cached-query": "cachedQueryIntervals",
}
"""Key of each test's list of levels; other data are not tests."""

_CLIENTS = "concurrencyLevels"
_PIPELINED = 16.0  # requests outstanding per connection in the test of plain text
_LOST = ("connect", "read", "write", "timeout")
_BAD = "5xx"
_APART = 3.0  # largest difference of two clocks in whole seconds from the length given to wrk [s]

_OF_WRK = (
    "times are wrk's, which adds some that it did not measure to correct for coordinated omission"
)
_DEEP = "each connection has 16 requests outstanding"


@dataclass(frozen=True)
class _Run:
    """One run of wrk: its results, and what it measured.

    Parameters
    ----------
    cells
        The numbers of the run.
    name
        The test, with its number of queries if that varies, and the framework.
    population
        Number of requests outstanding.
    place
        Its place in the file.
    """

    cells: Mapping[str, Any]
    name: str
    population: float
    place: str


def _points(text: str, source: str) -> list[Point]:
    """One point per run that has requests: at levels of concurrency, or of queries."""
    report = document(text, source)
    length = needed(report, "duration", source=source)
    if not length:
        raise broken(source, "its duration is 0")
    points = [
        _point(run, length) for run in _runs(report, source) if run.cells.get("totalRequests")
    ]
    if not points:
        raise nothing(source, "no request")
    return points


def _runs(report: Mapping[str, Any], source: str) -> Iterator[_Run]:
    most = max(_numbers(report, _CLIENTS, source))
    tests = under(at(report, "rawData", source=source))
    for test in (name for name in _LEVELS if under(tests, name)):
        title, frameworks = _LEVELS[test], under(tests, test)
        levels = _numbers(report, title, source)
        deep = _PIPELINED if test == "plaintext" else 1.0
        is_clients = "oncurrency" in title
        for framework, entries in frameworks.items():
            where = f"{source}: rawData.{test}.{framework}"
            if not isinstance(entries, list) or len(entries) > len(levels):
                raise broken(where, f"it is not a list of at most {len(levels)} runs")
            for k, (level, cells) in enumerate(zip(levels, entries, strict=False)):
                place = f"{where}[{k}]"
                if not isinstance(cells, Mapping):
                    raise broken(place, "it is not an object")
                name = (
                    f"{test} {framework}" if is_clients else f"{test} {digits(level)} {framework}"
                )
                yield _Run(cells, name, deep * (level if is_clients else most), place)


def _numbers(report: Mapping[str, Any], title: str, source: str) -> list[float]:
    """A list of numbers, such as levels of concurrency."""
    cells = at(report, title, source=source)
    if not isinstance(cells, list) or not cells:
        where = f"{source}: {title}"
        raise broken(where, "it is not a list of numbers")
    return [needed({title: cell}, title, source=source) for cell in cells]


def _point(run: _Run, length: float) -> Point:
    cells, place = run.cells, run.place
    total = needed(cells, "totalRequests", source=place)
    _check_length(cells, length, place)
    lost = sum(amount(cells, name, source=place) or 0.0 for name in _LOST)
    bad = amount(cells, _BAD, source=place) or 0.0
    return Point(
        "TechEmpower",
        Loop.CLOSED,
        population=run.population,
        throughput=answered(total / length, bad, total),
        response_time=_time(cells, "latencyAvg", place),
        errors=lost + bad,
        samples=total,
        duration=length,
        with_failures=bad > 0,
        more=filled({LONGEST: _time(cells, "latencyMax", place)}),
        name=run.name,
        notes=(_OF_WRK, *((_DEEP,) if run.name.startswith("plaintext ") else ())),
    )


def _time(cells: Mapping[str, Any], name: str, place: str) -> float | None:
    """A time as wrk prints it, such as ``1.05ms`` [s]; None if it is missing."""
    cell = cells.get(name)
    return None if cell is None else seconds(str(cell), f"{place}.{name}")


def _check_length(cells: Mapping[str, Any], length: float, place: str) -> None:
    """Refuse a run whose start and end do not agree with its length."""
    start, end = (amount(cells, name, source=place) for name in ("startTime", "endTime"))
    if start is not None and end is not None and abs(end - start - length) > _APART:
        what = f"it took {end - start:.15g} s from start to end, not {length:.15g} s"
        raise broken(place, what)


def _read(text: str, source: str) -> Measurements:
    """One row per run; the column of systems divides them into curves."""
    points = placed_points(_points, text, source)
    table = measurements_of(points, source)
    return replace(table, labels={"system": tuple(point.name for point in points)})


TECHEMPOWER = Reader(
    "TechEmpower",
    recognised_by('"concurrencyLevels"', '"queryIntervals"'),
    _read,
    contents="a row per test, framework and concurrency: connections, requests/s, mean; take one "
    "system with --where",
)
"""Reads TechEmpower's results.json."""
