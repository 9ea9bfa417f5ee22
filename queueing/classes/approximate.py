"""Closed classes by approximate mean value analysis, and by stations one by one."""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.classes.crossings import crossing_of, fitting
from headway.queueing.classes.fcfs import apart, is_spread
from headway.queueing.classes.lengths import (
    Lengths,
    free_share,
    queueing_demands,
    thinking,
    with_delays,
)
from headway.queueing.closed.approximate import Closed, Ordered, linearizer, schweitzer
from headway.queueing.closed.fixed_point import State
from headway.queueing.closed.measured import closed_note
from headway.queueing.closed.pools import closed_rates
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.product_form import turns_at, unequal
from headway.queueing.orders.capacity import ClassDemands, longer_waits
from headway.queueing.orders.isolated import (
    between,
    busy_stations,
    is_exact,
    solve_isolated,
)
from headway.queueing.orders.measured import turns_note
from headway.queueing.orders.mva import ordered_mva

MOST_TURNS = 4_000
"""States of all stations up to which a network in order of arrival is solved station by station."""


def approximated(network: Network, load: FloatArray, method: Method) -> Lengths:
    """Solve all points by Linearizer or Schweitzer's approximation.

    Parameters
    ----------
    network, load
        The whole, and servers that open classes hold, shape (stations, points).
    method
        Which of the two.
    """
    arrays = _arrays(network, load)
    state = schweitzer(arrays) if method is Method.SCHWEITZER else linearizer(arrays)
    state = _within_capacity(network, arrays, load, state)
    growth = np.where(network.is_delay[:, None], 1.0, arrays.growth(state))
    queue = with_delays(network, state.rate, state.queue)
    spread = network.scv is not None
    pools = bool(network.is_pool.any())
    turns, far = turns_at(network), apart(network)
    note = closed_note(method, pools=pools, in_order=turns, spread=spread, apart=far)
    return Lengths(method, note, state.rate, queue, growth)


def _within_capacity(network: Network, arrays: Closed, load: FloatArray, state: State) -> State:
    """Let jobs wait longer where a station would be busier than it can be."""
    some = np.maximum(state.rate, 1e-300)
    waits = unequal(network) & (arrays.demand > 0)
    weight = np.where(waits, network.visits[~network.is_open], arrays.demand)
    room = np.where(network.is_delay[:, None], np.inf, network.servers - load)
    demands = ClassDemands(arrays.population, arrays.population / some, arrays.demand, weight, room)
    longer = longer_waits(demands)
    rate, stay = demands.rate(longer), state.queue / some[:, None] + weight * longer
    kept = (longer > 0).any(axis=0)
    queue = np.where(kept, rate[:, None] * stay, state.queue)
    return State(np.where(kept, rate, state.rate), state.met, queue)


def _arrays(network: Network, load: FloatArray) -> Closed:
    """Closed classes and what open ones leave them."""
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


def by_station(network: Network, load: FloatArray) -> Lengths | None:
    """Solve stations in order of arrival or in random order state by state, each alone.

    Parameters
    ----------
    network, load
        As for `approximated`; no open class finds a full station.

    Returns
    -------
    None for times that are not exponential, speeds by number present, open classes beyond what a
    station serves, and too many states.
    """
    offered = (network.rates[:, None] * network.demand).sum(axis=0)
    spread = is_spread(network) or network.speeds
    if spread or not np.array_equal(offered, load):
        return None
    crossing = crossing_of(network)
    stations = busy_stations(crossing, MOST_TURNS)
    if stations is None:
        return None
    start, shares = ordered_mva(crossing)
    if np.isinf(start.stay).any():
        return None
    local = solve_isolated(crossing, stations, shares, start)
    if local is None:
        return None
    exact = is_exact(crossing)
    rest = local if exact else fitting(network, between(crossing, local, start))
    note = "" if exact else turns_note(turns_at(network))
    closed, method = ~network.is_open, Method.CHAIN if exact else Method.LINEARIZER
    queue = rest.rate[:, None] * network.visits * rest.stay
    return Lengths(
        method, note, rest.rate[closed], queue[closed], np.ones(load.shape), open_stay=rest.stay
    )
