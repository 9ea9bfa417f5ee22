"""OpenTelemetry's traces: OTLP JSON, whole or a line for each export, and answers of Tempo.

Keys are as the JSON of protocol buffers has them; where a program kept protobuf's own names, with
underscores, they are rewritten in the text before it is parsed. A key's quotes are not escaped and
a colon follows, so no text of a span is mistaken for one.
"""

import math
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.spans.form import (
    Form,
    caused,
    checked,
    labels_at,
    marked,
    same_trace,
)
from headway.models.measured.spans.span import (
    ASKED,
    SAID,
    BrokenSpan,
    Span,
    SpanKind,
    entries_of,
    method_of,
    operation_of,
    peer_of,
    text_at,
    text_of,
    whole_time,
)

_OTLP_KINDS = {
    written: (kind, kind.asks)
    for kind in SpanKind
    for name in (f"SPAN_KIND_{kind.name}", kind.name)
    for written in (+kind, str(+kind), name, name.lower(), name.title())
}
"""Kinds as exporters write them, and whether such a span makes a request."""
_INSIDE = SpanKind.INTERNAL, False
_FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR", "Error")
_SERVICE = frozenset(["service.name"])
_THRESHOLD = re.compile(r"(?:^|,)\s*ot=(?:[^,]*;)?th:([0-9a-fA-F]{1,14})(?:;|,|$)")
_WRAPPED = ("trace", "result")
"""Keys that contain the spans in answers of Tempo (API v2) and Jaeger (API v3)."""
_BATCHES = ("resourceSpans", "batches")
"""Names of lists of resources; the second by Tempo (API v1)."""


def _spans(documents: Iterable[Any], source: str) -> Iterator[Span | BrokenSpan]:
    for document in documents:
        for service, spans in lists_of_spans(document, source):
            for span in spans:
                yield checked(_span, span, service, source)


def lists_of_spans(document: Any, source: str) -> Iterator[tuple[str, list[Any]]]:
    """Services of an OTLP document with the spans of each; a service may occur several times.

    Parameters
    ----------
    document
        The document, as read from JSON.
    source
        Its name, for messages.

    Raises
    ------
    MeasurementError
        For another form, and for traces that a tail sampler chose.
    """
    for resource in _resources(document, source):
        about = resource.get("resource") if isinstance(resource, dict) else None
        labels = labels_at(about or {}, "attributes", source, _SERVICE)
        service = labels.get("service.name", "")
        scopes = entries_of(resource, "scopeSpans", source) or entries_of(
            resource, "instrumentationLibrarySpans", source
        )
        for scope in scopes:
            _check_sampling(scope, source)
            yield service, entries_of(scope, "spans", source)


def _resources(document: Any, source: str) -> Iterator[Any]:
    """Services with their spans, from an export, a list of exports, or an answer."""
    for each in document if isinstance(document, list) else [document]:
        inner = each
        for key in _WRAPPED:
            if isinstance(inner, dict) and isinstance(inner.get(key), dict):
                inner = inner[key]
        if not isinstance(inner, dict) or not any(
            key.startswith("resource") or key in _BATCHES for key in inner
        ):
            msg = f"{source}: mixes OpenTelemetry with another format; keep each in its own files"
            raise MeasurementError(msg)
        for key in _BATCHES:
            yield from entries_of(inner, key, source)


def _check_sampling(scope: Any, source: str) -> None:
    """Refuse traces from a collector's tail sampler, which keeps slow ones and drops fast ones."""
    about = scope.get("scope") if isinstance(scope, dict) else None
    attributes = about.get("attributes") if isinstance(about, dict) else None
    for each in attributes if isinstance(attributes, list) else ():
        if text_at(each, "key").startswith("tailsampling."):
            msg = (
                f"{source}: a tail sampler chose these traces, slow ones rather than quick ones; "
                "export all of them, or sample at the head"
            )
            raise MeasurementError(msg)


