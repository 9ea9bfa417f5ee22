"""Read size series from text: plain columns, and Netgauge's LogGP output.

These functions accept text, not files. Errors name the line.
"""

from collections.abc import Iterator
from dataclasses import replace

from headway.errors import MeasurementError, quoted
from headway.kinds import number_of
from headway.loggp.measuring.breaks import LEAST_POINTS
from headway.loggp.measuring.sizes import SizeSeries, size_series
from headway.numerals import data_size, digits, times

_NETGAUGE_MARK = "PRTT(1,0,s)"
_NETGAUGE_COLUMNS = 11  # size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,d,s) L o_s o_r g G lsqu(g,G)
_TIME_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def numbers_of(line: int, cells: list[str], source: str) -> list[float]:
    """Convert cells to numbers; errors name the line and the cell.

    Parameters
    ----------
    line, source
        Their position, for messages.
    cells
        Text of the cells.

    Raises
    ------
    MeasurementError
        For the first cell that is not a number.

    Examples
    --------
    >>> numbers_of(2, ["1024", "5.5"], "times.csv")
    [1024.0, 5.5]
    """
    values = []
    for cell in cells:
        value = number_of(cell)
        if value is None:
            msg = f"{source}:{line}: {quoted(cell)} is not a number"
            raise MeasurementError(msg)
        values.append(value)
    return values


