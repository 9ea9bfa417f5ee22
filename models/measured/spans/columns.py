"""The spans of one load as columns: their causes, which ones serve requests, and which gave up."""

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
"""Parent of a span without one, and of a span whose parent is in no file."""

MOST_WINDOWS = 1000
"""Loads that one file may be cut into."""

_ROUNDED = 2e-6  # s: Jaeger and Zipkin write whole microseconds
_LATE = 1.05  # ratio to its client's span: a server's may end while the answer is on its way


@dataclass(frozen=True)
class Spans:
    """The spans of one load, row by row.

    Parameters
    ----------
    name
        The load's name: that of its files.
    trace, service, operation, peer
        Numbers, counted from 0; peers are those that a client calls, and 0 stands for none.
    parent
        The row that caused each span; `ROOT` or `LOST` if there is none.
    linked
        Whether a link gives the cause; the parent is `ROOT` if that is in no file.
    kind
        `headway.models.measured.spans.span.SpanKind`.
    start, end
        Times since the first span of all loads [s].
    failed
        Whether the span is marked as an error.
    received
        Whether another span links to it.
    services, operations, peers
        Names, in the order of their numbers.
    sampled
        Share of traces that were kept, as the spans state; 1 if they do not.
    twice, alike
        Number of spans left out as duplicates, and because another in the trace has the same
        identifier.
    left_out, why
        Number of traces left out because of an impossible span, and what is wrong with the first.
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
    received: BoolArray
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
    """One span of each trace that has spans which are each other's parents.

    Parameters
    ----------
    spans
        The spans of one load.

    Returns
    -------
    Rows, one for each such trace.
    """
    circle = np.flatnonzero(spans.parent[tops(spans.parent)] >= 0)
    return circle[np.unique(spans.trace[circle], return_index=True)[1]]


def tops(parent: IntArray) -> IntArray:
    """The topmost row above each row, found with steps that double.

    Parameters
    ----------
    parent
        The row above each row; below 0 if there is none.

    Returns
    -------
    The rows; on a circle, some row that has a parent itself.

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
    """Loads of equal length; traces are divided by their beginnings, and a last part is dropped.

    Parameters
    ----------
    spans
        The spans of a long load.
    window
        The length [s].

    Raises
    ------
    MeasurementError
        For a load that is shorter than that, or `MOST_WINDOWS` times as long or longer.
    """
    begins = np.full(int(spans.trace.max()) + 1, np.inf)
    np.minimum.at(begins, spans.trace, spans.start)
    since = begins[spans.trace] - spans.start.min()
    whole, length = float(spans.end.max() - spans.start.min()), four_digits(window)
    if window > whole:
        msg = f"{spans.name}: shorter than the window of {length} s; choose a shorter one"
        raise MeasurementError(msg)
    if not window * MOST_WINDOWS > whole:
        msg = (
            f"{spans.name}: {four_digits(whole)} s are more than {MOST_WINDOWS:,} windows of "
            f"{length} s; choose a longer one"
        )
        raise MeasurementError(msg)
    for k in range(int(whole / window)):
        rows = (since >= k * window) & (since < (k + 1) * window)
        if rows.any():
            part = chosen(spans, rows, f"{spans.name}-{k + 1}")
            yield part if k == 0 else replace(part, twice=0, alike=0, left_out=0)


def chosen(spans: Spans, rows: BoolArray, name: str) -> Spans:
    """A selection of rows that contains whole traces, so that parents are among them.

    Parameters
    ----------
    spans
        The spans of one load.
    rows
        Whether each row is selected.
    name
        Name of the resulting load.
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
        received=spans.received[rows],
    )


def serves(spans: Spans) -> BoolArray:
    """Which spans serve a request: a server's, a consumer's, or one begun from elsewhere.

    Those of `again` do not, as they tell of a request that another span serves.
    """
    return np.asarray(_from_elsewhere(spans) | (_marked(spans) & ~again(spans)))


def again(spans: Spans) -> BoolArray:
    """Which spans are a server's or a consumer's, and tell of a request that another span serves.

    They are within another span of their service that did not ask for them: two libraries, or a
    proxy beside the service, wrote of one request, or one of several messages was processed.
    """
    elsewhere, marked = _from_elsewhere(spans), _marked(spans)
    asks = np.isin(spans.kind, (SpanKind.CLIENT, SpanKind.PRODUCER)) & ~spans.linked
    around = owners(spans, marked | elsewhere | asks)[np.maximum(spans.parent, 0)]
    length = _LATE * (spans.end - spans.start)[around] + _ROUNDED
    within = (spans.start >= spans.start[around] - _ROUNDED) & ~asks[around]
    within &= spans.end <= spans.start[around] + length
    return np.asarray(marked & within & ~elsewhere)


def _marked(spans: Spans) -> BoolArray:
    return np.isin(spans.kind, (SpanKind.SERVER, SpanKind.CONSUMER))


def _from_elsewhere(spans: Spans) -> BoolArray:
    other = spans.service[np.maximum(spans.parent, 0)] != spans.service
    return np.asarray((spans.parent < 0) | other | spans.linked)


def owners(spans: Spans, chosen: BoolArray) -> IntArray:
    """The nearest chosen row at or above each row; the topmost where none is.

    Parameters
    ----------
    spans
        The spans of one load.
    chosen
        Whether each row is chosen.
    """
    above = np.where(chosen | (spans.parent < 0), np.arange(len(spans)), spans.parent)
    for _ in range(max(len(spans), 2).bit_length()):
        further = above[above]
        if np.array_equal(further, above):
            break
        above = further
    return np.asarray(above)


def gives_up(spans: Spans, asks: IntArray, answers: IntArray) -> BoolArray:
    """Failed calls whose caller did not wait for the answer: the callee took longer.

    Parameters
    ----------
    spans
        The spans of one load.
    asks, answers
        For each call, the client's span and the server's; below 0 if there is none.
    """
    lengths = spans.end - spans.start
    longer = lengths[answers] > _LATE * lengths[asks]
    return np.asarray((answers >= 0) & spans.failed[asks] & longer)
