"""A load test: the points of all its files, by load, and the files left out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Any, Protocol, TypeAlias

from headway.errors import HeadwayError, MeasurementError
from headway.models.measured.measurements import LARGEST_FILE, NOTHING, Measurements
from headway.models.measured.points import Point, measurements_of, placed_points
from headway.models.measured.spans.columns import Spans
from headway.models.measured.spans.files import LoadFiles, SpanFiles
from headway.models.measured.spans.forms import FORMS
from headway.models.measured.tools.monitors.traces import points_of_load
from headway.models.measured.window import window_of
from headway.models.reading.arriving import arrived
from headway.models.reading.clients import Told, check_clients, driven
from headway.models.reading.frames import PARQUET, kind_of
from headway.models.reading.gather import gather
from headway.models.reading.hints import NO_HINTS, Hints
from headway.models.reading.long import Long
from headway.models.reading.one_run import Output, runs_of
from headway.models.reading.parts import Parts, with_parts
from headway.models.reading.recognise import (
    CSV,
    UTF_16,
    decoded,
    is_known,
    read_table,
    recognised,
)
from headway.models.reading.rows import Used, read_rows
from headway.models.reading.systems import check_one_system, check_one_work
from headway.models.reading.traces import Read, Traces, are_traces, read_of, take_spans
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.numerals import counted, some_of
from headway.records import dataclass


class Passed(StrEnum):
    """Why a file is passed over unless it is named."""

    EMPTY = "empty"
    UNKNOWN = "of unknown kind"
    AGAIN = "told by another output of its run"


@dataclass(frozen=True)
class LeftOut:
    """A file that was not read.

    Parameters
    ----------
    file
        The file's name.
    reason
        The reason, in a line that names the file.
    passed
        What it is, if it is not a measurement; None if it is damaged.
    """

    file: str
    reason: str
    passed: Passed | None = None


@dataclass(frozen=True)
class LoadTest(Answer):
    """The output of load generators: points in the order of their load.

    Parameters
    ----------
    points
        At least one point; several at one load are repeats.
    left_out
        Files without any point.
    columns
        The roles that columns of its tables were given, each once.
    wide
        Whether its table shows all that the tools report, however wide it becomes.
    table
        The table that its only file is; None for a tool's output, and for several files.
    notes
        Notes on how it was driven, a sentence each.
    traces
        The spans that its points were made of, for whoever looks at more than points; None without
        traces.
    """

    points: tuple[Point, ...]
    left_out: tuple[LeftOut, ...] = ()
    columns: tuple[Used, ...] = ()
    wide: bool = False
    table: Measurements | None = None
    notes: tuple[str, ...] = ()
    traces: Read | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        return f"LoadTest({self._counted})"

    @property
    def title(self) -> str:
        """The title of its tables: source, length and tools.

        Examples
        --------
        >>> LoadTest((Point("wrk", population=2, file="two.txt"),)).title
        'two.txt: 1 point from wrk'
        """
        return f"{self.source}: {self._counted}"

    @property
    def _counted(self) -> str:
        files = {tool: {p.file for p in self.points if p.tool == tool} for tool in self.tools}
        sources = ", ".join(_source(tool, len(names)) for tool, names in files.items())
        return f"{counted(len(self.points), 'point')} from {sources}"

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools that wrote its files."""
        return tuple(dict.fromkeys(point.tool for point in self.points))

    @property
    def source(self) -> str:
        """Its name for messages and titles: the file, or the first of several."""
        files = tuple(dict.fromkeys(point.file for point in self.points))
        return files[0] if len(files) == 1 else f"{files[0]} and {len(files) - 1} more"

    @property
    def measurements(self) -> Measurements:
        """The points as a table with a row for each, or the original table with all columns.

        Examples
        --------
        >>> points = (Point("wrk", population=2, throughput=90.0, response_time=0.02),)
        >>> LoadTest(points).measurements.column("throughput").values.tolist()
        [90.0]
        """
        return self.by_points if self.table is None else self.table

    @property
    def by_points(self) -> Measurements:
        """The points as a table with headway's own columns, whatever the columns of the files."""
        table = measurements_of(self.points, self.source)
        return replace(table, kind=", ".join(self.tools), notes=self.notes)


_FORMS = ("file", "page", "workbook")


def _source(kind: str, files: int) -> str:
    """The origin of points: a tool by its name, or files of a kind.

    Examples
    --------
    >>> _source("wrk", 9), _source("CSV", 1), _source("Excel workbook", 1), _source("Parquet", 2)
    ('wrk', 'a CSV file', 'an Excel workbook', 'Parquet files')
    """
    words = f"{kind} file" if kind in (CSV.kind, PARQUET) else kind
    if not words.endswith(_FORMS):
        return words
    article = "an" if words[0] in "AEIOU" else "a"
    return f"{article} {words}" if files == 1 else f"{words}s"


