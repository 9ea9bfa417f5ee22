"""Read times of collective operations from outputs of benchmarks, and from tables.

nccl-tests names everything that is needed. The OSU and Intel MPI Benchmarks count the bytes of one
processor's block where a processor gathers or exchanges, so S is n times as much; OSU does not
print n. Tables have columns for operation, type, GPUs, size and time; sizes without a unit, beside
a type, are numbers of elements.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from headway.errors import MeasurementError, quoted
from headway.lazy import loaded
from headway.loggp.measuring.readers import numbers_of
from headway.loggp.programs.algorithms import Collective
from headway.loggp.programs.measured_collectives import CollectiveTimes, collective_times
from headway.models.files.separated import rows_of
from headway.models.language.titles import split_header
from headway.models.language.units import unit
from headway.models.measured.points import Point
from headway.models.measured.reader import Reader
from headway.models.measured.tools.networks.nccl import PLACES
from headway.numerals import digits
from headway.records import dataclass

TOOLS = (
    "headway.models.measured.tools.networks.nccl:NCCL",
    "headway.models.measured.tools.networks.osu:OSU",
    "headway.models.measured.tools.networks.imb:IMB",
)
"""Readers of files with collective operations."""

OPERATIONS = {
    "allreduce": Collective.ALL_REDUCE,
    "reducescatter": Collective.REDUCE_SCATTER,
    "allgather": Collective.ALL_GATHER,
    "alltoall": Collective.ALL_TO_ALL,
    "broadcast": Collective.BROADCAST,
    "bcast": Collective.BROADCAST,
}
"""Operations by the letters of the names that tools and tables use."""

TYPES = {
    "int8": 1, "uint8": 1, "char": 1, "fp8": 1, "float8": 1, "half": 2, "float16": 2, "fp16": 2,
    "bfloat16": 2, "bf16": 2, "float": 4, "float32": 4, "int32": 4, "uint32": 4, "int": 4,
    "double": 8, "float64": 8, "int64": 8, "uint64": 8,
}  # fmt: skip
"""Bytes of an element, by the names of types."""

COLUMNS = {
    "operation": ("op_name", "operation", "collective", "op"),
    "type": ("nccl_dtype", "dtype", "datatype", "type"),
    "processors": ("num_gpus", "gpus", "processors", "ranks", "world_size", "processes", "n"),
    "machines": ("machines", "nodes", "num_nodes", "hosts"),
    "size": ("size", "message_size", "msg_size", "bytes"),
    "time": ("time", "latency", "mean"),
}
"""Names of columns of tables, without units."""

_A_BLOCK_EACH = (Collective.ALL_GATHER, Collective.ALL_TO_ALL)  # OSU and Intel: S is n blocks
_TIME, _DATA = unit("s").dimension, unit("B").dimension
_OSU_TEST = re.compile(r"^\s*# OSU .*?(\S+)(?: Personalized Exchange)? Latency Test", re.MULTILINE)
_IMB_TEST = re.compile(r"^\s*# Benchmarking (\S+)", re.MULTILINE)
_IMB_COUNT = re.compile(r"#processes = (\d+)")
_GPU_TABLE_MS = ("op_name", "num_gpus", "message_size", "latency")  # its latency is in ms


@dataclass(frozen=True)
class CollectiveRow:
    """One measured time.

    Parameters
    ----------
    operation
        Its name, as in the file; empty if the file has none.
    datatype, place
        Type of its elements, and where results went; empty if the file does not say.
    processors, machines
        n, and the number of machines; 0 if the file does not say.
    size, time
        Bytes as the tool counts them, and time [s].
    blocks
        Whether the size is that of one processor's block, in an operation that gathers or
        exchanges.
    """

    operation: str
    datatype: str
    place: str
    processors: int
    machines: int
    size: float
    time: float
    blocks: bool = False


@dataclass(frozen=True)
class Chosen:
    """What the user says about files, and which of their times count.

    Parameters
    ----------
    operation, datatype, place
        The operation, type and place that count; empty for the only ones there are. `place` is
        ``out-of-place`` or ``in-place``.
    processors
        n for each file that does not say it, in order.
    """

    operation: str = ""
    datatype: str = ""
    place: str = PLACES[0]
    processors: tuple[int, ...] = ()


def collective_rows(text: str, source: str) -> list[CollectiveRow]:
    r"""Read the times in a text, recognised by its content.

    Parameters
    ----------
    text, source
        The content of a file, and its name for messages.

    Raises
    ------
    MeasurementError
        For a text without such times, or a damaged one; names the line.

    Examples
    --------
    >>> table = "operation,gpus,size_kib,time_us\nall_reduce,4,64,18.5\n"
    >>> [row] = collective_rows(table, "times.csv")
    >>> row.processors, row.size, row.time
    (4, 65536.0, 1.85e-05)
    """
    reader = next((one for one in map(loaded, TOOLS) if one.recognises(text)), None)
    rows = list(_tool_rows(reader, text, source) if reader else _table_rows(text, source))
    if not rows:
        msg = f"{source}: holds no times of collective operations by message size"
        raise MeasurementError(msg)
    return rows


def _tool_rows(reader: Reader, text: str, source: str) -> Iterator[CollectiveRow]:
    points = reader.points(text, source) if reader.points else []
    for point in points:
        if point.response_time and (point.more.get("message_size_bytes") or 0) >= 1:
            yield _of_nccl(point) if reader.kind == "nccl-tests" else _of_mpi(point, text)


def _of_nccl(point: Point) -> CollectiveRow:
    *test, datatype, place, _ = ["", *point.name.split(", ")]
    counts = [int(point.more.get(name, 0)) for name in ("processors", "machines")]
    size, time = point.more["message_size_bytes"], point.response_time or 0.0
    return CollectiveRow(test[-1], datatype, place, counts[0], counts[1], size, time)


def _of_mpi(point: Point, text: str) -> CollectiveRow:
    """A row of OSU or Intel; a table on its own is named only in the text."""
    told = point.name.split(", ")[:-1]
    found = _OSU_TEST.search(text) or _IMB_TEST.search(text)
    osu = re.search(r"(\S+)(?: Personalized Exchange)? Latency Test", told[0]) if told else None
    name = osu[1] if osu else told[0] if told else found[1] if found else ""
    counted = re.search(r"(\d+) processes", point.name) or _IMB_COUNT.search(text)
    count = int(counted[1]) if counted else 0
    size, time = point.more["message_size_bytes"], point.response_time or 0.0
    return CollectiveRow(name, "", "", count, 0, size, time, blocks=True)


def _table_rows(text: str, source: str) -> Iterator[CollectiveRow]:
    """Rows of CSV, or of a converted Parquet file, by the names of columns."""
    rows = rows_of(text, source)
    if not rows:
        msg = f"{source}: is empty; give the output of nccl-tests or a table of times"
        raise MeasurementError(msg)
    titles = [title.strip() for title in rows[0][1]]
    places, scales = _columns(titles, f"{source}:{rows[0][0]}")
    for line, cells in rows[1:]:
        if len(cells) != len(titles):
            msg = f"{source}:{line}: {len(cells)} cells under {len(titles)} titles; complete it"
            raise MeasurementError(msg)
        yield _table_row({name: cells[k] for name, k in places.items()}, scales, line, source)


def _columns(titles: Sequence[str], place: str) -> tuple[dict[str, int], dict[str, float]]:
    """The position of each column, and the scale of sizes (0 for elements) and times."""
    split = [split_header(title) for title in titles]
    places = _places([name for name, _ in split])
    needed = [what for what in ("processors", "size", "time") if what not in places]
    if needed:
        msg = (
            f"{place}: no column of {', '.join(needed)}; the header is {quoted(','.join(titles))}, "
            "and should be like operation,type,gpus,size_bytes,time_us"
        )
        raise MeasurementError(msg)
    size, time = (split[places[what]][1] for what in ("size", "time"))
    if titles[places["size"]] == "bytes" or ("type" not in places and size is None):
        size = unit("B")
    if set(_GPU_TABLE_MS) <= set(titles):
        time = unit("ms")
    if time is None or time.dimension != _TIME:
        msg = f"{place}: column {titles[places['time']]} has no unit of time; name it time_us"
        raise MeasurementError(msg)
    in_bytes = size.scale if size is not None and size.dimension == _DATA else 0.0
    return places, {"size": in_bytes, "time": time.scale}


def _places(names: Sequence[str]) -> dict[str, int]:
    """The position of each kind of column that is there, by the first of its words that is."""
    found = {
        what: next((names.index(word) for word in words if word in names), -1)
        for what, words in COLUMNS.items()
    }
    return {what: k for what, k in found.items() if k >= 0}


def _table_row(
    cells: Mapping[str, str], scales: Mapping[str, float], line: int, source: str
) -> CollectiveRow:
    count, size, time = numbers_of(
        line, [cells["processors"], cells["size"], cells["time"]], source
    )
    [machines] = numbers_of(line, [cells.get("machines") or "0"], source)
    datatype = cells.get("type", "").strip()
    bytes_each = scales["size"] or _bytes_of(datatype, f"{source}:{line}")
    size, time = size * bytes_each, time * scales["time"]
    for what, value in (("size", size), ("time", time), ("number of processors", count)):
        if not 0 < value < float("inf"):
            msg = f"{source}:{line}: {what} is {digits(value)}; it must be positive and finite"
            raise MeasurementError(msg)
    if count != int(count) or machines != int(machines) or machines < 0:
        msg = f"{source}:{line}: {digits(count)} processors; give a whole number"
        raise MeasurementError(msg)
    operation = cells.get("operation", "").strip()
    return CollectiveRow(operation, datatype, "", int(count), int(machines), size, time)


def _bytes_of(datatype: str, place: str) -> int:
    if datatype.lower() not in TYPES:
        msg = (
            f"{place}: sizes are elements of type {quoted(datatype)}, whose bytes are not known; "
            f"known are {', '.join(TYPES)}; or give size_bytes"
        )
        raise MeasurementError(msg)
    return TYPES[datatype.lower()]


def counts_of_option(text: str) -> tuple[int, ...]:
    """Numbers of processors as the option states them: ``8`` or ``2,4,8``.

    Raises
    ------
    MeasurementError
        For anything but whole numbers of 2 or more.

    Examples
    --------
    >>> counts_of_option("2,4,8"), counts_of_option("")
    ((2, 4, 8), ())
    """
    parts = [part.strip() for part in text.split(",")] if text else []
    if not all(part.isascii() and part.isdigit() and int(part[:9]) > 1 for part in parts):
        msg = f"--processors: {quoted(text)} is not like 8 or 2,4,8: whole numbers of 2 or more"
        raise MeasurementError(msg)
    return tuple(int(part[:9]) for part in parts)


def operation_named(name: str, place: str) -> Collective:
    """The operation that a tool or a user names, such as ``all_reduce`` or ``Allreduce``.

    Raises
    ------
    MeasurementError
        For any other name.

    Examples
    --------
    >>> str(operation_named("AlltoAll", "here"))
    'all-to-all'
    """
    letters = re.sub(r"[^a-z]", "", name.lower())
    if letters not in OPERATIONS:
        known = ", ".join(Collective)
        msg = f"{place}: {quoted(name)} is none of the operations {known}"
        raise MeasurementError(msg)
    return OPERATIONS[letters]


def chosen_times(
    files: Sequence[tuple[str, str]], chosen: Chosen
) -> tuple[CollectiveTimes, str, str]:
    r"""Read the times of one operation and one type from files.

    Parameters
    ----------
    files
        Content and name of each.
    chosen
        What the user says.

    Returns
    -------
    Times, the type, and the place of results; empty if files do not say.

    Raises
    ------
    MeasurementError
        For several operations or types, with a list of them; for an unknown n; for blocks that are
        not whole numbers of bytes.

    Examples
    --------
    >>> table = "operation,gpus,size_kib,time_us\n" + "".join(
    ...     f"all_reduce,4,{size},18.5\n" for size in (64, 128, 256)
    ... )
    >>> chosen_times([(table, "times.csv")], Chosen())[0].size.tolist()
    [65536.0, 131072.0, 262144.0]
    """
    given = list(chosen.processors)
    rows: list[tuple[CollectiveRow, str]] = []
    for text, source in files:
        mine = collective_rows(text, source)
        if any(row.processors == 0 for row in mine):
            if not given:
                msg = f"{source}: does not say how many processors took part; give --processors N"
                raise MeasurementError(msg)
            count = given.pop(0)
            mine = [_with_count(row, count) for row in mine]
        rows += [(row, source) for row in mine]
    if given:
        msg = f"--processors: {len(given)} more than files that do not say it; leave it out"
        raise MeasurementError(msg)
    return _only(rows, chosen)


def _with_count(row: CollectiveRow, count: int) -> CollectiveRow:
    return CollectiveRow(
        row.operation, row.datatype, row.place, count, row.machines, row.size, row.time, row.blocks
    )


def _only(
    rows: Sequence[tuple[CollectiveRow, str]], chosen: Chosen
) -> tuple[CollectiveTimes, str, str]:
    """Times of the chosen operation, type and place; refuses what is left if it is of several."""
    named = _named(rows, chosen)
    first = rows[0][1]
    _check_one({str(op) for op, _ in named}, first, "operations", "--operation")
    _check_one({row.datatype for _, row in named}, first, "types", "--type")
    operation = named[0][0]
    sizes = [_size(operation, row) for _, row in named]
    several = [row for _, row in named]
    try:
        times = collective_times(
            operation,
            [row.processors for row in several],
            sizes,
            np.array([row.time for row in several]),
            [row.machines for row in several],
        )
    except MeasurementError as error:
        msg = f"{first}: {error}"
        raise MeasurementError(msg) from None
    return times, several[0].datatype, several[0].place


def _named(
    rows: Sequence[tuple[CollectiveRow, str]], chosen: Chosen
) -> list[tuple[Collective, CollectiveRow]]:
    """Rows of the chosen operation, type and place with their operation; refuses to find none."""
    wanted = operation_named(chosen.operation, "--operation") if chosen.operation else None
    each = [(_operation(row, source, wanted), row) for row, source in rows]
    named = [
        (operation, row)
        for operation, row in each
        if wanted in (None, operation)
        and row.place in ("", chosen.place)
        and chosen.datatype in ("", row.datatype)
    ]
    if not named:
        wish = ", ".join(filter(None, (chosen.operation, chosen.datatype, chosen.place)))
        msg = f"{rows[0][1]}: holds no times of {wish}"
        raise MeasurementError(msg)
    return named


def _operation(row: CollectiveRow, source: str, wanted: Collective | None) -> Collective:
    if row.operation:
        return operation_named(row.operation, source)
    if wanted is None:
        msg = f"{source}: does not say which operation it timed; give --operation, as all_gather"
        raise MeasurementError(msg)
    return wanted


def _check_one(there: set[str], source: str, what: str, option: str) -> None:
    if len(there) > 1:
        listed = ", ".join(sorted(one or "(none)" for one in there))
        msg = f"{source}: holds several {what} ({listed}); choose one by {option}"
        raise MeasurementError(msg)


def _size(operation: Collective, row: CollectiveRow) -> float:
    """S of a row: n blocks, if the tool counts one."""
    several = row.blocks and operation in _A_BLOCK_EACH
    return row.size * row.processors if several else row.size
