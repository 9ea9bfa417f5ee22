"""Spans with fields in protobuf's order, as collectors write them, found in text in one pass.

Parsing JSON makes forty objects of each span, mostly attributes that repeat those of the span
before. Here one pass finds where the texts of all spans are, and their numbers. What is left of a
line says to which service each span belongs, and is the same for many lines. Lines for which this
is not clear are left to the JSON parser.

A span begins with ``{"traceId":``. JSON escapes quotes within a text, so none begins there; a span
outside a list of spans would be missed, so its line is left to the JSON parser.
"""

import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError
from headway.models.measured.spans.form import labels_of
from headway.models.measured.spans.otlp import attributes_that_tell, lists_of_spans
from headway.models.measured.spans.span import SpanKind, operation_of, peer_of
from headway.queueing.compiled.library import compiled

_BLOCK = 1_000_000  # characters read at a time
_SHORTEST = 88  # bytes of a span
_ERROR = 2  # the code of a status that is an error
_SIGN = 1 << 63


Many = TypeVar("Many")


class Found(NamedTuple, Generic[Many]):
    """The contents of each span in a text: where its texts begin and end, and its numbers.

    Parameters
    ----------
    begin, end
        Where the span begins and ends.
    trace, trace_end, state, state_end, name, name_end, attributes, attributes_end
        Where its texts begin and end, without quotes; the attributes include their brackets.
    key, parent
        Identifiers as 64 bits; 0 for no parent.
    kind, start, stop, code
        As in OTLP, times in ns; the code is that of its status.
    """

    begin: Many
    end: Many
    trace: Many
    trace_end: Many
    state: Many
    state_end: Many
    key: Many
    parent: Many
    name: Many
    name_end: Many
    kind: Many
    start: Many
    stop: Many
    attributes: Many
    attributes_end: Many
    code: Many


_WIDTH = len(Found._fields)


class Block(NamedTuple):
    """Some lines of a file.

    Parameters
    ----------
    text
        The text of all lines.
    services
        The service of each span found.
    found
        The contents of the spans.
    left
        The lines for the JSON parser, with empty ones in place of the others.
    """

    text: bytes
    services: list[str]
    found: Found[NDArray[np.int64]]
    left: list[str]


def blocks(lines: Iterable[str]) -> Iterator[Block]:
    r"""Find spans in the lines of a file, a megabyte at a time.

    Parameters
    ----------
    lines
        The lines, with their ends.

    Examples
    --------
    >>> span = ('{"traceId":"a1","spanId":"02","name":"GET /","kind":2,'
    ...         '"startTimeUnixNano":"5","endTimeUnixNano":"9"}')
    >>> line = '{"resourceSpans": [{"resource": {}, "scopeSpans": [{"spans": [%s]}]}]}\n'
    >>> [block] = blocks([line % span, line % '{"name":"b"}'])
    >>> block.found.stop.tolist(), block.left[0], block.left[1] == line % '{"name":"b"}'
    ([9], '', True)
    """
    some: list[str] = []
    size = 0
    for line in lines:
        some.append(line)
        size += len(line)
        if size >= _BLOCK:
            yield _block(some)
            some, size = [], 0
    if some:
        yield _block(some)


def _block(lines: list[str]) -> Block:
    parts = [line.encode() for line in lines]
    text = b"".join(parts)
    rows = _found(text)
    stops = np.cumsum([len(part) for part in parts])
    among = np.searchsorted(rows[:, 0], stops).tolist()
    begins, ends = rows[:, 0].tolist(), rows[:, 1].tolist()
    services: list[str] = []
    taken = np.zeros(len(rows), bool)
    left = list(lines)
    at = first = 0
    for k, (stop, last) in enumerate(zip(stops.tolist(), among, strict=True)):
        if last > first:
            opens, closes = [at, *ends[first:last]], [*begins[first:last], stop]
            between = b"0".join([text[a:b] for a, b in zip(opens, closes, strict=True)])
            known = _services(between)
            if len(known) == last - first:
                services += known
                taken[first:last] = True
                left[k] = ""
        at, first = stop, last
    return Block(text, services, Found(*rows[taken].T), left)


@lru_cache(4096)
def _services(between: bytes) -> tuple[str, ...]:
    """The service of each span of a line, where a 0 stands for a span; none if unclear."""
    try:
        lists = list(lists_of_spans(json.loads(between), ""))
    except (ValueError, RecursionError, MeasurementError):
        return ()
    if any(type(span) is not int or span for _, spans in lists for span in spans):
        return ()
    return tuple(service for service, spans in lists for _ in spans)


