"""Files of traces: their spans as columns, load by load, with causes and what is inconsistent."""

import re
from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError, quoted
from headway.models.measured.spans.columns import (
    BoolArray,
    IntArray,
    Spans,
    chosen,
    circles,
)
from headway.models.measured.spans.family import Links, family_of, followed, received_within
from headway.models.measured.spans.form import Form, lower_half, nobody, plain_trace
from headway.models.measured.spans.forms import documents
from headway.models.measured.spans.heads import share_by_identifiers
from headway.models.measured.spans.layout import Block, blocks, tell, told_by_name
from headway.models.measured.spans.otlp import share_kept
from headway.models.measured.spans.span import (
    BrokenSpan,
    Span,
    broken_span,
    check_broken,
    too_short_by,
)
from headway.records import dataclass

MOST_OPERATIONS = 10_000
"""Number of operations above which their names must contain identifiers."""

ALIKE = 50
"""Number of operations with equal names apart from numbers, above which these are identifiers."""

_SECONDS = 1e-9
_HEX = 16  # digits of a span's identifier (W3C Trace Context, 3.2.2.4)
_BITS = (1 << 64) - 1
UNNAMED_SERVICE = "unknown_service"
"""How OpenTelemetry's libraries name a service without a name, or begin its name."""


_IDENTIFIER = re.compile(
    r"(?<=[/:=.-])(?:[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{8,}|\d+)(?=$|[/?&:.-])"
)


_ADDRESS = re.compile(r"(?<=/)[^/?@\s]+@[^/?\s]+")  # of mail
_MIXED = re.compile(r"(?<=/)(?=[^/?]*\d)(?=[^/?]*[A-Za-z])[\w~-]{8,}(?=$|[/?])|\d+")
_STATEMENT = re.compile(
    r"\s*(?:SELECT|INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO|REPLACE\s+INTO|WITH)\s",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"'(?:[^']|'')*+'|(?<![\w.$@:-])-?\d+(?:\.\d+)?+(?![\w.])")
_LITERALS = re.compile(r"\{id\}(?:\s*,\s*\{id\})+")


def without_identifiers(operation: str) -> str:
    """The name of an operation, with identifiers of single objects removed.

    Of a statement in SQL, these are its literals.

    Examples
    --------
    >>> without_identifiers("GET /orders/17/items/6ba7b810-9dad-11d1-80b4-00c04fd430c8")
    'GET /orders/{id}/items/{id}'
    >>> without_identifiers("GET /v2/orders"), without_identifiers("cart.v1.Cart/Add")
    ('GET /v2/orders', 'cart.v1.Cart/Add')
    >>> without_identifiers("SELECT a2 FROM t WHERE b = 'it''s' AND c IN (3, 4.5) LIMIT ?")
    'SELECT a2 FROM t WHERE b = {id} AND c IN ({id}) LIMIT ?'
    """
    if _STATEMENT.match(operation):
        return _LITERALS.sub("{id}", _LITERAL.sub("{id}", operation))
    path, _, query = operation.partition("?")
    return _ADDRESS.sub("{id}", _IDENTIFIER.sub("{id}", path if query else operation))


@dataclass
class _Rows:
    """Columns of one file as they grow.

    `what` is a number for the description of a span, and `cause` the trace that a link to its
    parent names; below 0 if there is no link. `linking` are rows that link to others besides, and
    `link_trace` and `link_key` tell these.
    """

    form: str
    broken: dict[int, BrokenSpan] = field(default_factory=dict)
    trace: "array[int]" = field(default_factory=lambda: array("q"))
    key: "array[int]" = field(default_factory=lambda: array("Q"))
    parent: "array[int]" = field(default_factory=lambda: array("Q"))
    cause: "array[int]" = field(default_factory=lambda: array("q"))
    what: "array[int]" = field(default_factory=lambda: array("q"))
    start: "array[int]" = field(default_factory=lambda: array("q"))
    end: "array[int]" = field(default_factory=lambda: array("q"))
    linking: "array[int]" = field(default_factory=lambda: array("q"))
    link_trace: "array[int]" = field(default_factory=lambda: array("q"))
    link_key: "array[int]" = field(default_factory=lambda: array("Q"))
    sampled: set[float] = field(default_factory=set)


