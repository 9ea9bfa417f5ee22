"""What each entry does for a request: its work, its calls, and their time on the way.

Work is what is left of a request's time after its waiting for a thread and its calls: the sum of
the gaps between its stages (`flows`). Where the waiting of single requests is not known, its mean
is subtracted from the mean.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from math import hypot, sqrt

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.models.tracing.flows import (
    Calls,
    Doing,
    Geometric,
    Made,
    Stage,
    Times,
    doing,
    made,
    times_of,
)
from headway.models.tracing.keys import Key, Keyed
from headway.models.tracing.spread import error_over_loads, means_apart, stated_error
from headway.models.tracing.threads import Threads
from headway.records import dataclass

_RARE = 0.02  # messages per request, below which only their mean is estimated


@dataclass(frozen=True)
class Measured:
    """An entry as the spans show it.

    Parameters
    ----------
    service, operation, root
        Its names; the root is empty where it does the same for all roots.
    requests
        Number of its requests.
    doing
        Its blocks of stages.
    work, error
        Mean work of its own per request, and its error, of which 1.96 are its interval [s].
    network, network_error
        Mean time per request that its calls took beyond the requests that they made, and its
        error [s].
    messages
        Law of the number of messages that it sends per request, by callee.
    peer
        Whether it is a peer that writes no spans: its times are then those that its callers saw.
    by_load
        Mean work in each load [s], of what was answered in time or too late, where loads differ:
        the longer requests wait, the less work makes them late. Otherwise empty.
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
    messages: Mapping[Key, tuple[Times, ...]]
    peer: bool
    by_load: tuple[float, ...] = ()


def measured_of(requests: Keyed, threads: Threads) -> dict[Key, Measured]:
    """Measure all entries that write spans.

    Parameters
    ----------
    requests
        The requests of all loads.
    threads
        How long the requests waited for threads.
    """
    of_key = _by_number(requests.key, len(requests.keys))
    calls = np.flatnonzero(~requests.message)
    calls_of = _by_number(requests.key[requests.caller[calls]], len(requests.keys))
    known = calls[~np.isnan(requests.network[calls])]
    network = np.zeros(len(requests.key))
    np.add.at(network, requests.caller[known], np.maximum(requests.network[known], 0.0))
    messages = _messages(requests)
    alike = requests.alike()
    may_be_late = (np.bincount(alike) > 1)[alike]
    found: dict[Key, Measured] = {}
    waited: dict[Key, float] = {}
    for number, key in enumerate(requests.keys):
        if key.entry < 0:
            continue
        rows = of_key[number]
        known = rows[~np.isnan(threads.waits[rows])]
        told = known if len(known) else rows
        stages = _stages(requests, threads.waits, told, calls[calls_of[number]])
        service = requests.service_of(key)
        work = stages.last + np.bincount(stages.request, stages.gap, len(stages.last))
        work -= _longer(threads.longer.get(service, {}), requests.load[told])
        found[key] = Measured(
            service,
            requests.operation_of(key),
            requests.root_of(key),
            len(rows),
            doing(stages, requests.load[told]),
            max(float(work.mean()), 0.0),
            _error(work, requests.trace[told], requests.load[told], threads, service),
            float(network[rows].mean()),
            stated_error(network[rows], requests.trace[rows]),
            messages.get(number, {}),
            peer=False,
            by_load=means_apart(work, requests.load[told]) if may_be_late[number] else (),
        )
        waited[key] = float(_longer(threads.longer.get(service, {}), requests.load[rows]).mean())
    return _by_root(found, waited)