class Frame(Protocol):
    """A data frame of pandas or polars, or one that the interchange protocols can read."""

    @property
    def columns(self) -> Any:
        """Titles of its columns, like those of a CSV file."""


Measured: TypeAlias = Measurements | LoadTest | Traces | Frame | str | Path
"""What models are compared with and fitted to: what `read` returns or accepts, and data frames."""


def measurements_in(measured: object) -> Measurements:
    """Measurements from a table, a load test, files, or a data frame.

    Parameters
    ----------
    measured
        A table, what `read` returns, a place that it accepts, or a data frame.

    Raises
    ------
    MeasurementError
        For anything else, what cannot be read, and a closed test whose number of clients is
        unknown.

    Examples
    --------
    >>> len(measurements_in("network_sensitivity/table_a_1_scsi_performance.csv"))
    7
    >>> measurements_in(7)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    headway.errors.MeasurementError: int is not measurements; give a path or a data frame, ...
    """
    if isinstance(measured, str | PurePath):
        measured = read(str(measured))
    elif hasattr(measured, "columns") and not isinstance(measured, Measurements | LoadTest):
        measured = Measurements.from_frame(measured)
    if isinstance(measured, LoadTest):
        measured = measured.measurements
    if isinstance(measured, Measurements):
        points = [point for point in measured.made_of if isinstance(point, Point)]
        check_clients(points)
        check_one_work(points, measured.source)
        check_one_system(measured)
        return measured
    kind = type(measured).__name__
    msg = f"{kind} is not measurements; give a path or a data frame, or use headway.read"
    raise MeasurementError(msg)


def what_was_measured(measured: object) -> Measurements | Traces:
    """The traces among what models are compared with, or else measurements.

    Parameters
    ----------
    measured
        Traces, or as for `measurements_in`.

    Raises
    ------
    MeasurementError
        As for `measurements_in`.
    """
    if isinstance(measured, Traces):
        return measured
    if isinstance(measured, LoadTest) and measured.traces is not None:
        return Traces(((measured.traces, NOTHING),))
    if isinstance(measured, str | PurePath) and are_traces([str(measured)]):
        return Traces(((str(measured), NOTHING),))
    return measurements_in(measured)


def measurements_beside(model: Model, measured: object) -> Measurements:
    """Measurements, as from `measurements_in`, of the whole that a model describes.

    Raises
    ------
    MeasurementError
        As for `measurements_in`; and for traces with layered services, as each row is one service.
    """
    table = measurements_in(measured)
    if model.graph.layers and table.kind in _TRACES:
        msg = (
            f"{table.source}: its rows are services, and the model answers for all of them; "
            "headway compare MODEL --data TRACES compares service by service"
        )
        raise MeasurementError(msg)
    return table


_TRACES = frozenset(f"{form.name} traces" for form in FORMS)
"""Kinds of measurements with a service in each row."""


def _silent() -> None:
    """Show no progress."""


def read(
    *places: str | Path | Sequence[str | Path],
    skip: str | float | None = None,
    window: str | None = None,
    skip_bad: bool = False,
    where: Mapping[str, str] = NOTHING,
    clients: Sequence[str] | str | float = (),
    rate: Sequence[str] | str | float = (),
    arrivals: str | float = "",
    unit: Mapping[str, str] = NOTHING,
    role: Mapping[str, str] = NOTHING,
    decimal: str = "",
) -> LoadTest:
    """Read measured files: a tool's output, a folder or an archive of it, or a table.

    Parameters
    ----------
    places
        Paths, or names of measurements that ship with headway; several, or lists of them.
    skip
        What to leave out at the start of each run, such as ``"10 s"``, or seconds.
    window
        The part of each run that counts, such as ``"10s:50s"``. Both are for logs with a time for
        every request.
    skip_bad
        Leave out files that cannot be read, rather than refuse all.
    where
        For tables of several systems, the word by column that selects rows.
    clients, rate
        Clients of a closed test, or rates asked for [1/s], where tools do not print them: a number
        for all files, ``"FILE=8"``, or a part of the files' names with {} for the number.
    arrivals
        How the requests of an open test arrived, if the files do not say: ``"constant"`` for equal
        intervals, ``"poisson"``, or the scv of the interarrival times; ``"trace"`` takes each
        point's scv from its log, if that has single requests.
    unit, role
        Units of columns whose titles state none, such as ``{"latency": "ms"}``, and roles of
        columns, such as ``{"rate": "throughput"}``.
    decimal
        The decimal mark in CSV; detected by default.

    Raises
    ------
    MeasurementError
        For a file that cannot be read, or is cut off, and if no file has a point.
    InvalidParameter
        For a part of the run that contains nothing, and unknown arrivals.

    Examples
    --------
    >>> test = read("load_tests/wrk")
    >>> len(test.points), test.measurements.column("throughput").values.max().round(1)
    (9, np.float64(210.7))
    """
    hints = Hints(
        unit,
        role,
        decimal,
        window=window_of(skip, window),
        skip_bad=skip_bad,
        where=where,
        clients=Told("--clients", _texts(clients)),
        rates=Told("--rate", _texts(rate)),
        arrivals=str(arrivals),
    )
    _refuse_tables(places)
    each = [[p] if isinstance(p, str | Path) else p for p in places]
    return read_load_test([str(place) for several in each for place in several], hints=hints)


