"""Entries that only begin traces: called from outside, or by a peer that writes no spans.

The callees of a peer that does not pass the trace context on begin traces. Where traced services
call the same entry as well, that shows; where none does, the entry looks as if it were called from
outside. A callee's request lies within the call that caused it. So if every request of an entry
lies within some open call to the peer, and more of them do than would by chance, the peer made them
all. Chance is estimated from the same requests shifted by half a window, when the peer's calls did
not cause them.

The converse proves nothing, as clocks may differ: then the entry is left as it is, in doubt.
"""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import BoolArray, IntArray
from headway.models.tracing.requests import Requests

_WHOLE = 0.999  # share of traces kept from which every call is known
_ALL = 0.99  # share of requests that must lie within calls: timers are not read in a fixed order
_CLEAR = 4.0  # standard errors by which that must exceed chance


def unseen_callers(
    loads: Sequence[Requests], shares: Sequence[float], begin_traces: IntArray
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Entries that a peer must have called, and entries that it may have called.

    An entry is a candidate only if no trace that begins in its service calls a peer: otherwise its
    service is called from outside.

    Parameters
    ----------
    loads, shares
        All loads, and the share of traces kept in each.
    begin_traces
        Entries that begin nearly all traces in which they occur.
    """
    peers = {int(peer) for load in loads for peer in np.unique(load.callee[load.callee < 0])}
    asking = {
        load.service_of(entry)
        for load in loads
        for entry in np.unique(load.root[load.caller[load.callee < 0]]).tolist()
    }
    candidates = [k for k in begin_traces.tolist() if loads[0].service_of(k) not in asking]
    if not peers:
        return (), ()
    whole = [load for load, share in zip(loads, shares, strict=True) if share >= _WHOLE]
    sure = [k for k in candidates if len(peers) == 1 and _is_within(whole, k)]
    return tuple(sure), tuple(k for k in candidates if k not in sure)


def _is_within(loads: Sequence[Requests], entry: int) -> bool:
    """Whether the requests of an entry lie within calls to the peer, by more than chance."""
    requests = within = by_chance = 0
    for load in loads:
        rows, calls = load.entry == entry, load.callee < 0
        start, lasts = load.start[rows], (load.end - load.start)[rows]
        open_calls = load.began[calls], load.ended[calls]
        later = load.start.min() + (start - load.start.min() + load.window / 2) % load.window
        requests += len(start)
        within += int(_lie_within(start, start + lasts, *open_calls).sum())
        by_chance += int(_lie_within(later, later + lasts, *open_calls).sum())
    chance = (by_chance + 1) / (requests + 2)  # Laplace's rule of succession: never 0 or 1
    beyond = within - requests * chance
    return bool(
        within >= _ALL * requests and beyond > _CLEAR * sqrt(requests * chance * (1 - chance))
    )


def _lie_within(
    start: FloatArray, end: FloatArray, began: FloatArray, ended: FloatArray
) -> BoolArray:
    """Which times lie within a call: one that began before them and was answered after them."""
    order = np.argsort(began)
    latest = np.append(-np.inf, np.maximum.accumulate(ended[order]))
    return np.asarray(latest[np.searchsorted(began[order], start, side="right")] >= end)
