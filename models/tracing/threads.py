"""Threads and processors of each service, and how long each request waited for a thread.

Where every request of a load is known, threads are found from the requests that waited (`pools`);
otherwise from mean times at several loads (`rates`), callers first, as how a service is asked
depends on how many threads they have (`callers`). A service whose pool is never full may share
processors: then all its own time stretches, by the same law as in `rates`.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import hypot, inf
from typing import NamedTuple, TypeVar

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.models.tracing.callers import Asked, Callers
from headway.models.tracing.keys import APART, CLEAR, Keyed
from headway.models.tracing.pools import Arrivals, Pool, fewest_threads, pool_of, waits_of
from headway.models.tracing.rates import Seen, pool_by_rates
from headway.models.tracing.spread import standard_error
from headway.records import dataclass

_T = TypeVar("_T")
_WHOLE = 0.999  # share of traces kept from which all requests count as known
_FEW = 2
_MANY = 20  # requests of a half load from which its mean tells whether a backlog grows
_SURE = 1.96  # standard errors of a 95% interval


class Growth(NamedTuple):
    """The share by which work takes longer in one load than in another."""

    share: float
    quick: str
    slow: str


@dataclass(frozen=True)
class Threads:
    """The limits of services: threads and processors, and the waiting for them.

    Parameters
    ----------
    pools
        Threads of each service.
    processors
        Servers of the processors of those services whose work stretches.
    growing
        Services whose work differs between loads without an explanation.
    piling
        Services whose requests wait longer and longer in a load of which some traces were kept, and
        that load: no law of waiting holds there, so it says nothing of them.
    longer
        Services of whose waiting only the mean is known: that mean in each load [s].
    doubt
        Standard error of the mean work of a service that is due to its uncertain waiting [s].
    waits
        Time that each request waited for a thread; NaN where that is not known [s].
    callers
        The services with few threads, as callers of others.
    """

    pools: Mapping[str, Pool]
    processors: Mapping[str, Pool]
    growing: Mapping[str, Growth]
    piling: Mapping[str, str]
    longer: Mapping[str, Mapping[int, float]]
    doubt: Mapping[str, float]
    waits: FloatArray
    callers: Callers


def threads_of(requests: Keyed) -> Threads:
    """Find the threads and processors of all services.

    Parameters
    ----------
    requests
        The requests of all loads.
    """
    found = _Found(requests)
    for service in _callers_first(requests, found.asks):
        if service in found.rows:
            found.service(service, found.rows[service])
    traced = requests.loads[0].traced
    return Threads(
        _in_order_of(traced, found.pools),
        _in_order_of(traced, found.processors),
        _in_order_of(traced, found.growing),
        _in_order_of(traced, found.piling),
        found.longer,
        found.doubt,
        found.waits,
        found.callers,
    )


class _Found:
    """The limits found so far, service by service."""

    def __init__(self, requests: Keyed) -> None:
        self.requests = requests
        self.pools: dict[str, Pool] = {}
        self.processors: dict[str, Pool] = {}
        self.growing: dict[str, Growth] = {}
        self.piling: dict[str, str] = {}
        self.longer: dict[str, Mapping[int, float]] = {}
        self.doubt: dict[str, float] = {}
        self.waits = np.zeros(len(requests.key))
        self.alike = requests.alike()
        self.rows = _in_order(requests)
        self.callers = Callers(requests)
        numbers = {name: k for k, name in enumerate(requests.loads[0].traced)}
        services = [numbers.get(requests.service_of(key), -1) for key in requests.keys]
        self.asks = np.array(services, np.int64)[requests.callee]
        order = np.argsort(self.asks, kind="stable")
        ends = np.searchsorted(self.asks[order], np.arange(len(numbers) + 1))
        self.calls = [order[a:b] for a, b in pairwise(ends.tolist())]
        self.begins = np.full(len(requests.loads), inf)
        np.minimum.at(self.begins, requests.load, requests.start)
        begun = np.full(int(requests.trace.max(initial=-1)) + 1, inf)
        np.minimum.at(begun, requests.trace, requests.start)
        self.since = requests.end - begun[requests.trace]

    def arrivals(self, k: int, rows: IntArray) -> Arrivals:
        """A load's requests in order; those count that came when all requests in service are known.

        A file has the traces that began while it was written. Requests of earlier traces have left
        a service once the longest time from a trace's beginning to its last request there has
        passed.
        """
        all_of = self.requests
        came = all_of.start[rows]
        known = came > self.begins[k] + float(self.since[rows].max())
        return Arrivals(
            came,
            all_of.first[rows],
            all_of.end[rows],
            self.alike[all_of.key[rows]],
            all_of.trace[rows],
            known,
        )

    def service(self, service: int, rows: Mapping[int, IntArray]) -> None:
        """Find the threads of a service, or else its processors."""
        shares, name = self.requests.shares, self.requests.loads[0].traced[service]
        found, every = self.steady(name, rows), rows
        rows = {k: rows[k] for k in found}
        asked = {k: self.asked(service, k, each) for k, each in found.items()}
        whole = [each for k, each in found.items() if shares[k] >= _WHOLE]
        pool = pool_of(whole) if whole else Pool(inf, 1, inf)
        if not pool.seen and len(whole) < len(found):
            pool = self.by_rates(name, found, asked, whole)
        self.pools[name] = pool
        if pool.seen:
            for k, each in rows.items():
                known = found[k].counts & (shares[k] >= _WHOLE and name not in self.longer)
                self.waits[each] = np.where(known, waits_of(found[k], pool.threads), np.nan)
            if name not in self.longer:
                self.grown(name, rows, self.requests.first - self.requests.start - self.waits)
                if pool.low < pool.high:
                    self.doubt[name] = _wait_error(whole, pool) / _SURE
        else:
            self.stretched(name, rows, found, asked)
        most = min(pool.threads, max(each.most for each in asked.values()))
        busy = {k: self.busy(name, k, each) for k, each in every.items()}
        self.callers.add(name, most, busy)

    def steady(self, name: str, rows: Mapping[int, IntArray]) -> dict[int, Arrivals]:
        """A service in its loads, but for those known in part in which a backlog grows."""
        found = {k: self.arrivals(k, each) for k, each in rows.items()}
        partly = [k for k in found if self.requests.shares[k] < _WHOLE]
        piling = [k for k in partly if _piles_up(found[k])]
        if len(piling) == len(found):
            return found
        for k in piling:
            self.waits[rows[k]] = np.nan
            self.piling[name] = self.requests.loads[k].load
        return {k: each for k, each in found.items() if k not in piling}

    def by_rates(
        self,
        name: str,
        found: Mapping[int, Arrivals],
        asked: Mapping[int, Asked],
        whole: Sequence[Arrivals],
    ) -> Pool:
        """Threads of a service by its mean times, and its work unless whole loads tell more."""
        low = fewest_threads(list(found.values()))
        seen = {
            k: self.seen(k, each, each.first - each.came, each.answered - each.first, asked[k])
            for k, each in found.items()
        }
        pool, work, doubt = pool_by_rates(list(seen.values()), low)
        longer = {k: each.gap - work for k, each in seen.items()}
        rough = hypot(doubt, _spread(list(found.values()), list(longer.values())))
        if not (pool.seen and whole and _work_error(whole, pool) < rough):
            self.doubt[name], self.longer[name] = doubt, longer
        return pool

    def asked(self, service: int, k: int, each: Arrivals) -> Asked:
        """How a service is asked in a load."""
        time = float((each.answered - each.came).sum())
        return self.callers.asked(self.calls[service], k, len(each.came), time)

    def busy(self, name: str, k: int, rows: IntArray) -> float:
        """Mean number of busy threads of a service in a load."""
        held = (self.requests.end - self.requests.start)[rows]
        if self.pools[name].seen:
            waits = self.waits[rows]
            known = waits[~np.isnan(waits)]
            held -= known.mean() if len(known) else self.longer.get(name, {}).get(k, 0.0)
        return self.callers.mean(k, float(held.sum()))

    def stretched(
        self,
        name: str,
        rows: Mapping[int, IntArray],
        found: Mapping[int, Arrivals],
        asked: Mapping[int, Asked],
    ) -> None:
        """Find whether the work of a service stretches as it does at shared processors."""
        own = self.requests.own
        seen = {
            k: self.seen(k, found[k], own[each], np.zeros(len(each)), asked[k])._replace(scv=1.0)
            for k, each in rows.items()
            if len(each) > _FEW
        }
        if len(seen) < _FEW:
            return
        processor, work, doubt = pool_by_rates(list(seen.values()), 1)
        if processor.seen:
            self.processors[name], self.doubt[name] = processor, doubt
            self.longer[name] = {k: each.gap - work for k, each in seen.items()}
            return
        self.grown(name, rows, own)

    def grown(self, name: str, rows: Mapping[int, IntArray], work: FloatArray) -> None:
        """Find whether the work of a service is longer in one load than in another.

        Loads may differ in the entries that they ask for, so each request's work counts by how far
        it is from the mean of its entry.
        """
        each = np.concatenate(list(rows.values()))
        each = each[~np.isnan(work[each])]
        _, entry = np.unique(self.alike[self.requests.key[each]], return_inverse=True)
        off = work[each] - (np.bincount(entry, work[each]) / np.bincount(entry))[entry]
        of = {k: self.requests.load[each] == k for k in rows}
        means = {k: float(off[one].mean()) for k, one in of.items() if one.sum() > _FEW}
        if len(means) < _FEW:
            return
        quick, slow = (end(means, key=lambda k: means[k]) for end in (min, max))
        apart, trace = means[slow] - means[quick], self.requests.trace[each]
        error = hypot(*(standard_error(off[of[k]], trace[of[k]]) for k in (quick, slow)))
        least = means[quick] + float(work[each].mean())
        if apart > CLEAR * error and apart > 2 * APART * least:
            names = (self.requests.loads[k].load for k in (quick, slow))
            self.growing[name] = Growth(apart / least, *names)

    def seen(self, k: int, each: Arrivals, gap: FloatArray, rest: FloatArray, asked: Asked) -> Seen:
        """A service at a load by its mean times; `gap` is the time that waiting lengthens [s]."""
        window, share = float(each.came[-1] - each.came[0]), self.requests.shares[k]
        return Seen.of(each.came, gap, rest, each.trace, window, share, asked.pace)


def _in_order_of(names: Sequence[str], found: Mapping[str, _T]) -> dict[str, _T]:
    """What was found of services, in the order of their names."""
    return {name: found[name] for name in names if name in found}


def _callers_first(requests: Keyed, asks: IntArray) -> list[int]:
    """The services, each after those that ask it, unless they ask each other."""
    service = np.concatenate([each.service for each in requests.loads])
    pairs = np.unique(np.stack([service[requests.caller], asks]), axis=1).T.tolist()
    askers = dict.fromkeys(range(len(requests.loads[0].traced)), 0)
    asked: dict[int, list[int]] = {}
    for caller, called in pairs:
        if called != caller and called >= 0 and caller in askers:
            asked.setdefault(caller, []).append(called)
            askers[called] += 1
    order: list[int] = []
    while askers:
        first = min(askers, key=lambda each: askers[each])
        order.append(first)
        del askers[first]
        for called in asked.get(first, []):
            if called in askers:
                askers[called] -= 1
    return order


def _in_order(requests: Keyed) -> dict[int, dict[int, IntArray]]:
    """The requests of each service in each load, in the order in which they came."""
    loads = requests.loads
    group = np.concatenate([each.service for each in loads]) * len(loads) + requests.load
    order = np.lexsort((requests.start, group))
    found: dict[int, dict[int, IntArray]] = {}
    for rows in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        if len(rows):
            service, load = divmod(int(group[rows[0]]), len(loads))
            found.setdefault(service, {})[load] = rows
    return found


def _piles_up(each: Arrivals) -> bool:
    """Whether requests wait longer and longer: a backlog that grows from 0 has a ratio of 3.

    In a steady load the second half of the requests has the mean first gap of the first; where a
    backlog grows as at a constant rate, it has three times that.
    """
    gap, half = each.first - each.came, len(each.came) // 2
    if half < _MANY:
        return False
    halves = slice(half), slice(half, None)
    early, late = (float(gap[one].mean()) for one in halves)
    error = hypot(*(standard_error(gap[one], each.trace[one]) for one in halves))
    return late > 2 * early and late - early > CLEAR * error


def _work_error(whole: Sequence[Arrivals], pool: Pool) -> float:
    """Standard error of the mean work in loads whose requests are all known, for this pool [s]."""
    if not any(each.counts.any() for each in whole):
        return inf
    chance = _spread(whole, [waits_of(each, pool.threads) for each in whole])
    return hypot(chance, _wait_error(whole, pool) / _SURE)


def _spread(loads: Sequence[Arrivals], waits: Sequence[FloatArray | float]) -> float:
    """Standard error of the mean first gap less the waiting, over requests that count [s]."""
    gaps = [each.first - each.came - wait for each, wait in zip(loads, waits, strict=True)]
    counted = [gap[each.counts] for each, gap in zip(loads, gaps, strict=True)]
    traces = np.concatenate([each.trace[each.counts] for each in loads])
    return standard_error(np.concatenate(counted), traces) if len(traces) else inf


def _wait_error(whole: Sequence[Arrivals], pool: Pool) -> float:
    """How far mean waits are from those with the fewest and the most possible threads [s]."""
    means = [
        float(np.concatenate([waits_of(each, m)[each.counts] for each in whole]).mean())
        for m in (pool.low, pool.threads, pool.high)
    ]
    return max(abs(mean - means[1]) for mean in means)
