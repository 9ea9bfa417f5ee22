"""Those who write no spans, and the requests that only they can have made.

Requests that begin traces, though others of their entry have callers, were made by somebody who
passes no context on: by the peer, if there is only one. What its callers waited is its own time,
those requests, which take b_l for each of its calls in load l, and its waiting for threads,

    E(e - s)_l = w + b_l + W_l,

which is told from w by rates (`rates`), with w as the first gap and b_l as the rest.
"""

from math import sqrt

import numpy as np

from headway.kinds import FloatArray
from headway.models.tracing.flows import Doing
from headway.models.tracing.keys import Key, Keyed
from headway.models.tracing.loads import IntArray
from headway.models.tracing.measured import Measured
from headway.models.tracing.pools import Pool
from headway.models.tracing.rates import Seen, pool_by_rates
from headway.models.tracing.spread import standard_error


def orphans_of(requests: Keyed) -> dict[Key, float]:
    """Requests that a peer must have made, for each of its calls; empty if there are several peers.

    Parameters
    ----------
    requests
        Of all loads.
    """
    peers = requests.peers()
    if len(peers) != 1:
        return {}
    calls = int((requests.callee == peers[0]).sum())
    counts = np.bincount(requests.key[requests.orphan], minlength=len(requests.keys))
    return {requests.keys[k]: float(counts[k]) / calls for k in np.flatnonzero(counts).tolist()}


def peers_of(requests: Keyed) -> tuple[dict[Key, Measured], dict[str, Pool]]:
    """Entries of those who write no spans, and their threads where they were seen to be few.

    Parameters
    ----------
    requests
        Of all loads.
    """
    numbers = requests.peers()
    entries: dict[Key, Measured] = {}
    pools: dict[str, Pool] = {}
    for number in numbers:
        key = requests.keys[number]
        calls = np.flatnonzero(requests.callee == number)
        name = requests.service_of(key)
        behind = _behind(requests, calls) if len(numbers) == 1 else np.zeros(len(requests.loads))
        pools[name], entries[key] = _peer(requests, name, calls, behind)
    return entries, {name: pool for name, pool in pools.items() if pool.seen}


def _behind(requests: Keyed, calls: IntArray) -> FloatArray:
    """What a peer's requests take for each of its calls, in each load [s]."""
    took, loads = (requests.end - requests.start)[requests.orphan], len(requests.loads)
    sums = np.bincount(requests.load[requests.orphan], took, loads)
    counts = np.bincount(requests.load[requests.caller[calls]], minlength=loads)
    return np.asarray(sums / np.maximum(counts, 1))


def _peer(requests: Keyed, name: str, calls: IntArray, behind: FloatArray) -> tuple[Pool, Measured]:
    """A peer's threads by rates, and its entry."""
    caller = requests.caller[calls]
    times, load = (requests.ended - requests.began)[calls], requests.load[caller]
    trace = requests.trace[caller]
    seen: dict[int, Seen] = {}
    for k in np.unique(load).tolist():
        mine, among = times[load == k], trace[load == k]
        rest = min(float(behind[k]), float(mine.mean()))
        window, share = requests.loads[k].window, requests.shares[k]
        seen[k] = Seen.of(mine - rest, np.full(len(mine), rest), among, window, share)
    pool, work, doubt = pool_by_rates(list(seen.values()), 1)
    mean, error = max(work, 0.0), sqrt(standard_error(times, trace) ** 2 + doubt**2)
    last = Doing((), mean, float(times.var() / times.mean() ** 2) if times.mean() else 1.0)
    return pool, Measured(name, name, "", len(times), last, mean, error, 0.0, 0.0, {}, peer=True)