def _refuse_tables(places: Sequence[object]) -> None:
    """Refuse what is a table already: its columns would be taken for names of files."""
    for place in places:
        if hasattr(place, "columns") or isinstance(place, Mapping):
            kind = type(place).__name__
            msg = (
                f"read takes paths, and a {kind} is measurements already: give a data frame to "
                "fit, compare or report as it is, or to Measurements.from_frame"
            )
            raise MeasurementError(msg)


def _texts(said: Sequence[str] | str | float) -> tuple[str, ...]:
    return (str(said),) if isinstance(said, str | float | int) else tuple(map(str, said))


def read_load_test(
    places: Sequence[str],
    advance: Callable[[], None] = _silent,
    hints: Hints = NO_HINTS,
) -> LoadTest:
    """Read every file at given places into points.

    Files in a folder, an archive or a pattern that are not measurements (empty ones, and those that
    no reader recognises: a licence, notes, scripts) are left out. A file that is named, or that a
    reader recognises and cannot read, is refused.

    Parameters
    ----------
    places
        As for `headway.models.reading.gather.gather`.
    advance
        Called after each megabyte of a long file.
    hints
        What the user says about the files, and about columns of tables, which must exist in one of
        them.

    Raises
    ------
    MeasurementError
        For a file that cannot be read, unless it is to be left out; if no file has a point; and for
        a hint about a column that is in no file.
    """
    outputs, left_out, traces = _outputs_at(places, advance, hints)
    points: list[Point] = []
    for run, others in runs_of(outputs):
        points += run.points
        whys = ((each.name, f"{each.name}: {_WHYS[Passed.AGAIN]} {run.name}") for each in others)
        left_out += [LeftOut(name, why, Passed.AGAIN) for name, why in whys]
    if not points:
        raise _nothing_in(places, left_out)
    columns = tuple(dict.fromkeys(used for output in outputs for used in output.columns))
    hints.check_met({each.column for each in columns}, places[0])
    known = driven(points, hints.clients, hints.rates)
    come = arrived(known.points, hints.arrivals, places[0])
    in_order = tuple(sorted(come.points, key=lambda point: point.load))
    only = outputs[0].table if len(outputs) == 1 and not known.notes else None
    notes = tuple(dict.fromkeys(n for each in outputs if each.table for n in each.table.notes))
    notes = (*notes, *known.notes, *come.notes)
    return LoadTest(in_order, tuple(left_out), columns, table=only, notes=notes, traces=traces)


def _outputs_at(
    places: Sequence[str], advance: Callable[[], None], hints: Hints
) -> tuple[list[Output], list[LeftOut], Read | None]:
    """Read the files at given places, and list those passed over or unreadable."""
    outputs: list[Output] = []
    left_out: list[LeftOut] = []
    files = SpanFiles()
    named = {str(Path(place)) for place in places}
    for name, content in with_parts(gather(places)):
        try:
            if not _spans_in(files, name, content, advance, hints):
                outputs.append(_output_in(name, content, advance, hints))
        except HeadwayError as error:
            passed = None if name in named else _passed_over(content)
            if passed is None and not hints.skip_bad:
                msg = f"{error}{'' if {name} == named else _GO_ON}"
                raise type(error)(msg) from None
            why = f"{name}: {_WHYS[passed]}" if passed else str(error)
            names = content.names if isinstance(content, Parts) else (name,)
            left_out += [LeftOut(each, why, passed) for each in names]
    loads = list(_loads_in(files, left_out, hints))
    outputs += [_output_of_spans(spans, load) for load, spans in loads]
    traces = read_of(files, [spans for _, spans in loads]) if loads else None
    return outputs, left_out, traces


