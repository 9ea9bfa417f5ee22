"""Measured data: a table with a header whose column names end in their units."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError, nearest
from headway.kinds import FloatArray
from headway.models.files.intake import is_given, read_bytes
from headway.models.files.separated import check_cells, header_and_rows
from headway.models.files.shipped import shipped_or_own
from headway.models.language.frozen import Kept
from headway.models.language.verbs import perform, who_does
from headway.models.measured.arrivals import pooled_arrivals, same_arrivals
from headway.models.measured.cells import Observed, decimals, is_words, observed, words_complaint
from headway.models.measured.roles import part_of, titled, with_mean
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.models.measured.facts import Fact

LARGEST_FILE = 20_000_000
"""The longest file [bytes]; a curve of response times is never larger."""

NOTHING: Mapping[Any, Any] = MappingProxyType({})
"""The default if titles say everything about the columns."""

Series: TypeAlias = "Sequence[float | None] | FloatArray"
"""Numbers, one per observation; None and NaN are missing."""


@dataclass(frozen=True)
class Measurements:
    r"""A table of observations, one per row.

    Commas separate the cells, or semicolons or tabs if they separate the header's.

    Parameters
    ----------
    source
        Where the data come from, for messages and titles.
    columns
        Measured quantities by their full column name.
    labels
        Columns of words, such as the system's name.
    lines
        Line of each observation in its file.
    facts
        What a result page discloses about the measured system.
    kind
        The kind of file that the data were read from.
    made_of
        The point of a load test behind each row; empty for a file read as a table.
    spoilt
        Columns with a cell that cannot be read as their number; using one raises its error.
    notes
        Notes on how they were measured, a sentence each.
    stated_scv
        Squared coefficient of variation of the interarrival times, as the user states.

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
    spoilt: Mapping[str, Observed] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    stated_scv: float | None = None

    @classmethod
    def read(
        cls,
        path: str | Path,
        unit: Mapping[str, str] = NOTHING,
        role: Mapping[str, str] = NOTHING,
        decimal: str = "",
    ) -> "Measurements":
        """Read a file: CSV, Parquet, Excel, a SPEC result page, or what a tool wrote.

        Parameters
        ----------
        path
            A file; its content shows its kind.
        unit, role
            What a column's title does not say, by column: ``{"latency": "ms"}``, ``{"rate":
            "throughput"}``; see the reference, CSV.
        decimal
            The decimal mark of CSV, ``.`` or ``,``; by default the cells decide.

        Raises
        ------
        MeasurementError
            For a file that is missing, empty, too large or not text, and as `parse`.

        Examples
        --------
        >>> from headway.models import data_path
        >>> path = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
        >>> table = Measurements.read(path)
        >>> len(table), list(table.columns)[:2]
        (7, ['throughput_ops_s', 'response_ms'])
        """
        measurements: Measurements = who_does(cls, "read")(Path(path), unit, role, decimal)
        return measurements

    @classmethod
    def from_columns(
        cls,
        throughput: Series = (),
        response_time: Series = (),
        *,
        offered_rate: Series = (),
        population: Series = (),
        think_time: Series = (),
        percentiles: Mapping[float, Series] = NOTHING,
        utilisation: Mapping[str, Series] = NOTHING,
        errors: Series = (),
        samples: Series = (),
        duration: Series = (),
        unit: Mapping[str, str] = NOTHING,
        source: str = "columns",
    ) -> "Measurements":
        """Make measurements from sequences of numbers, one entry per observation.

        Parameters
        ----------
        throughput, offered_rate
            Rates [op/s].
        response_time, think_time, duration
            Times [s].
        population, errors, samples
            Counts.
        percentiles
            Response times [s] by percentage, such as 99.
        utilisation
            Shares from 0 to 1, by resource.
        unit
            Units of arguments in other units, by the names above.
        source
            Their name in messages and titles.

        Raises
        ------
        MeasurementError
            For no columns, columns of different lengths, or negative or infinite numbers.

        Examples
        --------
        >>> curve = Measurements.from_columns([100, 200], [3.4, 4.0], unit={"response_time": "ms"})
        >>> curve
        Measurements(columns: 2 x throughput_ops_s, response_ms)
        """
        single = {
            "throughput": throughput, "response_time": response_time,
            "offered_rate": offered_rate, "population": population, "think_time": think_time,
            "errors": errors, "samples": samples, "duration": duration,
        }  # fmt: skip
        measurements: Measurements = who_does(cls, "from_columns")(
            single, percentiles, utilisation, unit, source
        )
        return measurements

    @classmethod
    def from_frame(
        cls,
        frame: object,
        unit: Mapping[str, str] = NOTHING,
        role: Mapping[str, str] = NOTHING,
        source: str = "frame",
    ) -> "Measurements":
        """Make measurements from a data frame: pandas, polars, or any with ``__dataframe__``.

        Parameters
        ----------
        frame
            The frame; its columns are named like those of a CSV file.
        unit, role
            As for `read`.
        source
            Its name in messages and titles.

        Raises
        ------
        MeasurementError
            As `parse`, and for anything that is not a data frame.
        PackageError
            If reading it needs a package that is not installed.
        """
        measurements: Measurements = who_does(cls, "from_frame")(frame, source, unit, role)
        return measurements

    def to_frame(self) -> Any:
        """Make a pandas DataFrame, in SI, with titles that `from_frame` reads.

        Raises
        ------
        PackageError
            If pandas is not installed.
        """
        return perform(self, "to_frame")

    @classmethod
    def parse(cls, text: str, source: str, decimal: str = "") -> "Measurements":
        r"""Read CSV text; lines that begin with ``#`` are comments.

        Parameters
        ----------
        text, source
            The table, and its name for messages.
        decimal
            The decimal mark, ``.`` or ``,``; by default the cells decide.

        Raises
        ------
        MeasurementError
            Naming file, line and column, for a missing header, a repeated column, or a row of
            the wrong length; a cell that is not a finite number of its column's unit is named
            once the column is asked for.

        Examples
        --------
        >>> curve = Measurements.parse("load_ops_s;t_ms\n1.000;3,4\n2.000;4,x\n", "curve.csv")
        >>> curve.column("load").values.tolist()
        [1.0, 2.0]
        >>> curve.column("t")
        Traceback (most recent call last):
            ...
        headway.errors.MeasurementError: curve.csv:3: t_ms is '4,x', not a number
        """
        return _table(*header_and_rows(text, source), source, decimal)

    @classmethod
    def of_cells(
        cls, header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], source: str
    ) -> "Measurements":
        """Make measurements from cells as printed, each row with its line in the file.

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
        table = _table(header, rows, source)
        for column in table.spoilt.values():
            column.usable()
        return table

    def __len__(self) -> int:
        return len(self.lines)

    def __repr__(self) -> str:
        return f"Measurements({self.source}: {len(self)} x {', '.join(self.columns)})"

    @property
    def arrival_scv(self) -> float | None:
        """Squared coefficient of variation of the interarrival times; None if not known.

        It is the user's, or that of all the points behind the rows. For points with a log, it is
        that of all requests.

        Raises
        ------
        MeasurementError
            For points whose logs differ by more than chance.
        """
        if self.stated_scv is not None:
            return self.stated_scv
        scvs = [getattr(point, "arrival_scv", None) for point in self.made_of]
        logged = [gaps for p in self.made_of if (gaps := getattr(p, "gaps", None)) is not None]
        if scvs and scvs == [gaps.scv for gaps in logged]:
            return pooled_arrivals(logged, self.source)
        return same_arrivals(scvs)

    def find(self, names: Iterable[str]) -> Observed | None:
        r"""The first column with one of these names, with or without its unit.

        Examples
        --------
        >>> curve = Measurements.parse("load_ops_s,response_ms\n100,3.4\n", "curve.csv")
        >>> curve.find(["throughput", "load"]).values.tolist(), curve.find(["latency"])
        ([100.0], None)
        """
        for name in names:
            column = next(self.named(name), None)
            if column is not None:
                return column.usable()
        return None

    def named(self, *names: str) -> Iterator[Observed]:
        """Every column with one of these names, with or without its unit, readable or not.

        A column whose whole title matches comes first.
        """
        for name in names:
            both = [*self.columns.values(), *self.spoilt.values()]
            yield from (column for column in both if column.header == name)
            yield from (column for column in both if column.name == name != column.header)

    def column(self, *names: str) -> Observed:
        r"""The first column with one of these names.

        Raises
        ------
        MeasurementError
            If there is none; lists the columns of the table.

        Examples
        --------
        >>> curve = Measurements.parse("load_ops_s,response_ms\n100,3.4\n", "curve.csv")
        >>> curve.column("response").header, curve.column("response").resolution.tolist()
        ('response_ms', [5e-05])
        >>> curve.column("response_time").header  # what it is of
        'response_ms'
        """
        match = self.find(names)
        if match is None and len(names) == 1:
            match = self._meant(names[0])
        if match is None and names[0] in self.labels:
            raise words_complaint(self.source, names[0], self.lines, self.labels[names[0]])
        if match is None:
            known = [*self.columns, *self.labels]
            other = "; use --x and --y to name columns" if len(names) > 1 else ""
            msg = f"{self.source}: there is no column {names[0]!r}{nearest(names[0], known)}{other}"
            raise MeasurementError(msg)
        return match

    def _meant(self, name: str) -> Observed | None:
        """The column that a name refers to, as response_ms is response_time's; or None."""
        part = titled(name)
        same = [
            each for each in self.columns.values() if part is not None and part_of(each) == part
        ]
        return same[0].usable() if len(same) == 1 else None

    def only(self, keep: NDArray[np.bool_]) -> "Measurements":
        r"""The observations for which `keep` is true.

        Examples
        --------
        >>> curve = Measurements.parse("load_ops_s,response_ms\n100,3.4\n200,4.0\n", "curve.csv")
        >>> upper = curve.only(curve.column("load").values > 150)
        >>> len(upper), upper.lines
        (1, (3,))
        """
        columns, spoilt = (
            {
                title: replace(o, values=o.values[keep], resolution=o.resolution[keep])
                for title, o in some.items()
            }
            for some in (self.columns, self.spoilt)
        )
        made_of = tuple(one for one, kept in zip(self.made_of, keep, strict=False) if kept)
        some = replace(self, columns=columns, spoilt=spoilt, made_of=made_of)
        labels = {t: tuple(np.array(w)[keep].tolist()) for t, w in self.labels.items()}
        return replace(some, labels=labels, lines=tuple(np.array(self.lines)[keep].tolist()))

    def given(self, settings: Mapping[str, str | float]) -> "Measurements":
        r"""The measurements, with values of parameters at which all of them were made.

        Parameters
        ----------
        settings
            By parameter: ``"1 ms"``, or ``"+1 ms"`` for an increment.

        Raises
        ------
        MeasurementError
            For a value that is not a number with a unit, and for a column of that name.

        Examples
        --------
        >>> Measurements.parse("load_ops_s\n100\n", "slow.csv").given({"delay": "1 ms"})
        Measurements(slow.csv@delay=1 ms: 1 x load_ops_s, delay)
        """
        return perform(self, "given", settings)  # type: ignore[no-any-return]

    @property
    def invalid(self) -> int:
        r"""Number of observations that the benchmark itself marks as invalid.

        Examples
        --------
        >>> Measurements.parse("load_ops_s,valid\n100,yes\n200,no\n", "curve.csv").invalid
        1
        """
        return self.labels.get("valid", ()).count("no")

    @property
    def sha256(self) -> str:
        r"""Hash of their file, as hexadecimal digits; empty if there is no file.

        Examples
        --------
        >>> from headway.models import data_path
        >>> path = data_path("network_sensitivity/table_a_1_scsi_performance.csv")
        >>> typed = Measurements.parse("load_ops_s\n100\n", "typed")
        >>> len(Measurements.read(path).sha256), typed.sha256
        (64, '')
        """
        path = shipped_or_own(Path(self.source))
        if is_given(path) or not os.path.isfile(path):  # noqa: PTH113 - takes any name at all
            return ""
        return hashlib.sha256(read_bytes(path, LARGEST_FILE)).hexdigest()


def _table(
    header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]], source: str, decimal: str = ""
) -> Measurements:
    """A table of cells as printed; errors in cells are stored."""
    check_cells(header, rows, source)
    lines = tuple(line for line, _ in rows)
    cells = {title: [row[i].strip() for _, row in rows] for i, title in enumerate(header)}
    marks = decimals(cells, decimal)
    labels = {t: tuple(c) for t, c in cells.items() if is_words(t, c, marks[t])}
    read = {t: observed(t, cells[t], lines, source, marks[t]) for t in header if t not in labels}
    read = with_mean(read)
    columns = {title: column for title, column in read.items() if not column.complaint}
    spoilt = {title: column for title, column in read.items() if column.complaint}
    return Measurements(source, columns, labels, lines, spoilt=spoilt)
