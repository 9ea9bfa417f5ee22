"""Read times by message size from tables with named columns, and from tools' files."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError, quoted
from headway.kinds import FloatArray
from headway.lazy import loaded
from headway.loggp.measuring.readers import check_row, numbers_of
from headway.loggp.measuring.sizes import SizeSeries, size_series, summed_up
from headway.models.files.separated import rows_of
from headway.models.language.titles import split_header
from headway.models.language.units import Unit, unit
from headway.models.measured.cells import Observed
from headway.models.measured.measurements import Measurements
from headway.models.measured.points import Point
from headway.models.measured.reader import Reader
from headway.models.measured.roles import RESPONSE, part_named
from headway.records import dataclass

TOOLS = (
    "headway.models.measured.tools.networks.osu:OSU",
    "headway.models.measured.tools.networks.imb:IMB",
    "headway.models.measured.tools.networks.netgauge:NETGAUGE",
    "headway.models.measured.tools.networks.simgrid:SIMGRID",
)
"""Readers of times by message size; Netgauge's LogGP pattern has its own reader."""

SIZES = ("size", "message_size", "msg_size", "message", "length")
TIMES = {
    "round_trip": ("round_trip", "round_trip_time", "rtt"),
    "one_way": ("one_way", "one_way_time", "half_round_trip"),
    "gap": ("gap",),
    "send_overhead": ("send_overhead", "o_s"),
    "receive_overhead": ("receive_overhead", "o_r"),
    "time": ("time", "mean", "mean_time", "response_time", "response", "latency"),
}
"""Names of columns, without unit, by series."""

_DEVIATIONS = ("sd", "std", "stdev", "stddev", "standard_deviation", "deviation")
_MEDIANS, _LEAST = ("median", "p50"), ("min", "minimum", "least")
_COUNTS = ("repeats", "repetitions", "samples", "runs", "count", "n")
_TIME, _DATA = unit("s").dimension, unit("B").dimension
_CLOCK = 1e-9  # of a time, the least standard error
_MOST_COUNTS = 1e12  # most repeats that a row may summarise
_MEDIAN = math.sqrt(math.pi / 2)  # error of a median over that of a mean, normal distribution
_HALF, _BOTH_WAYS = "half the round trip", "both directions"
_ONE_WAY = "one_way is half the round trip, as the tool says"

Columns: TypeAlias = Mapping[str, Observed | None]


@dataclass(frozen=True)
class _Timed:
    """Content of a row or point: size, time, and their errors; NaN if missing."""

    size: float
    time: float
    error: float = math.nan
    count: float = 1.0


def is_tool_output(text: str) -> bool:
    """Whether a text is the output of a known message benchmark."""
    return _reader(text) is not None


def _reader(text: str) -> Reader | None:
    return next((reader for reader in map(loaded, TOOLS) if reader.recognises(text)), None)


def table_series(text: str, source: str) -> list[SizeSeries]:
    r"""Read series from CSV with named columns, in any order and among others.

    A column of sizes, and of times: ``round_trip``, ``one_way``, ``gap``, ``send_overhead``,
    ``receive_overhead``, or a ``time`` of anything. Besides, alone or with its name as a prefix,
    ``sd`` and ``repeats`` give weights, 1 over the variance of the mean; a ``median`` is preferred
    to the mean, and a ``min`` is used if there is neither.

    Parameters
    ----------
    text, source
        The content of a file, and its name for messages.

    Raises
    ------
    MeasurementError
        For columns that are missing or have no unit, and invalid sizes or times.

    Examples
    --------
    >>> text = "host,sd_us,time_us,size_bytes,repeats\na,1,5,1,4\na,1,6,1000,4\na,2,7,2000,4\n"
    >>> [one] = table_series(text, "times.csv")
    >>> (one.error * 1e6).round(1).tolist()
    [0.6, 0.6, 1.0]
    >>> print(*one.notes)
    time: time_us, weighted by 1 over the variance of its mean, sd_us^2 / repeats
    """
    rows = rows_of(text, source)
    if not rows:
        msg = (
            f"{source}: contains only comments; give Netgauge's output or columns "
            "size_bytes,time_us"
        )
        raise MeasurementError(msg)
    header = [title.strip() for title in rows[0][1]]
    size, times = _main_columns(dict(map(_split, header)), f"{source}:{rows[0][0]}")
    table = Measurements.parse(text, source)
    if table.spoilt.keys() & {size, *times.values()}:
        _check_cells(header, [size, *times.values()], rows[1:], source)
    return [_of_columns(name, title, table, size, len(times)) for name, title in times.items()]


