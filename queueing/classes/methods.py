"""The ways to solve the closed classes of a network, beside its open ones."""

from dataclasses import replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.classes.approximate import approximated, by_station
from headway.queueing.classes.fcfs import refuse_unmeasured
from headway.queueing.classes.lattice import convolution_bytes, lattice_bytes
from headway.queueing.classes.lattice_convolution import Speeds, lattice_convolution
from headway.queueing.classes.lattice_mva import lattice_mva
from headway.queueing.classes.lengths import (
    Lengths,
    free_share,
    queueing_demands,
    thinking,
    with_delays,
)
from headway.queueing.classes.whole import MOST_REQUESTED, most_states, whole_chain
from headway.queueing.closed.approximate import Closed, schweitzer
from headway.queueing.closed.memory import LARGEST
from headway.queueing.closed.pools import closed_rates
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.product_form import unequal, without_form
from headway.queueing.recursion.crowds import solve_groups
from headway.queueing.recursion.estimates import (
    SOLVERS,
    Estimate,
    cheapest,
    estimate,
    estimate_convolution,
    estimate_walk,
    refuse_large,
    soonest,
)
from headway.queueing.stations.speeds.varying import growth_at

_Given = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

FEW = 10_000
"""Populations up to which pools are solved exactly also where an approximation is asked for."""


def solve_closed_classes(network: Network, load: FloatArray, method: Method) -> Lengths:
    """Solve the closed classes of a network.

    Parameters
    ----------
    network
        Stations and classes, at least one of them closed.
    load
        Servers that open classes hold, shape (stations, points).
    method
        As for `headway.queueing.solve_multiclass`.

    Raises
    ------
    GraphError
        For closed classes of different times at a queue in order of arrival.
    InvalidParameter
        For a lattice of populations too large for an exact method.
    """
    in_order = np.any(unequal(network), axis=0)
    none = without_form(network).any()
    if method is Method.CHAIN or (none and not method.approximate):
        whole = by_chain(network, method)
        if whole is not None:
            return whole
    refuse_unmeasured(network, without_form(network))
    if in_order.any() and not in_order.all():
        return _in_two_parts(network, load, method, in_order)
    alone = by_station(network, load) if in_order.any() and method is Method.AUTO else None
    return alone or _by_product_form(network, load, method)


def _by_product_form(network: Network, load: FloatArray, method: Method) -> Lengths:
    """Solve by what holds for product forms, or nearly without one."""
    used = _choose(network, load, method)
    if used.approximate:
        return approximated(network, load, used)
    if used in SOLVERS and not network.is_crowd.any():
        return _by_recursion(network, load, used)
    walks = used is Method.EXACT and not network.is_crowd.any()
    needed = _walk_needs(network) if walks else _convolution_needs(network)
    if needed.memory <= LARGEST:  # else it says itself how many populations there are
        refuse_large(Method.EXACT if walks else Method.CONVOLUTION, needed)
    return _by_mva(network, load) if walks else _by_convolutions(network, load)


def by_chain(network: Network, method: Method) -> Lengths | None:
    """Solve all points state by state if possible; refuse if requested and impossible.

    Raises
    ------
    GraphError
        For method ``chain`` where it cannot be.
    """
    solved = whole_chain(network, most_states(method))
    if solved is not None:
        visits = np.where(network.visits > 0, network.visits, 1.0)
        rate = np.where(network.visits > 0, solved.throughput / visits, 0.0).max(axis=1)
        return Lengths(Method.CHAIN, "", rate, solved.queue_length, np.ones(network.servers.shape))
    if method is Method.CHAIN:
        msg = (
            "method chain enumerates all states: it needs closed classes with routes, services "
            f"that take time, and {MOST_REQUESTED} states at most; use method auto"
        )
        raise GraphError(msg)
    return None


def _in_two_parts(
    network: Network, load: FloatArray, method: Method, in_order: NDArray[np.bool_]
) -> Lengths:
    """Solve the points that have a product form, as they would be alone, and those that have none.

    The answer is called what those are that have none.
    """
    first, second = np.flatnonzero(in_order), np.flatnonzero(~in_order)
    one, two = (solve_closed_classes(network.at(p), load[:, p], method) for p in (first, second))
    back = np.argsort(np.concatenate([first, second]))

    def joined(name: str) -> FloatArray:
        parts = [getattr(one, name), getattr(two, name)]
        return np.asarray(np.concatenate(parts, axis=-1)[..., back])

    rate, queue, growth = map(joined, ("throughput", "queue_length", "open_growth"))
    stay = None
    if one.open_stay is not None:
        two = replace(two, open_stay=network.at(second).service_times * two.open_growth)
        stay = joined("open_stay")
    return Lengths(one.method, one.approximation, rate, queue, growth, open_stay=stay)


