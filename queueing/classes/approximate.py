"""Closed classes by approximate mean value analysis."""

from collections.abc import Callable

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.classes.fcfs import apart
from headway.queueing.classes.lengths import (
    Lengths,
    free_share,
    queueing_demands,
    thinking,
    with_delays,
)
from headway.queueing.closed.approximate import Closed, Ordered
from headway.queueing.closed.fixed_point import Iterate
from headway.queueing.closed.measured import closed_note
from headway.queueing.closed.pools import closed_rates
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.product_form import turns_at, unequal
from headway.queueing.orders.capacity import ClassDemands, longer_waits


def approximated(
    network: Network, load: FloatArray, method: Method, solver: Callable[[Closed], Iterate]
) -> Lengths:
    """Solve all points by an approximation of mean value analysis.

    Parameters
    ----------
    network, load
        The whole network, and servers that open classes hold, shape (stations, points).
    method, solver
        Name of the method, and its fixed-point solver.
    """
    arrays = _arrays(network, load)
    state = _within_capacity(network, arrays, load, solver(arrays))
    growth = np.where(network.is_delay[:, None], 1.0, arrays.growth(state))
    queue = with_delays(network, state.rate, state.queue)
    spread = network.scv is not None
    pools = bool(network.is_pool.any())
    turns = turns_at(network)
    far = apart(network) if turns else None
    note = closed_note(method, pools=pools, in_order=turns, spread=spread, apart=far)
    return Lengths(method, note, state.rate, queue, growth)


def _within_capacity(network: Network, arrays: Closed, load: FloatArray, state: Iterate) -> Iterate:
    """Lengthen waits at stations that would serve more than their capacity."""
    room = np.where(network.is_delay[:, None], np.inf, network.servers - load)
    if not ((state.rate[:, None] * arrays.demand).sum(axis=0) > room).any():
        return state
    some = np.maximum(state.rate, 1e-300)
    waits = unequal(network) & (arrays.demand > 0)
    weight = np.where(waits, network.visits[~network.is_open], arrays.demand)
    demands = ClassDemands(arrays.population, arrays.population / some, arrays.demand, weight, room)
    longer = longer_waits(demands)
    if not longer.any():
        return state
    rate, stay = demands.rate(longer), state.queue / some[:, None] + weight * longer
    kept = (longer > 0).any(axis=0)
    queue = np.where(kept, rate[:, None] * stay, state.queue)
    return Iterate(np.where(kept, rate, state.rate), state.found, queue)


def _arrays(network: Network, load: FloatArray) -> Closed:
    """The closed classes, and the capacity that open ones leave them."""
    closed = ~network.is_open
    free = free_share(network, load)
    crowded = np.flatnonzero(network.is_pool)
    jobs = max(int(network.population[closed].sum(axis=0).max()), 1)
    most = min(jobs, int(network.servers[crowded].max(initial=1)))
    rates = [closed_rates(network.servers[k], load[k], most) for k in crowded]
    return Closed(
        queueing_demands(network),
        network.queues,
        thinking(network),
        network.population[closed],
        free,
        tuple(crowded.tolist()),
        np.stack(rates, axis=1) if rates else None,
        _line(network),
    )


def _line(network: Network) -> Ordered | None:
    here, closed = unequal(network), ~network.is_open
    if not here.any():
        return None
    busy = network.rates[:, None] * network.demand
    scv = 1.0 if network.scv is None else network.scv
    rest = network.service_times * (scv - 1) / 2
    work = (busy * (network.service_times + rest)).sum(axis=0)
    times, visits = network.service_times[closed], network.visits[closed]
    return Ordered(here, times, visits, busy.sum(axis=0), work, rest[closed])
