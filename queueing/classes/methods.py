"""The ways to solve the closed classes of a network, beside its open ones."""

from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.classes.fcfs import last_in_pools, unequal
from headway.queueing.classes.lattice import convolution_bytes, lattice_bytes
from headway.queueing.classes.lattice_convolution import Speeds, lattice_convolution
from headway.queueing.classes.lattice_mva import lattice_mva
from headway.queueing.classes.network import ClassNetwork
from headway.queueing.classes.whole import MOST_ASKED, most_states, whole_chain
from headway.queueing.closed.approximate import Closed, Ordered, linearizer, schweitzer
from headway.queueing.closed.demands import Method
from headway.queueing.closed.measured import closed_note
from headway.queueing.closed.memory import LARGEST
from headway.queueing.closed.pools import closed_rates
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.recursion.crowds import solve_groups
from headway.queueing.recursion.estimates import SOLVERS, cheapest, estimate, refuse_large
from headway.queueing.stations.speeds.varying import growth_at

_Given = tuple[FloatArray, FloatArray, FloatArray, FloatArray]

FEW = 10_000
"""Populations up to which pools are solved exactly also where an approximation is asked for."""


@dataclass(frozen=True)
class Lengths:
    """Throughputs and queue lengths of closed classes.

    Parameters
    ----------
    method, approximation
        The method used and what is not exact about it.
    throughput
        Shape (closed classes, points) [1/s].
    queue_length
        Shape (closed classes, stations, points).
    open_growth
        Mean number of open jobs for each server they hold, shape (stations, points).
    alone
        Of stations that wake up: the chance that nobody is there, shape (stations, points), and
        that one closed job of a class is and nobody else, shape as `queue_length`.
    """

    method: Method
    approximation: str
    throughput: FloatArray
    queue_length: FloatArray
    open_growth: FloatArray
    alone: tuple[FloatArray, FloatArray] | None = None

    @classmethod
    def without_jobs(cls, open_growth: FloatArray) -> "Lengths":
        """Give those of a network without closed classes."""
        none = np.zeros((0, *open_growth.shape))
        return cls(Method.EXACT, "", none[:, 0], none, open_growth)


def solve_closed_classes(network: ClassNetwork, load: FloatArray, method: Method) -> Lengths:
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
    in_order = unequal(network).any(axis=0)
    none = in_order.any() or last_in_pools(network)
    if method is Method.CHAIN or (none and not method.approximate):
        whole = by_chain(network, method)
        if whole is not None:
            return whole
    if in_order.any() and not in_order.all():
        return _in_two_parts(network, load, method, in_order)
    used = _choose(network, load, method)
    if used in SOLVERS and not network.is_crowd.any():
        return _by_recursion(network, load, used)
    if used is Method.EXACT and not network.is_crowd.any():
        return _by_mva(network, load)
    if not used.approximate:
        return _by_convolutions(network, load)
    return _approximated(network, load, used)


def by_chain(network: ClassNetwork, method: Method) -> Lengths | None:
    """Solve all points state by state where that is possible; refuse if it is asked for and not.

    Raises
    ------
    GraphError
        For method ``chain`` where it cannot be.
    """
    found = whole_chain(network, most_states(method))
    if found is not None:
        visits = np.where(network.visits > 0, network.visits, 1.0)
        rate = np.where(network.visits > 0, found.throughput / visits, 0.0).max(axis=1)
        return Lengths(Method.CHAIN, "", rate, found.queue_length, np.ones(network.servers.shape))
    if method is Method.CHAIN:
        msg = (
            "method chain goes through all states: it needs closed classes with routes, services "
            f"that take time, and {MOST_ASKED} states at most; use method auto"
        )
        raise GraphError(msg)
    return None


