"""The requests that services answered, and the calls that each request made.

A call that its caller gave up becomes a call of an entry that stands for the wait: its request
takes as long as the caller waited, and sends a message to the original callee, which goes on.
Requests that are answered too late have an entry of their own, as they take longer than those
answered in time.

A request with ancestors of its own entry (recursion over other services) has an entry for each
level, so that the model of requests that come back to a service ends, as they do in the traces.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.clocks import Offset, corrected
from headway.models.measured.spans.columns import (
    ROOT,
    BoolArray,
    IntArray,
    Spans,
    again,
    gives_up,
    owners,
    serves,
)
from headway.models.measured.spans.span import SpanKind
from headway.records import dataclass

_WIDTH = 1 << 20  # operations per service in the numbering of entries
LEVELS = 10
"""Levels of recursion that are told apart; what is deeper counts as the last."""
_SOON = 0.05  # of a call's length: by when it is cancelled after the answer to another
_ROUNDED = 2e-6  # s: Jaeger and Zipkin write whole microseconds
_DEEPEST = 100  # ancestors of a request that are looked at


class Links(NamedTuple):
    """Requests whose cause is given by a link.

    Parameters
    ----------
    followed, lost
        Number of those whose cause was found, and of those whose cause is in no file.
    """

    followed: int
    lost: int


class Failures(NamedTuple):
    """Counts of calls that failed.

    Parameters
    ----------
    calls
        Number of calls, failed or not.
    repeated
        Number that repeat a failed call.
    given_up
        Number whose callers stopped waiting for the answer.
    """

    calls: int
    repeated: int
    given_up: int


@dataclass(frozen=True)
class Requests:
    """The requests of one load, and their calls ordered by caller and by time.

    Parameters
    ----------
    load
        The load's name.
    services, operations, peers
        Names by number. The first half of the services are those that write spans; the second half,
        in the same order, stand for waiting for one of them until the caller gave up.
    sampled
        Share of traces that were kept.
    entry, root
        Service and operation as one number: those of each request, and those of the request that
        began its trace.
    start, end
        When each request came and was answered [s].
    trace
        The number of each request's trace.
    lost, outermost
        Whether the span of its caller is missing, and whether it came from outside the traced
        services.
    caller, callee
        For each call, the request that makes it and the entry that is called; below 0, a peer that
        writes no spans.
    began, ended
        When each call began and ended, as its caller saw it [s].
    message
        Whether each call is a message, whose sender does not wait.
    network
        Time that each call took beyond the request that it made [s]; NaN where only one of the two
        is known.
    failures, links, again
        Counts of failed calls, of requests caused by links, and of spans of servers and consumers
        that tell of a request which another span serves.
    offsets
        Corrections of clocks.
    twice, alike
        Number of spans left out as duplicates, and as another span has the same identifier.
    left_out, why
        Number of traces left out because of an impossible span, and what is wrong with the first.
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
    again: int
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
    def nested(self) -> BoolArray:
        """Requests with an ancestor of their own entry."""
        return np.asarray(self.entry % _WIDTH // len(self.operations) % LEVELS > 0)

    @property
    def given_up(self) -> BoolArray:
        """Which requests stand for the wait for a call that was given up."""
        return np.asarray(self.entry // _WIDTH >= len(self.traced))

    @property
    def window(self) -> float:
        """Time from the first request from outside to the last [s]."""
        begun = self.start[self.outermost]
        return float(begun.max() - begun.min()) if len(begun) else 0.0

    @property
    def service(self) -> IntArray:
        """The number of each request's service."""
        return np.asarray(self.entry // _WIDTH)

    def service_of(self, entry: int) -> str:
        """The service of an entry; a peer's own name."""
        return self.services[entry // _WIDTH] if entry >= 0 else self.peer(entry)

    def operation_of(self, entry: int) -> str:
        """The operation of an entry; a peer's own name."""
        if entry < 0:
            return self.peer(entry)
        times, operation = divmod(entry % _WIDTH, len(self.operations))
        late, within = divmod(times, LEVELS)
        often = f" {within}" if within > 1 else ""
        inside = f", inside itself{often}" if within else ""
        return f"{self.operations[operation]}{inside}{', late' if late else ''}"

    def in_time(self, entry: int) -> int:
        """The entry that answers in time, for an entry of late answers; any other entry itself."""
        half = len(self.operations) * LEVELS
        return entry - half if entry >= 0 and entry % _WIDTH >= half else entry

    def peer(self, callee: int) -> str:
        """The name of a peer: as its caller gives it, or else the operation called."""
        number = -callee - 1
        named = number < len(self.peers)
        return self.peers[number] if named else self.operations[number - len(self.peers)]


def requests_of(spans: Spans) -> Requests:
    """Find the requests and calls in spans.

    A span serves a request if its kind is server or consumer, or if another service caused it;
    every other span is a part of the serving span above it, and so is a request that an operation
    makes to itself. A client span tells how long the caller waited. A client span that no server
    span answers is a call to a peer that writes no spans; if others like it are answered, it was
    given up.

    Parameters
    ----------
    spans
        The spans of one load.
    """
    spans, offsets = corrected(spans)
    spans = replace(spans, operation=_inmost(spans))
    serving = serves(spans) & ~_generators(spans)
    itself = _of_itself(spans, serving)
    spans = replace(spans, parent=np.where(itself & spans.linked, ROOT, spans.parent))
    serving &= ~itself | spans.linked
    sent, taken = spans.linked & serving, spans.parent >= 0
    owner = owners(spans, serving)
    above = np.maximum(spans.parent, 0)
    within = serving & (spans.parent >= 0) & serving[owner[above]]
    top = owners(spans, serving & ~within)

    made = _made(spans, serving, owner, within)
    unanswered = (made.answer < 0) & (made.callee >= 0)
    given_up = (gives_up(spans, made.seen, made.answer) | unanswered) & ~made.message
    hedged = _hedged(spans, made, given_up)
    given_up &= ~hedged
    made = made._replace(seen=np.where(hedged, made.answer, made.seen))
    failures = Failures(len(made.by), _repeated(spans, made), int(given_up.sum()))
    waits = made.seen[given_up]
    answered = made.answer[given_up] >= 0
    late = made.answer[given_up][answered]

    rows = np.flatnonzero(serving)
    entry = _entries(spans) + _levels(spans, serving, owner) * len(spans.operations)
    further = len(spans.services) * _WIDTH
    callee = np.where(made.answer < 0, made.callee, entry[made.answer])
    entry[late] += len(spans.operations) * LEVELS
    request = np.full(len(spans), -1)
    request[rows] = np.arange(len(rows))
    none, times = np.zeros(len(waits), bool), np.append(made.seen, waits[answered])
    return Requests(
        spans.name,
        (*spans.services, *(f"{name}, given up" for name in spans.services)),
        spans.operations,
        spans.peers,
        spans.sampled,
        entry=np.append(entry[rows], callee[given_up] + further),
        root=entry[top[np.append(rows, made.by[given_up])]],
        start=spans.start[np.append(rows, waits)],
        end=spans.end[np.append(rows, waits)],
        trace=spans.trace[np.append(rows, waits)],
        lost=np.append(spans.parent[rows] < ROOT, none),
        outermost=np.append(top[rows] == rows, none),
        caller=np.append(request[made.by], len(rows) + np.flatnonzero(answered)),
        callee=np.append(callee + further * given_up, entry[late]),
        began=spans.start[times],
        ended=spans.end[times],
        message=np.append(made.message, np.ones(len(late), bool)),
        network=np.append(np.where(given_up, np.nan, made.network), np.full(len(late), np.nan)),
        failures=failures,
        links=Links(int((sent & taken).sum()), int((sent & ~taken).sum())),
        again=int(again(spans).sum()),
        offsets=offsets,
        twice=spans.twice,
        alike=spans.alike,
        left_out=spans.left_out,
        why=spans.why,
    )


def _inmost(spans: Spans) -> IntArray:
    """Operations, where most requests of an entry are told by two servers' spans the inner one's.

    A proxy or a library knows less of what is asked for than what it stands before.
    """
    inner = np.flatnonzero(again(spans) & (spans.kind == SpanKind.SERVER))
    if not len(inner):
        return spans.operation
    serving = serves(spans)
    owner = owners(spans, serving)
    around = owners(spans, serving | again(spans))[spans.parent[inner]]
    inner = np.setdiff1d(inner, around)  # those within which there is no other
    inner = inner[spans.kind[owner[inner]] == SpanKind.SERVER]
    inner = inner[np.bincount(owner[inner], minlength=len(spans))[owner[inner]] == 1]
    entry = np.unique(_entries(spans), return_inverse=True)[1]
    often = np.bincount(entry[owner[inner]], minlength=entry.max() + 1)
    most = 2 * often > np.bincount(entry[serving], minlength=len(often))
    inner = inner[most[entry[owner[inner]]]]
    operation = spans.operation.copy()
    operation[owner[inner]] = spans.operation[inner]
    return operation


class _Calls(NamedTuple):
    """Calls ordered by caller and by time, by row numbers of spans.

    Parameters
    ----------
    by, seen, answer
        The request that makes each call, the span that tells how long its caller waited, and the
        span of the request that it makes; -1 where no span answers.
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
    """All calls, answered or not."""
    asks = np.isin(spans.kind, (SpanKind.CLIENT, SpanKind.PRODUCER))
    inner = np.flatnonzero(within)
    above = spans.parent[inner]
    answered = np.zeros(len(spans), bool)
    answered[spans.parent[spans.parent >= 0]] = True
    answered |= spans.received & (spans.kind == SpanKind.PRODUCER)
    alone = np.flatnonzero(asks & ~answered & ~serving & serving[owner])

    told = asks[above] & ~_again(spans, above)
    seen = np.append(np.where(told, above, inner), alone)
    answer = np.append(inner, np.full(len(alone), -1))
    lengths = spans.end - spans.start
    took = np.where(told, lengths[seen[: len(inner)]] - lengths[inner], np.nan)
    sent = spans.kind[seen] == SpanKind.PRODUCER
    # a request that links to its cause rather than answering a call
    linked = spans.linked[inner] & (spans.kind[inner] != SpanKind.SERVER)
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


def _hedged(spans: Spans, made: _Calls, given_up: BoolArray) -> BoolArray:
    """Calls that were given up as another of their request to the same entry had been answered.

    Their caller waits for the first answer only, whichever call gets it. Most calls that an entry
    gives up of another end so, or none count.
    """
    good = ~given_up & ~made.message & (made.answer >= 0)
    if not given_up.any() or not good.any():
        return np.zeros(len(given_up), bool)
    same = np.unique(np.stack([made.by, made.callee]), axis=1, return_inverse=True)[1].reshape(-1)
    start, end = spans.start[made.seen], spans.end[made.seen]
    rows = np.flatnonzero(good)[np.lexsort((end[good], same[good]))]
    first = np.full(int(same.max()) + 1, -1)
    first[same[rows[::-1]]] = rows[::-1]  # of each request and entry, the first to be answered
    other = first[same]
    meet = (other >= 0) & (start < end[other]) & (start[other] < end)
    soon = np.abs(end - end[other]) <= _SOON * (end - start) + _ROUNDED
    found = given_up & (made.answer >= 0) & meet & soon
    # of those who give up by a timeout some do so near the answer to another by chance
    pairs = np.stack([_entries(spans)[made.by], made.callee])
    pair = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1)
    most = 2 * np.bincount(pair, found) > np.bincount(pair, given_up)
    return np.asarray(found & most[pair])


def _again(spans: Spans, above: IntArray) -> BoolArray:
    """Whether each call is one of several that a single client's span stands for.

    Proxies repeat calls, and clients follow redirections, within one span of the caller.
    """
    several = np.bincount(above, minlength=len(spans))[above] > 1
    return np.asarray(several & (spans.kind[above] == SpanKind.CLIENT))


def _asked(spans: Spans, clients: IntArray, answers: IntArray, alone: IntArray) -> IntArray:
    """Callees of calls that no span answers: peers, or those of answered calls like them."""
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
    """Number of calls that repeat the call before them, which failed."""
    same = (made.by[1:] == made.by[:-1]) & (made.callee[1:] == made.callee[:-1])
    return int((same & spans.failed[made.seen[:-1]]).sum())


def _generators(spans: Spans) -> BoolArray:
    """Which spans are a load generator's: root spans of clients whose service serves nobody."""
    marked = np.isin(spans.kind, (SpanKind.SERVER, SpanKind.CONSUMER))
    serving = np.isin(spans.service, np.unique(spans.service[marked]))
    asks = np.isin(spans.kind, (SpanKind.CLIENT, SpanKind.PRODUCER))
    return np.asarray((spans.parent == ROOT) & ~serving & asks & marked.any())


def _of_itself(spans: Spans, serving: BoolArray) -> BoolArray:
    """Whether each span serves a request that its own operation makes: no call of another entry."""
    above = np.maximum(spans.parent, 0)
    owner = owners(spans, serving)[above]
    same = (spans.service == spans.service[owner]) & (spans.operation == spans.operation[owner])
    return np.asarray(serving & (spans.parent >= 0) & serving[owner] & same)


def _levels(spans: Spans, serving: BoolArray, owner: IntArray) -> IntArray:
    """How many ancestors of each request are of the same entry."""
    entry, levels = _entries(spans), np.zeros(len(spans), np.int64)
    causer = np.where(spans.parent < 0, -1, owner[np.maximum(spans.parent, 0)])
    rows = np.flatnonzero(serving)
    above = causer[rows]
    for _ in range(_DEEPEST):
        rows, above = rows[above >= 0], above[above >= 0]
        if not len(rows):
            break
        levels[rows[entry[rows] == entry[above]]] += 1
        above = causer[above]
    return np.asarray(np.minimum(levels, LEVELS - 1))
