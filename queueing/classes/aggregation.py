"""Stations in order of arrival or random order, solved in isolation; and whole Markov chains.

For an isolated station the rest of the network is the time between two visits of a job, taken as
exponential with the mean from approximate mean value analysis: aggregation and decomposition. It is
exact if jobs only think and visit one queue, as that is the whole chain.
"""

import numpy as np

from headway.queueing.classes.answers import answered
from headway.queueing.classes.fcfs import is_spread
from headway.queueing.classes.lengths import Lengths
from headway.queueing.classes.ordered import check_fits, priorities, priority_label, starved
from headway.queueing.classes.priority_networks import priority_network_of, within_capacity
from headway.queueing.classes.whole import most_states, whole_chain
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.overload import find_overload, refuse_overload
from headway.queueing.network.product_form import ranked, turns_at, unequal
from headway.queueing.network.result import Result
from headway.queueing.orders.isolated import (
    MOST_TOGETHER,
    between,
    busy_stations,
    is_exact,
    solve_isolated,
)
from headway.queueing.orders.measured import turns_note
from headway.queueing.orders.mva import ordered_mva

MOST_TURNS = 4_000
"""Most states of all stations of a network in order of arrival that is solved station by station.

It affects speed only: larger networks are left to mean value analysis, with its own label.
"""


def by_chain(network: Network) -> Result | None:
    """Solve closed classes state by state, up to the number of states allowed when asked for."""
    return _chain(network, most_states(Method.CHAIN))


def by_chain_unasked(network: Network) -> Result | None:
    """Solve closed classes state by state if that takes some 30 ms a point; otherwise None."""
    return _chain(network, most_states(Method.AUTO))


def _chain(network: Network, most: int) -> Result | None:
    solved = None if network.has_open else whole_chain(network, most)
    if solved is None:
        return _one_queue(network)
    visits = np.where(network.visits > 0, network.visits, 1.0)
    rate = np.where(network.visits > 0, solved.throughput / visits, 0.0).max(axis=1)
    alone = np.ones(network.servers.shape)
    found = Lengths(Method.CHAIN, "", rate, solved.queue_length, alone)
    return answered(network, find_overload(network), found)


def _one_queue(network: Network) -> Result | None:
    """Solve the chain of the only queue that jobs visit between thinking."""
    return aggregated(network, Method.CHAIN) if is_one_queue(network) else None


def one_queue(network: Network) -> str:
    """Say that the only queue is solved exactly by its chain; empty for other networks."""
    if not is_one_queue(network):
        return ""
    return "all jobs only think and come to one queue, which is solved exactly; use method chain"


def is_one_queue(network: Network) -> bool:
    """Whether jobs only think and visit one queue in order, so that its states are all there is."""
    in_turn = ranked(network).any() or unequal(network).any()
    plain = not network.speeds and not is_spread(network)
    return bool(in_turn and plain and is_exact(priority_network_of(network)))


def aggregated(network: Network, method: Method = Method.AGGREGATION) -> Result | None:
    """Solve stations state by state in isolation; None if they have too many states."""
    if ranked(network).any():
        return _by_priority(network, method)
    overload = find_overload(network)
    spread = is_spread(network) or network.speeds
    if spread or overload.message:
        return None
    crossing = priority_network_of(network)
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
    rest = local if exact else within_capacity(network, between(crossing, local, start))
    note = "" if exact else turns_note(turns_at(network))
    closed = ~network.is_open
    queue = rest.rate[:, None] * network.visits * rest.stay
    alone = np.ones(network.servers.shape)
    found = Lengths(method, note, rest.rate[closed], queue[closed], alone, open_stay=rest.stay)
    return answered(network, overload, found)


def _by_priority(network: Network, method: Method) -> Result | None:
    """Solve stations with priorities state by state in isolation."""
    overload = find_overload(network)
    refuse_overload(overload)
    crossing = priority_network_of(network)
    start, shares = ordered_mva(crossing)
    check_fits(network, start.stay)
    stations = busy_stations(crossing, MOST_TOGETHER)
    local = None if stations is None else solve_isolated(crossing, stations, shares, start)
    if local is None:
        return None
    if is_exact(crossing):
        return priorities(network, overload, method, "", local)
    rest = within_capacity(network, local)
    note = priority_label(network, closed=True, local=True, starved=starved(network, rest.rate))
    return priorities(network, overload, method, note, rest)
