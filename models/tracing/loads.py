"""Spans of each load as columns: who caused whom, and what does not fit together."""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from math import isnan
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError, quoted
from headway.kinds import FloatArray
from headway.models.measured.spans.forms import FORMS, Form, documents
from headway.models.measured.spans.span import Span, SpanKind
from headway.models.reading.gather import Content, gather
from headway.models.reading.long import Long
from headway.numerals import four_digits
from headway.records import dataclass

IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

ROOT, LOST = -1, -2
"""What stands for the parent of a span without one, and of one whose parent is in no file."""

MOST_OPERATIONS = 10_000
"""Operations beyond which their names hold identifiers."""

_SECONDS = 1e-9
_LONGEST_LINE = 256_000_000  # an export of a collector is one line
_HEX = 16  # digits of a span's identifier (W3C Trace Context, 3.2.2.4)


@dataclass(frozen=True)
class Spans:
    """The spans of one load, row by row.

    Parameters
    ----------
    name
        Of the load: its files.
    trace, service, operation, peer
        Which one, counted from 0; peers are those a client asks, with 0 for none.
    parent
        The row that caused it; `ROOT` and `LOST` where there is none.
    kind
        `headway.models.measured.spans.span.SpanKind`.
    start, end
        Since the first span of all loads [s].
    failed
        Whether it is marked as an error.
    services, operations, peers
        Names, in the order of their numbers.
    sampled
        Share of traces that were kept, as the spans say; 1 where they say nothing.
    twice
        Spans left out, as they are there already.
    """

    name: str
    trace: IntArray
    parent: IntArray
    service: IntArray
    operation: IntArray
    kind: IntArray
    peer: IntArray
    start: FloatArray
    end: FloatArray
    failed: BoolArray
    services: tuple[str, ...]
    operations: tuple[str, ...]
    peers: tuple[str, ...]
    sampled: float = 1.0
    twice: int = 0

    def __len__(self) -> int:
        return len(self.trace)


def read_loads(
    places: Sequence[str],
    window: float | None = None,
    advance: Callable[[], None] = lambda: None,
) -> tuple[Spans, ...]:
    """Read traces: each file is a load, and files that share traces are one.

    Parameters
    ----------
    places
        Files, folders, patterns and archives.
    window
        Length of a load [s], where one long file holds several; None for whole files.
    advance
        Called after each megabyte of a long file.

    Raises
    ------
    MeasurementError
        For files of another form, no spans, spans that end before they start, and operations
        without number.
    """
    reading = _Reading()
    for content in gather(places):
        reading.file(content, advance)
    if not reading.rows:
        msg = f"{', '.join(places)}: no spans; export at least one trace"
        raise MeasurementError(msg)
    return tuple(reading.loads(window))


_IDENTIFIER = re.compile(
    r"(?<=[/:=.-])(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}|\d+)(?=$|[/?&:.-])"
)


def without_identifiers(operation: str) -> str:
    """The name of an operation with what names one thing of many taken out.

    Examples
    --------
    >>> without_identifiers("GET /orders/17/items/6ba7b810-9dad-11d1-80b4-00c04fd430c8")
    'GET /orders/{id}/items/{id}'
    >>> without_identifiers("GET /v2/orders"), without_identifiers("cart.v1.Cart/Add")
    ('GET /v2/orders', 'cart.v1.Cart/Add')
    """
    path, _, query = operation.partition("?")
    return _IDENTIFIER.sub("{id}", path if query else operation)


@dataclass
class _Rows:
    """Columns of one file as they grow."""

    form: str
    trace: "array[int]" = field(default_factory=lambda: array("q"))
    key: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)
    service: "array[int]" = field(default_factory=lambda: array("q"))
    operation: "array[int]" = field(default_factory=lambda: array("q"))
    kind: "array[int]" = field(default_factory=lambda: array("q"))
    peer: "array[int]" = field(default_factory=lambda: array("q"))
    start: "array[int]" = field(default_factory=lambda: array("q"))
    end: "array[int]" = field(default_factory=lambda: array("q"))
    failed: "array[int]" = field(default_factory=lambda: array("b"))
    sampled: set[float] = field(default_factory=set)


