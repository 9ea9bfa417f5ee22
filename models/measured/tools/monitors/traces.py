"""Traces of OpenTelemetry (OTLP) and Jaeger: a rate and times for each service.

A service's requests are spans of kind server or consumer; where it marks none, the spans
without a caller in the same service.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from headway.errors import MeasurementError
from headway.models.measured.points import Point
from headway.models.measured.reader import tool_reader
from headway.models.measured.tools.kit.documents import at

_PERCENTS = (50.0, 90.0, 95.0, 99.0)
_SERVING = {2, 5, "2", "5", "SPAN_KIND_SERVER", "SPAN_KIND_CONSUMER", "server", "consumer"}
_FAILED = {2, "2", "STATUS_CODE_ERROR", "ERROR"}
_OTLP = re.compile(r'"resourceSpans"\s*:')
_JAEGER = re.compile(r'"traceID"\s*:')
_HEAD = 4000
_DIGITS = re.compile(r"[0-9]{1,20}")
_LATEST = 10**20  # ns since 1970 that a time may have
_NANO, _MICRO = 1e-9, 1e-6


class _Span(NamedTuple):
    """A piece of work of a service; its times are whole, as seconds since 1970 lose digits."""

    service: str
    key: str
    parent: str
    start: int
    length: int
    serving: bool
    failed: bool


def _is_otlp(text: str) -> bool:
    head = text[:_HEAD]
    return head.lstrip()[:1] == "{" and _OTLP.search(head) is not None


def _is_jaeger(text: str) -> bool:
    head = text[:_HEAD]
    marked = _JAEGER.search(head) is not None and ('"spanID"' in head or '"spans"' in head)
    return head.lstrip()[:1] in ("{", "[") and marked


def _of_otlp(text: str, source: str) -> list[Point]:
    spans = [span for export in _documents(text, source) for span in _otlp(export, source)]
    return _by_service("OpenTelemetry", spans, _NANO, source)


def _of_jaeger(text: str, source: str) -> list[Point]:
    spans = [span for export in _documents(text, source) for span in _jaeger(export, source)]
    return _by_service("Jaeger", spans, _MICRO, source)


def _documents(text: str, source: str) -> Iterator[Any]:
    """One JSON document, or one per line as collectors write them."""
    lines = [line for line in text.splitlines() if line.strip()]
    alone = len(lines) > 1 and all(line.startswith("{") for line in lines)
    for number, part in enumerate(lines, 1) if alone else [(1, text)]:
        try:
            yield json.loads(part)
        except (ValueError, RecursionError) as error:
            line = number + getattr(error, "lineno", 1) - 1
            msg = f"{source}:{line}: this JSON is invalid or truncated"
            raise MeasurementError(msg) from None


def _list(document: Any, key: str, source: str) -> list[Any]:
    entries = document.get(key, []) if isinstance(document, Mapping) else None
    if not isinstance(entries, list):
        msg = f"{source}: {key} is not a list"
        raise MeasurementError(msg)
    return entries


def _otlp(document: Any, source: str) -> Iterator[_Span]:
    for resource in _list(document, "resourceSpans", source):
        labels = _list(at(resource, "resource", source=source), "attributes", source)
        service = _label(labels, "service.name")
        scopes = _list(resource, "scopeSpans", source) or _list(
            resource, "instrumentationLibrarySpans", source
        )
        for scope in scopes:
            for span in _list(scope, "spans", source):
                yield _of_otlp_span(span, service, source)


def _label(labels: list[Any], name: str) -> str:
    for label in labels:
        if isinstance(label, Mapping) and label.get("key") == name:
            value = label.get("value")
            return str(value.get("stringValue", "") if isinstance(value, Mapping) else value)
    return ""


def _of_otlp_span(span: Any, service: str, source: str) -> _Span:
    start = _time(span, "startTimeUnixNano", source)
    end = _time(span, "endTimeUnixNano", source)
    status = span.get("status")
    code = status.get("code") if isinstance(status, Mapping) else None
    trace = span.get("traceId")
    return _Span(
        service,
        f"{trace}/{span.get('spanId')}",
        f"{trace}/{span.get('parentSpanId')}",
        start,
        end - start,
        _among(span.get("kind"), _SERVING),
        _among(code, _FAILED),
    )


def _among(document: Any, known: set[Any]) -> bool:
    return isinstance(document, int | str) and document in known


def _time(span: Any, key: str, source: str) -> int:
    value = span.get(key) if isinstance(span, Mapping) else None
    if isinstance(value, int) and 0 <= value < _LATEST:
        return int(value)
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        return int(value)
    msg = f"{source}: a span has no {key} as a whole number"
    raise MeasurementError(msg)


def _jaeger(document: Any, source: str) -> Iterator[_Span]:
    """Spans in a stored list, or in traces as Jaeger's page exports them."""
    entries = (
        document if isinstance(document, list) else _list(document, "data", source) or [document]
    )
    for entry in entries:
        if isinstance(entry, Mapping) and "spans" in entry:
            processes = entry.get("processes", {})
            for span in _list(entry, "spans", source):
                yield _of_jaeger_span(span, processes, source)
        else:
            yield _of_jaeger_span(entry, {}, source)


