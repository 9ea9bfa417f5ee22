"""The requests of all loads in one table, each with its entry, split by root where that matters.

A request's own time is the length of its span less the union of its calls. With the calls in the
order in which they begin, b_1 <= b_2 <= ..., with ends e_i, and a span from S to E,

    own = E - S - sum_i max(e_i - max(b_i, c_{i-1}), 0),   c_i = max(S, e_1, ..., e_i),

where each e_i is cut off at E: the request does not wait for what outlives it.

The root of a request is the operation that began its trace. Two roots a and b of one entry are kept
apart if the mean of its own time, or of its number of calls to some callee, differs by

    |m_a - m_b| > 4 sqrt(v_a / n_a + v_b / n_b)   (Welch),   |m_a - m_b| > 0.05 m,

where v is the variance among n requests and m the mean of both roots. An entry that calls a split
entry is split too, so that each of its parts calls one part.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from itertools import combinations
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import BoolArray, IntArray
from headway.models.tracing.flows import in_turn
from headway.models.tracing.requests import Requests
from headway.models.tracing.unseen import unseen_callers
from headway.records import dataclass

ANY = -1
"""The root of an entry that does the same whatever the root."""

CLEAR, APART = 4.0, 0.05
"""Standard errors, and share of the mean, by which two means must differ to be kept apart."""
_MOST_ROOTS = 8
_ORPHANS = 0.01  # share of an entry's requests that begin traces, from which it is a finding
_FEW = 2


class Key(NamedTuple):
    """An entry by its number, and the root of its traces where what it does depends on the root."""

    entry: int
    root: int = ANY


@dataclass(frozen=True)
class Keyed:
    """The requests of all loads, one load after the other, and their calls.

    Parameters
    ----------
    loads, shares
        The loads in the order of their rates, and the share of traces kept in each.
    keys
        The entries: those of requests in the order in which they first come, then peers.
    load, trace, key
        For each request, the numbers of its load, of its trace (among those of all loads), and of
        its key.
    start, first, end
        When each request came, did its first visible thing, and was answered [s].
    own
        Each request's time without its calls [s].
    outside
        Whether each request came from outside, rather than from a peer that writes no spans.
    orphan
        Whether a peer that writes no spans must have made the request.
    within, doubted
        Keys of entries that no traced service calls: those called only while a call to an untraced
        peer is open, and those that may be.
    caller, callee
        For each call, its request, and the number of the key that is called.
    began, ended
        When each call began and ended [s].
    message
        Whether each call is a message, whose sender does not wait.
    network
        Time that each call took beyond the request that it made [s]; NaN where that is not known.
    """

    loads: tuple[Requests, ...]
    shares: tuple[float, ...]
    keys: tuple[Key, ...]
    load: IntArray
    trace: IntArray
    key: IntArray
    start: FloatArray
    first: FloatArray
    end: FloatArray
    own: FloatArray
    outside: BoolArray
    orphan: BoolArray
    within: tuple[Key, ...]
    doubted: tuple[Key, ...]
    caller: IntArray
    callee: IntArray
    began: FloatArray
    ended: FloatArray
    message: BoolArray
    network: FloatArray

    def service_of(self, key: Key) -> str:
        """The service of an entry."""
        return self.loads[0].service_of(key.entry)

    def operation_of(self, key: Key) -> str:
        """The operation of an entry; a peer's own name."""
        return self.loads[0].operation_of(key.entry)

    def root_of(self, key: Key) -> str:
        """The operation that begins an entry's traces; empty if the entry does not depend on it."""
        return "" if key.root == ANY else self.loads[0].operation_of(key.root)

    def alike(self) -> IntArray:
        """A number for each key; an entry and its late answers share one."""
        numbers: dict[Key, int] = {}
        return np.array(
            [
                numbers.setdefault(Key(self.loads[0].in_time(entry), root), len(numbers))
                for entry, root in self.keys
            ]
        )

    def peers(self) -> tuple[int, ...]:
        """Numbers of the keys of peers, which write no spans."""
        return tuple(number for number, key in enumerate(self.keys) if key.entry < 0)