def _by_root(found: dict[Key, Measured], waited: Mapping[Key, float]) -> dict[Key, Measured]:
    """Work by root where only the mean waiting of the whole service is known.

    Requests of one root may wait longer than those of another, as they come in bunches, so what the
    means of roots differ by may be waiting, all or in part. A root with a share s of the service's
    requests waits from 0 to W / s if all wait W in the mean. The middle of what is possible counts
    as waiting, and every share of it is as likely.

    Parameters
    ----------
    found
        Entries, each with this mean waiting subtracted.
    waited
        This mean waiting over the requests of each entry, W [s].
    """
    requests: Counter[str] = Counter()
    roots: dict[int, list[Key]] = {}
    for key, each in found.items():
        requests[each.service] += each.requests
        roots.setdefault(key.entry, []).append(key)
    for keys in (each for each in roots.values() if len(each) > 1):
        counts = [found[key].requests for key in keys]
        mean = float(np.average([found[key].work for key in keys], weights=counts))
        for key in keys:
            one, wait = found[key], max(waited[key], 0.0)
            most = wait * (requests[one.service] / one.requests - 1)
            low, high = sorted((0.0, float(np.clip(one.work - mean, -wait, most))))
            error = hypot(one.error, (high - low) / sqrt(12))
            found[key] = replace(one, work=one.work - (low + high) / 2, error=error)
    return found


def _by_number(numbers: IntArray, size: int) -> list[IntArray]:
    """Row numbers grouped by number, in ascending order."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.cumsum(np.bincount(numbers, minlength=size))[:-1])


def _stages(requests: Keyed, waits: FloatArray, rows: IntArray, calls: IntArray) -> Made:
    """The stages of an entry's requests, and the gaps between them."""
    caller = requests.caller[calls]
    chosen = np.isin(caller, rows)
    caller, calls = caller[chosen], calls[chosen]
    callees, callee = np.unique(requests.callee[calls], return_inverse=True)
    begin = requests.start[rows] + np.nan_to_num(waits[rows])
    stages = made(
        Calls(
            np.searchsorted(rows, caller),
            callee,
            requests.began[calls],
            requests.ended[calls],
        ),
        np.minimum(begin, requests.first[rows]),
        requests.end[rows],
    )
    named = tuple(
        Stage(tuple(sorted(callees[list(stage.callees)].tolist())), stage.needed)
        for stage in stages.stages
    )
    return replace(stages, stages=named)


def _longer(by_load: Mapping[int, float], loads: IntArray) -> FloatArray:
    """Mean waiting in each request's load, where that of single requests is not known [s]."""
    longer = np.array([by_load.get(k, 0.0) for k in range(int(loads.max()) + 1)])
    return np.asarray(longer[loads])


def _error(
    work: FloatArray, trace: IntArray, load: IntArray, threads: Threads, service: str
) -> float:
    """Error of the mean work, including what is not known of the waiting."""
    if service in threads.longer:  # the law of waiting accounts for differences between loads
        own = stated_error(work, trace)
    else:
        own = error_over_loads(work, trace, load)
    return sqrt(own**2 + threads.doubt.get(service, 0.0) ** 2)


def _messages(requests: Keyed) -> dict[int, dict[Key, tuple[Times, ...]]]:
    """Law of the number of messages that each entry sends per request, by entry and by callee."""
    sent = requests.message
    size = len(requests.keys)
    pair = requests.key[requests.caller[sent]] * size + requests.callee[sent]
    by = requests.caller[sent]
    whole = np.bincount(requests.key, minlength=size).tolist()
    found: dict[int, dict[Key, tuple[Times, ...]]] = {}
    each_of, times = np.unique(pair * len(requests.key) + by, return_counts=True)
    pairs, begins = np.unique(each_of // max(len(requests.key), 1), return_index=True)
    for each, some in zip(pairs.tolist(), np.split(times, begins)[1:], strict=True):
        sender, callee = divmod(each, size)
        counts = np.zeros(whole[sender], np.int64)
        counts[: len(some)] = some  # the other requests send none
        # too few messages for a law: only their mean
        rare = (Geometric(float(counts.mean()), 0.0),)
        laws = times_of(counts) if counts.mean() >= _RARE else rare
        found.setdefault(sender, {})[requests.keys[callee]] = laws
    return found