class _Reading:
    """Numbers of names, common to all files, and the rows of each."""

    def __init__(self) -> None:
        self.rows: dict[str, _Rows] = {}
        self.traces: dict[str, int] = {}
        self.services: dict[str, int] = {}
        self.operations: dict[str, int] = {}
        self.plain: dict[str, int] = {}
        self.peers: dict[str, int] = {"": 0}
        self.others: dict[str, int] = {}

    def file(self, content: Content, advance: Callable[[], None]) -> None:
        """Take in the spans of a file."""
        name, inside = content
        head = inside.head() if isinstance(inside, Long) else inside
        text = head.decode("utf-8-sig", "replace")
        form = next((form for form in FORMS if form.recognises(text)), None)
        if form is None:
            msg = f"{name}: no traces of OpenTelemetry (OTLP JSON), Jaeger or Zipkin (v2)"
            raise MeasurementError(msg)
        rows = _Rows(form.name)
        for each in documents(_lines(inside, name, advance), name):
            for span in _of_form(form, each, name):
                self.take(span, rows, name)
        if rows.trace:
            self.rows[name] = rows

    def take(self, span: Span, rows: _Rows, name: str) -> None:
        """Take in a span."""
        if span.end < span.start:
            msg = (
                f"{name}: trace {quoted(span.trace)}: a span ends before it starts; its clock was "
                "set back, so leave that trace out"
            )
            raise MeasurementError(msg)
        if not span.trace or not span.key:
            msg = f"{name}: a span has no identifier"
            raise MeasurementError(msg)
        trace = self.traces.setdefault(span.trace, len(self.traces))
        rows.trace.append(trace)
        rows.key.append(self.number(span.key) << 40 | trace)
        rows.parent.append(self.number(span.parent) << 40 | trace if span.parent else ROOT)
        rows.service.append(self.services.setdefault(span.service, len(self.services)))
        rows.operation.append(self.operation(span.operation, name))
        rows.kind.append(span.kind)
        rows.peer.append(self.peers.setdefault(span.peer, len(self.peers)))
        rows.start.append(span.start)
        rows.end.append(span.end)
        rows.failed.append(span.failed)
        if not isnan(span.sampled):
            rows.sampled.add(span.sampled)

    def number(self, key: str) -> int:
        """A span's identifier as a number."""
        if len(key) <= _HEX:
            try:
                return int(key, 16)
            except ValueError:
                pass
        return (1 << 64) + self.others.setdefault(key, len(self.others))

    def operation(self, name: str, source: str) -> int:
        """The number of an operation."""
        known = self.operations.get(name)
        if known is None:
            plain = without_identifiers(name)
            known = self.plain.setdefault(plain, len(self.plain))
            if len(self.plain) > MOST_OPERATIONS:
                msg = (
                    f"{source}: more than {MOST_OPERATIONS:,} operations, such as {quoted(name)}; "
                    "name spans by routes, without what is in a request"
                )
                raise MeasurementError(msg)
            if len(self.operations) < 10 * MOST_OPERATIONS:
                self.operations[name] = known
        return known

    def loads(self, window: float | None) -> Iterator[Spans]:
        """The spans of each load, files that share traces put together."""
        first = min(min(rows.start) for rows in self.rows.values())
        for names in self._together():
            whole = self._spans(names, first)
            yield from [whole] if window is None else _cut(whole, window)

    def _together(self) -> list[list[str]]:
        """Files by load."""
        first_of: dict[int, str] = {}
        joined = {name: name for name in self.rows}
        for name, rows in self.rows.items():
            for trace in set(rows.trace):
                other = first_of.setdefault(trace, name)
                joined[_top(joined, name)] = _top(joined, other)
        groups: dict[str, list[str]] = {}
        for name in self.rows:
            groups.setdefault(_top(joined, name), []).append(name)
        return list(groups.values())

    def _spans(self, names: Sequence[str], first: int) -> Spans:
        parts = [self.rows[name] for name in names]
        row_of: dict[int, int] = {}
        kept = []
        keys = (key for part in parts for key in part.key)
        for row, key in enumerate(keys):
            if row_of.setdefault(key, row) == row:
                kept.append(row)
        place = np.full(sum(len(part.key) for part in parts), ROOT)
        place[kept] = np.arange(len(kept))
        parents = (key for part in parts for key in part.parent)
        causes = [ROOT if key == ROOT else row_of.get(key, LOST) for key in parents]
        parent = np.array(causes)[kept]
        parent[parent >= 0] = place[parent[parent >= 0]]

        def column(which: str) -> IntArray:
            return np.concatenate([np.asarray(getattr(part, which)) for part in parts])[kept]

        shares = set().union(*(part.sampled for part in parts))
        spans = Spans(
            _short(names),
            trace=column("trace"),
            parent=parent,
            service=column("service"),
            operation=column("operation"),
            kind=column("kind"),
            peer=column("peer"),
            start=np.asarray(column("start") - first, float) * _SECONDS,
            end=np.asarray(column("end") - first, float) * _SECONDS,
            failed=column("failed").astype(bool),
            services=tuple(self.services),
            operations=tuple(self.plain),
            peers=tuple(self.peers),
            sampled=min(shares, default=1.0),
            twice=len(place) - len(kept),
        )
        _check_circles(spans)
        return spans