def growth_alone(network: Network, load: FloatArray) -> FloatArray:
    """Response over service time of open classes alone: 1 + C(m, u) / (m - u).

    Parameters
    ----------
    load
        Servers u that they hold, shape (stations, points).
    """
    growth = np.ones(load.shape)
    for k in np.flatnonzero(~network.is_delay).tolist():
        if k in network.speeds:
            growth[k] = growth_at(network.speeds[k], load[k])
        elif network.is_pool[k]:
            waits = erlang_c(network.servers[k], load[k])
            growth[k] = 1 + waits / (network.servers[k] - load[k])
        else:
            growth[k] = 1 / (1 - load[k] / network.servers[k])
    return growth


def _choose(network: Network, load: FloatArray, method: Method) -> Method:
    """Take an exact method where nothing speaks against it, also for crowds that are small."""
    if unequal(network).any():
        return _without_product_form(network, method)
    if method.approximate and network.is_crowd.any() and prod(_sizes(network)) <= FEW:
        return Method.CONVOLUTION
    if method is Method.AUTO:
        method = _soonest(network, load)
    if method.approximate and network.speeds:
        return Method.CONVOLUTION  # which says what memory or time it would need
    return method


def _soonest(network: Network, load: FloatArray) -> Method:
    """Name the exact method that takes least time; the Linearizer where each takes too much.

    A convolution is for pools and other speeds, and for one class alone, whose populations it need
    not walk one by one.
    """
    needed = {}
    if network.is_crowd.any() or len(_sizes(network)) == 1:
        needed[Method.CONVOLUTION] = _convolution_needs(network)
    if network.is_crowd.any():
        return soonest(needed)
    needed[Method.EXACT] = _walk_needs(network)
    return cheapest(needed, *_single(network, load))


def _sizes(network: Network) -> list[int]:
    """N_c + 1 of each closed class, the largest of all points."""
    return [int(n) + 1 for n in network.population[~network.is_open].max(axis=1)]


def _walk_needs(network: Network) -> Estimate:
    closed = ~network.is_open
    memory = lattice_bytes(_sizes(network), len(network.stations), network.population.shape[1])
    return estimate_walk(memory, network.demand[closed], network.population[closed])


def _convolution_needs(network: Network) -> Estimate:
    """Estimate it with each of the parallel queues as a station of its own."""
    sizes, points = _sizes(network), network.population.shape[1]
    queues = np.where(network.is_delay[:, None], 0, network.queues).max(axis=1)
    memory = convolution_bytes(sizes, int(queues.sum()), points)
    lengths = float((queues * _lengths(network)).sum())
    return estimate_convolution(memory, sizes, int(queues.sum()), lengths, points)


def _lengths(network: Network) -> FloatArray:
    """Speeds of each station until the last that closed jobs, and one more, come to."""
    jobs = max(int(network.population.sum(axis=0).max()), 1) + 1
    each = (network.servers / network.queues).max(axis=1)
    for k, speeds in network.speeds.items():
        each[k] = len(speeds)
    return np.minimum(np.where(network.is_delay, 1.0, each), jobs)


def _without_product_form(network: Network, method: Method) -> Method:
    unlike = unequal(network).any(axis=1)
    if method is not Method.AUTO and not method.approximate:
        name = network.stations[int(unlike.argmax())].name
        msg = (
            f"{name}: closed classes with different service times, first come first served, have "
            'no product form; use method linearizer, discipline "ps", or one service time'
        )
        raise GraphError(msg)
    if network.speeds:
        name, other = (network.stations[int(k.argmax())].name for k in (network.is_varying, unlike))
        msg = (
            f"{name}: speeds by number present are solved exactly only, and {other}, first come "
            'first served with different service times, is not; use discipline "ps" there'
        )
        raise GraphError(msg)
    return Method.LINEARIZER if method is Method.AUTO else method


def _single(network: Network, load: FloatArray) -> _Given:
    """Demands, queues, think times and populations of closed classes at single servers."""
    population, demand = network.population[~network.is_open], queueing_demands(network)
    return demand / free_share(network, load), network.queues, thinking(network), population


def _by_mva(network: Network, load: FloatArray) -> Lengths:
    return _grown(network, load, Method.EXACT, *lattice_mva(*_single(network, load)))


