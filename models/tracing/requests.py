"""Requests that services answered, and the calls that each made while it did."""

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.span import SpanKind
from headway.models.tracing.clocks import Offset, corrected
from headway.models.tracing.loads import ROOT, BoolArray, IntArray, Spans, serves
from headway.records import dataclass

_WIDTH = 1 << 20  # operations of a service, in the numbers of entries


@dataclass(frozen=True)
class Requests:
    """The requests of one load, and their calls in the order of callers and of time.

    Parameters
    ----------
    load
        Its name.
    services, operations, peers
        Names by number.
    sampled
        Share of traces that were kept.
    entry, root
        Service and operation as one number: of each request, and of the one that began its trace.
    start, end
        When it came and was answered [s].
    trace
        Which one.
    lost, outermost
        Whether its caller's span is missing, and whether it came from outside the traced services.
    caller, callee
        Of each call: a request, and an entry; callees below 0 are peers that trace nothing.
    began, ended
        Of each call, as its caller saw it [s].
    message
        Whether nobody waited for it.
    network
        What a call took beyond the request that it made [s]; NaN where only one of them is known.
    failed
        Whether a call failed.
    offsets
        Of clocks, as they were corrected.
    twice, alike
        Spans left out, as they were there already, or as another has their identifier.
    left_out, why
        Traces left out for a span that cannot be, and what is wrong with the first.
    """

    load: str
    services: tuple[str, ...]
    operations: tuple[str, ...]
    peers: tuple[str, ...]
    sampled: float
    entry: IntArray
    root: IntArray
    start: FloatArray
    end: FloatArray
    trace: IntArray
    lost: BoolArray
    outermost: BoolArray
    caller: IntArray
    callee: IntArray
    began: FloatArray
    ended: FloatArray
    message: BoolArray
    network: FloatArray
    failed: BoolArray
    offsets: tuple[Offset, ...]
    twice: int
    alike: int
    left_out: int
    why: str

    @property
    def window(self) -> float:
        """From the first request from outside to the last [s]."""
        begun = self.start[self.outermost]
        return float(begun.max() - begun.min()) if len(begun) else 0.0

    def of_service(self, service: int) -> BoolArray:
        """Which requests are for a service."""
        return np.asarray(self.entry // _WIDTH == service)

    def service_of(self, entry: int) -> str:
        """The service of an entry; a peer's own name."""
        return self.services[entry // _WIDTH] if entry >= 0 else self.peer(entry)

    def operation_of(self, entry: int) -> str:
        """The operation of an entry."""
        return self.operations[entry % _WIDTH] if entry >= 0 else self.peer(entry)

    def peer(self, callee: int) -> str:
        """The name of a peer: what its caller says of it, or what it asks."""
        number = -callee - 1
        named = number < len(self.peers)
        return self.peers[number] if named else self.operations[number - len(self.peers)]


def requests_of(spans: Spans) -> Requests:
    """Find requests and calls among spans.

    A span serves if it is of kind server or consumer, or if another service caused it; all other
    spans are parts of the one that serves above them, as are the requests of an operation for
    itself. A client's span tells how long its caller
    waited; one that nothing answers is a call to a peer that writes no traces.

    Parameters
    ----------
    spans
        Of a load.
    """
    spans, offsets = corrected(spans)
    serving = serves(spans) & ~_generators(spans)
    serving &= ~_of_itself(spans, serving)
    rows = np.flatnonzero(serving)
    owner = _owners(spans, serving)
    request = np.full(len(spans), -1)
    request[rows] = np.arange(len(rows))
    asks = np.isin(spans.kind, (SpanKind.CLIENT, SpanKind.PRODUCER))

    above = np.maximum(spans.parent, 0)
    within = serving & (spans.parent >= 0) & serving[owner[above]]
    inner = np.flatnonzero(within)
    asked = asks[above[inner]]
    seen = np.where(asked, above[inner], inner)
    answered = np.zeros(len(spans), bool)
    answered[spans.parent[spans.parent >= 0]] = True
    alone = np.flatnonzero(asks & ~answered & ~serving & serving[owner])
    named = spans.peer[alone] > 0
    peers = np.where(named, spans.peer[alone], len(spans.peers) + spans.operation[alone])

    entry = spans.service * _WIDTH + spans.operation
    who = np.concatenate([request[owner[above[inner]]], request[owner[alone]]])
    span = np.concatenate([seen, alone])
    lengths = spans.end - spans.start
    took = np.where(asked, lengths[seen] - lengths[inner], np.nan)
    kinds = spans.kind
    sent = np.concatenate(
        [
            (kinds[seen] == SpanKind.PRODUCER) | (kinds[inner] == SpanKind.CONSUMER),
            kinds[alone] == SpanKind.PRODUCER,
        ]
    )
    order = np.lexsort((spans.end[span], spans.start[span], who))
    top = _owners(spans, serving & ~within)[rows]

    def ordered(column: object) -> object:
        return np.asarray(column)[order]

    return Requests(
        spans.name,
        spans.services,
        spans.operations,
        spans.peers,
        spans.sampled,
        entry=entry[rows],
        root=entry[top],
        start=spans.start[rows],
        end=spans.end[rows],
        trace=spans.trace[rows],
        lost=(spans.parent[rows] < ROOT),
        outermost=(top == rows),
        caller=who[order],
        callee=np.concatenate([entry[inner], -1 - peers])[order],
        began=spans.start[span][order],
        ended=spans.end[span][order],
        message=sent[order],
        network=np.concatenate([took, np.full(len(alone), np.nan)])[order],
        failed=spans.failed[span][order],
        offsets=offsets,
        twice=spans.twice,
        alike=spans.alike,
        left_out=spans.left_out,
        why=spans.why,
    )


def _generators(spans: Spans) -> BoolArray:
    """Spans of load generators: clients at the top of a trace, of services that serve nobody."""
    marked = np.isin(spans.kind, (SpanKind.SERVER, SpanKind.CONSUMER))
    serving = np.isin(spans.service, np.unique(spans.service[marked]))
    asks = np.isin(spans.kind, (SpanKind.CLIENT, SpanKind.PRODUCER))
    return np.asarray((spans.parent == ROOT) & ~serving & asks & marked.any())


def _of_itself(spans: Spans, serving: BoolArray) -> BoolArray:
    """Spans that serve what their own operation asks for: no call of another entry."""
    above = np.maximum(spans.parent, 0)
    owner = _owners(spans, serving)[above]
    same = (spans.service == spans.service[owner]) & (spans.operation == spans.operation[owner])
    return np.asarray(serving & (spans.parent >= 0) & serving[owner] & same)


def _owners(spans: Spans, serving: BoolArray) -> IntArray:
    """The nearest span at or above each that serves; the topmost where none does."""
    at = np.arange(len(spans))
    above = np.where(serving | (spans.parent < 0), at, spans.parent)
    for _ in range(max(len(spans), 2).bit_length()):
        further = above[above]
        if np.array_equal(further, above):
            break
        above = further
    return np.asarray(above)