def _top(joined: Mapping[str, str], name: str) -> str:
    while joined[name] != name:
        name = joined[name]
    return name


def _short(names: Sequence[str]) -> str:
    """What to call a load: its first file without folders and endings."""
    base = names[0].replace("\\", "/").rsplit("/", 1)[-1]
    return base.split(".", 1)[0] or base


def _lines(content: bytes | Long, name: str, advance: Callable[[], None]) -> Iterator[str]:
    if isinstance(content, Long):
        yield from content.lines(advance, longest=_LONGEST_LINE)
        return
    try:
        yield from content.decode("utf-8-sig").splitlines(keepends=True)
    except UnicodeDecodeError:
        msg = f"{name}: not a text file in UTF-8"
        raise MeasurementError(msg) from None


def _of_form(form: Form, document: object, name: str) -> Iterable[Span]:
    if isinstance(document, dict | list):
        return form.spans(document, name)
    msg = f"{name}: a line is no {form.name} document"
    raise MeasurementError(msg)


def _check_circles(spans: Spans) -> None:
    """Refuse spans that are each other's parents, by doubling steps towards the root."""
    above = np.where(spans.parent < 0, np.arange(len(spans)), spans.parent)
    top = above
    for _ in range(max(len(spans), 2).bit_length()):
        top = top[top]
    circle = np.flatnonzero(spans.parent[top] >= 0)
    if circle.size:
        service = spans.services[spans.service[circle[0]]]
        msg = (
            f"{spans.name}: spans of {quoted(service)} are each other's parents in a circle; "
            "leave that trace out"
        )
        raise MeasurementError(msg)


def _cut(spans: Spans, window: float) -> Iterator[Spans]:
    """Loads of one length each, traces by when they begin; the last only if it is whole."""
    begins = np.full(int(spans.trace.max()) + 1, np.inf)
    np.minimum.at(begins, spans.trace, spans.start)
    since = begins[spans.trace] - spans.start.min()
    count = int((spans.end.max() - spans.start.min()) / window)
    if count < 1:
        length = four_digits(window)
        msg = f"{spans.name}: shorter than the window of {length} s; choose a shorter one"
        raise MeasurementError(msg)
    for k in range(count):
        rows = (since >= k * window) & (since < (k + 1) * window)
        if rows.any():
            yield _chosen(spans, rows, f"{spans.name}-{k + 1}")


def _chosen(spans: Spans, rows: BoolArray, name: str) -> Spans:
    """Some rows: whole traces, so that parents are among them."""
    place = np.full(len(spans), LOST)
    place[rows] = np.arange(int(rows.sum()))
    parent = spans.parent[rows]
    parent = np.where(parent < 0, parent, place[parent])
    return Spans(
        name,
        spans.trace[rows],
        parent,
        spans.service[rows],
        spans.operation[rows],
        spans.kind[rows],
        spans.peer[rows],
        spans.start[rows],
        spans.end[rows],
        spans.failed[rows],
        spans.services,
        spans.operations,
        spans.peers,
        spans.sampled,
    )


def serves(spans: Spans) -> BoolArray:
    """Spans that answer a request: of kind server or consumer, or begun by another service."""
    marked = np.isin(spans.kind, (SpanKind.SERVER, SpanKind.CONSUMER))
    above = np.maximum(spans.parent, 0)
    elsewhere = (spans.parent < 0) | (spans.service[above] != spans.service)
    return np.asarray(marked | elsewhere)
