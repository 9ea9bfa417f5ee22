"""The load of a day: from a table of rates, a histogram, a log of requests, or the model itself."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.files.courses import (
    EXAMPLE,
    LARGEST,
    has_zone,
    moment_column,
    moments,
    rates_of_text,
)
from headway.models.files.intake import read_text
from headway.models.files.separated import check_cells, header_and_rows
from headway.numerals import digits

STEPS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
    900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800,
)  # fmt: skip
"""Round lengths of a period, as people count time [s]."""

PERIODS = 24
"""Most periods of a day, if the user does not give their length."""

FEWEST_REQUESTS = 100
"""Mean number of requests behind each rate of a log: its standard error is then a tenth."""

MOST_RATES = 1440
"""Most rates taken from a log: the minutes of a day."""

IN_UTC = "times: in UTC, not in the zone of the file"
"""What is said of times that the file gives in another zone."""

LONGEST = 10 * 365 * 86400.0
"""Longest time that a log may span [s]: if it is longer, its times are not all in one unit."""

_BRACKETED = re.compile(r"\[(\d\d/\w{3}/\d{4}(?::\d\d){3} [+-]\d{4})\]")


@dataclass(frozen=True)
class Day:
    """A load over time.

    Parameters
    ----------
    edges
        Times at which the rate changes [s], and the end.
    rates
        The rate between consecutive edges [1/s].
    note
        How the rates were found; empty if they are given.
    relative
        Whether rates are multiples of the model's own rate, which is their mean.
    """

    edges: tuple[float, ...]
    rates: tuple[float, ...]
    note: str = ""
    relative: bool = False

    @property
    def length(self) -> float:
        """Time from start to end [s]."""
        return self.edges[-1] - self.edges[0]


def nice_step(length: float, most: int) -> float:
    """The shortest round step that divides a length into at most so many parts [s].

    Examples
    --------
    >>> nice_step(86400, 24), nice_step(120, 24), nice_step(1e-6, 24)
    (3600, 5, 1e-06)
    """
    return next((step for step in STEPS if 1 <= length / step <= most), length)


def day_of_file(path: Path) -> Day:
    """Read the load of a day.

    Parameters
    ----------
    path
        A table of times with rates or counts; a table of requests, a row each, with a column of
        times; or a log with times in brackets, as web servers write them.

    Raises
    ------
    MeasurementError
        For times that go backwards or leave a gap, negative rates, and files of another kind.
    """
    return day_of_text(read_text(path, LARGEST), str(path))


def day_of_text(text: str, source: str) -> Day:
    r"""Read the load of a day from the text of a file.

    Examples
    --------
    >>> day_of_text("time,rate\n0,5\n60,20\n", "day.csv").edges
    (0.0, 60.0, 120.0)
    >>> log = "timestamp,status\n" + "".join(f"{k / 10},200\n" for k in range(1001))
    >>> len(day_of_text(log, "log.csv").rates)
    10
    """
    bracketed = _BRACKETED.findall(text)
    if bracketed:
        form = "%d/%b/%Y:%H:%M:%S %z"
        stamps = [datetime.strptime(each, form).timestamp() for each in bracketed]
        away = any(not each.endswith("0000") for each in bracketed)
        return _noted(_of_points(np.array(stamps), source), away=away)
    header, rows = header_and_rows(text, source, EXAMPLE)
    check_cells(header, rows, source, EXAMPLE)
    when = moment_column(header)
    cells = [] if when is None else [row[when] for _, row in rows]
    away = any(map(has_zone, cells))
    try:
        found = rates_of_text(text, source)
    except MeasurementError as error:
        if when is None or "no columns" not in str(error):
            raise
    else:
        edges = (*found.starts, found.end)
        return _noted(Day(edges, found.rates, relative=found.relative), away=away)
    points = moments(header[when], cells, [line for line, _ in rows], source)
    return _noted(_of_points(points, source), away=away)


def _noted(day: Day, *, away: bool) -> Day:
    """The same day; its note says that times are in UTC if the file's are in another zone."""
    return replace(day, note="; ".join(filter(None, (day.note, IN_UTC)))) if away else day


SHIPPED = Path(__file__).parent.parent / "data" / "days"
"""Days that ship with headway, by file name."""


def shipped_day(name: str) -> Day | None:
    """A day that ships with headway; None for another name.

    Examples
    --------
    >>> len(shipped_day("office").rates), shipped_day("holiday")
    (96, None)
    """
    path = SHIPPED / f"{name}.csv"
    return day_of_file(path) if name.isidentifier() and path.is_file() else None


def _of_points(points: FloatArray, source: str) -> Day:
    """A day from the times of requests, counted over equal steps."""
    if len(points) < FEWEST_REQUESTS:
        msg = (
            f"{source}: has no column of rates, and as a log of requests too few for a rate that "
            f"follows time, {len(points)}; name rates rate_per_s, and counts requests"
        )
        raise MeasurementError(msg)
    ordered = np.sort(points)
    length = float(ordered[-1] - ordered[0])
    if length <= 0:
        msg = f"{source}: all requests have the same time"
        raise MeasurementError(msg)
    if length > LONGEST:
        msg = f"{source}: requests span more than ten years; give all times in one unit"
        raise MeasurementError(msg)
    step = nice_step(length, max(1, min(MOST_RATES, len(points) // FEWEST_REQUESTS)))
    count = max(int(np.floor(length / step)), 1)
    edges = ordered[0] + step * np.arange(count + 1)
    counts, _ = np.histogram(ordered, edges)
    note = f"rates: {len(points):,} requests counted over {digits(step)} s each"
    return Day(tuple(edges.tolist()), tuple((counts / step).tolist()), note)


def merged(edges: Sequence[float], others: FloatArray) -> FloatArray:
    """All edges, and those of the others that are over a billionth of the whole from any edge."""
    own = np.asarray(edges)
    near = 1e-9 * (own[-1] - own[0])
    inside = others[(others > own[0] + near) & (others < own[-1] - near)]
    distances = np.abs(inside[:, None] - own[np.searchsorted(own, inside)[:, None] - [0, 1]])
    kept = inside[(distances > near).all(axis=1)] if len(inside) else inside
    return np.union1d(own, kept)
