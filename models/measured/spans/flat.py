"""Forms whose spans are objects or rows one beside the other, by the names of their fields.

OpenTelemetry's exporters to a console, tables that hold a span in each row, and data sets of
research are told by what they call their fields, declared in a row of `FLAT` each. A table is read
as its rows, each an object with a field for each column.
"""

import csv
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from headway.errors import MeasurementError, quoted
from headway.models.measured.spans.form import (
    HEAD,
    MICRO,
    Form,
    caused,
    checked,
    labels_of,
    marked,
)
from headway.models.measured.spans.span import (
    BrokenSpan,
    Span,
    SpanKind,
    broken_span,
    operation_of,
    peer_of,
    whole_time,
)

Path: TypeAlias = tuple[str, ...]
"""Keys from the span inwards; a list of objects with a key and a value counts as an object."""


class Fields(NamedTuple):
    """Where a span holds what is read.

    Parameters
    ----------
    trace, key, parent, service, operation, start
        Paths of what every span has; `start` is a text with a date, or a number.
    end, length
        Paths of its end, in the form of `start`, or of how long it takes, a number; one is empty.
    unit
        The unit of numbers [ns].
    kind, failed, attributes
        Paths of its kind, of what says that it failed, and of its attributes; empty for none.
    links, link_trace, link_key
        The path of its links, and within each those of trace and identifier.
    root
        What stands in place of a parent where there is none, besides nothing and zeros.
    """

    trace: Path
    key: Path
    parent: Path
    service: Path
    operation: Path
    start: Path
    end: Path = ()
    length: Path = ()
    unit: int = 1
    kind: Path = ()
    failed: Path = ()
    attributes: Path = ()
    links: Path = ()
    link_trace: Path = ()
    link_key: Path = ()
    root: str = ""


_NAMED = {kind.name: kind for kind in SpanKind} | {str(+kind): kind for kind in SpanKind}
_DATE = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?\d*(Z|[+-]\d\d:?\d\d)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECOND, _DIGITS = 1_000_000_000, 9  # ns, and digits of a part of a second


def _spans(fields: Fields, documents: Iterable[Any], source: str) -> Iterator[Span | BrokenSpan]:
    for document in documents:
        yield checked(_span, document, fields, source)


def _span(span: Any, fields: Fields, source: str) -> Span:
    trace = _text(span, fields.trace)
    start = _time(span, fields.start, fields.unit, (source, trace))
    length = partial(_number, span, fields.length, fields.unit, (source, trace))
    end = _time(span, fields.end, fields.unit, (source, trace)) if fields.end else start + length()
    labels = labels_of(_pairs(_at(span, fields.attributes) if fields.attributes else None))
    written = _text(span, fields.kind).rpartition(".")[2].upper().removeprefix("SPAN_KIND_")
    kind = _NAMED.get(written, SpanKind.INTERNAL)
    parent = _text(span, fields.parent)
    each = _at(span, fields.links) if fields.links else None
    linked, parent, others = caused(
        [
            (_text(link, fields.link_trace), _text(link, fields.link_key))
            for link in (each if isinstance(each, list) else ())
        ],
        "" if parent == fields.root else parent.removeprefix("0x"),
    )
    return Span(
        trace.removeprefix("0x"),
        _text(span, fields.key).removeprefix("0x"),
        parent.removeprefix("0x"),
        _text(span, fields.service),
        operation_of(_text(span, fields.operation), labels),
        kind,
        start,
        end,
        _text(span, fields.failed).upper().removeprefix("STATUS_CODE_") == "ERROR",
        peer_of(labels) if kind.asks else "",
        math.nan,
        linked.removeprefix("0x"),
        tuple((one.removeprefix("0x"), other.removeprefix("0x")) for one, other in others),
    )


def _at(document: Any, path: Path) -> Any:
    """What is under a path; None if there is nothing."""
    for key in path:
        if isinstance(document, list):
            document = {each["key"]: each["value"] for each in _pairs(document)}
        document = document.get(key) if isinstance(document, Mapping) else None
    return document


def _pairs(held: Any) -> list[dict[str, Any]]:
    """Attributes as OTLP has them, of an object of them, or a list as Go writes it."""
    if isinstance(held, Mapping):
        return [{"key": key, "value": value} for key, value in held.items()]
    each = held if isinstance(held, list) else []
    return [
        {"key": one.get("Key"), "value": _at(one, ("Value", "Value"))}
        for one in each
        if isinstance(one, Mapping)
    ]


def _text(document: Any, path: Path) -> str:
    value = _at(document, path) if path else None
    return str(value) if isinstance(value, str | int) else ""


