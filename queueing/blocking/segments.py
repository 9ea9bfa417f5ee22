"""Segments of an open network: upstream of its blocking stations, the core, and downstream.

Upstream stations with a product form send Poisson flows to the core, and no route leads back from
the core to them, so each segment is solved by itself (Burke; Jackson).
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.network.blocking import BlockingNetwork, Window
from headway.records import dataclass


@dataclass(frozen=True)
class Segments:
    """An open network in three segments.

    Parameters
    ----------
    core
        Indices of stations that block, are blocked, or are in a region, and of those on routes
        between them.
    upstream
        Stations that no route from the core leads to.
    downstream
        Stations reached from the core, from which no route leads back.
    """

    core: NDArray[np.intp]
    upstream: NDArray[np.intp]
    downstream: NDArray[np.intp]


def segments_of(network: BlockingNetwork) -> Segments:
    """Find the segments of an open network.

    Examples
    --------
    >>> from headway.queueing.network.blocking import Room
    >>> line = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    >>> rooms, first = (Room(0.1), Room(0.1), Room(0.1)), np.array([1.0, 0.0, 0.0])
    >>> three = BlockingNetwork(rooms, line, first, 1.0, windows=(Window((1,), 2),))
    >>> segments = segments_of(three)
    >>> segments.upstream.tolist(), segments.core.tolist(), segments.downstream.tolist()
    ([0], [1], [2])
    """
    rooms, ways = network.rooms, np.asarray(network.onward) > 0
    seeds = np.array([r.finite or network.window_of(k) is not None for k, r in enumerate(rooms)])
    for k in (k for k, room in enumerate(rooms) if room.finite):
        seeds |= ways[:, k]
    reach = ways | np.eye(len(ways), dtype=bool)
    while (further := (reach.astype(float) @ reach) > 0).sum() > reach.sum():
        reach = further  # transitive closure, by squaring
    reached, reaching = reach[seeds].any(axis=0), reach[:, seeds].any(axis=1)
    core = seeds | (reached & reaching)
    return Segments(
        np.flatnonzero(core), np.flatnonzero(~core & ~reached), np.flatnonzero(~core & reached)
    )


def core_network(network: BlockingNetwork, segments: Segments) -> BlockingNetwork:
    """The core as an open network of its own, with arrivals from outside and from upstream."""
    core, visits = segments.core, network.visits
    onward, entry = np.asarray(network.onward), np.asarray(network.entry)
    coming = entry[core] + visits[segments.upstream] @ onward[np.ix_(segments.upstream, core)]
    coming = np.where(coming > 1e-15, coming, 0.0)  # drop flows that are rounding only
    shares = coming / coming.sum() if coming.any() else np.eye(1, len(core))[0]
    place = {int(k): new for new, k in enumerate(core)}
    return replace(
        network,
        rooms=tuple(network.rooms[k] for k in core),
        onward=onward[np.ix_(core, core)],
        entry=shares,
        arrival_rate=float(network.arrival_rate * coming.sum()),
        windows=tuple(
            Window(tuple(place[k] for k in w.stations), w.limit) for w in network.windows
        ),
        names=tuple(network.called[k] for k in core),
    )


def outer_rates(network: BlockingNetwork, segments: Segments, leaving: FloatArray) -> FloatArray:
    """Arrival rates at the stations outside the core, from the core's departures [1/s].

    Parameters
    ----------
    network, segments
        The network and its `segments_of`.
    leaving
        Throughput of each station of the core [1/s].

    Returns
    -------
    Shape (stations,), with throughputs for stations in the core.
    """
    onward = np.asarray(network.onward)
    rates = network.arrival_rate * network.visits
    rates[segments.core] = leaving
    after, others = segments.downstream, np.concatenate([segments.upstream, segments.core])
    coming = network.arrival_rate * np.asarray(network.entry)[after]
    coming = coming + rates[others] @ onward[np.ix_(others, after)]
    away = np.eye(after.size) - onward[np.ix_(after, after)].T
    rates[after] = np.linalg.solve(away, coming)
    return rates
