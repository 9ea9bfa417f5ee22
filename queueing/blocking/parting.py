"""An open network parted: what comes before its blocking stations, these, and what comes after."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.blocking.network import BlockingNetwork, Window


@dataclass(frozen=True)
class Parts:
    """An open network in three.

    Parameters
    ----------
    core
        Stations that are blocked, block, or are in a region, and those on ways between them;
        positions. Nothing of it comes to `before`, and what leaves `after` does not come back.
    before, after
        The others.
    """

    core: NDArray[np.intp]
    before: NDArray[np.intp]
    after: NDArray[np.intp]


def parts_of(network: BlockingNetwork) -> Parts:
    """Part an open network.

    What comes to the core from stations with a product form before it is Poisson, so that each
    part is solved by itself.

    Examples
    --------
    >>> from headway.queueing.blocking.network import Room
    >>> line = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
    >>> rooms, first = (Room(0.1), Room(0.1), Room(0.1)), np.array([1.0, 0.0, 0.0])
    >>> three = BlockingNetwork(rooms, line, first, 1.0, windows=(Window((1,), 2),))
    >>> parts = parts_of(three)
    >>> parts.before.tolist(), parts.core.tolist(), parts.after.tolist()
    ([0], [1], [2])
    """
    rooms, ways = network.rooms, np.asarray(network.onward) > 0
    seeds = np.array([r.finite or network.window_of(k) is not None for k, r in enumerate(rooms)])
    for k in (k for k, room in enumerate(rooms) if room.finite):
        seeds |= ways[:, k]
    reach = _reach(ways)
    reached, reaching = reach[seeds].any(axis=0), reach[:, seeds].any(axis=1)
    core = seeds | (reached & reaching)
    return Parts(
        np.flatnonzero(core), np.flatnonzero(~core & ~reached), np.flatnonzero(~core & reached)
    )


def _reach(ways: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """From which station each can be come to, in any number of steps and in none."""
    reach = ways | np.eye(len(ways), dtype=bool)
    while True:
        further = (reach.astype(float) @ reach) > 0
        if (further == reach).all():
            return reach
        reach = further


def core_of(network: BlockingNetwork, parts: Parts) -> BlockingNetwork:
    """The core as a separate network, with its arrivals."""
    core, visits = parts.core, network.visits
    onward, entry = np.asarray(network.onward), np.asarray(network.entry)
    coming = entry[core] + visits[parts.before] @ onward[np.ix_(parts.before, core)]
    coming = np.where(coming > 1e-15, coming, 0.0)
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


def rates_around(network: BlockingNetwork, parts: Parts, leaving: FloatArray) -> FloatArray:
    """Arrival rates at the stations around the core, by what leaves the core's [1/s].

    Parameters
    ----------
    network, parts
        By `parts_of`.
    leaving
        Jobs that leave each station of the core [1/s].

    Returns
    -------
    Shape (stations,); those of the core as they leave.
    """
    onward = np.asarray(network.onward)
    rates = network.arrival_rate * network.visits
    rates[parts.core] = leaving
    after, others = parts.after, np.concatenate([parts.before, parts.core])
    coming = network.arrival_rate * np.asarray(network.entry)[after]
    coming = coming + rates[others] @ onward[np.ix_(others, after)]
    away = np.eye(after.size) - onward[np.ix_(after, after)].T
    rates[after] = np.linalg.solve(away, coming)
    return rates
