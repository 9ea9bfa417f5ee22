"""Services found in traces: entries and what they do, threads, and the rates of each load."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.tracing.flows import Calls, Doing, Made, at_once, doing, made
from headway.models.tracing.loads import IntArray, Spans
from headway.models.tracing.pools import (
    ROUGH,
    Arrivals,
    Pool,
    Seen,
    pool_by_rates,
    pool_of,
    waits_of,
)
from headway.models.tracing.requests import Requests, requests_of
from headway.records import dataclass

ANY = -1
"""The root of an entry that does the same for all of them."""

_CLEAR, _APART = 4.0, 0.05
"""Standard errors, and share of the mean, from which two roots' requests are told apart."""
_MOST_ROOTS = 8
_ORPHANS = 0.01  # share of an entry's requests that begin traces, from which it is a finding
_WHOLE = 0.999  # share of traces kept from which every request is known
_FEW = 2


class Key(NamedTuple):
    """An entry: its number, and the root of its traces where what it does depends on that."""

    entry: int
    root: int = ANY


@dataclass(frozen=True)
class Measured:
    """What the spans say of an entry.

    Parameters
    ----------
    service, operation, root
        Names; the root is empty where all do the same.
    requests
        How many there are.
    doing
        Its blocks.
    work, error
        Mean work of its own for a request, and its standard error [s].
    network, network_error
        What its calls took beyond the requests that they made, in all for a request [s].
    messages
        Mean messages that it sends for a request, by callee.
    peer
        Whether it writes no traces itself: its times are those that its callers saw.
    """

    service: str
    operation: str
    root: str
    requests: int
    doing: Doing
    work: float
    error: float
    network: float
    network_error: float
    messages: Mapping[Key, float]
    peer: bool


@dataclass(frozen=True)
class Load:
    """A load as the traces show it.

    Parameters
    ----------
    name, traces, sampled
        Its file, the number of traces, and the share that was kept.
    window
        From the first request to the last [s].
    rates
        Requests from outside by entry [1/s].
    response_time, error
        Mean over all requests from outside, and its standard error [s].
    """

    name: str
    traces: int
    sampled: float
    window: float
    rates: Mapping[Key, float]
    response_time: float
    error: float

    @property
    def rate(self) -> float:
        """All requests from outside [1/s]."""
        return sum(self.rates.values())


@dataclass(frozen=True)
class Services:
    """All that was found in some traces.

    Parameters
    ----------
    entries
        By key, callers first where there is an order.
    pools, processors
        Threads of each service, and servers of the processors of those whose work stretches.
    loads
        In the order of their rates.
    requests
        What they were found in, in the same order.
    orphans
        Requests that began traces of their own and that a peer must have made, by entry, for each
        of the peer's calls.
    numbered
        Keys by their number in stages.
    growing
        Services whose work grows with the load though nothing explains it: by which share.
    """

    entries: Mapping[Key, Measured]
    pools: Mapping[str, Pool]
    processors: Mapping[str, Pool]
    loads: tuple[Load, ...]
    requests: tuple[Requests, ...]
    orphans: Mapping[Key, float]
    numbered: tuple[Key, ...]
    growing: Mapping[str, float]


def services_of(loads: Sequence[Spans], sampled: Mapping[str, float] | None = None) -> Services:
    """Find services in the spans of one load or several.

    Parameters
    ----------
    loads
        As `headway.models.tracing.loads.read_loads` gives them.
    sampled
        Share of traces that were kept, by load, where the spans do not say it; above 0, at most 1.

    Raises
    ------
    MeasurementError
        For traces of which none begins in a service.
    """
    requests = [requests_of(spans) for spans in loads]
    shares = [(sampled or {}).get(each.load, each.sampled) for each in requests]
    return _Finding(requests, shares).services()