def _number(span: Any, path: Path, unit: int, where: tuple[str, str]) -> int:
    value = _at(span, path)
    with suppress(ValueError):  # as tables have whole numbers of columns with gaps
        value = float(value) if isinstance(value, str) and "." in value else value
    try:
        return whole_time({path[-1]: value}, path[-1], where[0], unit)
    except BrokenSpan as error:
        raise broken_span(*where, error.why) from None


def _time(span: Any, path: Path, unit: int, where: tuple[str, str]) -> int:
    """A time since 1970 [ns]; texts without a zone are in UTC."""
    value = _at(span, path)
    found = _DATE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return _number(span, path, unit, where)
    whole, part, zone = found.groups()
    try:
        since = datetime.fromisoformat(f"{whole}{zone or 'Z'}") - _EPOCH
    except ValueError:
        why = f"the {path[-1]} of a span is {quoted(value)}, no time"
        raise broken_span(*where, why) from None
    seconds = since.days * 86_400 + since.seconds
    return seconds * _SECOND + int((part or "").ljust(_DIGITS, "0"))


def _rows(lines: Iterable[str], source: str) -> Iterator[str]:
    """The rows of a table, each as an object."""
    table = csv.DictReader(lines)
    try:
        for row in table:
            yield json.dumps(row)
    except csv.Error:
        msg = f"{source}:{table.line_num + 1}: not a row of a CSV table; export the table again"
        raise MeasurementError(msg) from None


def _titled(*titles: str) -> Any:
    """Whether a text begins with a row of titles, all of which are given."""

    def recognises(text: str) -> bool:
        first = text[:HEAD].lstrip().partition("\n")[0]
        return set(titles) <= {title.strip().strip('"') for title in first.split(",")}

    return recognises


_PYTHON = Fields(
    trace=("context", "trace_id"),
    key=("context", "span_id"),
    parent=("parent_id",),
    service=("resource", "attributes", "service.name"),
    operation=("name",),
    start=("start_time",),
    end=("end_time",),
    kind=("kind",),
    failed=("status", "status_code"),
    attributes=("attributes",),
    links=("links",),
    link_trace=("context", "trace_id"),
    link_key=("context", "span_id"),
)
_GO = Fields(
    trace=("SpanContext", "TraceID"),
    key=("SpanContext", "SpanID"),
    parent=("Parent", "SpanID"),
    service=("Resource", "service.name"),
    operation=("Name",),
    start=("StartTime",),
    end=("EndTime",),
    kind=("SpanKind",),
    failed=("Status", "Code"),
    attributes=("Attributes",),
    links=("Links",),
    link_trace=("SpanContext", "TraceID"),
    link_key=("SpanContext", "SpanID"),
)
_CLICKHOUSE = Fields(
    trace=("TraceId",),
    key=("SpanId",),
    parent=("ParentSpanId",),
    service=("ServiceName",),
    operation=("SpanName",),
    start=("Timestamp",),
    length=("Duration",),
    kind=("SpanKind",),
    failed=("StatusCode",),
    attributes=("SpanAttributes",),
)
_RCAEVAL = Fields(
    trace=("traceID",),
    key=("spanID",),
    parent=("parentSpanID",),
    service=("serviceName",),
    operation=("operationName",),
    start=("startTime",),
    length=("duration",),
    unit=MICRO,
)
_NEZHA = Fields(
    trace=("TraceID",),
    key=("SpanID",),
    parent=("ParentID",),
    service=("PodName",),
    operation=("OperationName",),
    start=("StartTimeUnixNano",),
    end=("EndTimeUnixNano",),
    root="root",
)


def _of_objects(name: str, fields: Fields, *marks: str) -> Form:
    return Form(name, marked("{[", *marks), partial(_spans, fields))


def _of_rows(name: str, fields: Fields) -> Form:
    titles = [path[0] for path in fields if isinstance(path, tuple) and path]
    return Form(name, _titled(*titles[:7]), partial(_spans, fields), rewritten=_rows)


FLAT = (
    _of_objects("console (Python)", _PYTHON, r'"context"\s*:\s*\{[^{}]*"trace_id"', '"parent_id"'),
    _of_objects("console (Go)", _GO, r'"SpanContext"\s*:\s*\{[^{}]*"TraceID"', '"StartTime"'),
    _of_objects("ClickHouse", _CLICKHOUSE, '"TraceId"', '"ParentSpanId"', '"SpanName"'),
    _of_rows("ClickHouse (CSV)", _CLICKHOUSE),
    _of_rows("RCAEval (CSV)", _RCAEVAL),
    _of_rows("Nezha (CSV)", _NEZHA),
)
"""Forms of objects and rows."""