_Said: TypeAlias = tuple[str, str, int, str, bool]
"""Service, operation, kind, peer, and whether it failed."""


class _What(NamedTuple):
    """The description of a span, in numbers."""

    service: int
    operation: int
    kind: int
    peer: int
    failed: bool


class LoadFiles(NamedTuple):
    """Files that share traces, and so are one load: its name, and theirs."""

    name: str
    files: tuple[str, ...]
    form: str


class SpanFiles:
    """Spans read from files: names are numbered alike in all of them."""

    def __init__(self) -> None:
        self.rows: dict[str, _Rows] = {}
        self.traces: dict[str, int] = {}
        self.halves: dict[str, int] = {}
        self.services: dict[str, int] = {}
        self.operations: dict[str, int] = {}
        self.alike: dict[str, list[int]] = {}
        self.peers: dict[str, int] = {"": 0}
        self.whats: dict[_What, int] = {}
        self.known: dict[Hashable, int] = {}

    def file(self, name: str, lines: Iterator[str], form: Form) -> None:
        """Read the spans of a file.

        Parameters
        ----------
        name, lines, form
            Its name, its lines, and the form in which they are written.

        Raises
        ------
        MeasurementError
            For another form, and an unlimited number of operations.
        """
        rows = _Rows(form.name)
        written = form.rewritten(lines, name)
        left = self.left(written, rows, name) if form.laid_out else written
        each = _of_form(form, documents(left, name, form.opening), name)
        self.take(form.spans(each, name), rows, name)
        if rows.trace:
            self.rows[name] = rows
        elif rows.broken:
            check_broken(rows.broken.values(), len(rows.broken))

    def take(self, spans: Iterable[Span | BrokenSpan], rows: _Rows, name: str) -> None:
        """Read the spans of a document."""
        traces, known = self.traces, self.known
        columns = rows.trace, rows.key, rows.parent, rows.what, rows.start, rows.end, rows.cause
        traced, keyed, caused, told, started, ended, sent = (column.append for column in columns)
        for span in spans:
            if isinstance(span, BrokenSpan):
                if not span.trace:
                    raise span
                rows.broken.setdefault(self.trace(span.trace), span)
                continue
            (
                trace, key, parent, service, operation, kind, start, end, failed, peer, sampled,
                linked, links,
            ) = span  # fmt: skip
            numbered = traces.get(trace)
            if numbered is None:
                numbered = self.trace(trace)
            # the hash of the enum member would take a call
            same = service, operation, +kind, peer, failed
            what = known.get(same)
            if what is None:
                what = self.what(same, name, same)
            traced(numbered)
            keyed(_number(key))
            caused(_number(parent))
            told(what)
            started(start)
            ended(end)
            sent(self.trace(linked) if linked else -1)
            for other, itself in links:
                rows.linking.append(len(rows.trace) - 1)
                rows.link_trace.append(self.trace(other))
                rows.link_key.append(_number(itself))
            if sampled == sampled:  # not NaN
                rows.sampled.add(sampled)

    def left(self, lines: Iterable[str], rows: _Rows, name: str) -> Iterator[str]:
        """Read the spans that are found in the text of lines, and return the other lines."""
        for block in blocks(lines):
            self.take_block(block, rows, name)
            yield from block.left

    def take_block(self, block: Block, rows: _Rows, name: str) -> None:
        """Read the spans that were found in some lines."""
        text, found, trace = block.text, block.found, self.trace
        rows.trace.extend(map(trace, _slices(text, found.trace, found.trace_end)))
        rows.what.extend(self.whats_of(block, name))
        for column, values in (
            (rows.key, found.key), (rows.parent, found.parent),
            (rows.start, found.start), (rows.end, found.stop),
            (rows.cause, np.full(len(found.start), -1)),
        ):  # fmt: skip
            column.frombytes(np.ascontiguousarray(values).tobytes())
        states = np.flatnonzero(found.state_end > found.state)
        shares = map(share_kept, set(_slices(text, found.state[states], found.state_end[states])))
        rows.sampled.update(share for share in shares if share == share)  # not NaN

    def trace(self, identifier: str) -> int:
        """The number of a trace, however its identifier is written.

        Some tracers pass on only the lower half of 128 bits.
        """
        number = self.traces.get(identifier)
        if number is None:
            plain = plain_trace(identifier)
            number = self.traces.get(plain)
            if number is None:
                half = lower_half(plain)
                other = self.traces.get(half) if half else self.halves.get(plain)
                number = len(self.traces) if other is None else other
                self.traces[plain] = number
                if half:
                    self.halves.setdefault(half, number)
            self.traces[identifier] = number
        return number

    def whats_of(self, block: Block, source: str) -> Iterator[int]:
        """A number for the description of each span of some lines."""
        text, found, known = block.text, block.found, self.known
        columns = found.name, found.name_end, found.kind, found.attributes, found.attributes_end
        told = zip(block.services, *(c.tolist() for c in (*columns, found.code)), strict=True)
        for service, a, b, kind, first, last, code in told:
            name = text[a:b]
            about = b"" if told_by_name(name, kind) else text[first:last]
            what = known.get((service, name, kind, about, code))
            if what is None:
                span = tell(name, kind, about, code)
                what = self.what((service, *span), source, (service, name, kind, about, code))
            yield what

    def what(self, told: _Said, source: str, key: Hashable) -> int:
        """A number for the description of a span, cached by a key."""
        service, operation, kind, peer, failed = told
        what = _What(
            self.services.setdefault(service or UNNAMED_SERVICE, len(self.services)),
            self.operation(operation, source),
            +kind,
            self.peers.setdefault(peer, len(self.peers)),
            failed,
        )
        number = self.whats.setdefault(what, len(self.whats))
        if len(self.known) < 10 * MOST_OPERATIONS:
            self.known[key] = number
        return number

    def operation(self, name: str, source: str) -> int:
        """The number of an operation."""
        plain = without_identifiers(name)
        if plain in self.operations:
            return self.operations[plain]
        alike = self.alike.setdefault(_MIXED.sub("{id}", plain), [])
        if len(alike) > ALIKE:
            return alike[0]
        number = self.operations[plain] = len(self.operations)
        alike.append(number)
        if len(self.operations) > MOST_OPERATIONS:
            msg = (
                f"{source}: more than {MOST_OPERATIONS:,} operations, such as {quoted(name)}; "
                "name spans by routes, without what is in a request"
            )
            raise MeasurementError(msg)
        return number

    @property
    def first(self) -> int:
        """When the first span began, since 1970 [ns]."""
        return min(int(np.asarray(rows.start).min()) for rows in self.rows.values())

    @property
    def longest(self) -> int:
        """What the longest span takes [ns]."""
        return max(
            int((np.asarray(rows.end) - np.asarray(rows.start)).max())
            for rows in self.rows.values()
        )

    def check_times(self, source: str) -> None:
        """Refuse times that are written in another unit than their form's.

        Parameters
        ----------
        source
            The places that were read, for the message.

        Raises
        ------
        MeasurementError
            If all times are too short.
        """
        if (factor := too_short_by(self.first, self.longest)) > 1:
            msg = (
                f"{source}: times are {factor:,} times too short, and begin in 1970; write "
                "ns (OpenTelemetry) or us (Jaeger, Zipkin)"
            )
            raise MeasurementError(msg)

    def loads(self) -> list[LoadFiles]:
        """The loads that the files hold, in their order: those that share traces are one."""
        together = self._together()
        names = _short([files[0] for files in together])
        return [
            LoadFiles(name, tuple(files), self.rows[files[0]].form)
            for name, files in zip(names, together, strict=True)
        ]

    def _together(self) -> list[list[str]]:
        """Files grouped by load."""
        first_of: dict[int | str, str] = {}
        joined = {name: name for name in self.rows}
        for name, rows in self.rows.items():
            traces: set[int | str] = set(rows.trace)
            if len(traces) == 1 and rows.parent.count(0) <= 1:  # a single request has no rate
                traces.add(_folder(name))
            for each in traces:
                other = first_of.setdefault(each, name)
                joined[_top(joined, name)] = _top(joined, other)
        for name, rows in self.rows.items():
            for other in _senders(rows, first_of):
                joined[_top(joined, name)] = _top(joined, other)
        groups: dict[str, list[str]] = {}
        for name in self.rows:
            groups.setdefault(_top(joined, name), []).append(name)
        return list(groups.values())

    def _merged(self) -> tuple[IntArray, tuple[str, ...]]:
        """The number that replaces each operation's, and names: one for those that are too many."""
        merged, names = np.arange(len(self.operations)), list(self.operations)
        for pattern, alike in self.alike.items():
            if len(alike) > ALIKE:
                merged[alike] = alike[0]
                names[alike[0]] = pattern
        return merged, tuple(names)

    def spans(self, load: LoadFiles) -> Spans:
        """The spans of a load.

        Parameters
        ----------
        load
            One of `loads`.

        Raises
        ------
        BrokenSpan
            If too many of its traces have impossible spans.
        """
        first, parts = self.first, [self.rows[name] for name in load.files]
        merged, operations = self._merged()
        broken = {trace: why for part in parts for trace, why in part.broken.items()}
        told = np.concatenate([np.asarray(part.trace) for part in parts])
        sound = ~np.isin(told, list(broken))

        def column(which: str) -> NDArray[Any]:
            return np.concatenate([np.asarray(getattr(part, which)) for part in parts])[sound]

        trace = column("trace")
        cause = column("cause")
        links = _links(parts, sound)
        parents = column("parent"), np.where(cause < 0, trace, cause)
        family = family_of(trace, column("key"), parents, links)
        kept = family.kept
        linked = cause[kept] >= 0
        others, leaders = family.others
        said = [column(which) for which in ("what", "start", "end")]
        alike = int(np.any([each[others] != each[leaders] for each in said], axis=0).sum())
        whats = np.array(list(self.whats), np.int64).reshape(-1, len(_What._fields))
        what = whats[column("what")[kept]].T
        parent, linked = received_within(
            trace[kept], family.parent, linked, family.links, (what[0], what[2])
        )
        trace, parent = followed(trace[kept], parent, linked)
        received = np.zeros(len(kept), bool)
        received[family.links[1]] = True
        spans = Spans(
            load.name,
            trace=trace,
            parent=parent,
            linked=linked,
            service=what[0],
            operation=merged[what[1]],
            kind=what[2],
            peer=what[3],
            start=np.asarray(column("start")[kept] - first, float) * _SECONDS,
            end=np.asarray(column("end")[kept] - first, float) * _SECONDS,
            failed=what[4].astype(bool),
            received=received,
            services=tuple(self.services),
            operations=operations,
            peers=tuple(self.peers),
            sampled=self._sampled(parts, trace),
            twice=len(others) - alike,
            alike=alike,
        )
        circle = circles(spans)
        for k in circle.tolist():
            broken.setdefault(int(spans.trace[k]), self._circle(spans, k))
        if not broken:
            return spans
        check_broken(broken.values(), len(np.union1d(told, list(broken))))
        rows, why = ~np.isin(spans.trace, list(broken)), next(iter(broken.values())).why
        return replace(chosen(spans, rows, load.name), left_out=len(broken), why=why)

    def _sampled(self, parts: Sequence[_Rows], trace: IntArray) -> float:
        """Share of traces that were kept, as spans state it, or else as identifiers show it."""
        if stated := set().union(*(part.sampled for part in parts)):
            return min(stated)
        return share_by_identifiers([self.identifiers[number] for number in np.unique(trace)])

    @cached_property
    def identifiers(self) -> tuple[str, ...]:
        """Those of all traces in the order of their numbers, once all files are read."""
        return tuple(self.traces)

    def _circle(self, spans: Spans, row: int) -> BrokenSpan:
        service = spans.services[spans.service[row]]
        trace = self.identifiers[spans.trace[row]]
        why = f"spans of {quoted(service)} are each other's parents in a circle"
        return broken_span(spans.name, trace, why)


