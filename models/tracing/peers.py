"""Those who write no spans, and the requests that only they can have made.

A peer's time is what its callers waited, less what it waited itself for requests that begin traces
though others of their entry have callers. Those are its own if it is the only peer:

    t = E(e - b) - sum_k n_k / n t_k,

with n calls of the peer, and n_k such requests of entry k, each of which takes t_k.
"""

from collections.abc import Mapping

import numpy as np

from headway.kinds import FloatArray
from headway.models.tracing.flows import Doing
from headway.models.tracing.keys import Key, Keyed
from headway.models.tracing.measured import Measured
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


def peers_of(
    requests: Keyed, entries: Mapping[Key, Measured], orphans: Mapping[Key, float]
) -> dict[Key, Measured]:
    """Entries of those who write no spans.

    Parameters
    ----------
    requests
        Of all loads.
    entries
        Those that write spans.
    orphans
        As `orphans_of` gives them.
    """
    behind = sum(mean * (entries[key].work + entries[key].network) for key, mean in orphans.items())
    return {
        requests.keys[number]: _peer(
            requests.service_of(requests.keys[number]),
            (requests.ended - requests.began)[requests.callee == number],
            behind,
        )
        for number in requests.peers()
    }


def _peer(name: str, times: FloatArray, behind: float) -> Measured:
    mean = max(float(times.mean()) - behind, 0.0)
    last = Doing((), mean, float(times.var() / times.mean() ** 2) if times.mean() else 1.0)
    error = standard_error(times)
    return Measured(name, name, "", len(times), last, mean, error, 0.0, 0.0, {}, peer=True)