def tell(name: bytes, kind: int, attributes: bytes, code: int) -> tuple[str, int, str, bool]:
    """Operation, kind and peer of a span, and whether it failed.

    Parameters
    ----------
    name, attributes
        The name and attributes as written.
    kind, code
        The kind of the span, and the code of its status.

    Examples
    --------
    >>> tell(b"GET", 3, b'[{"key": "peer.service", "value": {"stringValue": "auth"}}]', 0)
    ('GET', 3, 'auth', False)
    """
    operation, asks = name.decode(), SpanKind(kind or 1).asks
    labels = labels_of(json.loads(attributes or b"[]"), attributes_that_tell(operation, asks))
    peer = peer_of(labels) if asks else ""
    return operation_of(operation, labels), kind or 1, peer, code == _ERROR


@lru_cache(4096)
def told_by_name(name: bytes, kind: int) -> bool:
    """Whether the name and kind of a span suffice, without its attributes.

    Parameters
    ----------
    name, kind
        As for `tell`.
    """
    return not attributes_that_tell(name.decode(), SpanKind(kind or 1).asks)


def _found(text: bytes) -> NDArray[np.int64]:
    """A row for each span."""
    found = np.zeros(1 + _WIDTH * (len(text) // _SHORTEST + 1), np.int64)
    spans_laid_out(np.frombuffer(text + bytes(-len(text) % 8), np.int64), len(text), found)
    return found[1 : 1 + _WIDTH * int(found[0])].reshape(-1, _WIDTH)


def _pattern(layout: str) -> bytes:
    """A pattern of the layout that allows blanks after colons and commas."""
    return layout.replace('":', '": *+').replace(',"', ', *+"').encode()


_LETTERS = r'[^"\\\x00-\x1f]*+'
_PLAIN = rf'(?:"{_LETTERS}"|true|false|-?\d++(?:\.\d++)?+)'
_ATTRIBUTE = rf'\{{"key":"{_LETTERS}","value":\{{"{_LETTERS}":{_PLAIN}\}}\}}'
_TIME = r'"((?=\d{1,18}"|[1-3]\d{18}")\d++)"'
_SPAN = re.compile(
    _pattern(
        rf'\{{"traceId":"({_LETTERS[:-2]}++)","spanId":"([0-9a-fA-F]{{1,16}}+)"'
        rf'(?:,"traceState":"({_LETTERS})")?+(?:,"parentSpanId":"([0-9a-fA-F]{{0,16}}+)")?+'
        rf'(?:,"flags":\d++)?+,"name":"({_LETTERS})","kind":([0-5])'
        rf',"startTimeUnixNano":{_TIME},"endTimeUnixNano":{_TIME}'
        rf'(?:,"attributes":(\[(?:{_ATTRIBUTE}(?:, *+{_ATTRIBUTE})*+)?+\]))?+'
        r'(?:,"status":\{(?:"code":([0-2]))?+\})?+\}'
    )
)


@compiled
def spans_laid_out(text: NDArray[np.int64], size: int, found: NDArray[np.int64]) -> None:
    """Find the spans of a text.

    Parameters
    ----------
    text, size
        The bytes of the text, eight in each number, and how many there are.
    found
        The number of spans, then each field of `Found` for all of them.

    Raises
    ------
    ValueError
        If there is too little room for them.
    """
    if size > 8 * text.size or not found.size:
        raise ValueError("spans_laid_out: as many bytes as the text has, and room for the number")
    count = 0
    for match in _SPAN.finditer(text.tobytes()[:size]):
        row = _row(match)
        if row.stop >= row.start:
            found[1 + count * _WIDTH : 1 + (count + 1) * _WIDTH] = row
            count += 1
    found[0] = count


def _row(match: re.Match[bytes]) -> Found[int]:
    """The numbers of one span."""
    key, parent = (int(match[k] or b"0", 16) for k in (2, 4))
    kind, start, stop, code = (int(match[k] or b"0") for k in (6, 7, 8, 10))
    trace, state, name, attributes = (
        match.span(k) if match[k] is not None else (0, 0) for k in (1, 3, 5, 9)
    )
    identifiers = ((each + _SIGN) % (2 * _SIGN) - _SIGN for each in (key, parent))
    numbers = kind, start, stop
    return Found._make(
        (*match.span(), *trace, *state, *identifiers, *name, *numbers, *attributes, code)
    )