def described_series(table: Measurements) -> list[SizeSeries]:
    r"""Read series from a table with units and roles given by the user.

    Columns with the role ``response_time`` count as times, and a single column in bytes as sizes.

    Parameters
    ----------
    table
        With a column of sizes, and of times, as for `table_series`.

    Raises
    ------
    MeasurementError
        For columns that are missing or have no unit, and invalid sizes or times.

    Examples
    --------
    >>> text = "sent_bytes,time_us\n1,5\n2,6\n4,7\n"
    >>> described_series(Measurements.parse(text, "own.csv"))[0].size.tolist()
    [1.0, 2.0, 4.0]
    """
    names = {c.header: _named(c) for c in (*table.columns.values(), *table.spoilt.values())}
    of_data = [title for title, (_, u) in names.items() if u and u.dimension == _DATA]
    if len(of_data) == 1:
        names[of_data[0]] = (SIZES[0], names[of_data[0]][1])
    size, times = _main_columns(names, f"{table.source}:1")
    return [_of_columns(name, title, table, size, len(times)) for name, title in times.items()]


def _named(column: Observed) -> tuple[str, Unit | None]:
    """Name and unit of a column; a response time is a time."""
    is_time = column.role and part_named(column.role).role is RESPONSE
    return "time" if is_time else column.name, column.unit if column.unit.text else None


def _split(title: str) -> tuple[str, tuple[str, Unit | None]]:
    return title, split_header(title)


def _main_columns(
    names: Mapping[str, tuple[str, Unit | None]], place: str
) -> tuple[str, dict[str, str]]:
    """Titles of the sizes, and of the times by series."""
    sized = [t for t, (name, u) in names.items() if _is_size(name, u and u.dimension)]
    known = {t: name for t, (name, u) in names.items() if u and u.dimension == _TIME}
    titles = {
        series: title
        for series, words in TIMES.items()
        if (title := next((t for word in words for t, name in known.items() if name == word), ""))
    }
    named = {series: title for series, title in titles.items() if series != "time"}
    others = [title for title, name in known.items() if name in (*_MEDIANS, *_LEAST)]
    alone = {"time": others[0]} if others else {}
    if not sized or not (titles or alone):
        shown = quoted(",".join(names))
        msg = (
            f"{place}: header is {shown}; it must be size_bytes and one of time_s, time_ms, "
            f"time_us, time_ns, or of {', '.join(list(TIMES)[:-1])} with such a unit"
        )
        raise MeasurementError(msg)
    return sized[0], named or titles or alone


def _is_size(name: str, dimension: object) -> bool:
    return (name in SIZES and dimension == _DATA) or (name == "bytes" and dimension is None)


def _check_cells(
    header: Sequence[str], titles: Iterable[str], rows: Sequence[tuple[int, list[str]]], source: str
) -> None:
    """Refuse invalid sizes and times; names their line."""
    size, *times = (header.index(title) for title in titles)
    for line, row in rows:
        for time in times if len(row) == len(header) else ():
            bytes_sent, took = numbers_of(line, [row[size], row[time]], source)
            check_row(line, bytes_sent, took, source)


def _of_columns(
    name: str, title: str, table: Measurements, size_title: str, several: int
) -> SizeSeries:
    """A series from its columns: times and their errors."""
    main, size = table.column(title), table.column(size_title)
    columns = columns_beside(table, main, alone=several == 1)
    taken = columns["median"] or main
    parts = (size.values, taken.values, _errors(columns, taken), counts_of(columns, main))
    timed = [_Timed(*map(float, row)) for row in zip(*parts, strict=True)]
    whole = [one for one in timed if math.isfinite(one.size + one.time + one.count)]
    for line, one in zip(table.lines, timed, strict=True):
        if one in whole:
            check_row(line, one.size, one.time, table.source)
    notes = [f"{name}: {how_weighed(columns, taken)}"] if any(columns.values()) else []
    lost = len(timed) - len(whole)
    notes += [f"{name}: {lost} rows with an empty cell left out"] * (lost > 0)
    return _series(name, whole, notes)