def _of_jaeger_span(span: Any, processes: Any, source: str) -> _Span:
    start = _time(span, "startTime", source)
    length = _time(span, "duration", source)
    name = span.get("processID")
    process = span.get("process") or (
        processes.get(name) if isinstance(processes, Mapping) and isinstance(name, str) else None
    )
    tags = _list(span, "tags", source)
    kind = _label(tags, "span.kind")
    callers = [r for r in _list(span, "references", source) if isinstance(r, Mapping)]
    caller = next((r for r in callers if r.get("refType") == "CHILD_OF"), {})
    return _Span(
        str(at(process, "serviceName", source=source)),
        f"{span.get('traceID')}/{span.get('spanID')}",
        f"{caller.get('traceID')}/{caller.get('spanID')}",
        start,
        length,
        kind in _SERVING,
        _label(tags, "error").lower() == "true",
    )


def _by_service(tool: str, spans: Sequence[_Span], unit: float, source: str) -> list[Point]:
    if not spans:
        msg = f"{source}: it has no spans; export at least one trace"
        raise MeasurementError(msg)
    if any(span.length < 0 for span in spans):
        msg = f"{source}: a span ends before it starts; the clock was set back"
        raise MeasurementError(msg)
    whole = max(s.start + s.length for s in spans) - min(s.start for s in spans)
    window = whole * unit
    home = {span.key: span.service for span in spans}
    services = dict.fromkeys(span.service for span in spans)
    return [
        _point(tool, name, [s for s in spans if s.service == name], home, (window, unit))
        for name in services
    ]


def _point(
    tool: str, name: str, spans: list[_Span], home: Mapping[str, str], clock: tuple[float, float]
) -> Point:
    window, unit = clock
    serving = [span for span in spans if span.serving]
    mine = serving or [span for span in spans if home.get(span.parent) != name]
    lengths = sorted(span.length * unit for span in mine or spans)
    count = len(lengths)
    failed = sum(span.failed for span in mine or spans)
    which = (
        "spans of kind server or consumer" if serving else "spans without a caller in the service"
    )
    enough = [q for q in _PERCENTS if count * (1 - q / 100) >= 1 - 1e-9]
    return Point(
        tool,
        throughput=(count - failed) / window if count > 1 and window else None,
        response_time=math.fsum(lengths) / count,
        percentiles={q: lengths[math.ceil(q / 100 * count - 1e-9) - 1] for q in enough},
        errors=float(failed),
        samples=float(count),
        duration=window or None,
        with_failures=failed > 0,
        name=name,
        notes=(
            f"Its requests are {which}; the times include failed requests, the rate excludes them.",
            "The rate is that of the stored traces: sampling makes it too low.",
        ),
    )


OTLP = tool_reader(
    "OpenTelemetry traces", _is_otlp, _of_otlp, "one point per service: rate, mean and percentiles"
)
JAEGER = tool_reader(
    "Jaeger traces", _is_jaeger, _of_jaeger, "one point per service: rate, mean and percentiles"
)
