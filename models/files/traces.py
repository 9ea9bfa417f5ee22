"""Arrivals of a model file that follow time: a measured trace, or rates that change."""

from itertools import pairwise
from pathlib import Path

import numpy as np

from headway.errors import HeadwayError, InvalidParameter, MeasurementError, nearest, quoted
from headway.kinds import FloatArray, number_of
from headway.models.files.building.places import KeyLines
from headway.models.files.building.schema import ArrivalEntry, ModelEntry
from headway.models.files.courses import LARGEST, MOMENTS, moments, rates_of_file
from headway.models.files.intake import is_given, read_text
from headway.models.files.separated import check_cells, header_and_rows
from headway.models.language.titles import plain_title, split_header
from headway.models.language.units import quantity, unit
from headway.numerals import digits
from headway.queueing.flows.courses import Course, RateTable, Trace

FEWEST = 2
"""Fewest interarrival times that have a variance."""

FEWEST_GROWING = 10
"""Length of a run of increasing interarrival times, which chance makes once in 3.6 million traces.
"""


def courses_of(entry: ModelEntry, place: KeyLines) -> dict[str, Course]:
    """Arrivals that follow time, by station: traces and rates of a model file.

    Raises
    ------
    ModelFileError
        For keys that do not go together, and for any error in a trace or a table of rates.
    """
    folder = Path(place.source).parent
    courses = {}
    for name, arrival in entry.arrivals.items():
        with place("arrivals", name):
            course = _course(arrival, folder)
            if course is not None:
                courses[name] = course
    return courses


def _course(entry: ArrivalEntry, folder: Path) -> Course | None:
    some = any(given is not None for given in (entry.rate, entry.scv, entry.batch))
    by_time = [word for word in ("trace", "rates") if getattr(entry, word) is not None]
    for key, word in (("column", "trace"), ("period", "rates")):
        if getattr(entry, key) is not None and word not in by_time:
            msg = f"{key} needs {word}; add {word}, or delete {key}"
            raise InvalidParameter(msg)
    if not by_time:
        if not some and not entry.clients:
            raise InvalidParameter("arrivals need rate, scv, batch, rates or trace; give one")
        return None
    if some or len(by_time) > 1:
        others = "trace and rates each set" if len(by_time) > 1 else f"{by_time[0]} sets"
        msg = f"{others} how jobs arrive, without rate, scv or batch; keep one of them"
        raise InvalidParameter(msg)
    return _traced(entry, folder) if entry.trace is not None else _rated(entry, folder)


def _traced(entry: ArrivalEntry, folder: Path) -> Trace:
    if isinstance(entry.trace, str):
        return of_trace(folder / entry.trace, entry.column or "")
    if not isinstance(entry.trace, list):
        raise InvalidParameter("trace must be a file, or a list of times between arrivals")
    if entry.column:
        raise InvalidParameter("column names one of a file; delete it beside a list of times")
    return Trace(tuple(quantity(gap, unit("s"), "trace") for gap in entry.trace))


def _rated(entry: ArrivalEntry, folder: Path) -> RateTable:
    period = None if entry.period is None else quantity(entry.period, unit("s"), "period")
    if isinstance(entry.rates, str):
        day = rates_of_file(folder / entry.rates).table
        return day if period is None else RateTable(day.starts, day.rates, period)
    if not isinstance(entry.rates, dict):
        raise InvalidParameter(
            'rates must be a file, or a table such as { "0 s" = 5, "1 min" = 9 }'
        )
    starts = tuple(quantity(_bare(at), unit("s"), f"rates: {at}") for at in entry.rates)
    rates = tuple(quantity(rate, unit("op/s"), "rates") for rate in entry.rates.values())
    if any(after <= before for before, after in pairwise(starts)):
        raise InvalidParameter("rates go backwards in time; write them in the order of their times")
    if period is None and len(starts) < 2:
        raise InvalidParameter("rates of one time need a period; add it, or give rate alone")
    return RateTable(starts, rates, period or 2 * starts[-1] - starts[-2])


def _bare(text: str) -> str | float:
    """A time without a unit, as a number."""
    value = number_of(text)
    return text if value is None else value


def of_trace(path: Path, column: str = "") -> Trace:
    """The interarrival times in a table, in order.

    Parameters
    ----------
    path
        A CSV with a header, one row per arrival.
    column
        Its column of interarrival times [s], or of points in time if its title says so
        (``timestamp``, ``time_ms``); in the unit at the end of its name, such as ``gap_ms``. By
        default the only column.

    Raises
    ------
    MeasurementError
        For a file that is missing, too large, or not a table; a column that does not exist; times
        that are not numbers, negative, too few, all zero, or always increasing, as points in time
        are; points in time that go backwards.
    """
    if is_given(path):
        msg = f"{path}: a trace must be a file beside the model, not a pipe"
        raise MeasurementError(msg)
    gaps = _gaps(read_text(path, LARGEST), str(path), column)
    if why := _no_gaps(gaps):
        msg = f"{path}: contains {why}"
        raise MeasurementError(msg)
    return Trace(tuple(gaps.tolist()))


def _no_gaps(gaps: FloatArray) -> str:
    """Why a column has no scv of interarrival times; empty if it has one."""
    if len(gaps) < FEWEST:
        return "only one time; an scv needs several times between arrivals"
    mean = float(gaps.mean())
    if not (0 < mean < np.inf and 1 / mean < np.inf):
        return (
            "times with a mean too close to zero; an scv needs several positive times "
            "between arrivals"
        )
    return ""


def _gaps(text: str, source: str, column: str) -> FloatArray:
    """One column of a table as interarrival times [s]."""
    header, rows = header_and_rows(text, source)
    check_cells(header, rows, source)
    name = column or header[0]
    if not column and len(header) > 1:
        msg = f"{source}: has {len(header)} columns; give column, such as {name}"
        raise MeasurementError(msg)
    if name not in header:
        msg = f"{source}: has no column {quoted(name)}{nearest(name, header)}"
        raise MeasurementError(msg)
    place, lines = header.index(name), [line for line, _ in rows]
    cells = [row[place] for _, row in rows]
    if plain_title(split_header(name)[0]) in MOMENTS:
        return _between(moments(name, cells, lines, source), lines, source)
    scale = _seconds(name)
    each = zip(cells, lines, strict=True)
    gaps = scale * np.array([_gap(cell, f"{source}:{line}") for cell, line in each])
    if len(gaps) >= FEWEST_GROWING and (np.diff(gaps) > 0).all():
        msg = (
            f"{source}: contains times that only grow, so they look like points in time; name "
            "the column time, or give the times between arrivals"
        )
        raise MeasurementError(msg)
    return gaps


def _between(points: FloatArray, lines: list[int], source: str) -> FloatArray:
    gaps = np.diff(points)
    back = np.flatnonzero(gaps < 0)
    if len(back):
        msg = (
            f"{source}:{lines[back[0] + 1]}: goes back in time by {digits(-gaps[back[0]])} s; "
            "sort the rows by time"
        )
        raise MeasurementError(msg)
    return gaps


def _gap(cell: str, where: str) -> float:
    value = number_of(cell)
    if value is None or not 0 <= value < np.inf:
        msg = f"{where}: {quoted(cell)} is not a time between arrivals; each must be 0 or more"
        raise MeasurementError(msg)
    return value


def _seconds(name: str) -> float:
    """Seconds in the unit at the end of a column's name; 1 if there is none."""
    try:
        seconds = unit(name.rpartition("_")[2]) if "_" in name else unit("s")
    except HeadwayError:
        return 1.0
    return seconds.scale if seconds.dimension == unit("s").dimension else 1.0