def _by_recursion(network: Network, load: FloatArray, method: Method) -> Lengths:
    given = _single(network, load)
    refuse_large(method, estimate(method, *given))
    return _grown(network, load, method, *solve_groups(SOLVERS[method], *given))


def _grown(
    network: Network, load: FloatArray, method: Method, rate: FloatArray, queue: FloatArray
) -> Lengths:
    growth = (1 + queue.sum(axis=0) / network.queues) / free_share(network, load)
    growth = np.where(network.is_delay[:, None], 1.0, growth)
    return Lengths(method, "", rate, with_delays(network, rate, queue), growth)


def _by_convolutions(network: Network, load: FloatArray) -> Lengths:
    """Convolve the points of each set of numbers of servers together."""
    _, group = distinct_columns(network.servers)
    rate, queue = np.zeros(network.demand.shape)[:, 0], np.zeros(network.demand.shape)
    rate, queue = rate[~network.is_open], queue[~network.is_open]
    growth, working = np.ones(load.shape), (np.zeros(queue.shape), np.zeros(load.shape))
    for number in range(int(group.max()) + 1):
        points = np.flatnonzero(group == number)
        part = _by_convolution(network.at(points), load[:, points])
        rate[:, points], queue[..., points] = part.throughput, part.queue_length
        growth[:, points] = part.open_growth
        for whole, own in zip(working, part.working or (), strict=False):
            whole[..., points] = own
    return Lengths(Method.CONVOLUTION, "", rate, queue, growth, working)


def _by_convolution(network: Network, load: FloatArray) -> Lengths:
    """Convolve, each of the parallel queues as a station of its own."""
    closed = ~network.is_open
    demand = network.demand[closed]
    which, speeds, taken, share = convolution_stations(network, load)
    crews = {row: network.crews[k] for row, k in enumerate(which) if k in network.crews}
    convolved = lattice_convolution(
        Speeds(
            demand[:, which] / share,
            speeds,
            taken,
            thinking(network),
            network.population[closed],
            _guess(network, load),
            crews,
        )
    )
    queue, growth = np.zeros(demand.shape), np.ones(load.shape)
    working, open_working = np.zeros(demand.shape), np.zeros(load.shape)
    for row, k in enumerate(which):
        queue[:, k] += convolved.queue_length[:, row]
        growth[k] = convolved.open_growth[row]
        working[:, k], open_working[k] = convolved.working[:, row], convolved.open_working[row]
    growth = np.where(queue.sum(axis=0) > 0, growth, growth_alone(network, load))
    rate = convolved.throughput
    queue = with_delays(network, rate, queue)
    return Lengths(Method.CONVOLUTION, "", rate, queue, growth, (working, open_working))


def _guess(network: Network, load: FloatArray) -> FloatArray:
    """Throughputs as if each station were one server of the speed that it has when full."""
    full = np.where(network.is_crowd[:, None], network.fastest, 1.0)
    free = np.where(network.is_delay[:, None], 1.0, 1 - load / network.full)
    population = network.population[~network.is_open]
    demand, still = queueing_demands(network) / full, thinking(network)
    near = schweitzer(Closed(demand, network.queues, still, population, free))
    return np.maximum(near.rate, 1e-300)


def convolution_stations(
    network: Network, load: FloatArray
) -> tuple[list[int], tuple[FloatArray, ...], FloatArray, FloatArray]:
    """Queues of the convolution, parallel ones separately.

    Servers beyond the number of closed jobs are never used by these: where open classes use some,
    what they leave closed jobs is a speed for each number of these, one more of which tells how
    many open jobs are there beside the last.

    Returns
    -------
    The station of each, its speeds, what open classes take of those, its share of the station.
    """
    copies = np.where(network.is_delay, 0, network.queues[:, 0]).astype(int)
    which = np.repeat(np.arange(len(copies)), copies).tolist()
    jobs = max(int(network.population.sum(axis=0).max()), 1)
    share = copies[which, None].astype(float)
    taken = load[which] / share
    speeds = []
    for row, k in enumerate(which):
        many = float(network.servers[k, 0] // copies[k])
        if k in network.speeds:
            speeds.append(network.speeds[k] if taken[row].any() else network.speeds[k][:jobs])
        elif taken[row].any():
            several = np.full(len(taken[row]), many)
            speeds.append(closed_rates(several, taken[row], int(min(many, jobs + 1))))
            taken[row] = 0.0
        else:
            speeds.append(np.arange(1.0, 1 + min(many, jobs))[:, None])
    points = network.servers.shape[1]
    laid = tuple(np.broadcast_to(each, (len(each), points)) for each in speeds)
    return which, laid, taken, share
