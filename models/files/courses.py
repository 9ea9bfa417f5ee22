"""Days as files give them: rates by time, counts by time, and the times of requests."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time
from math import inf, isfinite
from pathlib import Path

import numpy as np

from headway.errors import MeasurementError, quoted
from headway.kinds import FloatArray, number_of
from headway.models.files.intake import is_given, read_text
from headway.models.files.separated import check_cells, header_and_rows
from headway.models.language.titles import plain_title, split_header
from headway.models.language.units import unit
from headway.numerals import digits
from headway.queueing.flows.courses import RateTable
from headway.records import dataclass

LARGEST = 64_000_000
"""Most bytes: a million interarrival times, each with a dozen other columns."""

MOST_RATES = 100_000
"""Most rates of a day: one for each second, and some more."""

_EVERY = {
    **dict.fromkeys(("week", "weeks"), 604800.0),
    **dict.fromkeys(("day", "days", "d"), 86400.0),
    **dict.fromkeys(("hour", "hours", "hr", "h"), 3600.0),
    **dict.fromkeys(("minute", "minutes", "mins", "min"), 60.0),
    **dict.fromkeys(("second", "seconds", "secs", "sec", "s"), 1.0),
}
"""Seconds in each unit of time, by the names that columns use."""

MOMENTS = frozenset({
    "time", "t", "start", "from", "timestamp", "ts", "date", "datetime", "clock", "at", "arrival",
    "arrived", "arrival_time", "arrivals", "sent", "when", "epoch", "elapsed", *_EVERY,
})  # fmt: skip
"""Titles of points in time."""

ENDS = frozenset({"end", "to", "until", "stop", "finish"})
"""Titles of the ends of periods, beside those of their starts."""

EXAMPLE = "time_s,rate_per_s"
"""A header of a day, as refusals show it."""

_PARTS = frozenset({"date", "time", "clock", *_EVERY})
"""Titles of what may be a part of a point in time."""

COUNTS = frozenset({"count", "counts", "requests", "arrivals", "hits", "calls", "queries", "jobs"})
"""Titles of the number of arrivals from a row's time to the next row's."""

OF_MEAN = "of_mean"
"""Title of rates that are multiples of the mean, which a model states."""

_CLOCK = re.compile(r"\d{1,2}:\d\d(:\d\d(\.\d+)?)?")
_LOCAL = re.compile(r"\s*\d{4}-\d\d-\d\d[T ][\d:.,]*\s*")
_CHANGED = "; where clocks change, give each time its zone, as in 2026-10-25T02:00:00+01:00"
"""How to mend points in time without a zone on a day of 23 or 25 hours."""

_ZONED = re.compile(r"\s*\d{4}-.*[+-](?!00(:?00)?\s*$)\d\d(:?\d\d)?\s*")
_OF_UNKNOWN = re.compile(r"\bper\b|_per_|/")
_REGULAR = 0.8
"""Share of steps of equal length above which a longer one is a gap. Chosen."""


@dataclass(frozen=True)
class TimedRates:
    r"""Rates by time, as a table gives them.

    Parameters
    ----------
    starts
        When each rate begins [s], in the table's own time.
    rates
        The rate from then on [1/s].
    end
        When the last rate ends [s].
    relative
        Whether rates are multiples of a mean.

    Examples
    --------
    >>> day = rates_of_text("hour,rate_per_s\n8,20\n9,50\n", "day.csv")
    >>> day.starts, day.end, day.table.mean
    ((28800.0, 32400.0), 36000.0, 35.0)
    """

    starts: tuple[float, ...]
    rates: tuple[float, ...]
    end: float
    relative: bool = False

    @property
    def table(self) -> RateTable:
        """The same rates as a table that starts at its first time."""
        first = self.starts[0]
        starts = tuple(start - first for start in self.starts)
        return RateTable(starts, self.rates, self.end - first)


def rates_of_file(path: Path) -> TimedRates:
    """Rates by time of a CSV file.

    Raises
    ------
    MeasurementError
        As for `rates_of_text`, and for a file that is missing or too large.
    """
    if is_given(path):
        msg = f"{path}: rates must be a file beside the model, not a pipe"
        raise MeasurementError(msg)
    found = rates_of_text(read_text(path, LARGEST), str(path))
    if found.relative:
        msg = f"{path}: has multiples of a mean; a model needs rates, such as rate_per_s"
        raise MeasurementError(msg)
    return found


def rates_of_text(text: str, source: str) -> TimedRates:
    r"""Rates by time of a table with a column of times, and a column of rates or of counts.

    Times are numbers in the unit of their title or seconds, points in time in ISO 8601, or times of
    day such as 08:30. Each rate holds from its time to the next; the last one for as long as the
    one before, or until its end where a column of `ENDS` has one for each. Counts are those of the
    requests that arrived in that time.

    Raises
    ------
    MeasurementError
        For a table without these columns, times that go backwards or leave a gap, and rates that
        are negative or not numbers, with the line.

    Examples
    --------
    >>> rates_of_text("minute,requests\n0,120\n1,600\n", "day.csv").rates
    (2.0, 10.0)
    """
    header, rows = header_and_rows(text, source, EXAMPLE)
    check_cells(header, rows, source, EXAMPLE)
    when = moment_column(header)
    if when is None and len(header) == 2:
        when = 0
    what = _amount_column(header, when, source)
    if when is None or what is None:
        msg = (
            f"{source}: has no columns of times and rates; name them time_s and rate_per_s, or "
            "requests for counts"
        )
        raise MeasurementError(msg)
    _check_whole(header, source)
    lines = [line for line, _ in rows]
    starts = moments(header[when], [row[when] for _, row in rows], lines, source)
    ends = _ends(header, when, rows, source)
    cells = zip([row[what] for _, row in rows], lines, strict=True)
    amounts = np.array([_amount(cell, f"{source}:{line}") for cell, line in cells])
    is_local = any(_LOCAL.fullmatch(row[when]) for _, row in rows)
    return timed(starts, amounts, header[what], lines, source, ends, _CHANGED if is_local else "")


def timed(
    starts: FloatArray,
    amounts: FloatArray,
    title: str,
    lines: Sequence[int],
    source: str,
    ends: FloatArray | None = None,
    hint: str = "",
) -> TimedRates:
    """Rates by time from a column of rates or of counts, whose times increase without a gap."""
    if len(starts) < 2:
        msg = f"{source}: has one row; a rate that changes needs two or more"
        raise MeasurementError(msg)
    if len(starts) > MOST_RATES:
        msg = (
            f"{source}: {len(starts):,} rows are more than the limit of {MOST_RATES:,}; average "
            "them first"
        )
        raise MeasurementError(msg)
    steps = np.diff(starts)
    _check_order(steps, lines, source, hint)
    if ends is None:
        _check_gaps(steps, lines, source, hint)
        end = float(starts[-1] + steps[-1])
    else:
        _check_ends(starts, ends, lines, source)
        end = float(ends[-1])
    each = np.append(steps, end - starts[-1])
    name, of = split_header(title)
    if of is None and _OF_UNKNOWN.search(name):
        msg = (
            f"{source}: {quoted(title)} has a unit that headway does not know; give rate_per_s, "
            "rate_per_min or rate_per_hour"
        )
        raise MeasurementError(msg)
    counted = (of is None or of.dimension == unit("op").dimension) and plain_title(name) in COUNTS
    scale = 1 / each if counted else (of.scale if of is not None else 1.0)
    if not amounts.any():
        msg = f"{source}: its rates are all zero, so nothing arrives"
        raise MeasurementError(msg)
    rates = amounts * scale
    relative = title.strip() == OF_MEAN
    return TimedRates(tuple(starts.tolist()), tuple(rates.tolist()), end, relative)


def _ends(
    header: Sequence[str], when: int, rows: Sequence[tuple[int, Sequence[str]]], source: str
) -> FloatArray | None:
    """Ends of the periods [s], in the unit of their own title or of the starts'; None without."""
    names = _plain(header)
    at = next((k for k, name in enumerate(names) if name in ENDS and k != when), None)
    if at is None:
        return None
    title = header[when] if split_header(header[at])[1] is None else header[at]
    return moments(title, [row[at] for _, row in rows], [line for line, _ in rows], source)


