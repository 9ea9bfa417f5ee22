"""The single requests of vegeta, as ``vegeta encode`` writes them: CSV, or lines of JSON."""

import csv
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Any

from headway.errors import MeasurementError, quoted
from headway.models.measured.points import Loop, Point
from headway.models.measured.reader import log_reader
from headway.models.measured.tools.kit.refusals import broken
from headway.models.measured.tools.kit.requests import Requests
from headway.models.measured.tools.kit.text import placed
from headway.models.measured.window import RunWindow

_ROW = re.compile(r"\d{19},[^,\s]+,[^,\s]+,[^,\s]+,[^,\s]+,", re.ASCII)
_WHOLE = re.compile(r"\d{1,19}", re.ASCII)
_STATUS = range(1000)
_NS = 1e-9  # s
_LEAST = 6  # columns up to the error
_GOOD = range(100, 400)
_SENT = "its offered rate is the rate at which it sent"

_Request = tuple[int, int, bool]
"""When a request was sent [ns], how long it took [ns], and whether it succeeded."""


def _of_csv(lines: Iterable[str], source: str, window: RunWindow) -> list[Point]:
    return _point(_rows(lines, source), source, window)


def _rows(lines: Iterable[str], source: str) -> Iterator[_Request]:
    """Requests from rows of time stamp, status, latency, bytes out and in, error, body ..."""
    rows = csv.reader(lines, strict=True)
    width = 0
    try:
        for row in rows:
            if row:
                place, width = f"{source}:{rows.line_num}", width or len(row)
                if len(row) != width or width < _LEAST:
                    raise broken(place, f"{len(row)} cells, where rows have {width or _LEAST}")
                stamp, code, latency = (_whole(cell, place) for cell in row[:3])
                _check(code, place)
                yield stamp, latency, code in _GOOD and not row[5]
    except csv.Error as error:
        msg = f"{source}:{rows.line_num}: this row cannot be read ({error}); "
        raise MeasurementError(msg + "run vegeta attack with -max-body=0") from None


def _whole(text: str, place: str) -> int:
    if not _WHOLE.fullmatch(text):
        msg = f"{place}: {quoted(text)} is neither whole nanoseconds nor a status"
        raise MeasurementError(msg)
    return int(text)


def _check(code: int, place: str) -> None:
    if code not in _STATUS:
        msg = f"{place}: {code} is not a status of HTTP, nor 0 for no answer"
        raise MeasurementError(msg)


def _of_lines(lines: Iterable[str], source: str, window: RunWindow) -> list[Point]:
    return _point(_objects(lines, source), source, window)


def _objects(lines: Iterable[str], source: str) -> Iterator[_Request]:
    for place, line in placed(lines, source):
        if line.strip():
            try:
                cells = json.loads(line)
                sent = datetime.fromisoformat(cells["timestamp"])
                code, latency = _integer(cells["code"]), _integer(cells["latency"])
            except (ValueError, TypeError, KeyError, RecursionError):
                what = "no JSON with a timestamp, and a code and a latency that are whole numbers"
                raise broken(place, what) from None
            _check(code, place)
            yield round(sent.timestamp() * 1e9), latency, code in _GOOD and not cells.get("error")


def _integer(value: Any) -> int:
    """A whole number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError
    return value


def _point(rows: Iterable[_Request], source: str, window: RunWindow) -> list[Point]:
    """The point of an open test: it sent at its rate whatever the answers."""
    requests, first = Requests(_NS, window), None
    for stamp, latency, good in rows:
        first = stamp if first is None else first
        requests.add(stamp - first, latency, good)
    if requests.is_empty:
        msg = f"{source}: this log of vegeta has no request"
        raise MeasurementError(msg)
    point = requests.point("vegeta", source)
    sending = requests.sending
    gaps = sending.good + requests.failed - 1
    sent = (sending.sent - sending.first) * _NS
    return [
        replace(
            point,
            loop=Loop.OPEN,
            offered_rate=gaps / sent if sent > 0 else None,
            notes=(*point.notes, _SENT),
        )
    ]


VEGETA_CSV = log_reader(
    "vegeta (CSV)",
    _ROW.match,
    _of_csv,
    "one request per row: when it was sent, its status and time",
)
"""Reads what ``vegeta encode -to csv`` writes."""

VEGETA_LINES = log_reader(
    "vegeta (JSON lines)",
    lambda text: text.startswith('{"attack":') and '"latency":' in text[:1000],
    _of_lines,
    "one request per line: when it was sent, its status and time",
)
"""Reads what ``vegeta encode`` writes."""