def _in_two_parts(
    network: ClassNetwork, load: FloatArray, method: Method, in_order: NDArray[np.bool_]
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
    return Lengths(one.method, one.approximation, rate, queue, growth)


def growth_alone(network: ClassNetwork, load: FloatArray) -> FloatArray:
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


def _choose(network: ClassNetwork, load: FloatArray, method: Method) -> Method:
    """Take an exact method where nothing speaks against it, also for crowds that are small."""
    sizes = [int(n) + 1 for n in network.population[~network.is_open].max(axis=1)]
    if unequal(network).any():
        return _without_product_form(network, method)
    if method.approximate and network.is_crowd.any() and prod(sizes) <= FEW:
        return Method.CONVOLUTION
    if method is Method.AUTO:
        needed = _bytes(network, sizes)
        if not network.is_crowd.any():
            return cheapest(needed, *_single(network, load))
        method = Method.EXACT if needed <= LARGEST else Method.LINEARIZER
    if method.approximate and network.speeds:
        return Method.CONVOLUTION  # which says what memory it would need
    return method


def _bytes(network: ClassNetwork, sizes: list[int]) -> float:
    """Memory of the lattice, each of the parallel queues being a station of a convolution."""
    points = network.population.shape[1]
    if not network.is_crowd.any():
        return lattice_bytes(sizes, len(network.stations), points)
    queues = np.where(network.is_delay[:, None], 0, network.queues).max(axis=1)
    return convolution_bytes(sizes, int(queues.sum()), points)


def _without_product_form(network: ClassNetwork, method: Method) -> Method:
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


def _still(network: ClassNetwork) -> FloatArray:
    """Time of closed classes without queueing, thinking and at delays."""
    closed, rest = ~network.is_open, network.is_delay[:, None]
    resting = np.where(rest, network.demand[closed], 0.0).sum(axis=1)
    return np.asarray(network.think_time[closed] + resting)


def _queueing(network: ClassNetwork) -> FloatArray:
    """Demands of closed classes where they queue."""
    return np.where(network.is_delay[:, None], 0.0, network.demand[~network.is_open])


def _with_delays(network: ClassNetwork, rate: FloatArray, queue: FloatArray) -> FloatArray:
    """Fill in the numbers at delays, X D."""
    resting = rate[:, None] * network.demand[~network.is_open]
    return np.where(network.is_delay[:, None], resting, queue)


def _free(network: ClassNetwork, load: FloatArray) -> FloatArray:
    """Share of a server that open classes leave, shape (stations, points)."""
    return np.where(network.is_delay[:, None], 1.0, 1 - load / network.servers)


def _single(network: ClassNetwork, load: FloatArray) -> _Given:
    """Demands, queues, think times and populations of closed classes at single servers."""
    population, demand = network.population[~network.is_open], _queueing(network)
    return demand / _free(network, load), network.queues, _still(network), population


def _by_mva(network: ClassNetwork, load: FloatArray) -> Lengths:
    return _grown(network, load, Method.EXACT, *lattice_mva(*_single(network, load)))


def _by_recursion(network: ClassNetwork, load: FloatArray, method: Method) -> Lengths:
    given = _single(network, load)
    refuse_large(method, estimate(method, *given))
    return _grown(network, load, method, *solve_groups(SOLVERS[method], *given))


def _grown(
    network: ClassNetwork, load: FloatArray, method: Method, rate: FloatArray, queue: FloatArray
) -> Lengths:
    growth = (1 + queue.sum(axis=0) / network.queues) / _free(network, load)
    growth = np.where(network.is_delay[:, None], 1.0, growth)
    return Lengths(method, "", rate, _with_delays(network, rate, queue), growth)


def _approximated(network: ClassNetwork, load: FloatArray, method: Method) -> Lengths:
    arrays = _arrays(network, load)
    state = schweitzer(arrays) if method is Method.SCHWEITZER else linearizer(arrays)
    growth = np.where(network.is_delay[:, None], 1.0, arrays.growth(state))
    queue = _with_delays(network, state.rate, state.queue)
    in_order = unequal(network).any(axis=1)
    names = [s.name for s, k in zip(network.stations, in_order, strict=True) if k]
    spread = network.scv is not None
    pools = bool(network.is_pool.any())
    note = closed_note(method, pools=pools, in_order=names, spread=spread)
    return Lengths(method, note, state.rate, queue, growth)


def _arrays(network: ClassNetwork, load: FloatArray) -> Closed:
    """Closed classes and what open ones leave them."""
    closed = ~network.is_open
    free = _free(network, load)
    crowded = np.flatnonzero(network.is_pool)
    jobs = max(int(network.population[closed].sum(axis=0).max()), 1)
    most = min(jobs, int(network.servers[crowded].max(initial=1)))
    rates = [closed_rates(network.servers[k], load[k], most) for k in crowded]
    return Closed(
        _queueing(network),
        network.queues,
        _still(network),
        network.population[closed],
        free,
        tuple(crowded.tolist()),
        np.stack(rates, axis=1) if rates else None,
        _line(network),
    )


def _line(network: ClassNetwork) -> Ordered | None:
    here, closed = unequal(network), ~network.is_open
    if not here.any():
        return None
    held = network.rates[:, None] * network.demand
    scv = 1.0 if network.scv is None else network.scv
    rest = network.service_times * (scv - 1) / 2
    work = (held * (network.service_times + rest)).sum(axis=0)
    times, visits = network.service_times[closed], network.visits[closed]
    return Ordered(here, times, visits, held.sum(axis=0), work, rest[closed])


def _by_convolutions(network: ClassNetwork, load: FloatArray) -> Lengths:
    """Convolve the points of each set of numbers of servers together."""
    _, group = np.unique(network.servers, axis=1, return_inverse=True)
    rate, queue = np.zeros(network.demand.shape)[:, 0], np.zeros(network.demand.shape)
    rate, queue = rate[~network.is_open], queue[~network.is_open]
    growth, empty, single = np.ones(load.shape), np.ones(load.shape), np.zeros(queue.shape)
    for number in range(int(group.max()) + 1):
        points = np.flatnonzero(group == number)
        part = _by_convolution(network.at(points), load[:, points])
        rate[:, points], queue[..., points] = part.throughput, part.queue_length
        growth[:, points] = part.open_growth
        if part.alone:
            empty[:, points], single[..., points] = part.alone
    return Lengths(Method.CONVOLUTION, "", rate, queue, growth, (empty, single))


def _by_convolution(network: ClassNetwork, load: FloatArray) -> Lengths:
    """Convolve, each of the parallel queues as a station of its own."""
    closed = ~network.is_open
    demand = network.demand[closed]
    which, speeds, taken, share = convolution_stations(network, load)
    watched = tuple(row for row, k in enumerate(which) if network.stations[k].wakes)
    convolved = lattice_convolution(
        Speeds(
            demand[:, which] / share,
            speeds,
            taken,
            _still(network),
            network.population[closed],
            _guess(network, load),
            watched,
        )
    )
    queue, growth = np.zeros(demand.shape), np.ones(load.shape)
    empty, single = np.zeros(load.shape), np.zeros(demand.shape)
    for row, k in enumerate(which):
        queue[:, k] += convolved.queue_length[:, row]
        growth[k] = convolved.open_growth[row]
        empty[k], single[:, k] = convolved.empty[row], convolved.single[:, row]
    growth = np.where(queue.sum(axis=0) > 0, growth, growth_alone(network, load))
    rate = convolved.throughput
    queue = _with_delays(network, rate, queue)
    return Lengths(Method.CONVOLUTION, "", rate, queue, growth, (empty, single))


def _guess(network: ClassNetwork, load: FloatArray) -> FloatArray:
    """Throughputs as if each station were one server of the speed that it has when full."""
    full = np.where(network.is_crowd[:, None], network.fastest, 1.0)
    free = np.where(network.is_delay[:, None], 1.0, 1 - load / network.full)
    population = network.population[~network.is_open]
    demand, still = _queueing(network) / full, _still(network)
    near = schweitzer(Closed(demand, network.queues, still, population, free))
    return np.maximum(near.rate, 1e-300)


def convolution_stations(
    network: ClassNetwork, load: FloatArray
) -> tuple[list[int], tuple[FloatArray, ...], FloatArray, FloatArray]:
    """Queues of the convolution, each of parallel ones by itself.

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
            speeds.append(closed_rates(several, taken[row], jobs + 1))
            taken[row] = 0.0
        else:
            speeds.append(np.arange(1.0, 1 + min(many, jobs))[:, None])
    points = network.servers.shape[1]
    laid = tuple(np.broadcast_to(each, (len(each), points)) for each in speeds)
    return which, laid, taken, share
