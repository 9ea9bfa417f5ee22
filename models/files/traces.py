"""Arrivals of a model file: a rate and how it varies, as told or as a measured trace has them."""

from pathlib import Path

import numpy as np

from headway.errors import HeadwayError, InvalidParameter, MeasurementError, nearest, quoted
from headway.kinds import FloatArray, number_of
from headway.models.files.building.places import KeyLines
from headway.models.files.building.schema import ArrivalEntry, ModelEntry
from headway.models.files.intake import is_given, read_text
from headway.models.files.separated import check_cells, header_and_rows
from headway.models.language.units import unit

LARGEST_TRACE = 64_000_000
"""Bytes: a million times between arrivals, each with a dozen other columns."""

FEWEST = 2
"""Times between arrivals that have a variance."""

FEWEST_GROWING = 10
"""Times of which each is longer than the one before by chance once in 3.6 million traces."""


def with_traces(entry: ModelEntry, place: KeyLines) -> ModelEntry:
    """The same entries with traces of arrivals replaced by their rate and scv.

    Raises
    ------
    ModelFileError
        For keys that do not go together, and for whatever is wrong with a trace.
    """
    folder = Path(place.source).parent
    arrivals = {}
    for name, arrival in entry.arrivals.items():
        with place("arrivals", name):
            arrivals[name] = _arriving(arrival, folder)
    return entry._replace(arrivals=arrivals)


def _arriving(entry: ArrivalEntry, folder: Path) -> ArrivalEntry:
    some = any(given is not None for given in (entry.rate, entry.scv, entry.batch))
    if entry.trace:
        if some:
            raise InvalidParameter(
                "a trace sets rate and scv, and takes no batch; delete those, or the trace"
            )
        return of_trace(folder / entry.trace, entry.column)
    if entry.column:
        raise InvalidParameter("column needs a trace; add trace, or delete column")
    if not some:
        raise InvalidParameter("arrivals need rate, scv, batch or trace; give one")
    return entry


def of_trace(path: Path, column: str = "") -> ArrivalEntry:
    """Rate and scv of the interarrival times in a table.

    Parameters
    ----------
    path
        A CSV with a header, a row an arrival.
    column
        Its column of times since the arrival before [s], or in the unit that its name ends in,
        such as ``gap_ms``; the only one if left out.

    Raises
    ------
    MeasurementError
        For a file that is missing, too large, or no table; a column that is not there; times
        that are no numbers, negative, too few, all zero, or that only grow, as points in time do.
    """
    if is_given(path):
        msg = f"{path}: a trace must be a file beside the model, not a pipe"
        raise MeasurementError(msg)
    gaps = _column(read_text(path, LARGEST_TRACE), str(path), column)
    mean = float(gaps.mean())
    if why := _no_gaps(gaps, mean):
        msg = f"{path}: contains {why}"
        raise MeasurementError(msg)
    return ArrivalEntry(1 / mean, float(np.mean((gaps / mean - 1) ** 2)))


def _no_gaps(gaps: FloatArray, mean: float) -> str:
    """Why a column has no scv of times between arrivals; empty where it has one."""
    if len(gaps) < FEWEST:
        return "only one time; an scv needs several times between arrivals"
    if not (0 < mean < np.inf and 1 / mean < np.inf):
        return (
            "times with a mean too close to zero; an scv needs several positive times "
            "between arrivals"
        )
    if len(gaps) >= FEWEST_GROWING and (np.diff(gaps) > 0).all():
        return "times that only grow, so they look like timestamps; give the times between them"
    return ""


def _column(text: str, source: str, column: str) -> FloatArray:
    """One column of a table in seconds."""
    header, rows = header_and_rows(text, source)
    check_cells(header, rows, source)
    name = column or header[0]
    if not column and len(header) > 1:
        msg = f"{source}: has {len(header)} columns; give column, such as {name}"
        raise MeasurementError(msg)
    if name not in header:
        msg = f"{source}: has no column {quoted(name)}{nearest(name, header)}"
        raise MeasurementError(msg)
    place, scale = header.index(name), _seconds(name)
    return scale * np.array([_gap(row[place], f"{source}:{line}") for line, row in rows])


def _gap(cell: str, where: str) -> float:
    value = number_of(cell)
    if value is None or not 0 <= value < np.inf:
        msg = f"{where}: {quoted(cell)} is not a time between arrivals; each must be 0 or more"
        raise MeasurementError(msg)
    return value


def _seconds(name: str) -> float:
    """Seconds in the unit that a column's name ends in; 1 where it ends in none."""
    try:
        seconds = unit(name.rpartition("_")[2]) if "_" in name else unit("s")
    except HeadwayError:
        return 1.0
    return seconds.scale if seconds.dimension == unit("s").dimension else 1.0