def _check_ends(starts: FloatArray, ends: FloatArray, lines: Sequence[int], source: str) -> None:
    """Refuse periods that end before they start, or elsewhere than where the next one starts."""
    empty = np.flatnonzero(ends <= starts)
    if len(empty):
        msg = f"{source}:{lines[empty[0]]}: the period ends no later than it starts; mend its end"
        raise MeasurementError(msg)
    off = starts[1:] - ends[:-1]
    apart = np.flatnonzero(np.abs(off) > 1e-6 * (ends - starts)[:-1])
    if len(apart):
        at = apart[0]
        what = "a gap: starts {} s after" if off[at] > 0 else "an overlap: starts {} s before"
        msg = (
            f"{source}:{lines[at + 1]}: {what.format(digits(abs(off[at])))} the row before ends; "
            "let each period end where the next one starts"
        )
        raise MeasurementError(msg)


def _check_order(steps: FloatArray, lines: Sequence[int], source: str, hint: str) -> None:
    back = np.flatnonzero(steps <= 0)
    if len(back):
        what = "goes backwards" if steps[back[0]] < 0 else "is the same"
        msg = (
            f"{source}:{lines[back[0] + 1]}: the time {what} as in the row before; sort the rows, "
            f"and give each time once{hint}"
        ).replace("backwards as in", "backwards from")
        raise MeasurementError(msg)