def keyed(loads: Sequence[Requests], shares: Sequence[float]) -> Keyed:
    """Put the requests of several loads into one table.

    Parameters
    ----------
    loads
        Loads of one reading: they number services and operations alike.
    shares
        Share of traces kept in each load.
    """
    rates = [
        int(each.outermost.sum()) / share / (each.window or inf)
        for each, share in zip(loads, shares, strict=True)
    ]
    order = np.argsort(rates, kind="stable").tolist()
    loads, shares = [loads[k] for k in order], [shares[k] for k in order]
    begin = np.cumsum([0, *(len(each.entry) for each in loads)])

    entry, root = (_column(loads, name) for name in ("entry", "root"))
    start, end = (_column(loads, name) for name in ("start", "end"))
    began, ended = (_column(loads, name) for name in ("began", "ended"))
    caller = np.concatenate([each.caller + k for each, k in zip(loads, begin, strict=False)])
    callee = _column(loads, "callee")
    outlives = ended > end[caller]
    message = _column(loads, "message") | _outliving(outlives, entry[caller], callee)
    waited = ~message
    own = own_times(start, end, caller[waited], began[waited], ended[waited])

    split = _split(entry, root, own, caller, callee)
    sought = np.array(sorted(split), np.int64)
    roots = np.where(np.isin(entry, sought), root, ANY)
    asked = np.where(np.isin(callee, sought), root[caller], ANY)
    keys, number = _numbered(np.append(entry, callee), np.append(roots, asked))
    outermost, lost = _column(loads, "outermost"), _column(loads, "lost")
    begin_traces = _begin_traces(entry, outermost)
    asked_within, doubted = unseen_callers(loads, shares, begin_traces)
    outside = outermost & np.isin(entry, begin_traces) & ~np.isin(entry, asked_within)
    load = np.repeat(np.arange(len(loads)), np.diff(begin))
    trace = _column(loads, "trace")
    trace = load * (int(trace.max(initial=0)) + 1) + trace
    if not (callee < 0).any() or not outside.any():
        # only outsiders can have made it, or else no request would begin a trace
        outside |= outermost & ~lost
    return Keyed(
        tuple(loads),
        tuple(shares),
        keys,
        load=load,
        trace=trace,
        key=number[: len(entry)],
        start=start,
        first=first_things(start, end, caller, began),
        end=end,
        own=own,
        outside=outside,
        orphan=outermost & ~outside,
        within=_of_entries(keys, asked_within),
        doubted=_of_entries(keys, doubted),
        caller=caller,
        callee=number[len(entry) :],
        began=began,
        ended=ended,
        message=message,
        network=_column(loads, "network"),
    )


def _of_entries(keys: Sequence[Key], entries: Sequence[int]) -> tuple[Key, ...]:
    return tuple(key for key in keys if key.entry in entries)


def _column(loads: Sequence[Requests], name: str) -> NDArray[Any]:
    return np.concatenate([getattr(each, name) for each in loads])


def _outliving(outlives: BoolArray, caller: IntArray, callee: IntArray) -> BoolArray:
    """Calls between two entries that mostly outlive the caller's request, so that nobody waits."""
    if not len(callee):
        return outlives
    low = int(callee.min())
    _, pair = np.unique(caller * (int(callee.max()) - low + 1) + callee - low, return_inverse=True)
    share = np.bincount(pair, outlives) / np.bincount(pair)
    return np.asarray(share[pair] > 0.5)


def circle_of(after: Mapping[Key, Set[Key]]) -> list[Key]:
    """Some keys of which each is after the one before, and the first after the last; or none.

    Parameters
    ----------
    after
        For each key, those that it comes before.

    Examples
    --------
    >>> a, b = Key(1, -1), Key(2, -1)
    >>> circle_of({a: {b}, b: {a}}) in ([a, b], [b, a]), circle_of({a: {b}})
    (True, [])
    """
    try:
        TopologicalSorter(after).prepare()
    except CycleError as error:
        circle: list[Key] = error.args[1][1:]  # each before the one that asks for it
        return circle[::-1]
    return []


