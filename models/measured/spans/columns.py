"""The spans of a load as columns: who caused whom, who serves, and who gives up."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.measured.spans.span import SpanKind
from headway.numerals import four_digits
from headway.records import dataclass

IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]

ROOT, LOST = -1, -2
"""What stands for the parent of a span without one, and of one whose parent is in no file."""

_LATE = 1.05  # of its client's span: a server's may end when the answer is on its way


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
    linked
        Whether a link says what caused it; the parent is `ROOT` where that is in no file.
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
    twice, alike
        Spans left out, as they are there already, or as another of their trace has their
        identifier.
    left_out, why
        Traces left out for a span that cannot be, and what is wrong with the first.
    """

    name: str
    trace: IntArray
    parent: IntArray
    linked: BoolArray
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
    alike: int = 0
    left_out: int = 0
    why: str = ""

    def __len__(self) -> int:
        return len(self.trace)


def circles(spans: Spans) -> IntArray:
    """One span of each trace with spans that are each other's parents.

    Parameters
    ----------
    spans
        Of a load.

    Returns
    -------
    Rows, one for each of these traces.
    """
    circle = np.flatnonzero(spans.parent[tops(spans.parent)] >= 0)
    return circle[np.unique(spans.trace[circle], return_index=True)[1]]


def tops(parent: IntArray) -> IntArray:
    """The topmost row above each, found by doubling steps up.

    Parameters
    ----------
    parent
        The row above each; below 0 where there is none.

    Returns
    -------
    The rows; one that has a parent itself where they go round in a circle.

    Examples
    --------
    >>> tops(np.array([-1, 0, 1])).tolist()
    [0, 0, 0]
    """
    top = np.where(parent < 0, np.arange(len(parent)), parent)
    for _ in range(max(len(parent), 2).bit_length()):
        top = top[top]
    return np.asarray(top)


def cut(spans: Spans, window: float) -> Iterator[Spans]:
    """Loads of one length each, traces by when they begin; the last only if it is whole.

    Parameters
    ----------
    spans
        Of a long load.
    window
        The length [s].

    Raises
    ------
    MeasurementError
        For a load that is shorter.
    """
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
            part = chosen(spans, rows, f"{spans.name}-{k + 1}")
            yield part if k == 0 else replace(part, twice=0, alike=0, left_out=0)


def chosen(spans: Spans, rows: BoolArray, name: str) -> Spans:
    """Some rows: whole traces, so that parents are among them.

    Parameters
    ----------
    spans
        Of a load.
    rows
        Whether each is chosen.
    name
        Of the load that they make.
    """
    place = np.full(len(spans), LOST)
    place[rows] = np.arange(int(rows.sum()))
    parent = spans.parent[rows]
    parent = np.where(parent < 0, parent, place[parent])
    return replace(
        spans,
        name=name,
        trace=spans.trace[rows],
        parent=parent,
        linked=spans.linked[rows],
        service=spans.service[rows],
        operation=spans.operation[rows],
        kind=spans.kind[rows],
        peer=spans.peer[rows],
        start=spans.start[rows],
        end=spans.end[rows],
        failed=spans.failed[rows],
    )


def serves(spans: Spans) -> BoolArray:
    """Spans that answer a request: a server's, a consumer's, or begun by others or by a link."""
    marked = np.isin(spans.kind, (SpanKind.SERVER, SpanKind.CONSUMER))
    above = np.maximum(spans.parent, 0)
    elsewhere = (spans.parent < 0) | (spans.service[above] != spans.service)
    return np.asarray(marked | elsewhere | spans.linked)


def gives_up(spans: Spans, asks: IntArray, answers: IntArray) -> BoolArray:
    """Calls that failed as their caller did not wait for the answer: the callee took longer.

    Parameters
    ----------
    spans
        Of a load.
    asks, answers
        Of each call, the client's span and the server's; below 0 where there is none.
    """
    lengths = spans.end - spans.start
    longer = lengths[answers] > _LATE * lengths[asks]
    return np.asarray((answers >= 0) & spans.failed[asks] & longer)
