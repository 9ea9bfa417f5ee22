"""Measured data: a table with a header whose column names end in their units."""

import hashlib
import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError, is_hidden, nearest, quoted
from headway.kinds import FloatArray, number_of, resolution
from headway.models.files.intake import is_given, read_bytes
from headway.models.files.separated import rows_of
from headway.models.language.frozen import Kept
from headway.models.language.units import ONE, Unit, split_header
from headway.models.language.verbs import who_does

if TYPE_CHECKING:
    from headway.models.measured.facts import Fact

LARGEST_FILE = 20_000_000
"""Bytes; a curve of response times is never larger."""

MOST_ROWS = 1_000_000
"""Rows; a curve has some dozens, repeats some thousands."""

MOST_COLUMNS = 1000
"""Columns; what a benchmark tells of a run takes some dozens."""


@dataclass(frozen=True)
class Observed:
    """One measured quantity over all observations.

    Parameters
    ----------
    header
        The column's name in the file.
    name
        That name without its unit.
    unit
        The unit in the file.
    values
        SI values, one an observation; NaN where the cell is empty.
    resolution
        Half a unit of the last printed digit, in SI: how well a value is known.
    """

    header: str
    name: str
    unit: Unit
    values: FloatArray
    resolution: FloatArray


@dataclass(frozen=True)
class Measurements:
    r"""Observations, one a row.

    Cells are parted by commas, or by semicolons or tabs where the header is.

    Parameters
    ----------
    source
        Where they come from, for messages and titles.
    columns
        Measured quantities by their full column name.
    labels
        Columns of words, such as the system's name.
    lines
        Line of each observation in its file.
    facts
        What a result page discloses of the system that was measured.
    kind
        What kind of file it was read from.
    made_of
        The point of a load test that each row was made of; empty where it was read as a table.

    Examples
    --------
    >>> text = "throughput_ops_s,response_ms\n100,3.4\n200,4.0\n"
    >>> curve = Measurements.parse(text, "curve.csv")
    >>> curve.column("response").values.tolist()
    [0.0034, 0.004]
    """

    source: str
    columns: Mapping[str, Observed]
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lines: tuple[int, ...] = ()
    facts: Mapping[str, "Fact"] = field(default_factory=dict)
    kind: str = "CSV"
    made_of: tuple[Kept, ...] = ()

    @classmethod
    def read(cls, path: str | Path) -> "Measurements":
        """Read a file: CSV, a SPEC result page, or a benchmark's ``sfssum`` or ``sfsres``.

        Raises
        ------
        MeasurementError
            For a file that is missing, empty, too large or no text, and as `parse`.

        Examples
        --------
        >>> from headway.models import data_path
        >>> path = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
        >>> table = Measurements.read(path)
        >>> len(table), list(table.columns)[:2]
        (7, ['throughput_ops_s', 'response_ms'])
        """
        found: Measurements = who_does(cls, "read")(Path(path))
        return found

    @classmethod
    def parse(cls, text: str, source: str) -> "Measurements":
        r"""Read CSV text; lines that begin with ``#`` are comments.

        Raises
        ------
        MeasurementError
            Naming file, line and column, for a missing header, a repeated column, a row of
            the wrong length, or a cell that is not a finite number of the column's unit.

        Examples
        --------
        >>> Measurements.parse("load_ops_s,response_ms\n100,3.4\n200,4.x\n", "curve.csv")
        Traceback (most recent call last):
            ...
        headway.errors.MeasurementError: curve.csv:3: response_ms is '4.x', not a number
        """
        return cls.of_cells(*_split(text, source), source)

    @classmethod
    def of_cells(
        cls, header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], source: str
    ) -> "Measurements":
        """Make measurements of cells as printed, each row with its line in the file.

        Raises
        ------
        MeasurementError
            As `parse`.

        Examples
        --------
        >>> cells = [(7, ["100", "3.4"]), (9, ["200", "4.0"])]
        >>> Measurements.of_cells(["throughput_ops_s", "response_ms"], cells, "run").lines
        (7, 9)
        """
        _check_cells(header, rows, source)
        columns, labels = {}, {}
        lines = tuple(line for line, _ in rows)
        for index, title in enumerate(header):
            cells = [cells[index].strip() for _, cells in rows]
            if _is_words(title, cells):
                labels[title] = tuple(cells)
            else:
                columns[title] = _observed(title, cells, lines, source)
        return cls(source, columns, labels, lines)

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return f"Measurements({self.source}: {len(self)} x {', '.join(self.columns)})"

    def find(self, names: Iterable[str]) -> Observed | None:
        r"""The first column that bears one of these names, with or without its unit.

        Examples
        --------
        >>> curve = Measurements.parse("load_ops_s,response_ms\n100,3.4\n", "curve.csv")
        >>> curve.find(["throughput", "load"]).values.tolist(), curve.find(["latency"])
        ([100.0], None)
        """
        for name in names:
            if name in self.columns:
                return self.columns[name]
            for column in self.columns.values():
                if column.name == name:
                    return column
        return None

    def column(self, *names: str) -> Observed:
        r"""The first column that bears one of these names.

        Raises
        ------
        MeasurementError
            If there is none; tells which columns there are.

        Examples
        --------
        >>> curve = Measurements.parse("load_ops_s,response_ms\n100,3.4\n", "curve.csv")
        >>> curve.column("response").header, curve.column("response").resolution.tolist()
        ('response_ms', [5e-05])
        """
        found = self.find(names)
        if found is None:
            known = [*self.columns, *self.labels]
            other = "; --x and --y name others" if len(names) > 1 else ""
            msg = f"{self.source}: there is no column {names[0]!r}{nearest(names[0], known)}{other}"
            raise MeasurementError(msg)
        return found

    def only(self, keep: NDArray[np.bool_]) -> "Measurements":
        r"""The observations for which `keep` is true.

        Examples
        --------
        >>> curve = Measurements.parse("load_ops_s,response_ms\n100,3.4\n200,4.0\n", "curve.csv")
        >>> upper = curve.only(curve.column("load").values > 150)
        >>> len(upper), upper.lines
        (1, (3,))
        """
        columns = {
            title: Observed(o.header, o.name, o.unit, o.values[keep], o.resolution[keep])
            for title, o in self.columns.items()
        }
        labels = {t: tuple(np.array(w)[keep].tolist()) for t, w in self.labels.items()}
        lines = tuple(np.array(self.lines)[keep].tolist())
        made_of = tuple(one for one, kept in zip(self.made_of, keep, strict=False) if kept)
        return replace(self, columns=columns, labels=labels, lines=lines, made_of=made_of)

    @property
    def invalid(self) -> int:
        r"""How many observations the benchmark itself marks as invalid.

        Examples
        --------
        >>> Measurements.parse("load_ops_s,valid\n100,yes\n200,no\n", "curve.csv").invalid
        1
        """
        return self.labels.get("valid", ()).count("no")

    @property
    def sha256(self) -> str:
        r"""Hash of the file they come from, as hexadecimal digits; empty if there is no file.

        Examples
        --------
        >>> from headway.models import data_path
        >>> path = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
        >>> typed = Measurements.parse("load_ops_s\n100\n", "typed")
        >>> len(Measurements.read(path).sha256), typed.sha256
        (64, '')
        """
        path = Path(self.source)
        if is_given(path) or not os.path.isfile(path):  # noqa: PTH113 - takes any name at all
            return ""
        return hashlib.sha256(read_bytes(path, LARGEST_FILE)).hexdigest()