@lru_cache(4096)
def _told(name: str, labels: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """The operation given by a name and attributes, and the callee that a client names."""
    known = dict(labels)
    return operation_of(name, known), peer_of(known)


def _span(span: Any, service: str, source: str) -> Span:
    start = whole_time(span, "startTimeUnixNano", source)
    end = whole_time(span, "endTimeUnixNano", source)
    found = span.get
    trace, key, parent, name = (
        found("traceId"), found("spanId"), found("parentSpanId"), found("name")
    )  # fmt: skip
    if not type(trace) is type(key) is type(parent) is type(name) is str:
        trace, key, parent, name = map(text_of, (trace, key, parent, name))
    kind, asks = _kind(found("kind"))
    peer = ""
    if wanted := attributes_that_tell(name, asks):
        labels = labels_at(span, "attributes", source, wanted)
        name, peer = _told(name, tuple(labels.items()))
    status, state, links = found("status"), found("traceState"), found("links")
    linked, parent, others = caused(_links(links), parent) if links else ("", parent, ())
    if asks and same_trace(linked, trace):  # who asks within a trace is no receiver of a message
        linked = ""
    return Span(
        trace,
        key,
        parent,
        service,
        name,
        kind,
        start,
        end,
        bool(status) and isinstance(status, dict) and status.get("code") in _FAILED,
        peer if asks else "",
        share_kept(state) if state and isinstance(state, str) else math.nan,
        linked,
        others,
    )


def _links(links: Any) -> list[tuple[str, str]]:
    return [
        (text_at(link, "traceId"), text_at(link, "spanId"))
        for link in (links if isinstance(links, list) else ())
    ]


def attributes_that_tell(name: str, asks: bool) -> frozenset[str]:  # noqa: FBT001
    """Attributes of an OTLP span that say more than its name: the callee, and the operation called.

    Parameters
    ----------
    name
        The span's name.
    asks
        Whether it makes a request.

    Examples
    --------
    >>> attributes_that_tell("GET /check", False)
    frozenset()
    """
    return SAID if method_of(name) else ASKED if asks else frozenset()


def _kind(value: Any) -> tuple[SpanKind, bool]:
    try:
        return _OTLP_KINDS.get(value, _INSIDE)
    except TypeError:  # a list, or an object
        return _INSIDE


def share_kept(state: str) -> float:
    """Share of traces kept: 1 - T / 2**56 of the threshold ``ot=th:T`` (OpenTelemetry OTEP 235).

    Parameters
    ----------
    state
        A span's ``tracestate``.

    Examples
    --------
    >>> share_kept("ot=th:c"), share_kept("ot=th:ffffffffffffff") > 0, share_kept("vendor=1")
    (0.25, True, nan)
    """
    found = _THRESHOLD.search(state)
    return (2**56 - int(found[1].ljust(14, "0"), 16)) / 2**56 if found else math.nan


_UNDERSCORED = (
    "resource_spans",
    "scope_spans",
    "instrumentation_library_spans",
    "trace_id",
    "span_id",
    "parent_span_id",
    "trace_state",
    "start_time_unix_nano",
    "end_time_unix_nano",
)
"""Keys of what is read, as protobuf names them."""


def _camel(key: str) -> str:
    first, *others = key.split("_")
    return first + "".join(word.title() for word in others)


_REWRITTEN = tuple((f'"{key}":', f'"{_camel(key)}":') for key in _UNDERSCORED)


def in_camel_case(lines: Iterable[str], _: str = "") -> Iterator[str]:
    """The lines of a file, with keys that have underscores written as OTLP JSON does.

    Parameters
    ----------
    lines
        The lines.

    Examples
    --------
    >>> list(in_camel_case(['{"trace_id": "a1", "name": "no trace_id"}']))
    ['{"traceId": "a1", "name": "no trace_id"}']
    """
    for line in lines:
        for key, other in _REWRITTEN:
            line = line.replace(key, other)
        yield line


OTLP = Form(
    "OpenTelemetry",
    marked("{[", r'"resourceSpans"\s*:|"batches"\s*:[^"]*"(?:resource|scopeSpans|instr)'),
    _spans,
    laid_out=True,
)
UNDERSCORED = Form(
    "OTLP (snake case)",
    marked("{[", r'"(?:resource|scope|instrumentation_library)_spans"\s*:'),
    _spans,
    rewritten=in_camel_case,
    laid_out=True,
)
