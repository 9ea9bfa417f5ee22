"""Peers, which write no spans, and the requests that only a peer can have made.

Where the requests of an entry usually have callers in their traces, those that begin a trace were
made by a service that does not pass the trace context on: by the peer, if there is only one. The
time that a peer's callers waited is its own work w, the requests that it made, which take b_l for
each of its calls in load l, and its waiting for threads W_l,

    E(e - s)_l = w + b_l + W_l,

where W_l is told from w by rates (`rates`), with w as the first gap and b_l as the rest. The number
c of such requests per call is the same in all loads, so it is counted over all of them. A sampler
keeps these requests independently of the calls that made them, so with N requests, calls in J
traces with n_j in each, and a share p of traces kept, c has the relative error

    s^2 = (1 - p) (1 / N + sum n_j^2 / (sum n_j)^2).

If t_l is the mean time of one entry's requests, with standard error e_l, then b_l = c t_l has an
error c e_l of its own, and an error s b_l that is common to all loads.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.models.tracing.callers import Callers
from headway.models.tracing.flows import Doing
from headway.models.tracing.keys import Key, Keyed
from headway.models.tracing.measured import Measured
from headway.models.tracing.pools import Pool
from headway.models.tracing.rates import Seen, pool_by_rates
from headway.models.tracing.spread import standard_error

_LEAST = 1e-12  # least standard error [s]


def orphans_of(requests: Keyed) -> dict[Key, float]:
    """Requests per call that a peer must have made, by key; empty if there are several peers.

    Parameters
    ----------
    requests
        The requests of all loads.
    """
    peers = requests.peers()
    if len(peers) != 1:
        return {}
    calls = int((requests.callee == peers[0]).sum())
    counts = np.bincount(requests.key[requests.orphan], minlength=len(requests.keys))
    return {requests.keys[k]: float(counts[k]) / calls for k in np.flatnonzero(counts).tolist()}


def peers_of(requests: Keyed, callers: Callers) -> tuple[dict[Key, Measured], dict[str, Pool]]:
    """The entry of each peer, and its threads where the spans show a limit.

    Parameters
    ----------
    requests
        The requests of all loads.
    callers
        The services that ask them, if they have few threads.
    """
    numbers = requests.peers()
    entries: dict[Key, Measured] = {}
    pools: dict[str, Pool] = {}
    for number in numbers:
        key = requests.keys[number]
        calls = np.flatnonzero(requests.callee == number)
        name = requests.service_of(key)
        behind = _own_requests(requests, calls) if len(numbers) == 1 else _no_requests(requests)
        pools[name], entries[key] = _peer(requests, callers, name, calls, behind)
    return entries, {name: pool for name, pool in pools.items() if pool.seen}


class _OwnRequests(NamedTuple):
    """Time that a peer's own requests take for each of its calls, b_l, and its errors [s].

    Parameters
    ----------
    took
        b_l, by load.
    error
        Standard error of each load on its own.
    shared
        Relative error that is common to all loads.
    """

    took: FloatArray
    error: FloatArray
    shared: float


def _no_requests(requests: Keyed) -> _OwnRequests:
    none = np.zeros(len(requests.loads))
    return _OwnRequests(none, none, 0.0)


def _own_requests(requests: Keyed, calls: IntArray) -> _OwnRequests:
    """Time per call of the requests that the only peer makes, summed over their entries."""
    took, error, shared = np.zeros((3, len(requests.loads)))
    times, sampled = requests.end - requests.start, 1 - min(requests.shares)
    _, each = np.unique(requests.trace[requests.caller[calls]], return_counts=True)
    of_calls = float((each**2).sum()) / max(len(calls), 1) ** 2
    for key in np.unique(requests.key[requests.orphan]).tolist():
        mine = requests.orphan & (requests.key == key)
        often = int(mine.sum()) / len(calls)
        doubt = sqrt(sampled * (1 / int(mine.sum()) + of_calls))
        for k in range(len(requests.loads)):
            rows = mine & (requests.load == k)
            if not rows.any():  # a load without such requests takes their mean over all loads
                rows = mine
            mean = often * float(times[rows].mean())
            took[k] += mean
            error[k] += (often * standard_error(times[rows], requests.trace[rows])) ** 2
            shared[k] += (doubt * mean) ** 2
    whole = float(took.sum())
    return _OwnRequests(
        took, np.sqrt(error), sqrt(float(shared.sum() * len(took))) / whole if whole else 0.0
    )


def _peer(
    requests: Keyed, callers: Callers, name: str, calls: IntArray, behind: _OwnRequests
) -> tuple[Pool, Measured]:
    """A peer's threads from its mean times and rates, and its entry."""
    caller = requests.caller[calls]
    times, load = (requests.ended - requests.began)[calls], requests.load[caller]
    trace = requests.trace[caller]
    usual = float(behind.took.mean())
    seen: dict[int, Seen] = {}
    for k in np.unique(load).tolist():
        mine, among = times[load == k], trace[load == k]
        rest = min(float(behind.took[k]), float(mine.mean()))
        window, share = requests.loads[k].window, requests.shares[k]
        came = requests.began[calls][load == k]
        asked = callers.asked(calls, k, len(mine), float(mine.sum()))
        gap, after = mine - rest, np.full(len(mine), rest)
        one = Seen.of(came, gap, after, among, window, share, asked.pace)
        apart = behind.shared * (float(behind.took[k]) - usual)
        error = sqrt(one.error**2 + float(behind.error[k]) ** 2 + apart**2)
        seen[k] = one._replace(error=error, rest_error=float(behind.error[k]))
    pool, work, doubt = pool_by_rates(list(seen.values()), 1)
    own = sqrt(1 / sum(1 / max(one.error, _LEAST) ** 2 for one in seen.values()))
    mean, error = max(work, 0.0), sqrt(own**2 + doubt**2 + (behind.shared * usual) ** 2)
    last = Doing((), mean, float(times.var() / times.mean() ** 2) if times.mean() else 1.0)
    return pool, Measured(name, name, "", len(times), last, mean, error, 0.0, 0.0, {}, peer=True)
