"""Jaeger's traces: its page's export, answers of its API, and spans as it stores them."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from headway.errors import MeasurementError
from headway.models.measured.spans.form import (
    MICRO,
    Form,
    checked,
    labels_at,
    marked,
    same_trace,
)
from headway.models.measured.spans.span import (
    SAID,
    BrokenSpan,
    Span,
    SpanKind,
    entries_of,
    operation_of,
    peer_of,
    text_at,
    whole_time,
)
from headway.models.measured.tools.kit.documents import at

_TAGS = SAID | {"span.kind", "error"}


def _spans(documents: Iterable[Any], source: str) -> Iterator[Span | BrokenSpan]:
    for document in documents:
        for each in _entries(document, source):
            entry = each.get("_source", each) if isinstance(each, Mapping) else each
            if isinstance(entry, Mapping) and "spans" in entry:
                processes = entry.get("processes", {})
                for span in entries_of(entry, "spans", source):
                    yield checked(_span, span, processes, source)
            else:
                yield checked(_span, entry, {}, source)


def _entries(document: Any, source: str) -> list[Any]:
    """Traces or spans of a document, which may be a single one."""
    if isinstance(document, list):
        return document
    if not isinstance(document, Mapping):
        return [document]
    if "resourceSpans" in document:
        msg = f"{source}: mixes Jaeger with another format; keep each in its own files"
        raise MeasurementError(msg)
    data = document.get("data")
    if isinstance(data, Mapping):
        return [data]
    return entries_of(document, "data", source) or _hits(document, source) or [document]


def _hits(document: Any, source: str) -> list[Any]:
    """Spans in an answer of Elasticsearch or OpenSearch, where Jaeger stores them."""
    hits = document.get("hits")
    return entries_of(hits, "hits", source) if isinstance(hits, Mapping) else []


def _span(span: Any, processes: Any, source: str) -> Span:
    start = whole_time(span, "startTime", source, MICRO)
    length = whole_time(span, "duration", source, MICRO)
    name = span.get("processID")
    process = span.get("process") or (
        processes.get(name) if isinstance(processes, Mapping) and isinstance(name, str) else None
    )
    tags = labels_at(span, "tags", source, _TAGS) | labels_at(span, "tag", source, _TAGS)
    caller, others = _references(span, source)
    trace = str(span.get("traceID") or "")
    above = str(caller.get("traceID") or trace)
    kind = SpanKind.named(tags.get("span.kind", ""))
    sent = caller.get("refType") == "FOLLOWS_FROM" and not kind.asks
    linked = above if sent or not same_trace(above, trace) else ""
    return Span(
        trace,
        str(span.get("spanID") or ""),
        str(caller.get("spanID") or text_at(span, "parentSpanID")),
        str(at(process, "serviceName", source=source)),
        operation_of(text_at(span, "operationName"), tags),
        kind,
        start,
        start + length,
        tags.get("error", "").lower() == "true",
        peer_of(tags),
        math.nan,
        linked,
        tuple((str(r.get("traceID") or ""), str(r.get("spanID") or "")) for r in others),
    )


def _references(span: Any, source: str) -> tuple[Mapping[str, Any], list[Mapping[str, Any]]]:
    """What caused a span: its parent before what it follows; and what it follows besides."""
    given = [r for r in entries_of(span, "references", source) if isinstance(r, Mapping)]
    parents, before = (
        [r for r in given if r.get("refType") == word] for word in ("CHILD_OF", "FOLLOWS_FROM")
    )
    caller: Mapping[str, Any] = next(iter([*parents, *before]), {})
    return caller, [r for r in before if r is not caller]


JAEGER = Form(
    "Jaeger",
    marked(
        "{[",
        r'"traceID"\s*:',
        r'"spanID"|"spans"',
        r'(?s)\A(?!.*"(?:rootServiceName|spanSets?)"\s*:)',  # matches of a search in Tempo
    ),
    _spans,
    opening=r'(?:\{\s*"data"\s*:\s*)?\[',
)
