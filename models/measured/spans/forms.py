"""Forms of traces: OTLP JSON (whole, or a line for each export), Jaeger JSON and Zipkin v2."""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from headway.errors import MeasurementError
from headway.models.measured.spans.span import (
    ASKED,
    SAID,
    BrokenSpan,
    Span,
    SpanKind,
    broken_span,
    entries_of,
    method_of,
    operation_of,
    peer_of,
    text_at,
    text_of,
    whole_time,
    wrong_with,
)
from headway.models.measured.tools.kit.documents import at

HEAD = 4000
"""Characters by which a form is told."""
_MICRO = 1000  # ns


class Form(NamedTuple):
    """A form of traces.

    Parameters
    ----------
    name
        Its name, for people.
    recognises
        Whether a text that begins like this has this form.
    spans
        The spans of a document; for an impossible span, what is wrong with it.
    """

    name: str
    recognises: Callable[[str], bool]
    spans: Callable[[Any, str], Iterator[Span | BrokenSpan]]


def _checked(
    build: Callable[[Any, Any, str], Span], span: Any, about: Any, source: str
) -> Span | BrokenSpan:
    """A span, or what is wrong with it."""
    try:
        built = build(span, about, source)
    except BrokenSpan as error:
        return error
    why = wrong_with(built)
    return broken_span(source, built.trace, why) if why else built


def _marked(opening: str, *patterns: str) -> Callable[[str], bool]:
    marks = [re.compile(pattern) for pattern in patterns]

    def recognises(text: str) -> bool:
        head = text[:HEAD].lstrip()
        return head[:1] in tuple(opening) and all(mark.search(head) for mark in marks)

    return recognises


# OTLP: opentelemetry-proto, trace.proto and JSON mapping

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


_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
_WRAPPED = ("trace", "result")
"""Keys that contain the spans in answers of Tempo (API v2) and Jaeger (API v3)."""
_BATCHES = ("resourceSpans", "batches")
"""Names of lists of resources; the second by Tempo (API v1)."""


def _otlp(document: Any, source: str) -> Iterator[Span | BrokenSpan]:
    for service, spans in lists_of_spans(document, source):
        for span in spans:
            yield _checked(_otlp_span, span, service, source)


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
        labels = labels_of(entries_of(about or {}, "attributes", source), _SERVICE)
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
            msg = f"{source}: not all of it is OpenTelemetry's; keep each form in files of its own"
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


def labels_of(attributes: list[Any], wanted: frozenset[str] = SAID) -> dict[str, str]:
    """Attributes with a plain value, by name, if they are among those wanted.

    Parameters
    ----------
    attributes
        OTLP attributes, or Jaeger tags.
    wanted
        Their names.

    Examples
    --------
    >>> labels_of([{"key": "http.route", "value": {"stringValue": "/check"}}])
    {'http.route': '/check'}
    """
    try:
        chosen = [each for each in attributes if each["key"] in wanted]
    except (KeyError, TypeError):  # not an object, without a name, or with a name that is not text
        chosen = [each for each in attributes if text_at(each, "key") in wanted]
    labels: dict[str, str] = {}
    for each in chosen:
        key, value = each["key"], each.get("value")
        if isinstance(value, dict):
            value = next(iter(value.values()), "")
        if isinstance(value, str):
            labels[key] = value
        elif isinstance(value, int):
            labels[key] = str(value)
    return labels


@lru_cache(4096)
def _told(name: str, labels: tuple[tuple[str, str], ...]) -> tuple[str, str]:
    """The operation given by a name and attributes, and the callee that a client names."""
    known = dict(labels)
    return operation_of(name, known), peer_of(known)


def _otlp_span(span: Any, service: str, source: str) -> Span:
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
        labels = labels_of(entries_of(span, "attributes", source), wanted)
        name, peer = _told(name, tuple(labels.items()))
    status, state, links = found("status"), found("traceState"), found("links")
    linked, parent = _linked(links, parent) if links else ("", parent)
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
    )


def _linked(links: Any, parent: str) -> tuple[str, str]:
    """The trace and the parent of a span by its links, the first of which counts.

    Spans with a parent in their own trace need no link.
    """
    first = links[0] if isinstance(links, list) else None
    trace, key = text_at(first, "traceId"), text_at(first, "spanId")
    follows = trace and nobody(parent) and not nobody(key)
    return (trace, key) if follows else ("", parent)