def _slices(text: bytes, begins: IntArray, ends: IntArray) -> Iterator[str]:
    for a, b in zip(begins.tolist(), ends.tolist(), strict=True):
        yield text[a:b].decode()


def _number(key: str) -> int:
    """A span's identifier in 64 bits, 0 for none: hexadecimal as it is, any other hashed."""
    if nobody(key):
        return 0
    if len(key) <= _HEX:
        try:
            return int(key, 16) & _BITS
        except ValueError:
            pass
    return int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big")


def _links(parts: Sequence[_Rows], sound: BoolArray) -> Links:
    """Links in some files, by rows that are sound."""
    before = np.cumsum([0, *(len(part.trace) for part in parts[:-1])])
    rows = [np.asarray(part.linking) + n for part, n in zip(parts, before.tolist(), strict=True)]
    linking = np.concatenate(rows).astype(np.int64)
    trace = np.concatenate([np.asarray(part.link_trace) for part in parts]).astype(np.int64)
    key = np.concatenate([np.asarray(part.link_key) for part in parts]).astype(np.uint64)
    good = sound[linking]
    return Links((np.cumsum(sound) - 1)[linking[good]], trace[good], key[good])


def _senders(rows: _Rows, file_of: Mapping[int | str, str]) -> list[str]:
    """The file that sent most of the messages that each file receives by links."""
    causes = [each for each in rows.cause if each >= 0] if max(rows.cause) >= 0 else []
    causes += rows.link_trace
    files = Counter(file_of[each] for each in causes if each in file_of)
    return [name for name, count in files.items() if 2 * count > len(causes)]