def _numbered(entry: IntArray, root: IntArray) -> tuple[tuple[Key, ...], IntArray]:
    """The different keys in the order in which they first come, and the number of each row's."""
    low, size = int(entry.min()), int(root.max()) + 2
    codes, first, inverse = np.unique(
        (entry - low) * size + root + 1, return_index=True, return_inverse=True
    )
    order = np.argsort(first)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    keys = tuple(Key(code // size + low, code % size - 1) for code in codes[order].tolist())
    return keys, place[inverse]


def _begin_traces(entry: IntArray, outermost: BoolArray) -> IntArray:
    """Entries called from outside: those that begin nearly all traces in which they occur."""
    numbers, inverse = np.unique(entry, return_inverse=True)
    return np.asarray(
        numbers[np.bincount(inverse, outermost) > (1 - _ORPHANS) * np.bincount(inverse)]
    )


def _split(
    entry: IntArray, root: IntArray, own: FloatArray, caller: IntArray, callee: IntArray
) -> frozenset[int]:
    """Entries whose work or calls depend on the root, and the entries that call them."""
    tops, top = np.unique(root, return_inverse=True)
    parts, inverse = np.unique(entry * len(tops) + top, return_inverse=True)
    roots: dict[int, list[int]] = defaultdict(list)
    for number, each in enumerate((parts // len(tops)).tolist()):
        roots[each].append(number)
    several = {each: among for each, among in roots.items() if 1 < len(among) <= _MOST_ROOTS}
    if not several:
        return frozenset()
    size = np.bincount(inverse)
    worked = _work_moments(inverse, own, size)
    called = _call_moments(inverse, caller, callee, size)
    split = {
        each
        for each, among in several.items()
        if any(
            _differ(one, other)
            for a, b in combinations(among, 2)
            for one, other in [
                (worked[a], worked[b]),
                *_matched(called[a], called[b], size[[a, b]]),
            ]
        )
    }
    above: dict[int, set[int]] = defaultdict(set)
    edges = np.unique(np.stack([callee, entry[caller]]), axis=1)
    for b, a in edges.T.tolist():
        above[b].add(a)
    todo = list(split)
    while todo:
        for one in (above[todo.pop()] - split) & several.keys():
            split.add(one)
            todo.append(one)
    return frozenset(split)


class _Moments(NamedTuple):
    """The number of some values, their mean, and their variance."""

    n: int
    mean: float
    variance: float


def _work_moments(part: IntArray, own: FloatArray, size: IntArray) -> list[_Moments]:
    mean = np.bincount(part, own) / size
    squares = np.bincount(part, (own - mean[part]) ** 2)
    return [
        _Moments(n, m, s / max(n - 1, 1))
        for n, m, s in zip(size.tolist(), mean.tolist(), squares.tolist(), strict=True)
    ]


def _call_moments(
    part: IntArray, caller: IntArray, callee: IntArray, size: IntArray
) -> list[dict[int, _Moments]]:
    """Moments of the number of calls per request, by part of an entry and by callee."""
    found: list[dict[int, _Moments]] = [{} for _ in size]
    if not len(caller):
        return found
    low, wide = int(callee.min()), int(callee.max() - callee.min()) + 1
    pairs, often = np.unique(caller * wide + callee - low, return_counts=True)
    codes, which = np.unique(part[pairs // wide] * wide + pairs % wide, return_inverse=True)
    n = size[codes // wide]
    mean = np.bincount(which, often) / n
    squares = np.bincount(which, (often - mean[which]) ** 2) + (n - np.bincount(which)) * mean**2
    for code, one, m, s in zip(
        codes.tolist(), n.tolist(), mean.tolist(), squares.tolist(), strict=True
    ):
        found[code // wide][code % wide] = _Moments(one, m, s / max(one - 1, 1))
    return found


def _matched(
    some: dict[int, _Moments], others: dict[int, _Moments], sizes: IntArray
) -> Iterator[tuple[_Moments, _Moments]]:
    """Moments of the calls of two parts, callee by callee; 0 where a part does not call it."""
    none, nobody = (_Moments(int(n), 0.0, 0.0) for n in sizes)
    for callee in some.keys() | others.keys():
        yield some.get(callee, none), others.get(callee, nobody)


def _differ(some: _Moments, others: _Moments) -> bool:
    """Whether two means differ by over CLEAR standard errors and over APART of the mean."""
    if some.n < _FEW or others.n < _FEW:
        return False
    apart = abs(some.mean - others.mean)
    error = (some.variance / some.n + others.variance / others.n) ** 0.5
    mean = (some.n * some.mean + others.n * others.mean) / (some.n + others.n)
    return apart > CLEAR * error and apart > APART * mean


def own_times(
    start: FloatArray, end: FloatArray, caller: IntArray, began: FloatArray, ended: FloatArray
) -> FloatArray:
    """Time of each request that none of its calls covers [s].

    Parameters
    ----------
    start, end
        When each request came and was answered [s].
    caller
        The request of each call that is waited for; ordered by caller, and within a caller by time.
    began, ended
        When each call began and ended [s].

    Examples
    --------
    >>> own_times(np.zeros(1), np.ones(1), np.zeros(3, int), np.array([0.1, 0.2, 0.7]),
    ...           np.array([0.5, 0.4, 0.8])).round(12).tolist()
    [0.5]
    """
    covered, latest = np.zeros(len(start)), start.copy()
    for rows in in_turn(caller):
        who = caller[rows]
        until = np.maximum(np.minimum(ended[rows], end[who]), latest[who])
        covered[who] += np.maximum(until - np.maximum(began[rows], latest[who]), 0.0)
        latest[who] = until
    return np.asarray(end - start - covered)


def first_things(
    start: FloatArray, end: FloatArray, caller: IntArray, began: FloatArray
) -> FloatArray:
    """When each request first did something visible: a call, or its answer [s].

    Parameters
    ----------
    start, end
        When each request came and was answered [s].
    caller, began
        For each call, its request, and when it began [s].
    """
    first = end.copy()
    np.minimum.at(first, caller, began)
    return np.asarray(np.clip(first, start, end))