def plain_trace(identifier: str) -> str:
    """The identifier of a trace as every tracer would write it: some add zeros, or capitals.

    Parameters
    ----------
    identifier
        It, in hexadecimal; any other text stays as it is.

    Examples
    --------
    >>> plain_trace("00AB12"), plain_trace("qrvM3Q==")
    ('ab12', 'qrvM3Q==')
    """
    hexadecimal = _HEXADECIMAL.fullmatch(identifier)
    return identifier.lower().lstrip("0") or "0" if hexadecimal else identifier


def same_trace(one: str, other: str) -> bool:
    """Whether two identifiers are of one trace."""
    return one == other or plain_trace(one) == plain_trace(other)


def nobody(key: str) -> bool:
    """Whether an identifier stands for no span: empty, or only zeros.

    Parameters
    ----------
    key
        An identifier in hexadecimal, or of 64 bits in base 64, as Tempo writes it.

    Examples
    --------
    >>> nobody(""), nobody("AAAAAAAAAAA="), nobody("00000000000000a0")
    (True, True, False)
    """
    return not key.strip("0") or key == "AAAAAAAAAAA="


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


# Jaeger: the page's export, and spans as they are stored

_TAGS = SAID | {"span.kind", "error"}
_NAMED = {kind.name.lower(): kind for kind in SpanKind}


def _jaeger(document: Any, source: str) -> Iterator[Span | BrokenSpan]:
    if isinstance(document, dict) and "resourceSpans" in document:
        msg = f"{source}: not all of it is Jaeger's; keep each form in files of its own"
        raise MeasurementError(msg)
    entries = (
        document
        if isinstance(document, list)
        else entries_of(document, "data", source) or _hits(document, source) or [document]
    )
    for each in entries:
        entry = each.get("_source", each) if isinstance(each, Mapping) else each
        if isinstance(entry, Mapping) and "spans" in entry:
            processes = entry.get("processes", {})
            for span in entries_of(entry, "spans", source):
                yield _checked(_jaeger_span, span, processes, source)
        else:
            yield _checked(_jaeger_span, entry, {}, source)


def _hits(document: Any, source: str) -> list[Any]:
    """Spans in an answer of Elasticsearch or OpenSearch, where Jaeger stores them."""
    hits = document.get("hits")
    return entries_of(hits, "hits", source) if isinstance(hits, Mapping) else []


def _jaeger_span(span: Any, processes: Any, source: str) -> Span:
    start = whole_time(span, "startTime", source, _MICRO)
    length = whole_time(span, "duration", source, _MICRO)
    name = span.get("processID")
    process = span.get("process") or (
        processes.get(name) if isinstance(processes, Mapping) and isinstance(name, str) else None
    )
    tags = labels_of(entries_of(span, "tags", source), _TAGS)
    callers = [r for r in entries_of(span, "references", source) if isinstance(r, Mapping)]
    caller = next(
        (r for word in ("CHILD_OF", "FOLLOWS_FROM") for r in callers if r.get("refType") == word),
        {},
    )
    trace = str(span.get("traceID") or "")
    above = str(caller.get("traceID") or trace)
    kind = _NAMED.get(tags.get("span.kind", "").lower(), SpanKind.INTERNAL)
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
    )


# Zipkin v2: https://zipkin.io/zipkin-api, ListOfSpans


class _Joined(NamedTuple):
    """Identifiers shared in a document: both sides of a call may have the same one.

    Parameters
    ----------
    there
        Trace and identifier of each span, except servers that share their client's.
    served
        Trace and identifier of servers that share their client's, with their service.
    """

    there: set[tuple[str, str]]
    served: dict[tuple[str, str], str]


def _zipkin(document: Any, source: str) -> Iterator[Span | BrokenSpan]:
    if not isinstance(document, list):
        msg = f"{source}: Zipkin's spans are not in a list"
        raise MeasurementError(msg)
    spans = [span for each in document for span in (each if isinstance(each, list) else [each])]
    joined = _joined(spans)
    for span in spans:
        if isinstance(span, Mapping) and "binaryAnnotations" in span:
            msg = f"{source}: Zipkin's version 1; export version 2, as /api/v2/traces answers"
            raise MeasurementError(msg)
        yield _checked(_zipkin_span, span, joined, source)


def _joined(spans: list[Any]) -> _Joined:
    """A server shares its client's identifier if it says so, or if a client has the same."""
    there: set[tuple[str, str]] = set()
    serving: list[tuple[tuple[str, str], Any]] = []
    for span in spans:
        same = text_at(span, "traceId"), text_at(span, "id")
        if _zipkin_kind(span).serves:
            serving.append((same, span))
        else:
            there.add(same)
    served = {}
    for same, span in serving:
        if span.get("shared") is True or same in there:
            served[same] = text_at(span.get("localEndpoint"), "serviceName")
        else:
            there.add(same)
    return _Joined(there, served)