def _split(text: str, source: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Split CSV text into its header and its rows with their line numbers."""
    if not text.strip():
        msg = f"{source}: is empty; it needs a header such as throughput_ops_s,response_ms"
        raise MeasurementError(msg)
    rows = rows_of(text, source)
    if not rows:
        msg = f"{source}: holds no row; it needs a header such as throughput_ops_s,response_ms"
        raise MeasurementError(msg)
    return [title.strip() for title in rows[0][1]], rows[1:]


def _check_cells(
    header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], source: str
) -> None:
    """Refuse a table that is too long, has a bad header, or rows of another length."""
    if len(rows) >= MOST_ROWS:
        msg = f"{source}: more than the {MOST_ROWS} rows a table may have; keep means of them"
        raise MeasurementError(msg)
    _check_header(header, source)
    for line, row in rows:
        if len(row) != len(header):
            msg = f"{source}:{line}: {len(row)} cells, but the header names {len(header)} columns"
            raise MeasurementError(msg)
    if not rows:
        msg = f"{source}: has a header but no observations"
        raise MeasurementError(msg)


def _check_header(header: Sequence[str], source: str) -> None:
    if all(number_of(title) is not None for title in header):
        msg = f"{source}:1: no header; the first line must name columns, such as response_ms"
        raise MeasurementError(msg)
    if len(header) > MOST_COLUMNS:
        msg = f"{source}:1: {len(header)} columns are more than the {MOST_COLUMNS} a table may have"
        raise MeasurementError(msg)
    counts = Counter(header)
    problem = next(filter(None, (_title_problem(title, counts[title]) for title in header)), "")
    if problem:
        msg = f"{source}:1: {problem}"
        raise MeasurementError(msg)


def _title_problem(title: str, count: int) -> str:
    """What is wrong with the name of a column; empty if nothing is."""
    if not title:
        return "a column has no name"
    if any(map(is_hidden, title)):
        return f"column {quoted(title)} has a control character in its name"
    return f"column {quoted(title)} stands twice" if count > 1 else ""


def _is_words(title: str, cells: list[str]) -> bool:
    """Tell a column of words: its name has no unit, and a cell in it is no number."""
    return split_header(title)[1] is None and any(c and number_of(c) is None for c in cells)


def _observed(title: str, cells: list[str], lines: Iterable[int], source: str) -> Observed:
    name, unit = split_header(title)
    shown = unit or ONE
    values = [
        _cell(cell, title, shown, f"{source}:{line}")
        for cell, line in zip(cells, lines, strict=True)
    ]
    digits = np.array([resolution(cell) if cell else math.nan for cell in cells])
    return Observed(title, name, shown, shown.si(np.array(values)), shown.si(digits))


def _cell(cell: str, title: str, unit: Unit, place: str) -> float:
    if not cell:
        return math.nan
    value = number_of(cell)
    if value is None or not all(math.isfinite(unit.si(x)) for x in (value, resolution(cell))):
        finite = "finite " if value is not None else ""
        comma = value is None and number_of(cell.replace(",", ".")) is not None
        point = "; write a decimal point" if comma else ""
        msg = f"{place}: {title} is {quoted(cell)}, not a {finite}number{point}"
        raise MeasurementError(msg)
    if value < 0 and split_header(title)[1] is not None:
        msg = f"{place}: {title} is {cell}; it cannot be negative"
        raise MeasurementError(msg)
    return value
