"""Zipkin's spans, version 2: https://zipkin.io/zipkin-api, ListOfSpans.

Both sides of a call may have one identifier, and it is told by all spans of a file which these are.
So spans are held until the file ends, with equal texts held once.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from headway.errors import MeasurementError
from headway.models.measured.spans.form import MICRO, Form, checked, marked
from headway.models.measured.spans.span import (
    BrokenSpan,
    Span,
    SpanKind,
    operation_of,
    peer_of,
    text_at,
    whole_time,
)

_HALF = 16  # digits of 64 bits


class _Joined(NamedTuple):
    """Identifiers shared in a file: both sides of a call may have the same one.

    Parameters
    ----------
    there
        Trace and identifier of each span, except servers that share their client's.
    served
        Trace and identifier of servers that share their client's, with their service.
    """

    there: set[tuple[str, str]]
    served: dict[tuple[str, str], str]


def _spans(documents: Iterable[Any], source: str) -> Iterator[Span | BrokenSpan]:
    known: dict[str, str] = {}
    each: list[Span | BrokenSpan] = []
    shared: set[tuple[str, str]] = set()
    for document in documents:
        for span in _listed(document):
            read = checked(_span, span, known, source)
            each.append(read)
            if not isinstance(read, BrokenSpan) and span.get("shared") is True:
                shared.add(_itself(read))
    joined = _joined(each, shared)
    for span in each:
        yield span if isinstance(span, BrokenSpan) else _related(span, joined)


def _listed(document: Any) -> Iterator[Any]:
    """Spans of a document: of a list, of a list of traces, or itself."""
    if not isinstance(document, list):
        yield document
        return
    for each in document:
        yield from each if isinstance(each, list) else [each]


def _span(span: Any, known: dict[str, str], source: str) -> Span:
    """A span with its own identifier and its parent's as they are written."""
    if isinstance(span, Mapping) and "binaryAnnotations" in span:
        msg = f"{source}: is Zipkin version 1; export version 2, as from /api/v2/traces"
        raise MeasurementError(msg)
    start = whole_time(span, "timestamp", source, MICRO)
    length = whole_time(span, "duration", source, MICRO) if "duration" in span else 0
    tags = span.get("tags")
    labels = {k: str(v) for k, v in tags.items()} if isinstance(tags, Mapping) else {}
    kind = SpanKind.named(text_at(span, "kind"))
    remote = text_at(span.get("remoteEndpoint"), "serviceName")
    texts = (
        text_at(span, "traceId"),
        text_at(span, "id"),
        text_at(span, "parentId"),
        text_at(span.get("localEndpoint"), "serviceName"),
        operation_of(text_at(span, "name"), labels),
        (remote or peer_of(labels)) if kind.asks else "",
    )
    trace, key, above, service, name, peer = (known.setdefault(text, text) for text in texts)
    return Span(
        trace, key, above, service, name, kind, start, start + length,
        "error" in labels, peer, math.nan,
    )  # fmt: skip


def _joined(spans: Iterable[Span | BrokenSpan], shared: set[tuple[str, str]]) -> _Joined:
    """A server shares its client's identifier if it says so, or if a client has the same."""
    there: set[tuple[str, str]] = set()
    serving: list[Span] = []
    for span in spans:
        if isinstance(span, BrokenSpan):
            continue
        if span.kind.serves:
            serving.append(span)
        else:
            there.add(_itself(span))
    served = {}
    for span in serving:
        same = _itself(span)
        if same in shared or same in there:
            served[same] = span.service
        else:
            there.add(same)
    return _Joined(there, served)


def _itself(span: Span) -> tuple[str, str]:
    """The lower half of its trace, as some tracers pass on no more, and its identifier."""
    return span.trace[-_HALF:], span.key


def _above(span: Span) -> tuple[str, str]:
    return span.trace[-_HALF:], span.parent


def _related(span: Span, joined: _Joined) -> Span:
    """A span with an identifier of its own, and its parent's."""
    if span.kind.serves and _itself(span) in joined.served:
        return span._replace(key=_served(span.key), parent=_client(span, joined))
    return span._replace(parent=_caller(span, joined))


def _served(key: str) -> str:
    """The identifier given to a server that shares its client's."""
    return f"{key}, served"


def _client(span: Span, joined: _Joined) -> str:
    """The client that shares its identifier with a server, in this file or in another.

    Without one, it is the client's caller; clients outside have no span.
    """
    elsewhere = span.parent and _above(span) not in joined.there
    return span.key if elsewhere or _itself(span) in joined.there else span.parent


def _caller(span: Span, joined: _Joined) -> str:
    """The cause of a span: of two with its parent's identifier, the server if it is its own."""
    server = joined.served.get(_above(span))
    if server is None or (server != span.service and _above(span) in joined.there):
        return span.parent
    return _served(span.parent)


ZIPKIN = Form(
    "Zipkin",
    marked(
        "[{",
        r'"traceId"\s*:',
        r'"id"\s*:',
        r'"timestamp"\s*:',
        r'\A\[|"localEndpoint"\s*:',  # a line alone may be of a log that names traces
    ),
    _spans,
)