def _top(joined: Mapping[str, str], name: str) -> str:
    while joined[name] != name:
        name = joined[name]
    return name


def _folder(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[0]


def _short(files: Sequence[str]) -> list[str]:
    """Names of loads: the shortest part of each file's name that is unique.

    Examples
    --------
    >>> _short(["runs/low.jsonl.gz", "runs/high.jsonl"]), _short(["low/t.json", "high/t.json"])
    (['low', 'high'], ['low/t', 'high/t'])
    >>> _short(["runs/day.1.jsonl", "runs/day.2.jsonl"])
    ['day.1.jsonl', 'day.2.jsonl']
    """
    calls = [list(_calls(name)) for name in files]
    names = [each[0] for each in calls]
    for k in range(1, max(map(len, calls), default=1)):
        counts = Counter(names)
        names = [
            each[min(k, len(each) - 1)] if counts[name] > 1 else name
            for name, each in zip(names, calls, strict=True)
        ]
    return names


def _calls(name: str) -> Iterator[str]:
    """Possible names for a file: without its ending, with it, with its folders, and whole."""
    *folders, file = name.replace("\\", "/").split("/")
    base = file.split(".", 1)[0] or file
    yield from (base, file)
    for k in range(1, len(folders) + 1):
        yield "/".join([*folders[-k:], base])
    yield name


def _of_form(form: Form, each: Iterable[object], name: str) -> Iterator[object]:
    for document in each:
        if not isinstance(document, dict | list):
            msg = f"{name}: one line is not a {form.name} document"
            raise MeasurementError(msg)
        yield document