def _zipkin_kind(span: Any) -> SpanKind:
    return _NAMED.get(text_at(span, "kind").lower(), SpanKind.INTERNAL)


def _zipkin_span(span: Any, joined: _Joined, source: str) -> Span:
    start = whole_time(span, "timestamp", source, _MICRO)
    length = whole_time(span, "duration", source, _MICRO) if "duration" in span else 0
    tags = span.get("tags")
    labels = {k: str(v) for k, v in tags.items()} if isinstance(tags, Mapping) else {}
    kind = _zipkin_kind(span)
    service = text_at(span.get("localEndpoint"), "serviceName")
    remote = text_at(span.get("remoteEndpoint"), "serviceName")
    trace, key = text_at(span, "traceId"), text_at(span, "id")
    if kind.serves and (trace, key) in joined.served:
        itself, parent = _served(key), _client(span, joined)
    else:
        itself, parent = key, _caller(span, service, joined)
    return Span(
        trace,
        itself,
        parent,
        service,
        operation_of(text_at(span, "name"), labels),
        kind,
        start,
        start + length,
        "error" in labels,
        (remote or peer_of(labels)) if kind.asks else "",
        math.nan,
    )


def _served(key: str) -> str:
    """The identifier given to a server that shares its client's."""
    return f"{key}, served"


def _client(span: Any, joined: _Joined) -> str:
    """The client that shares its identifier with a server, in this document or in another.

    Without one, it is the client's caller; clients outside have no span.
    """
    trace, key, above = (text_at(span, name) for name in ("traceId", "id", "parentId"))
    elsewhere = above and (trace, above) not in joined.there
    return key if elsewhere or (trace, key) in joined.there else above


def _caller(span: Any, service: str, joined: _Joined) -> str:
    """The cause of a span: of two with its parent's identifier, the server if it is its own."""
    trace, above = text_at(span, "traceId"), text_at(span, "parentId")
    server = joined.served.get((trace, above))
    if server is None or (server != service and (trace, above) in joined.there):
        return above
    return _served(above)


OTLP = Form(
    "OpenTelemetry",
    _marked("{[", r'"resourceSpans"\s*:|"batches"\s*:[^"]*"(?:resource|scopeSpans|instr)'),
    _otlp,
)
JAEGER = Form("Jaeger", _marked("{[", r'"traceID"\s*:', r'"spanID"|"spans"'), _jaeger)
ZIPKIN = Form("Zipkin", _marked("[", r'"traceId"\s*:', r'"id"\s*:', r'"timestamp"\s*:'), _zipkin)
FORMS = (OTLP, JAEGER, ZIPKIN)
"""All forms, in the order in which they are tried."""


def form_of(text: str) -> Form | None:
    """The form of traces with which a text begins; None for any other text."""
    return next((form for form in FORMS if form.recognises(text)), None)


_NOT_BLANK = re.compile(r"\S")


def documents(lines: Iterator[str], source: str) -> Iterator[Any]:
    """One JSON document, or one on each line as collectors write them.

    Parameters
    ----------
    lines
        The lines of a file.
    source
        Its name, for messages.

    Raises
    ------
    MeasurementError
        For text that is not JSON, with the line.
    """
    first = 0
    whole: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if not whole and (line.startswith("{") and line.rstrip().endswith("}")):
            yield _parsed(line, number, source)
            continue
        first = first or number
        whole.append(line)
    if whole:
        yield from _one_after_the_other("".join(whole), first, source)


def _one_after_the_other(text: str, first: int, source: str) -> Iterator[Any]:
    """Documents of several lines each; in most files a single one."""
    decoder, begin = json.JSONDecoder(), 0
    while found := _NOT_BLANK.search(text, begin):
        try:
            document, begin = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError) as error:
            raise _broken(error, first, source) from None
        yield document


def _parsed(text: str, number: int, source: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _broken(error, number, source) from None


def _broken(error: Exception, first: int, source: str) -> MeasurementError:
    """The refusal of a text that is not JSON, whose first line has this number."""
    line = first + getattr(error, "lineno", 1) - 1
    mend = "leave that line out, or export the file again" if first > 1 else "export the file again"
    return MeasurementError(f"{source}:{line}: this JSON is invalid or truncated; {mend}")
