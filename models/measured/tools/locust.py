"""Locust's CSV files: totals by name, and their history second by second."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from headway.errors import MeasurementError
from headway.models.measured.points import LONGEST, SHORTEST, Loop, Point
from headway.models.measured.reader import line_reader, tool_reader
from headway.models.measured.tools.kit.numbers import number
from headway.models.measured.tools.kit.text import begins
from headway.numerals import digits

_TOOL = "Locust"
_SHORTEST = 5.0  # s that the number of users must stay for a point of the history
_TOTAL = "Aggregated"
_NONE = ("", "N/A")
_FAILED_TOO = "times include failed requests"
_ROUNDED = "percentiles are in whole milliseconds, above 100 ms with two significant digits"

_Row = tuple[str, Mapping[str, str]]


def _stats(text: str, source: str) -> list[Point]:
    """The point of the row of totals."""
    for place, row in _rows(text.splitlines(), source):
        if row.get("Name") == _TOTAL:
            return [_total(row, place)]
    msg = f"{source}: the row {_TOTAL} is missing; use the complete file"
    raise MeasurementError(msg)


def _rows(lines: Iterable[str], source: str) -> Iterator[_Row]:
    """Rows with their places; refuses one that is too short or too long."""
    reader = csv.reader(lines)
    titles: list[str] = []
    try:
        for row in reader:
            place = f"{source}:{reader.line_num}"
            if titles and row:
                if len(row) != len(titles):
                    msg = f"{place}: this row has {len(row)} cells instead of {len(titles)}"
                    raise MeasurementError(msg)
                yield place, dict(zip(titles, row, strict=True))
            titles = titles or row
    except csv.Error as error:
        msg = f"{source}:{reader.line_num}: this row cannot be read ({error})"
        raise MeasurementError(msg) from None


def _cell(row: Mapping[str, str], title: str, place: str) -> float | None:
    if title not in row:
        msg = f"{place}: there is no column {title!r}; write the file with Locust 1 or later"
        raise MeasurementError(msg)
    return None if row[title] in _NONE else number(row[title], place)


def _needed(row: Mapping[str, str], title: str, place: str) -> float:
    value = _cell(row, title, place)
    if value is None or value < 0:
        msg = f"{place}: {title!r} is empty or negative; check the file"
        raise MeasurementError(msg)
    return value


def _percentiles(row: Mapping[str, str], place: str) -> dict[float, float]:
    """Percentiles of the columns such as ``99.9%``; 100% is the largest time, not a percentile."""
    cells = {title: _cell(row, title, place) for title in row if title.endswith("%")}
    named = {number(title[:-1], place): cell for title, cell in cells.items()}
    return {p: cell * 1e-3 for p, cell in named.items() if cell is not None and p < 100}


def _total(row: Mapping[str, str], place: str) -> Point:
    count, failed = (_needed(row, t, place) for t in ("Request Count", "Failure Count"))
    rate, failures = (_needed(row, t, place) for t in ("Requests/s", "Failures/s"))
    if count <= failed or rate <= 0:
        msg = f"{place}: none of {digits(count)} requests succeeded; omit it with --skip-bad"
        raise MeasurementError(msg)
    return Point(
        _TOOL,
        Loop.CLOSED,
        throughput=rate - failures,
        response_time=_needed(row, "Average Response Time", place) * 1e-3,
        percentiles=_percentiles(row, place),
        errors=failed,
        samples=count,
        duration=count / rate,
        with_failures=bool(failed),
        more={
            SHORTEST: _needed(row, "Min Response Time", place) * 1e-3,
            LONGEST: _needed(row, "Max Response Time", place) * 1e-3,
        },
        notes=(_ROUNDED, "totals include the spawning of users", *(_FAILED_TOO,) * bool(failed)),
    )


def _history(lines: Iterable[str], source: str) -> list[Point]:
    """One point per constant number of users, from the increase of the totals."""
    totals = (row for row in _rows(lines, source) if row[1].get("Name") == _TOTAL)
    stays = (_edges(stay) for _, stay in groupby(totals, lambda row: row[1].get("User Count")))
    points = [point for first, last in stays for point in _stay(first, last)]
    if not points:
        msg = f"{source}: no request succeeded while the number of users was constant for"
        msg = f"{msg} {digits(_SHORTEST)} s; read the _stats.csv beside it"
        raise MeasurementError(msg)
    return points


def _edges(stay: Iterator[_Row]) -> tuple[_Row, _Row]:
    """The first and last rows of a constant stretch; refuses a clock that goes back."""
    first = last = next(stay)
    if "Total Request Count" not in first[1]:
        msg = f"{first[0]}: there is no column 'Total Request Count'; use Locust 1 or later"
        raise MeasurementError(msg)
    for row in stay:
        if _needed(row[1], "Timestamp", row[0]) < _needed(last[1], "Timestamp", last[0]):
            msg = f"{row[0]}: the clock goes back from the row above; truncate the file there"
            raise MeasurementError(msg)
        last = row
    return first, last


def _stay(start: _Row, end: _Row) -> list[Point]:
    """The point of a constant stretch; None if it is short or no request succeeded."""
    (began, first), (ended, last) = start, end
    seconds = _needed(last, "Timestamp", ended) - _needed(first, "Timestamp", began)
    users = _needed(last, "User Count", ended)
    gained = {t: _needed(last, t, ended) - _needed(first, t, began) for t in _COUNTS}
    count, failed = (gained[title] for title in _COUNTS)
    if seconds < _SHORTEST or not users or not 0 <= failed < count:
        return []
    spent = [_needed(r, _COUNTS[0], p) * _needed(r, _MEAN, p) for p, r in (start, end)]
    return [
        Point(
            _TOOL,
            Loop.CLOSED,
            population=users,
            throughput=(count - failed) / seconds,
            response_time=max(spent[1] - spent[0], 0.0) / count * 1e-3,
            percentiles=_percentiles(last, ended) if seconds >= _WINDOW else {},
            errors=failed,
            samples=count,
            duration=seconds,
            with_failures=bool(failed),
            coarseness=1.0,  # percentiles of the last window
            notes=(_GAINED, *(_LAST,) * (seconds >= _WINDOW), *(_FAILED_TOO,) * bool(failed)),
        )
    ]


_COUNTS, _MEAN = ("Total Request Count", "Total Failure Count"), "Total Average Response Time"
_WINDOW = 12.0  # s: the windows of 10 s end up to 2 s before their row
_GAINED = "rate and mean come from what the totals gained while the number of users was constant"
_LAST = "percentiles are those of the last window of 10 s"

LOCUST = tool_reader(
    "Locust",
    begins("Type,Name,Request Count,Failure Count,"),
    _stats,
    "totals: rate, mean and percentiles of requests, failures",
)
"""Reads Locust's ``_stats.csv``."""

LOCUST_HISTORY = line_reader(
    "Locust (history)",
    begins("Timestamp,User Count,Type,Name,Requests/s,"),
    _history,
    "one point per constant number of users: users, rate, mean, failures",
)
"""Reads Locust's ``_stats_history.csv``."""
