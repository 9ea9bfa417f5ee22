"""The load of a day: a table of rates, a histogram, a log of requests, or a model's own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.files.courses import LARGEST, TimedRates, moment_column, moments, rates_of_text
from headway.models.files.intake import read_text
from headway.models.files.separated import check_cells, header_and_rows
from headway.numerals import digits

STEPS = (
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
    900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 604800,
)  # fmt: skip
"""Lengths of periods that people count in [s]."""

PERIODS = 24
"""Periods of a day at most, where nobody says how long they are."""

FEWEST_REQUESTS = 100
"""Requests for each rate of a log, on average: their number then varies by a tenth."""

MOST_RATES = 1440
"""Rates taken from a log at most: a day's minutes."""

LONGEST = 10 * 365 * 86400.0
"""Time that a log spans at most [s]: over more, its times are not all in one unit."""

_BRACKETED = re.compile(r"\[(\d\d/\w{3}/\d{4}(?::\d\d){3} [+-]\d{4})\]")


@dataclass(frozen=True)
class Day:
    """A load over time.

    Parameters
    ----------
    edges
        Where rates change [s], and the end.
    rates
        Between them [1/s].
    note
        How they were found; empty where they are as given.
    relative
        Whether rates are multiples of the model's own, its mean.
    """

    edges: tuple[float, ...]
    rates: tuple[float, ...]
    note: str = ""
    relative: bool = False

    @property
    def length(self) -> float:
        """From its start to its end [s]."""
        return self.edges[-1] - self.edges[0]


def nice_step(length: float, most: int) -> float:
    """The shortest step that people count in of which so many at most make a length [s].

    Examples
    --------
    >>> nice_step(86400, 24), nice_step(120, 24)
    (3600, 5)
    """
    return next((step for step in STEPS if length / step <= most), length)


def day_of_file(path: Path) -> Day:
    """Read the load of a day.

    Parameters
    ----------
    path
        A table of times and rates or counts; or of requests, a row each, with a column of times;
        or a log with times in brackets, as web servers write them.

    Raises
    ------
    MeasurementError
        For times that go backwards or leave a gap, rates that are negative, and other files.
    """
    return day_of_text(read_text(path, LARGEST), str(path))


def day_of_text(text: str, source: str) -> Day:
    r"""The load of a day in a text, as of a file.

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
        points = [datetime.strptime(each, form).timestamp() for each in bracketed]
        return _of_points(np.array(points), source)
    header, rows = header_and_rows(text, source)
    check_cells(header, rows, source)
    when = moment_column(header)
    try:
        return _of_rates(rates_of_text(text, source))
    except MeasurementError as error:
        if when is None or "no columns" not in str(error):
            raise
    lines = [line for line, _ in rows]
    return _of_points(moments(header[when], [row[when] for _, row in rows], lines, source), source)


def _of_rates(found: TimedRates) -> Day:
    return Day((*found.starts, found.end), found.rates, relative=found.relative)


SHIPPED = Path(__file__).parent.parent / "data" / "days"
"""Days that ship with headway, by the names of their files."""


def shipped_day(name: str) -> Day | None:
    """A day that ships with headway; None for another name.

    Examples
    --------
    >>> len(shipped_day("office").rates), shipped_day("holiday")
    (96, None)
    """
    path = SHIPPED / f"{name}.csv"
    return day_of_file(path) if name.isidentifier() and path.is_file() else None


def _ticks(time: float) -> float:
    """In how many parts of a second tools count a time since 1970, by its size.

    Examples
    --------
    >>> [_ticks(1.7e9 * 1000**k) for k in range(4)]
    [1.0, 1000.0, 1000000.0, 1000000000.0]
    """
    return next((10.0**k for k in (9, 6, 3) if time > 1e8 * 10.0**k), 1.0)


def _of_points(points: FloatArray, source: str) -> Day:
    """Rates of requests: counts over equal steps."""
    if len(points) < FEWEST_REQUESTS:
        msg = f"{source}: has {len(points)} requests, too few for a rate that follows time"
        raise MeasurementError(msg)
    ordered = np.sort(points / _ticks(float(np.median(points))))
    length = float(ordered[-1] - ordered[0])
    if length <= 0:
        msg = f"{source}: all requests have the same time"
        raise MeasurementError(msg)
    if length > LONGEST:
        msg = f"{source}: requests come over more than ten years; give all times in one unit"
        raise MeasurementError(msg)
    step = nice_step(length, max(1, min(MOST_RATES, len(points) // FEWEST_REQUESTS)))
    count = max(int(np.floor(length / step)), 1)
    edges = ordered[0] + step * np.arange(count + 1)
    counts, _ = np.histogram(ordered, edges)
    note = f"rates: {len(points):,} requests counted over {digits(step)} s each"
    return Day(tuple(edges.tolist()), tuple((counts / step).tolist()), note)


def merged(edges: Sequence[float], others: FloatArray) -> FloatArray:
    """All of the first, and of others what is more than a billionth of the whole from them."""
    own = np.asarray(edges)
    near = 1e-9 * (own[-1] - own[0])
    inside = others[(others > own[0] + near) & (others < own[-1] - near)]
    distances = np.abs(inside[:, None] - own[np.searchsorted(own, inside)[:, None] - [0, 1]])
    kept = inside[(distances > near).all(axis=1)] if len(inside) else inside
    return np.union1d(own, kept)