def _data_lines(text: str) -> Iterator[tuple[int, str]]:
    """Return the lines that are neither empty nor comments, numbered from 1."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number, line


def check_row(line: int, size: float, time: float, source: str) -> None:
    """Refuse impossible sizes and times.

    Parameters
    ----------
    line, source
        Where they stand, for messages.
    size, time
        A whole number of bytes, 1 or more; a time, positive and finite.

    Raises
    ------
    MeasurementError
        With line and value.

    Examples
    --------
    >>> check_row(2, 1024.0, 5.5, "times.csv")
    """
    if not (1 <= size < float("inf") and size == int(size)):
        msg = (
            f"{source}:{line}: size is {digits(size)}; it must be a whole number of bytes, 1 or "
            "more"
        )
        raise MeasurementError(msg)
    if not 0 < time < float("inf"):
        msg = f"{source}:{line}: time is {digits(time)}; it must be positive and finite"
        raise MeasurementError(msg)


def _time_scale(header: list[str], source: str, line: int) -> float:
    """Unit of the time column in a header ``size_bytes, time_UNIT``."""
    units = [name.removeprefix("time_") for name in header[1:2]]
    if header[:1] != ["size_bytes"] or not units or units[0] not in _TIME_UNITS:
        known = ", ".join(f"time_{unit}" for unit in _TIME_UNITS)
        shown = quoted(",".join(header))
        msg = f"{source}:{line}: header is {shown}; it must be size_bytes and one of {known}"
        raise MeasurementError(msg)
    return _TIME_UNITS[units[0]]


def read_plain(text: str, name: str = "time", source: str = "text") -> SizeSeries:
    r"""Read a series from columns ``size_bytes`` and ``time_us``; repeats are additional rows.

    Parameters
    ----------
    text
        CSV with a header that contains the unit of time (``time_s``, ``_ms``, ``_us``, ``_ns``).
    name
        Name for the series.
    source
        What to call the text in errors.

    Raises
    ------
    MeasurementError
        For a header without unit, or a row that cannot be read; names the line.

    Examples
    --------
    >>> read_plain("size_bytes,time_us\n1,2\n2,3\n4,5\n").size.tolist()
    [1.0, 2.0, 4.0]
    """
    lines = _data_lines(text)
    first, header = next(lines, (1, ""))
    if text.strip() and not header:
        msg = (
            f"{source}: contains only comments; give Netgauge's output or columns "
            "size_bytes,time_us"
        )
        raise MeasurementError(msg)
    scale = _time_scale([cell.strip() for cell in header.split(",")], source, first)
    sizes, times = [], []
    for line, row in lines:
        cells = row.split(",")
        if len(cells) != 2:
            msg = f"{source}:{line}: {len(cells)} cells; give a size and a time in each row"
            raise MeasurementError(msg)
        size, time = numbers_of(line, cells, source)
        check_row(line, size, time, source)
        sizes.append(size)
        times.append(time * scale)
    return size_series(name, sizes, times)


def read_netgauge(text: str, source: str = "text") -> dict[str, SizeSeries]:
    r"""Read the raw times in Netgauge's LogGP output, not its derived parameters.

    Gives ``round_trip`` = PRTT(1,0,s) and ``gap`` = (PRTT(n,0,s) - PRTT(1,0,s)) / (n - 1) for each
    size, and ``send_overhead`` = (PRTT(n,d,s) - PRTT(1,0,s)) / (n - 1) - d with d = PRTT(1,0,s) and
    ``receive_overhead`` (its o_r column) if all of them are positive. Netgauge's times are in
    microseconds. Its own latency is half the round trip including overheads
    (`Convention.NETGAUGE`).

    Parameters
    ----------
    text
        The output file, 11 columns and a comment line that names them.
    source
        What to call the text in errors.

    Raises
    ------
    MeasurementError
        For text that is not such a file, or a row that cannot be read; names the line. Sizes at
        which a train takes no longer than one message are left out if at least three others remain.

    Examples
    --------
    >>> head = "# size n PRTT(1,0,s) PRTT(n,0,s) PRTT(n,PRTT(1,0,s),s) L o_s o_r g G lsqu(g,G)"
    >>> row = "{} 10 20.0 65.0 227.0 10.0 3.0 2.0 5.0 0.001 0.1"
    >>> text = "\n".join([head, *(row.format(size) for size in (1, 1025, 2049))])
    >>> series = read_netgauge(text)
    >>> sorted(series), (series["send_overhead"].median * 1e6).round(9).tolist()
    (['gap', 'receive_overhead', 'round_trip', 'send_overhead'], [3.0, 3.0, 3.0])
    """
    if _NETGAUGE_MARK not in text:
        msg = (
            f"{source}:1: there is no column {_NETGAUGE_MARK}; this is not Netgauge's LogGP output"
        )
        raise MeasurementError(msg)
    rows: list[dict[str, float]] = []
    lost: list[str] = []
    for line, row in _data_lines(text):
        cells = row.split()
        if len(cells) != _NETGAUGE_COLUMNS:
            msg = (
                f"{source}:{line}: {len(cells)} columns; Netgauge's output has {_NETGAUGE_COLUMNS}"
            )
            raise MeasurementError(msg)
        parsed = _netgauge_row(line, numbers_of(line, cells, source), source)
        if isinstance(parsed, str):
            lost.append(parsed)
        else:
            rows.append(parsed)
    if lost and len(rows) < LEAST_POINTS:
        raise MeasurementError(lost[0])
    if not rows:
        msg = f"{source}: contains no measurements; give a row for each message size"
        raise MeasurementError(msg)
    return _netgauge_series(rows, tuple(f"left out: {why}" for why in lost))


def _netgauge_series(rows: list[dict[str, float]], notes: tuple[str, ...]) -> dict[str, SizeSeries]:
    """Series by name; an overhead must be above 0 at every size."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    sizes, always = columns.pop("size"), ("round_trip", "gap")
    series = {
        name: size_series(name, sizes, values)
        for name, values in columns.items()
        if name in always or min(values) > 0
    }
    missing = columns.keys() - series.keys()
    notes += tuple(f"{name} left out: it is not above 0 at every size" for name in sorted(missing))
    return series | {"gap": replace(series["gap"], notes=notes)}


def _netgauge_row(line: int, cells: list[float], source: str) -> dict[str, float] | str:
    """Return size [B] and times [s] of a row, or why it gives no gap."""
    size, count, single, train, spaced, _, _, receive, *_ = cells
    check_row(line, size, single, source)
    if count < 2:
        msg = f"{source}:{line}: n is {digits(count)}; a gap needs trains of at least 2 messages"
        raise MeasurementError(msg)
    if train <= single:
        long, short = times(train * 1e-6, single * 1e-6)
        return (
            f"{source}:{line}: these data do not determine the gap at {data_size(size)}: a "
            f"train of {digits(count)} takes {long} and one message {short}; repeat the runs"
        )
    return {
        "size": size,
        "round_trip": single * 1e-6,
        "gap": (train - single) / (count - 1) * 1e-6,
        "send_overhead": ((spaced - single) / (count - 1) - single) * 1e-6,
        "receive_overhead": receive * 1e-6,
    }
