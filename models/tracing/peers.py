"""Those who write no spans, and the requests that only they can have made.

Requests that begin traces, though others of their entry have callers, were made by somebody who
passes no context on: by the peer, if there is only one. What its callers waited is its own time,
those requests, which take b_l for each of its calls in load l, and its waiting for threads,

    E(e - s)_l = w + b_l + W_l,

which is told from w by rates (`rates`), with w as the first gap and b_l as the rest.
"""

from math import inf, sqrt

import numpy as np

from headway.kinds import FloatArray
from headway.models.tracing.flows import Doing
from headway.models.tracing.keys import Key, Keyed
from headway.models.tracing.loads import IntArray
from headway.models.tracing.measured import Measured
from headway.models.tracing.pools import Pool
from headway.models.tracing.rates import ROUGH, Seen, pool_by_rates
from headway.models.tracing.threads import standard_error


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
    entries, pools = {}, {}
    for number in numbers:
        key = requests.keys[number]
        calls = np.flatnonzero(requests.callee == number)
        name = requests.service_of(key)
        load = requests.load[requests.caller[calls]]
        times = (requests.ended - requests.began)[calls]
        behind = _behind(requests, load) if len(numbers) == 1 else np.zeros(len(times))
        pool, waits, doubt = _pool(requests, load, times, behind)
        if pool.seen:
            pools[name] = pool
        entries[key] = _peer(name, times, behind, waits[load], doubt)
    return entries, pools


def _behind(requests: Keyed, load: IntArray) -> FloatArray:
    """What a peer's requests take for each of its calls, by load, for each call [s]."""
    took, loads = (requests.end - requests.start)[requests.orphan], len(requests.loads)
    sums = np.bincount(requests.load[requests.orphan], took, loads)
    return np.asarray((sums / np.maximum(np.bincount(load, minlength=loads), 1))[load])


def _pool(
    requests: Keyed, load: IntArray, times: FloatArray, behind: FloatArray
) -> tuple[Pool, FloatArray, float]:
    """A peer's threads by rates, its mean waiting in each load, and the doubt of its work [s]."""
    waits = np.zeros(len(requests.loads))
    seen: dict[int, Seen] = {}
    for k in np.unique(load).tolist():
        mine = times[load == k]
        rest = min(float(behind[load == k][0]), float(mine.mean()))
        rate = len(mine) / (requests.loads[k].window or inf) / requests.shares[k]
        scv = float(mine.var() / mine.mean() ** 2) if mine.mean() > 0 else 1.0
        seen[k] = Seen(rate, float(mine.mean()) - rest, standard_error(mine), rest, scv)
    pool, work, doubt = pool_by_rates(list(seen.values()), 1)
    for k, each in seen.items():
        waits[k] = each.gap - work if pool.seen else 0.0
    return pool, waits, doubt


def _peer(
    name: str, times: FloatArray, behind: FloatArray, waits: FloatArray, doubt: float
) -> Measured:
    longer = float(waits.mean())
    mean = max(float((times - behind).mean()) - longer, 0.0)
    last = Doing((), mean, float(times.var() / times.mean() ** 2) if times.mean() else 1.0)
    error = sqrt(standard_error(times) ** 2 + (ROUGH * longer) ** 2 + doubt**2)
    return Measured(name, name, "", len(times), last, mean, error, 0.0, 0.0, {}, peer=True)