def columns_beside(table: Measurements, main: Observed, *, alone: bool = True) -> Columns:
    r"""Columns on the accuracy of another one: ``sd``, ``median`` and ``repeats``.

    Parameters
    ----------
    table, main
        A table, and the column of means in it.
    alone
        Whether such names count without the name of that column as prefix or suffix.

    Raises
    ------
    MeasurementError
        For a column in a wrong unit.

    Examples
    --------
    >>> table = Measurements.parse("cost_us,sd_us,n\n5,1,10\n", "costs.csv")
    >>> answer = columns_beside(table, table.column("cost"))
    >>> {what: column.header for what, column in answer.items() if column}
    {'sd': 'sd_us', 'repeats': 'n'}
    """

    def beside(words: tuple[str, ...]) -> Observed | None:
        own = [f"{main.name}_{word}" for word in words] + [f"{word}_{main.name}" for word in words]
        return table.find([*own, *(words if alone else ())])

    columns = {"sd": beside(_DEVIATIONS), "median": beside(_MEDIANS), "repeats": beside(_COUNTS)}
    _check_units(columns, table.source)
    return columns


def _check_units(columns: Columns, source: str) -> None:
    for what, column in columns.items():
        wanted = unit("") if what == "repeats" else unit("s")
        if column is not None and column.unit.dimension != wanted.dimension:
            needs = "no unit" if what == "repeats" else "a unit of time, such as _us"
            msg = f"{source}:1: column {column.header} needs {needs}"
            raise MeasurementError(msg)


def counts_of(columns: Columns, main: Observed) -> FloatArray:
    """Number of repeats in each row: 1 if not given, NaN if not a count."""
    repeats = columns["repeats"]
    if repeats is None:
        return np.ones(main.values.size)
    counts = repeats.values
    return np.where((counts >= 1) & (counts <= _MOST_COUNTS), np.floor(counts), math.nan)


def _errors(columns: Columns, taken: Observed) -> FloatArray:
    """Standard error of each time, including its rounding; NaN if not given."""
    deviation, counts = columns["sd"], counts_of(columns, taken)
    if deviation is None:
        return np.full(taken.values.size, math.nan)
    share = np.where((counts > 2) & (columns["median"] is not None), _MEDIAN, 1.0)
    rounding = taken.resolution / math.sqrt(3)
    error = np.hypot(share * deviation.values / np.sqrt(counts), rounding)
    return np.maximum(error, _CLOCK * taken.values)


def how_weighed(columns: Columns, taken: Observed) -> str:
    """State how the columns that `columns_beside` returns were used."""
    titles = {what: column.header for what, column in columns.items() if column is not None}
    if "sd" not in titles:
        by = f", weighted by {titles['repeats']}" if "repeats" in titles else ""
        return f"{taken.header}{by}"
    mean = "median" if "median" in titles else "mean"
    over = f" / {titles['repeats']}" if "repeats" in titles else ", as if measured once"
    return f"{taken.header}, weighted by 1 over the variance of its {mean}, {titles['sd']}^2{over}"


def _series(name: str, timed: Sequence[_Timed], notes: Iterable[str] = ()) -> SizeSeries:
    """A series with errors, or numbers of repeats, or times alone."""
    size, time = [one.size for one in timed], [one.time for one in timed]
    error, counts = [one.error for one in timed], [one.count for one in timed]
    if np.isnan(error).all() and len(set(counts)) < 2:
        return replace(size_series(name, size, time), notes=tuple(notes))
    return replace(summed_up(name, size, time, error, counts), notes=tuple(notes))


