"""Data frames, Parquet files and Excel workbooks as measurements, and measurements as frames.

pandas, and the packages by which it reads files, are imported only here, and only on demand.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from headway.errors import MeasurementError, nearest
from headway.lazy import needed
from headway.models.files.archives import zip_entries
from headway.models.files.packed import UnpackLimit
from headway.models.language.titles import header, split_header, unit_in_words
from headway.models.measured.cells import Observed
from headway.models.measured.measurements import LARGEST_FILE, Measurements, Series
from headway.models.measured.points import TITLES
from headway.models.measured.roles import PERCENTILE, UTILISATION, ColumnRole
from headway.models.reading.hints import Hints
from headway.numerals import digits

PARQUET, WORKBOOK = "Parquet", "Excel workbook"
_NEEDS = {PARQUET: ("pandas", "pyarrow"), WORKBOOK: ("pandas", "openpyxl")}
_WORKBOOK_PART = b"xl/workbook.xml"
_LARGEST_WORKBOOK = 5 * LARGEST_FILE  # a cell takes some 25 bytes in a workbook, some 5 in CSV
_MOST_PARTS = 2000  # parts of a workbook: sheets, styles, pictures


def kind_of(content: bytes) -> str:
    """The kind of a file that pandas reads, by its content; empty for any other file.

    Examples
    --------
    >>> kind_of(b"PAR1....PAR1"), kind_of(b"load_ops_s")
    ('Parquet', '')
    """
    if content[:4] == b"PAR1" == content[-4:]:
        return PARQUET
    if content[:4] == b"PK\x03\x04" and _WORKBOOK_PART in content:
        with suppress(MeasurementError):
            parts = zip_entries(content, "", UnpackLimit("", LARGEST_FILE, _MOST_PARTS))
            return WORKBOOK if _WORKBOOK_PART in {p.filename.encode() for p in parts} else ""
    return ""


def text_of(content: bytes, source: str) -> str:
    """Convert a Parquet file, or the only sheet with content of a workbook, to CSV.

    Raises
    ------
    PackageError
        If pandas, or the package by which it reads such files, is not installed.
    MeasurementError
        For a damaged file, or a workbook of several sheets.
    """
    kind = kind_of(content)
    if kind == WORKBOOK:
        _check_size(content, source)
    pandas, _ = needed(f"{source}: is {_article(kind)}", *_NEEDS[kind])
    read = _parquet if kind == PARQUET else _sheet
    try:
        return text_of_cells(*_cells(read(pandas, content, source)))
    except MeasurementError:
        raise
    except Exception as error:  # other packages raise errors of any type
        why = " ".join(str(error).split())[:200]
        msg = f"{source}: {_article(kind)} that cannot be read ({why})"
        raise MeasurementError(msg) from None


def _check_size(content: bytes, source: str) -> None:
    """Refuse a workbook whose parts declare much more unpacked data than a table may have."""
    parts = zip_entries(content, source, UnpackLimit(source, LARGEST_FILE, _MOST_PARTS))
    size = sum(part.file_size for part in parts)
    if size > _LARGEST_WORKBOOK:
        msg = (
            f"{source}: its sheets unpack to {size / 1e6:.0f} MB, above the limit of "
            f"{_LARGEST_WORKBOOK / 1e6:.0f} MB; thin them out"
        )
        raise MeasurementError(msg)


def _article(kind: str) -> str:
    return f"an {kind}" if kind == WORKBOOK else f"a {kind} file"


def _parquet(pandas: Any, content: bytes, source: str) -> Any:
    del source
    return pandas.read_parquet(io.BytesIO(content))


def _sheet(pandas: Any, content: bytes, source: str) -> Any:
    sheets = pandas.read_excel(io.BytesIO(content), sheet_name=None)
    filled = {name: sheet for name, sheet in sheets.items() if len(sheet.columns)}
    if len(filled) != 1:
        names = ", ".join(map(str, filled)) or "none"
        msg = f"{source}: has {len(filled)} sheets with cells ({names}); keep only one"
        raise MeasurementError(msg)
    return next(iter(filled.values()))


def measurements_of_frame(
    frame: Any, source: str, units: Mapping[str, str], roles: Mapping[str, str]
) -> Measurements:
    """Read measurements from a data frame; see `Measurements.from_frame`."""
    names, rows = _cells(_readable(frame))
    measured = Measurements.parse(text_of_cells(names, rows), source, ".")
    return Hints(units, roles).of(measured)


def measurements_of_columns(
    single: Mapping[str, Series],
    percentiles: Mapping[float, Series],
    utilisation: Mapping[str, Series],
    units: Mapping[str, str],
    source: str,
) -> Measurements:
    """Read measurements from sequences; see `Measurements.from_columns`."""
    columns = {(part, TITLES[part]): values for part, values in single.items()}
    for name, role, table in (
        (
            "percentiles",
            PERCENTILE,
            {f"{digits(percent)}": v for percent, v in percentiles.items()},
        ),
        ("utilisation", UTILISATION, utilisation),
    ):
        columns |= {(name, ColumnRole(role, key).written): values for key, values in table.items()}
    given = {place: list(values) for place, values in columns.items() if len(values)}
    _check_lengths({title: len(values) for (_, title), values in given.items()}, source)
    unknown = [name for name in units if name not in {part for part, _ in given}]
    if unknown:
        parts = sorted({part for part, _ in given})
        msg = f"{source}: a unit is given for {unknown[0]!r}, which is not a column"
        raise MeasurementError(msg + nearest(unknown[0], parts))
    titles = [_in_unit(title, units.get(part, "")) for part, title in given]
    rows = [[_cell(value) for value in row] for row in zip(*given.values(), strict=True)]
    measured = Measurements.of_cells(titles, list(enumerate(rows, 1)), source)
    for title in measured.labels:
        measured.column(title)  # raises the refusal of a column of words
    return measured


def _check_lengths(lengths: Mapping[str, int], source: str) -> None:
    if not lengths:
        msg = f"{source}: there is no column; give for example throughput and response_time"
        raise MeasurementError(msg)
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"{title}: {length}" for title, length in lengths.items())
        msg = f"{source}: columns of different lengths ({sizes}); give them the same length"
        raise MeasurementError(msg)


def _in_unit(title: str, text: str) -> str:
    """The title of a column that is the same in another unit: ``response_ms`` of ``response_s``."""
    if not text:
        return title
    name, wanted = split_header(title)[0], unit_in_words(text)
    snake = f"{name}_{text.lower().replace('/', '_per_')}"
    current = split_header(snake)
    same = current[1] is not None and (current[1].scale, current[1].dimension) == (
        wanted.scale,
        wanted.dimension,
    )
    return snake if current[0] == name and same else f"{name} [{wanted}]"


def _readable(frame: Any) -> Any:
    """A frame that has column names and lists; other frames by the interchange protocols."""
    columns = list(getattr(frame, "columns", ()))
    with suppress(TypeError, KeyError):
        if columns and all(callable(getattr(frame[name], "to_list", None)) for name in columns):
            return frame
    what = "a data frame from neither pandas nor polars"
    if hasattr(frame, "__arrow_c_stream__"):
        _, arrow = needed(what, "pandas", "pyarrow")
        return arrow.table(frame).to_pandas()
    if hasattr(frame, "__dataframe__"):
        [pandas] = needed(what, "pandas")
        return pandas.api.interchange.from_dataframe(frame)
    msg = (
        f"a {type(frame).__name__} is not a data frame; give one from pandas or "
        "polars, or an object with __dataframe__"
    )
    raise MeasurementError(msg)


def _cells(frame: Any) -> tuple[list[str], list[list[str]]]:
    """Titles and rows of a frame, as in CSV."""
    names = list(frame.columns)
    columns = [[_cell(value) for value in frame[name].to_list()] for name in names]
    return [str(name) for name in names], [list(row) for row in zip(*columns, strict=True)]


def _cell(value: Any) -> str:
    """A value as a cell of CSV; a missing value is empty."""
    if value is None or value != value or type(value).__name__ in ("NAType", "NaTType"):
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(float(value)) if hasattr(value, "dtype") else str(value)


def text_of_cells(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    r"""Write cells as CSV.

    Examples
    --------
    >>> text_of_cells(["load_ops_s", "host"], [["100", "a, b"]])
    'load_ops_s,host\n100,"a, b"\n'
    """
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerows([names, *rows])
    return stream.getvalue()


def frame_of(measurements: Measurements) -> Any:
    """Make a pandas DataFrame of measurements; see `Measurements.to_frame`."""
    [pandas] = needed("a data frame", "pandas")
    columns = {_title(column): column.values for column in measurements.columns.values()}
    frame = pandas.DataFrame({**columns, **measurements.labels})
    frame.attrs["source"] = measurements.source
    return frame


def _title(column: Observed) -> str:
    return header(column.name, column.unit.dimension)
