"""Requests that services answered, and the calls that each made while it did.

A call that its caller gave up is a call of what stands for that wait: a request that takes as long
as the caller waited, and sends a message to the one who was called, as that one goes on. What is
answered too late is an entry of its own: it takes longer than what was answered in time.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import ROOT, BoolArray, IntArray, Spans, gives_up, serves
from headway.models.measured.spans.span import SpanKind
from headway.models.tracing.clocks import Offset, corrected
from headway.records import dataclass

_WIDTH = 1 << 20  # operations of a service, in the numbers of entries


class Links(NamedTuple):
    """Requests that a link says the cause of.

    Parameters
    ----------
    followed, lost
        Those whose cause is there, and those whose cause is in no file.
    """

    followed: int
    lost: int


class Failures(NamedTuple):
    """Calls that failed.

    Parameters
    ----------
    calls
        How many there are, failed or not.
    repeated
        How many repeat one that failed.
    given_up
        Those whose callers did not wait for the answer.
    """

    calls: int
    repeated: int
    given_up: int


@dataclass(frozen=True)
class Requests:
    """The requests of one load, and their calls in the order of callers and of time.

    Parameters
    ----------
    load
        Its name.
    services, operations, peers
        Names by number. Services are those that write spans, and then, in the same order, those
        that stand for waiting for each of them until the caller gave up; operations likewise, the
        second half being answered too late.
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
    failures, links
        Of its calls and requests.
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
    failures: Failures
    links: Links
    offsets: tuple[Offset, ...]
    twice: int
    alike: int
    left_out: int
    why: str

    @property
    def traced(self) -> tuple[str, ...]:
        """Services that write spans."""
        return self.services[: len(self.services) // 2]

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

    def in_time(self, entry: int) -> int:
        """The entry that answers in time, of one that does so or too late."""
        half = len(self.operations) // 2
        return entry - half if entry >= 0 and entry % _WIDTH >= half else entry

    def peer(self, callee: int) -> str:
        """The name of a peer: what its caller says of it, or what it asks."""
        number = -callee - 1
        named = number < len(self.peers)
        return self.peers[number] if named else self.operations[number - len(self.peers)]


def requests_of(spans: Spans) -> Requests:
    """Find requests and calls among spans.

    A span serves if it is of kind server or consumer, or if another service caused it; all other
    spans are parts of the one that serves above them, as are the requests of an operation for
    itself. A client's span tells how long its caller waited; one that nothing answers is a call to
    a peer that writes no traces, or was given up if others like it are answered.

    Parameters
    ----------
    spans
        Of a load.
    """
    spans, offsets = corrected(spans)
    serving = serves(spans) & ~_generators(spans)
    itself = _of_itself(spans, serving)
    spans = replace(spans, parent=np.where(itself & spans.linked, ROOT, spans.parent))
    serving &= ~itself | spans.linked
    sent, taken = spans.linked & serving, spans.parent >= 0
    owner = _owners(spans, serving)
    above = np.maximum(spans.parent, 0)
    within = serving & (spans.parent >= 0) & serving[owner[above]]
    top = _owners(spans, serving & ~within)

    made = _made(spans, serving, owner, within)
    unanswered = (made.answer < 0) & (made.callee >= 0)
    given_up = (gives_up(spans, made.seen, made.answer) | unanswered) & ~made.message
    failures = Failures(len(made.by), _repeated(spans, made), int(given_up.sum()))
    waits = made.seen[given_up]
    answered = made.answer[given_up] >= 0
    late = made.answer[given_up][answered]

    entry, rows = _entries(spans), np.flatnonzero(serving)
    further = len(spans.services) * _WIDTH
    entry[late] += len(spans.operations)
    request = np.full(len(spans), -1)
    request[rows] = np.arange(len(rows))
    none, times = np.zeros(len(waits), bool), np.append(made.seen, waits[answered])
    return Requests(
        spans.name,
        (*spans.services, *(f"{name}, given up" for name in spans.services)),
        (*spans.operations, *(f"{name}, late" for name in spans.operations)),
        spans.peers,
        spans.sampled,
        entry=np.append(entry[rows], made.callee[given_up] + further),
        root=entry[top[np.append(rows, made.by[given_up])]],
        start=spans.start[np.append(rows, waits)],
        end=spans.end[np.append(rows, waits)],
        trace=spans.trace[np.append(rows, waits)],
        lost=np.append(spans.parent[rows] < ROOT, none),
        outermost=np.append(top[rows] == rows, none),
        caller=np.append(request[made.by], len(rows) + np.flatnonzero(answered)),
        callee=np.append(made.callee + further * given_up, entry[late]),
        began=spans.start[times],
        ended=spans.end[times],
        message=np.append(made.message, np.ones(len(late), bool)),
        network=np.append(np.where(given_up, np.nan, made.network), np.full(len(late), np.nan)),
        failures=failures,
        links=Links(int((sent & taken).sum()), int((sent & ~taken).sum())),
        offsets=offsets,
        twice=spans.twice,
        alike=spans.alike,
        left_out=spans.left_out,
        why=spans.why,
    )


class _Calls(NamedTuple):
    """Calls in the order of callers and of time, by the rows of spans.

    Parameters
    ----------
    by, seen, answer
        The request that makes each, the span that tells how long its caller waited, and that of
        the request that it makes; -1 where no span answers.
    callee, message, network
        As in `Requests`.
    """

    by: IntArray
    seen: IntArray
    answer: IntArray
    callee: IntArray
    message: BoolArray
    network: FloatArray


def _entries(spans: Spans) -> IntArray:
    """Service and operation of each span as one number."""
    return spans.service * _WIDTH + spans.operation


def _made(spans: Spans, serving: BoolArray, owner: IntArray, within: BoolArray) -> _Calls:
    """All calls."""
    asks = np.isin(spans.kind, (SpanKind.CLIENT, SpanKind.PRODUCER))
    inner = np.flatnonzero(within)
    above = spans.parent[inner]
    answered = np.zeros(len(spans), bool)
    answered[spans.parent[spans.parent >= 0]] = True
    alone = np.flatnonzero(asks & ~answered & ~serving & serving[owner])

    seen = np.append(np.where(asks[above], above, inner), alone)
    answer = np.append(inner, np.full(len(alone), -1))
    lengths = spans.end - spans.start
    took = np.where(asks[above], lengths[seen[: len(inner)]] - lengths[inner], np.nan)
    sent = spans.kind[seen] == SpanKind.PRODUCER
    linked = spans.linked[inner] & (spans.kind[inner] != SpanKind.SERVER)  # which answers a call
    sent[: len(inner)] |= (spans.kind[inner] == SpanKind.CONSUMER) | linked
    made = _Calls(
        owner[np.append(above, alone)],
        seen,
        answer,
        np.append(_entries(spans)[inner], _asked(spans, above, inner, alone)),
        sent,
        np.append(took, np.full(len(alone), np.nan)),
    )
    order = np.lexsort((spans.end[seen], spans.start[seen], made.by))
    return _Calls._make(column[order] for column in made)


def _asked(spans: Spans, clients: IntArray, answers: IntArray, alone: IntArray) -> IntArray:
    """Whom clients ask that nothing answers: a peer, or who answers others like one that failed."""
    named = spans.peer[alone] > 0
    peers = -1 - np.where(named, spans.peer[alone], len(spans.peers) + spans.operation[alone])
    failed = np.flatnonzero(spans.failed[alone])
    if not len(failed) or not len(clients):
        return np.asarray(peers)
    like = _entries(spans) * len(spans.peers) + spans.peer
    known, first = np.unique(like[clients], return_index=True)
    place = np.minimum(np.searchsorted(known, like[alone[failed]]), len(known) - 1)
    same = known[place] == like[alone[failed]]
    peers[failed[same]] = _entries(spans)[answers[first[place[same]]]]
    return np.asarray(peers)


def _repeated(spans: Spans, made: _Calls) -> int:
    """How many calls are those before them again, which failed."""
    same = (made.by[1:] == made.by[:-1]) & (made.callee[1:] == made.callee[:-1])
    return int((same & spans.failed[made.seen[:-1]]).sum())


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
