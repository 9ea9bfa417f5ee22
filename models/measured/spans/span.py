"""A span: one piece of work of a service, common to all forms of trace."""

import re
from collections.abc import Collection, Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

from headway.errors import MeasurementError, quoted

_LATEST = 1 << 62
"""Times since 1970 must be less than this [ns]: in 2116, so that two of them add up in 64 bits."""
_MOST_DIGITS = 19  # of a time
_SHOWN = 30  # characters of what is no time
_UNITS = {1: "ns", 1000: "us"}
_Y2000, _Y2100, _MILLISECOND = 946_684_800 * 10**9, 4_102_444_800 * 10**9, 10**6  # ns


class SpanKind(IntEnum):
    """The role of a span in a request (OpenTelemetry, trace API, SpanKind)."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5

    @classmethod
    def named(cls, name: str) -> "SpanKind":
        """The kind of a name in any case, such as ``server``; internal if there is none.

        Examples
        --------
        >>> SpanKind.named("Server").serves, SpanKind.named("").name
        (True, 'INTERNAL')
        """
        return cls.__members__.get(name.upper(), cls.INTERNAL)

    @property
    def serves(self) -> bool:
        """Whether the span answers a request or receives a message."""
        return self is SpanKind.SERVER or self is SpanKind.CONSUMER

    @property
    def asks(self) -> bool:
        """Whether the span makes a request or sends a message."""
        return self is SpanKind.CLIENT or self is SpanKind.PRODUCER


class Span(NamedTuple):
    """A piece of work of a service.

    Parameters
    ----------
    trace, key, parent
        Identifiers of its trace, of itself and of the span that caused it; empty without a parent.
    service, operation
        The service, and the operation that it carries out.
    kind
        Its role in the request.
    start, end
        Times since 1970 [ns]: whole numbers, as seconds since 1970 would lose digits.
    failed
        Whether it is marked as an error.
    peer
        The callee of a client or producer, if the span names it.
    sampled
        Share of traces that the sampler kept, if the trace states it; otherwise NaN.
    linked
        The trace of its parent, if that sent it a message and a link says so; otherwise empty.
    links
        Trace and identifier of all other spans that it links to.
    """

    trace: str
    key: str
    parent: str
    service: str
    operation: str
    kind: SpanKind
    start: int
    end: int
    failed: bool
    peer: str
    sampled: float
    linked: str = ""
    links: tuple[tuple[str, str], ...] = ()


class BrokenSpan(MeasurementError):
    """An impossible span, whose trace is left out.

    Parameters
    ----------
    message
        What is wrong, where, and how to mend it.
    trace, why
        The identifier of its trace, if it has one, and what is wrong with it.
    """

    def __init__(self, message: str, trace: str = "", why: str = "") -> None:
        super().__init__(message)
        self.trace, self.why = trace, why


def broken_span(source: str, trace: str, why: str) -> BrokenSpan:
    """What to say of an impossible span of a file.

    Parameters
    ----------
    source, trace, why
        Its file, the identifier of its trace, if it has one, and what is wrong with it.
    """
    where, mend = (f"trace {quoted(trace)}: ", _MEND) if trace else ("", "")
    return BrokenSpan(f"{source}: {where}{why}{mend}", trace, why)


_MEND = "; leave that trace out"
_MOST_BROKEN = 0.05  # share of traces left out above which the file is at fault


def check_broken(spans: Collection[BrokenSpan], traces: int) -> None:
    """Refuse traces if more than one in twenty has an impossible span.

    Parameters
    ----------
    spans
        One such span for each trace that has any.
    traces
        Number of traces, including these.

    Raises
    ------
    BrokenSpan
        The first of them, with the number of the others.
    """
    if len(spans) <= _MOST_BROKEN * traces:
        return
    first = next(iter(spans))
    if len(spans) == 1:
        raise first
    msg = (
        f"{str(first).removesuffix(_MEND)}, and {len(spans) - 1:,} more of {traces:,} traces have "
        "an impossible span: fix whatever writes them"
    )
    raise BrokenSpan(msg, first.trace, first.why)


def whole_time(span: Any, key: str, source: str, unit: int = 1) -> int:
    """A time as a whole number [ns]; numbers with a decimal point are rounded.

    Parameters
    ----------
    span, key
        The span, and the key of the time.
    source
        Origin of the span, for messages.
    unit
        The unit in which it is written [ns].

    Raises
    ------
    BrokenSpan
        If there is no time, or one that no clock shows.
    """
    value = span.get(key) if type(span) is dict else None
    if type(value) is str and len(value) <= _MOST_DIGITS and value.isdecimal():
        value = int(value)
    if (type(value) is int or type(value) is float) and 0 <= (time := value * unit) < _LATEST:
        return round(time)
    trace = text_at(span, "traceId") or text_at(span, "traceID")
    written = f"is {quoted(str(value)[:_SHOWN])}, no whole number of {_UNITS[unit]} since 1970"
    why = f"a span has no {key}" if value is None else f"the {key} of a span {written}, to 2116"
    raise broken_span(source, trace, why)


def too_short_by(first: int, longest: int) -> int:
    """By what factor all times are too short, as they were written in another unit; 1 if not.

    They are if the first span begins in 1970, and so many times as late from 2000 to 2100, and none
    takes a millisecond.

    Parameters
    ----------
    first, longest
        When the first span begins, and what the longest takes [ns].

    Examples
    --------
    >>> too_short_by(1_700_000_000_000_000_000, 50), too_short_by(1_700_000_000_000, 50)
    (1, 1000000)
    """
    for factor in (1000, 1000**2, 1000**3):
        if _Y2000 <= first * factor < _Y2100 and longest < _MILLISECOND:
            return factor
    return 1


def wrong_with(span: Span) -> str:
    """What is wrong with a span; empty if it is possible.

    Examples
    --------
    >>> span = Span("a1", "01", "", "web", "GET /", SpanKind.SERVER, 5, 4, False, "", 1.0)
    >>> wrong_with(span), wrong_with(span._replace(end=6))
    ('a span ends before it starts; its clock was set back', '')
    """
    if not (span.trace and span.key):
        return "a span has no identifier" + ("" if span.trace else " of its trace")
    if span.end >= span.start:
        return ""
    return (
        "a span ends before it starts; its clock was set back" if span.end else "a span has no end"
    )


def entries_of(document: Any, key: str, source: str) -> list[Any]:
    """A list under a key; empty if it is not there, or null, as Go writes lists of nothing.

    Raises
    ------
    MeasurementError
        If it is not a list.
    """
    entries = document.get(key) if isinstance(document, dict) else ""
    if entries is None:
        return []
    if not isinstance(entries, list):
        msg = f"{source}: {key} is not a list"
        raise MeasurementError(msg)
    return entries


def text_of(value: object) -> str:
    """A text; empty if it is not one."""
    return value if isinstance(value, str) else ""


def text_at(document: Any, key: str) -> str:
    """The text under a key; empty if there is none."""
    return text_of(document.get(key)) if isinstance(document, dict) else ""


_PEERS = (
    "peer.service",
    "db.system.name",
    "db.system",
    "messaging.destination.name",
    "messaging.destination",
    "message_bus.destination",
    "messaging.system",
    "server.address",
    "net.peer.name",
    "peer.hostname",
    "peer.address",
    "network.peer.address",
    "db.namespace",
    "db.name",
    "db.instance",
    "rpc.service",
)
"""Attributes that name the callee, the best first, by OpenTelemetry today and before, and by
OpenTracing."""
_PORTS = {
    "server.address": "server.port",
    "net.peer.name": "net.peer.port",
    "network.peer.address": "network.peer.port",
}
_ROUTES = ("http.route", "url.path", "http.target", "url.full", "http.url")
_URLS = ("url.full", "http.url")
ASKED = frozenset((*_PEERS, *_PORTS.values(), *_URLS))
"""Attributes that name the callee of a span."""
SAID = ASKED | set(_ROUTES)
"""These, and attributes that name the operation called."""
_BARE = re.compile(r"(?:HTTP )?(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|QUERY)", re.IGNORECASE)
_HOST = re.compile(r"[a-z][a-z\d+.-]*://(?:[^/?#@]*@)?([^/?#]+)", re.IGNORECASE)
_PATH = re.compile(r"^(?:[a-z]+://[^/]*)?([^?#]*)")


def peer_of(labels: Mapping[str, str]) -> str:
    """The callee of a client, by the attributes that name it best.

    Examples
    --------
    >>> peer_of({"server.address": "10.0.0.7", "server.port": "5432"})
    '10.0.0.7:5432'
    >>> peer_of({"http.url": "http://stock:8080/items/5"})
    'stock:8080'
    """
    for name in _PEERS if labels else ():
        if labels.get(name):
            port = labels.get(_PORTS.get(name, ""), "")
            return f"{labels[name]}:{port}" if port else labels[name]
    hosts = (_HOST.match(labels[name]) for name in _URLS if name in labels)
    return next((host[1] for host in hosts if host), "")


def operation_of(name: str, labels: Mapping[str, str]) -> str:
    """The name of an operation; if it is only an HTTP method, the path is added.

    Examples
    --------
    >>> operation_of("GET", {"url.path": "/orders/17"}), operation_of("GET /check", {})
    ('GET /orders/17', 'GET /check')
    """
    method = method_of(name)
    if not method:
        return name
    route = next((labels[key] for key in _ROUTES if labels.get(key)), "")
    path = _PATH.match(route)
    return f"{method} {path[1] or '/'}" if route and path else name


@lru_cache(1000)
def method_of(name: str) -> str:
    """The HTTP method that an operation's name consists of; empty for any other name.

    Examples
    --------
    >>> method_of("HTTP get"), method_of("GET /check")
    ('GET', '')
    """
    bare = _BARE.fullmatch(name)
    return bare[1].upper() if bare else ""