class _Finding:
    """Requests of all loads, and what is known of them so far."""

    def __init__(self, requests: Sequence[Requests], shares: Sequence[float]) -> None:
        rates = [
            int(each.outermost.sum()) / share / (each.window or inf)
            for each, share in zip(requests, shares, strict=True)
        ]
        order = np.argsort(rates, kind="stable")
        self.requests = [requests[k] for k in order]
        self.shares = [shares[k] for k in order]
        self.calls = [_by_caller(each) for each in self.requests]
        self.firsts = [_first_things(each) for each in self.requests]
        self.outside = self._outside()
        self.split = self._split()
        self.numbers: dict[Key, int] = {}
        self.keys: list[Key] = []

    def services(self) -> Services:
        """All of it."""
        self.rows = self._rows()
        self.longer: dict[str, Mapping[int, float]] = {}
        self.processors: dict[str, Pool] = {}
        self.growing: dict[str, float] = {}
        pools = {
            name: pool
            for k, name in enumerate(self.requests[0].services)
            if (pool := self._pool(k)) is not None
        }
        self.waits = [self._waits(k, pools) for k in range(len(self.requests))]
        entries = {key: self._measured(key) for key in self.rows}
        orphans = self._orphans()
        entries |= self._peers(entries, orphans)
        loads = tuple(self._load(k) for k in range(len(self.requests)))
        if not any(load.rates for load in loads):
            msg = "no trace begins in a service: all parents of its first spans are missing"
            raise MeasurementError(msg)
        return Services(
            entries,
            pools,
            self.processors,
            loads,
            tuple(self.requests),
            orphans,
            tuple(self.keys),
            self.growing,
        )

    # Who calls whom, and which roots matter

    def _outside(self) -> frozenset[int]:
        """Entries whose requests come from outside: those that begin most traces they are in."""
        begun: dict[int, int] = defaultdict(int)
        all_of: dict[int, int] = defaultdict(int)
        for each in self.requests:
            for entry, outermost in zip(each.entry.tolist(), each.outermost.tolist(), strict=True):
                all_of[entry] += 1
                begun[entry] += outermost
        return frozenset(e for e, count in begun.items() if count > (1 - _ORPHANS) * all_of[e])

    def _split(self) -> frozenset[int]:
        """Entries whose work or calls depend on the root, and those that call them."""
        split = {
            e
            for e in {int(e) for r in self.requests for e in np.unique(r.entry)}
            if self._depends(e)
        }
        above: dict[int, set[int]] = defaultdict(set)
        for each in self.requests:
            callers = each.entry[each.caller]
            for a, b in {*zip(callers.tolist(), each.callee.tolist(), strict=True)}:
                above[b].add(a)
        todo = list(split)
        while todo:
            for caller in above[todo.pop()]:
                if caller not in split:
                    split.add(caller)
                    todo.append(caller)
        roots: dict[int, set[int]] = defaultdict(set)
        for each in self.requests:
            for e, r in {*zip(each.entry.tolist(), each.root.tolist(), strict=True)}:
                roots[e].add(r)
        return frozenset(e for e in split if 1 < len(roots[e]) <= _MOST_ROOTS)

    def _depends(self, entry: int) -> bool:
        """Whether two roots differ in work, or in the number of some calls."""
        values: dict[tuple[int, object], list[FloatArray]] = defaultdict(list)
        for each, calls in zip(self.requests, self.calls, strict=True):
            rows = np.flatnonzero(each.entry == entry)
            roots = each.root[rows]
            if len(np.unique(roots)) < _FEW:
                continue
            own = _own(each, calls, rows)
            called = _counts(each, rows)
            for root in np.unique(roots):
                chosen = roots == root
                values[int(root), "work"].append(own[chosen])
                for callee, counts in called.items():
                    values[int(root), callee].append(counts[chosen])
        whats = {what for _, what in values}
        roots = sorted({root for root, _ in values})
        return any(
            _apart(np.concatenate(values[a, what]), np.concatenate(values[b, what]))
            for what in whats
            for a in roots
            for b in roots
            if a < b and values[a, what] and values[b, what]
        )

    def key(self, entry: int, root: int) -> Key:
        """The key of a request."""
        return Key(entry, root if entry in self.split else ANY)

    def _rows(self) -> dict[Key, list[tuple[int, int]]]:
        """Load and row of every request, by key."""
        rows: dict[Key, list[tuple[int, int]]] = defaultdict(list)
        for k, each in enumerate(self.requests):
            pairs = zip(each.entry.tolist(), each.root.tolist(), strict=True)
            for row, (entry, root) in enumerate(pairs):
                rows[self.key(entry, root)].append((k, row))
        return rows

    # Threads

    def _arrivals(self, k: int, service: int) -> tuple[Arrivals, IntArray]:
        each = self.requests[k]
        rows = np.flatnonzero(each.of_service(service))
        rows = rows[np.argsort(each.start[rows], kind="stable")]
        longest = float(np.max(each.end - each.start, initial=0.0))
        known = each.start[rows] > float(each.start.min()) + longest
        keys = {key: n for n, key in enumerate(self.rows)}
        entry = np.array(
            [
                keys[self.key(e, r)]
                for e, r in zip(each.entry[rows].tolist(), each.root[rows].tolist(), strict=True)
            ],
            np.int64,
        )
        return Arrivals(each.start[rows], self.firsts[k][rows], each.end[rows], entry, known), rows

    def _pool(self, service: int) -> Pool | None:
        """The threads of a service, or else its processors; None for one that serves nothing."""
        found = {k: self._arrivals(k, service) for k in range(len(self.requests))}
        found = {k: each for k, each in found.items() if len(each[1])}
        if not found:
            return None
        name = self.requests[0].services[service]
        whole = [each for k, (each, _) in found.items() if self.shares[k] >= _WHOLE]
        pool = pool_of(whole) if whole else Pool(inf, 1, inf)
        if pool.seen:
            return pool
        if len(whole) < len(found):
            low = max(pool.low, pool_of([each for each, _ in found.values()]).low)
            seen = {k: self._seen(k, each) for k, (each, _) in found.items()}
            pool, work = pool_by_rates(list(seen.values()), low)
            if pool.seen:
                self.longer[name] = {k: each.gap - work for k, each in seen.items()}
                return pool
        self._stretched(name, found)
        return pool

    def _stretched(self, name: str, found: Mapping[int, tuple[Arrivals, IntArray]]) -> None:
        """Whether the work of a service stretches as it does at a processor that is shared."""
        owns = {k: _own(self.requests[k], self.calls[k], rows) for k, (_, rows) in found.items()}
        seen = {
            k: Seen(self._rate(k, each), float(owns[k].mean()), _error(owns[k]), 0.0, 1.0)
            for k, (each, _) in found.items()
            if len(each.came) > _FEW
        }
        if len(seen) < _FEW:
            return
        processor, work = pool_by_rates(list(seen.values()), 1)
        if processor.seen:
            self.processors[name] = processor
            self.longer[name] = {k: each.gap - work for k, each in seen.items()}
            return
        ends = [seen[min(seen)], seen[max(seen)]]  # loads are in the order of their rates
        error = sqrt(ends[0].error ** 2 + ends[1].error ** 2)
        apart = ends[1].gap - ends[0].gap
        if apart > _CLEAR * error and apart > 2 * _APART * ends[0].gap:
            self.growing[name] = apart / ends[0].gap

    def _rate(self, k: int, each: Arrivals) -> float:
        """The rate of all requests of a service [1/s]."""
        window = float(each.came.max() - each.came.min()) or inf
        return float((len(each.came) - 1) / window / self.shares[k])

    def _seen(self, k: int, each: Arrivals) -> Seen:
        return Seen.of(each, self._rate(k, each))

    def _waits(self, k: int, pools: Mapping[str, Pool]) -> FloatArray:
        """Waiting time of every request of a load for a thread; NaN where it cannot be known."""
        each = self.requests[k]
        waits = np.zeros(len(each.entry))
        for service, name in enumerate(each.services):
            if name not in pools or not pools[name].seen:
                continue
            if self.shares[k] < _WHOLE or name in self.longer:
                waits[each.of_service(service)] = np.nan
                continue
            arrivals, rows = self._arrivals(k, service)
            waits[rows] = waits_of(arrivals, pools[name].threads)
        return waits

    # What each entry does

    def _made(self, key: Key) -> list[Made]:
        """Stages and gaps of an entry's requests, of loads where waiting is known."""
        requests: list[Calls] = []
        times: list[tuple[float, float]] = []
        rows = [(k, row) for k, row in self.rows[key] if not np.isnan(self.waits[k][row])]
        for k, row in rows or self.rows[key]:
            each = self.requests[k]
            wait = self.waits[k][row]
            first = float(self.firsts[k][row])
            begin = float(each.start[row]) + (0.0 if np.isnan(wait) else float(wait))
            times.append((min(begin, first), float(each.end[row])))
            root = int(each.root[row])
            requests.append(
                [
                    (self.number(self.key(callee, root)), began, ended)
                    for callee, began, ended, message in self.calls[k].get(row, ())
                    if not message
                ]
            )
        together = at_once(requests)
        return [
            made(calls, together, came, ended)
            for calls, (came, ended) in zip(requests, times, strict=True)
        ]

    def number(self, key: Key) -> int:
        """A number for a key, for stages; `keys` is the other way."""
        if key not in self.numbers:
            self.numbers[key] = len(self.keys)
            self.keys.append(key)
        return self.numbers[key]

    def _measured(self, key: Key) -> Measured:
        requests = self._made(key)
        each = self.requests[0]
        work = np.array([sum(one.gaps) for one in requests])
        network = self._network(key)
        service = each.service_of(key.entry)
        longer = self._longer(service, key)
        return Measured(
            service,
            each.operation_of(key.entry),
            "" if key.root == ANY else each.operation_of(key.root),
            len(self.rows[key]),
            doing(requests),
            max(float(work.mean()) - longer, 0.0),
            sqrt(_error(work) ** 2 + (ROUGH * longer) ** 2),
            float(network.mean()),
            _error(network),
            self._messages(key),
            peer=False,
        )

    def _longer(self, service: str, key: Key) -> float:
        """By how much waiting that cannot be told request by request makes work look longer [s]."""
        by_load = self.longer.get(service, {})
        return float(np.mean([by_load.get(k, 0.0) for k, _ in self.rows[key]]))

    def _network(self, key: Key) -> FloatArray:
        """For each request, what its calls took beyond what they asked for [s]."""
        sums = [np.zeros(len(each.entry)) for each in self.requests]
        for total, each in zip(sums, self.requests, strict=True):
            known = ~np.isnan(each.network) & ~each.message
            np.add.at(total, each.caller[known], np.maximum(each.network[known], 0.0))
        return np.array([sums[k][row] for k, row in self.rows[key]])

    def _messages(self, key: Key) -> dict[Key, float]:
        sent: dict[Key, float] = defaultdict(float)
        for k, row in self.rows[key]:
            root = int(self.requests[k].root[row])
            for callee, _, _, message in self.calls[k].get(row, ()):
                if message:
                    sent[self.key(callee, root)] += 1 / len(self.rows[key])
        return sent

    # Peers that write no traces, and requests whose callers are missing

    def _peer_times(self) -> dict[int, FloatArray]:
        """How long the callers of each peer waited [s]."""
        found: dict[int, list[FloatArray]] = defaultdict(list)
        for each in self.requests:
            for callee in np.unique(each.callee[each.callee < 0]):
                rows = each.callee == callee
                found[int(callee)].append((each.ended - each.began)[rows])
        return {callee: np.concatenate(times) for callee, times in found.items()}

    def _orphans(self) -> dict[Key, float]:
        """Requests that begin traces though others of their entry have callers, for a peer's call.

        Empty unless a single peer could have made them.
        """
        peers = self._peer_times()
        found: dict[Key, int] = defaultdict(int)
        for each in self.requests:
            for e, r in zip(
                each.entry[each.outermost].tolist(), each.root[each.outermost].tolist(), strict=True
            ):
                if e not in self.outside:
                    found[self.key(e, r)] += 1
        if len(peers) != 1:
            return {}
        calls = len(next(iter(peers.values())))
        return {key: count / calls for key, count in found.items()}

    def _peers(
        self, entries: Mapping[Key, Measured], orphans: Mapping[Key, float]
    ) -> dict[Key, Measured]:
        made_of: dict[Key, Measured] = {}
        for callee, times in self._peer_times().items():
            behind = sum(
                mean * (entries[key].work + entries[key].network) for key, mean in orphans.items()
            )
            name = self.requests[0].peer(callee)
            mean = max(float(times.mean()) - behind, 0.0)
            last = Doing((), mean, float(times.var() / times.mean() ** 2) if times.mean() else 1.0)
            made_of[Key(callee)] = Measured(
                name, name, "", len(times), last, mean, _error(times), 0.0, 0.0, {}, peer=True
            )
        return made_of

    # Loads

    def _load(self, k: int) -> Load:
        each = self.requests[k]
        rows = each.outermost & np.isin(each.entry, list(self.outside))
        times = (each.end - each.start)[rows]
        counts: dict[Key, int] = defaultdict(int)
        for e, r in zip(each.entry[rows].tolist(), each.root[rows].tolist(), strict=True):
            counts[self.key(e, r)] += 1
        total = max(int(rows.sum()) - 1, 0) / (each.window or inf) / self.shares[k]
        whole = max(sum(counts.values()), 1)
        return Load(
            each.load,
            len(np.unique(each.trace)),
            self.shares[k],
            each.window,
            {key: total * count / whole for key, count in counts.items()},
            float(times.mean()) if len(times) else inf,
            _error(times),
        )


