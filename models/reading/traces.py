"""Traces among files: which files hold them, and the spans of each load."""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path, PurePath

from headway.errors import HeadwayError, MeasurementError
from headway.models.files.intake import is_given
from headway.models.measured.spans.columns import Spans, cut
from headway.models.measured.spans.files import SpanFiles
from headway.models.measured.spans.form import Form
from headway.models.measured.spans.forms import form_of
from headway.models.measured.spans.others import nearly, surely_no_traces
from headway.models.reading.curves import curve_and_settings
from headway.models.reading.gather import gather
from headway.models.reading.long import Long
from headway.numerals import some_of
from headway.records import dataclass

ONE_POINT = "traces are one point a load"
"""Why they have no columns, and no range of loads."""
_SECONDS = 1e-9
_SHOWN = 5  # names of passed-over files listed
_LONGEST_LINE = 256_000_000  # a collector's export is one line


@dataclass(frozen=True)
class Read:
    """The traces read at given places.

    Parameters
    ----------
    loads
        The spans of each load.
    since
        When the first span of all loads began, since 1970 [s].
    passed_over
        Names of files of a folder, a pattern or an archive that are clearly not traces.
    """

    loads: tuple[Spans, ...]
    since: float
    passed_over: tuple[str, ...] = ()


@dataclass(frozen=True)
class Traces:
    """Traces that a model is compared with, read or to be read.

    Parameters
    ----------
    places
        Each place with the parameters that differed there.
    """

    places: tuple[tuple[str | Read, Mapping[str, str]], ...]


def traces_at(data: Sequence[str]) -> Traces | None:
    """The traces that are named, such as ``day.json@arrival_rate=160``; None for anything else.

    Examples
    --------
    >>> traces_at(["no such file"])
    """
    places = [curve_and_settings(text) for text in data]
    if not are_traces(str(path) for path, _ in places):
        return None
    return Traces(tuple((str(path), settings) for path, settings in places))


def read_loads(
    places: Sequence[str],
    window: float | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Read:
    """Read traces: each file is a load, and files that share traces are one.

    So do the files of a folder if each holds a single trace, as trace viewers export them.

    Parameters
    ----------
    places
        Files, folders, patterns and archives.
    window
        Length of a load [s], if one long file holds several; None for whole files.
    advance
        Called after each megabyte of a long file.

    Raises
    ------
    MeasurementError
        For named files of another form or files that may be traces, no spans, an unlimited number
        of operations, and too many traces with impossible spans.
    """
    files = SpanFiles()
    named = {str(Path(place)) for place in places}
    passed_over: list[str] = []
    for name, content in gather(places):
        if take_spans(files, name, content, advance):
            continue
        head = _head(content)
        if name not in named and surely_no_traces(head):
            passed_over.append(name)
        elif not head.strip():
            msg = f"{name}: is empty; export at least one trace"
            raise MeasurementError(msg)
        else:
            mend = nearly(head.decode("utf-8-sig", "replace")) or (
                "" if name in named else "if it is not a trace file, move it elsewhere"
            )
            leave = f"; {mend}" if mend else ""
            msg = f"{name}: no traces of OpenTelemetry (OTLP JSON), Jaeger or Zipkin (v2){leave}"
            raise MeasurementError(msg)
    if not files.rows:
        names = [PurePath(name).name for name in passed_over]
        seen = f" (seen: {some_of(names, _SHOWN)})" if names else ""
        msg = f"{', '.join(places)}: no spans{seen}; export at least one trace"
        raise MeasurementError(msg)
    files.check_times(", ".join(places))
    each = (files.spans(load) for load in files.loads())
    loads = each if window is None else (part for whole in each for part in cut(whole, window))
    return read_of(files, loads, passed_over)


def read_of(files: SpanFiles, loads: Iterable[Spans], passed_over: Iterable[str] = ()) -> Read:
    """The spans of some loads that were read from files.

    Parameters
    ----------
    files, loads
        The files, and their loads.
    passed_over
        Names of files without traces.
    """
    return Read(tuple(loads), files.first * _SECONDS, tuple(passed_over))


def take_spans(
    files: SpanFiles, name: str, content: bytes | Long, advance: Callable[[], None]
) -> bool:
    """Read the spans of a file, if it holds traces.

    Parameters
    ----------
    files
        Where to put them.
    name, content
        The file's name and content.
    advance
        Called after each megabyte of a long file.

    Returns
    -------
    Whether it holds traces.

    Raises
    ------
    MeasurementError
        For traces that are damaged.
    """
    inside = _in_utf8(content, name)
    form = form_in(inside)
    if form is not None:
        files.file(name, _lines(inside, name, advance), form)
    return form is not None


def are_traces(places: Iterable[str]) -> bool:
    """Whether each of several places holds traces, judged by its first file.

    What a shell has opened can be read only once, and is not looked into.

    Parameters
    ----------
    places
        Files, folders, patterns and archives.

    Examples
    --------
    >>> are_traces(["no such file"]), are_traces(["-"])
    (False, False)
    """
    each = list(places)
    return not any(is_given(Path(place)) for place in each) and all(map(_begins_with_traces, each))


def _begins_with_traces(place: str) -> bool:
    try:
        name, content = next(iter(gather([place])), ("", b""))
        inside = _in_utf8(content, name)
    except HeadwayError:  # whoever reads it says what is wrong
        return False
    return form_in(inside) is not None


def form_in(content: bytes | Long) -> Form | None:
    """The form of the traces in a file; None for any other file."""
    return form_of(_head(content).decode("utf-8-sig", "replace"))


def _head(content: bytes | Long) -> bytes:
    return content.head() if isinstance(content, Long) else content


def _in_utf8(content: bytes | Long, name: str) -> bytes | Long:
    """A file whose text is in UTF-8, also if it was written in UTF-16, as PowerShell does."""
    head = _head(content)
    encoding = json.detect_encoding(head)
    if encoding.startswith("utf-8") or form_of(head.decode(encoding, "replace")) is None:
        return content
    if isinstance(content, Long):
        msg = f"{name}: a file of its length has to be in UTF-8, not {encoding.upper()}"
        raise MeasurementError(msg)
    return content.decode(encoding, "replace").encode()


def _lines(content: bytes | Long, name: str, advance: Callable[[], None]) -> Iterator[str]:
    if isinstance(content, Long):
        yield from content.lines(advance, longest=_LONGEST_LINE)
        return
    try:
        # BytesIO keeps other line ends that text may contain
        for line in BytesIO(content.removeprefix(BOM_UTF8)):
            yield line.decode()
    except UnicodeDecodeError:
        msg = f"{name}: not a text file in UTF-8"
        raise MeasurementError(msg) from None