def tool_series(text: str, source: str) -> list[SizeSeries]:
    """Read series from the output of a tool, named by what the tool timed.

    A ping-pong gives ``one_way``; bandwidth of consecutive messages, without a time, gives the
    ``gap``; SimGrid's calls keep their names; anything else is a ``time``.

    Parameters
    ----------
    text, source
        The content of a recognised file, and its name for messages.

    Raises
    ------
    MeasurementError
        For a damaged file, or one without times by message size.
    """
    reader = _reader(text)
    points = reader.points(text, source) if reader and reader.points else []
    named: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        if (point.more.get("message_size_bytes") or 0) >= 1 and (what := _what(point)):
            named.setdefault((what, _test(point)), []).append(point)
    if not named:
        msg = f"{source}: contains no one-way times by message size"
        raise MeasurementError(msg)
    kinds = [what for what, _ in named]
    series = [
        _of_points(what if kinds.count(what) == 1 else f"{what}: {test}", several)
        for (what, test), several in named.items()
    ]
    return _common([*series, *_round_trips(series)])


def _what(point: Point) -> str:
    """The series of a point; None if both directions were active at once."""
    call = point.name.partition(",")[0]
    if call.startswith("MPI_"):
        return {"MPI_Isend": "send_overhead"}.get(call, call)
    if any(_BOTH_WAYS in note for note in point.notes):
        return ""
    if point.response_time is None:
        return "gap" if point.more.get("bandwidth_bytes_s") else ""
    return "one_way" if any(_HALF in note for note in point.notes) else "time"


def _test(point: Point) -> str:
    return point.name.rpartition(", ")[0]


def _of_points(name: str, points: Sequence[Point]) -> SizeSeries:
    timed = [_timed(point) for point in points]
    notes = [_ONE_WAY] if name.startswith("one_way") else []
    if name.startswith("gap"):
        notes.append(f"{name} is the size divided by the bandwidth")
    if not np.isnan([one.error for one in timed]).any():
        once = (
            ""
            if points[0].samples
            else (", as if measured once: the tool does not report the number of repeats")
        )
        notes.append(f"{name}: weighted by 1 over the variance reported by the tool{once}")
        return _series(name, timed, notes)
    return _series(name, [replace(one, error=math.nan, count=1.0) for one in timed], notes)


def _timed(point: Point) -> _Timed:
    """Size and time of a point, preferring the median to the mean, and its error if given."""
    size, deviation = point.more["message_size_bytes"], point.more.get("response_time_deviation_s")
    if point.response_time is None:
        return _Timed(size, size / point.more["bandwidth_bytes_s"])
    median = point.percentiles.get(50.0)
    time, count = median or point.response_time, point.samples or 1.0
    if deviation is None:
        return _Timed(size, time)
    share = _MEDIAN if median and count > 2 else 1.0
    return _Timed(size, time, max(share * deviation / math.sqrt(count), _CLOCK * time), count)


def _round_trips(series: Sequence[SizeSeries]) -> list[SizeSeries]:
    """Sending and receiving times of a ping-pong, which add up to a round trip."""
    both = [one for one in series if one.name in ("MPI_Send", "MPI_Recv")]
    if len(both) < 2 or not np.array_equal(both[0].size, both[1].size):
        return []
    time = both[0].median + both[1].median
    sending, receiving = (one.error for one in both)
    error = None if sending is None or receiving is None else np.hypot(sending, receiving)
    counts = np.minimum(both[0].repeats, both[1].repeats)
    note = "round_trip is the time of MPI_Send and MPI_Recv of a ping-pong together"
    return [SizeSeries("round_trip", both[0].size, time[:, None], error, counts, (note,))]


def _common(series: list[SizeSeries]) -> list[SizeSeries]:
    """The series at the sizes that all of them have."""
    shared: FloatArray = reduce(np.intersect1d, (one.size for one in series))
    return [_at(one, np.isin(one.size, shared)) for one in series]


def _at(one: SizeSeries, kept: NDArray[np.bool_]) -> SizeSeries:
    lost = int(kept.size - kept.sum())
    if lost == 0:
        return one
    note = f"{one.name}: {lost} sizes left out, because other series lack them"
    error, counts = (None if part is None else part[kept] for part in (one.error, one.counts))
    return SizeSeries(one.name, one.size[kept], one.time[kept], error, counts, (*one.notes, note))