def _error(values: FloatArray) -> float:
    """Standard error of a mean."""
    return float(values.std(ddof=1) / sqrt(len(values))) if len(values) > 1 else 0.0


def _apart(some: FloatArray, others: FloatArray) -> bool:
    """Whether two means differ beyond doubt, and by more than a trifle."""
    if len(some) < _FEW or len(others) < _FEW:
        return False
    apart = abs(float(some.mean() - others.mean()))
    error = sqrt(_error(some) ** 2 + _error(others) ** 2)
    mean = float(np.concatenate([some, others]).mean())
    return apart > _CLEAR * error and apart > _APART * mean


def _by_caller(each: Requests) -> dict[int, list[tuple[int, float, float, bool]]]:
    calls: dict[int, list[tuple[int, float, float, bool]]] = defaultdict(list)
    rows = zip(
        each.caller.tolist(),
        each.callee.tolist(),
        each.began.tolist(),
        each.ended.tolist(),
        each.message.tolist(),
        strict=True,
    )
    for caller, callee, began, ended, message in rows:
        calls[caller].append((callee, began, ended, message))
    return calls


def _first_things(each: Requests) -> FloatArray:
    """When each request first did something that its spans show: a call, or its answer [s]."""
    first = each.end.copy()
    np.minimum.at(first, each.caller, each.began)
    return np.asarray(np.clip(first, each.start, each.end))


def _own(
    each: Requests, calls: Mapping[int, list[tuple[int, float, float, bool]]], rows: IntArray
) -> FloatArray:
    """Time of each request without that of its calls [s]."""
    own = np.empty(len(rows))
    for n, row in enumerate(rows.tolist()):
        covered, latest = 0.0, float(each.start[row])
        for _, began, ended, message in calls.get(row, ()):
            if not message and ended > latest:
                covered += ended - max(began, latest)
                latest = ended
        own[n] = each.end[row] - each.start[row] - covered
    return own


def _counts(each: Requests, rows: IntArray) -> dict[int, FloatArray]:
    """How often each request calls each callee."""
    place = np.full(len(each.entry), -1)
    place[rows] = np.arange(len(rows))
    mine = place[each.caller] >= 0
    counts: dict[int, FloatArray] = {}
    for callee in np.unique(each.callee[mine]):
        chosen = mine & (each.callee == callee)
        counts[int(callee)] = np.bincount(place[each.caller[chosen]], minlength=len(rows)).astype(
            float
        )
    return counts