def _spans_in(
    files: SpanFiles,
    name: str,
    content: bytes | Long | Parts,
    advance: Callable[[], None],
    hints: Hints,
) -> bool:
    """Read the spans of a file, if it holds traces; whether it does."""
    if isinstance(content, Parts) or not take_spans(files, name, content, advance):
        return False
    if not hints.window.is_whole:
        kind = f"{files.rows[name].form} traces"
        raise hints.window.refuse(kind, name)
    return True


def _loads_in(
    files: SpanFiles, left_out: list[LeftOut], hints: Hints
) -> Iterator[tuple[LoadFiles, Spans]]:
    """The loads of traces; those that cannot be used are refused, or left out."""
    for load in files.loads():
        try:
            spans = files.spans(load)
        except HeadwayError as error:
            if not hints.skip_bad:
                raise
            left_out += [LeftOut(name, str(error)) for name in load.files]
        else:
            yield load, spans


def _output_of_spans(spans: Spans, load: LoadFiles) -> Output:
    def make(given: Spans, _: str) -> list[Point]:
        return list(points_of_load(given, load.form))

    return Output(load.files[0], f"{load.form} traces", placed_points(make, spans, load.files[0]))


_SHOWN = 5  # names of files listed if nothing could be read
_GO_ON = "; --skip-bad goes on without it"


_WHYS = {
    Passed.EMPTY: "is empty",
    Passed.UNKNOWN: "contains no measurements: no reader recognises it, and it is not a table",
    Passed.AGAIN: "is another output of",
}
"""Why files are passed over, in a line that names them."""


def _nothing_in(places: Sequence[str], left_out: Sequence[LeftOut]) -> MeasurementError:
    """The refusal of places without a point, with a list of what was seen."""
    files = [PurePath(each.file).name for each in left_out]
    place = places[0] if places else "no file"
    if not files:  # traces without a span: every other kind of file has a point, or a reason
        return MeasurementError(f"{place}: no spans; export at least one trace")
    reasons = [each.reason for each in left_out if each.passed is None][:3]
    listed = "; ".join([f"seen: {some_of(files, _SHOWN)}", *reasons])
    return MeasurementError(f"{place}: contains no measured point ({listed})")


def _output_in(
    name: str, content: bytes | Long | Parts, advance: Callable[[], None], hints: Hints
) -> Output:
    """Read a file, whole or line by line, or the files of one run."""
    if isinstance(content, Parts):
        return Output(name, content.kind, content.points(advance, hints.window))
    if isinstance(content, bytes):
        return _output_of_text(decoded(content, name), name, hints, kind_of(content))
    reader, _ = recognised(decoded(content.head(), name))
    reader = reader.cut(hints.window, name)
    if reader.stream is None:
        raise content.too_long(name, LARGEST_FILE)
    points = placed_points(reader.stream, content.lines(advance), name)
    return Output(name, reader.kind, points)


def _output_of_text(text: str, name: str, hints: Hints, kind: str) -> Output:
    reader, _ = recognised(text)
    reader = reader.cut(hints.window, name)
    if reader.points is not None:
        return Output(name, reader.kind, placed_points(reader.points, text, name))
    table = read_table(text, name, hints.decimal, kind)
    try:
        table = hints.met_in(table)
        made_of = [point for point in table.made_of if isinstance(point, Point)]
        points, used = (made_of, ()) if made_of else read_rows(table)
    except MeasurementError:  # possibly the result of a column that was named wrongly
        hints.check_met((*table.columns, *table.spoilt, *table.labels), name)
        raise
    return Output(name, reader.kind, points, used, table)


_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")


def _passed_over(content: bytes | Long | Parts) -> Passed | None:
    """What an unreadable file is, if not a measurement; a damaged one may be a measurement."""
    if not isinstance(content, bytes) or kind_of(content) or content.startswith(_PACKED):
        return None
    if not content.strip():
        return Passed.EMPTY
    encoding = "utf-16" if content.startswith(UTF_16) else "utf-8-sig"
    return None if is_known(content.decode(encoding, "replace")) else Passed.UNKNOWN


def points_of(text: str, source: str) -> list[Point]:
    r"""The points of one file: from its tool's output, or else from the rows of its table.

    Examples
    --------
    >>> [point.response_time for point in points_of("load_ops_s,response_ms\n1,3.5", "a.csv")]
    [0.0035]
    """
    return list(_output_of_text(text, source, NO_HINTS, "").points)