def _check_gaps(steps: FloatArray, lines: Sequence[int], source: str, hint: str) -> None:
    usual = float(np.median(steps))
    regular = np.abs(steps - usual) < 1e-6 * usual
    gap = np.flatnonzero(steps > 1.5 * usual)
    if len(gap) and len(steps) >= 4 and regular.mean() >= _REGULAR:
        msg = (
            f"{source}:{lines[gap[0] + 1]}: a gap: {digits(steps[gap[0]])} s after the row before, "
            f"where rows come every {digits(usual)} s; fill it in{hint}"
        )
        raise MeasurementError(msg)


def moment_column(header: Sequence[str]) -> int | None:
    """The first column of points in time; None if there is none."""
    return next((k for k, name in enumerate(_plain(header)) if name in MOMENTS), None)


def _plain(header: Sequence[str]) -> list[str]:
    return [plain_title(split_header(title)[0]) for title in header]


def _check_whole(header: Sequence[str], source: str) -> None:
    """Refuse points in time of which each column has a part, as a date and an hour."""
    parts = [title for title, name in zip(header, _plain(header), strict=True) if name in _PARTS]
    if len(parts) > 1:
        msg = (
            f"{source}: {_names(parts)} are all times; give one column of them, such as "
            "2026-11-25T08:30:00"
        )
        raise MeasurementError(msg)


def _amount_column(header: Sequence[str], when: int | None, source: str) -> int | None:
    """The only column of rates by its unit; else the only one by its name, or of counts.

    Raises
    ------
    MeasurementError
        Where several could be meant.
    """
    read = [(k, *split_header(title)) for k, title in enumerate(header) if k != when]
    units = {k: of.dimension for k, _, of in read if of is not None}
    of_time, of_jobs = (unit(text).dimension for text in ("1/s", "op/s"))
    sure = [
        k
        for k, name, _ in read
        if name == OF_MEAN
        or units.get(k) == of_jobs
        or (units.get(k) == of_time and "rate" in name)
    ]
    likely = [
        k
        for k, name, _ in read
        if (k not in units and "rate" in name) or plain_title(name) in COUNTS
    ]
    found = sure or likely
    if len(found) > 1:
        msg = (
            f"{source}: {_names([header[k] for k in found])} could each be the load; leave one, or "
            "give it alone the unit of a rate, as in rate_per_s"
        )
        raise MeasurementError(msg)
    return next(iter(found), None)


def _names(titles: Sequence[str]) -> str:
    *most, last = map(quoted, titles)
    return f"{', '.join(most)} and {last}"


def _amount(cell: str, where: str) -> float:
    value = number_of(cell)
    if value is None or not 0 <= value < inf:
        what = "is empty: a gap" if not cell.strip() else f"is {quoted(cell)}"
        msg = f"{where}: the rate {what}; it must be a number, 0 or more"
        raise MeasurementError(msg)
    return value


def moments(title: str, cells: Sequence[str], lines: Sequence[int], source: str) -> FloatArray:
    """Points in time of a column [s]: numbers in the unit of its title, ISO 8601, or times of day.

    Raises
    ------
    MeasurementError
        For any other cell, with its line.
    """
    name, of = split_header(title)
    plain = plain_title(name)
    seconds = _EVERY.get(plain, 1.0)
    if of is not None and of.dimension == unit("s").dimension:
        seconds = of.scale
    elif plain not in MOMENTS and any(number_of(cell) is not None for cell in cells):
        msg = f"{source}: {quoted(title)} has no unit of time; name it time_s, minute or hour"
        raise MeasurementError(msg)
    if of is None and plain not in _EVERY:
        seconds /= _ticks([value for cell in cells if (value := number_of(cell)) is not None])
    _check_zones(cells, lines, source)
    return np.array(
        [_moment(c, seconds, f"{source}:{n}") for c, n in zip(cells, lines, strict=True)]
    )


def _ticks(times: Sequence[float]) -> float:
    """Ticks per second of times without a unit: those since 1970 tell by their size.

    Examples
    --------
    >>> [_ticks([1.7e9 * 1000**k]) for k in range(4)]
    [1.0, 1000.0, 1000000.0, 1000000000.0]
    """
    usual = float(np.median(times)) if times else 0.0
    return next((10.0**k for k in (9, 6, 3) if usual > 1e8 * 10.0**k), 1.0)


def has_zone(cell: str) -> bool:
    """Whether a point in time is in another zone than UTC.

    Examples
    --------
    >>> [has_zone(f"2026-11-25T08:30:00{zone}") for zone in ("", "Z", "+00:00", "+02:00")]
    [False, False, False, True]
    """
    return _ZONED.fullmatch(cell) is not None


def _check_zones(cells: Sequence[str], lines: Sequence[int], source: str) -> None:
    """Refuse points in time without a time zone, which are in UTC, among those of another zone."""
    local = [k for k, cell in enumerate(cells) if _LOCAL.fullmatch(cell)]
    if local and len(local) < len(cells) and any(map(has_zone, cells)):
        where, what = f"{source}:{lines[local[0]]}", quoted(cells[local[0]])
        msg = f"{where}: {what} has no time zone, and others have; give each its own"
        raise MeasurementError(msg)


def _moment(cell: str, seconds: float, where: str) -> float:
    value = number_of(cell)
    if value is not None and isfinite(value):
        return seconds * value
    text = cell.strip()
    try:
        if _CLOCK.fullmatch(text):
            at = time.fromisoformat(text.zfill(5) if text.count(":") == 1 else text.zfill(8))
            return at.hour * 3600 + at.minute * 60 + at.second + at.microsecond / 1e6
        point = datetime.fromisoformat(text)
    except ValueError:
        msg = f"{where}: {quoted(cell)} is not a time; write seconds, 08:30, or 2026-11-25T08:30:00"
        raise MeasurementError(msg) from None
    return (point if point.tzinfo else point.replace(tzinfo=UTC)).timestamp()
