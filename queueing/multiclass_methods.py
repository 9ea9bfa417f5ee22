"""The ways to solve the closed classes of a network, beside its open ones."""

from dataclasses import dataclass

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.approximate import Closed, linearizer, schweitzer
from headway.queueing.centres import Method
from headway.queueing.classes import ClassNetwork
from headway.queueing.erlang import erlang_c
from headway.queueing.fcfs import unequal
from headway.queueing.lattice import LARGEST, lattice_bytes
from headway.queueing.lattice_convolution import Pools, lattice_convolution
from headway.queueing.lattice_mva import lattice_mva

_POOL_NOTE = "; m servers by Seidmann's fast server and delay"


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
    """

    method: Method
    approximation: str
    throughput: FloatArray
    queue_length: FloatArray
    open_growth: FloatArray

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
        Centres and classes, at least one of them closed.
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
    _check_discipline(network)
    used = _choose(network, method)
    if used is Method.EXACT and not network.is_pool.any():
        return _by_mva(network, load)
    if used in {Method.EXACT, Method.CONVOLUTION}:
        return _by_convolutions(network, load)
    return _approximated(network, load, used)


def _check_discipline(network: ClassNetwork) -> None:
    unlike = unequal(network).any(axis=1)
    if unlike.any():
        name = network.centres[int(unlike.argmax())].name
        msg = (
            f"{name}: closed classes with different service times, first come first served, "
            f'have no product form; use discipline "ps" or one service time'
        )
        raise GraphError(msg)


def growth_alone(network: ClassNetwork, load: FloatArray) -> FloatArray:
    """Response over service time of open classes alone: 1 + C(m, u) / (m - u).

    Parameters
    ----------
    load
        Servers u that they hold, shape (stations, points).
    """
    growth = np.ones(load.shape)
    for k in np.flatnonzero(~network.is_delay):
        if network.is_pool[k]:
            waits = erlang_c(network.servers[k], load[k])
            growth[k] = 1 + waits / (network.servers[k] - load[k])
        else:
            growth[k] = 1 / (1 - load[k] / network.servers[k])
    return growth


def _choose(network: ClassNetwork, method: Method) -> Method:
    if method is not Method.AUTO:
        return method
    population = network.population[~network.is_open]
    sizes = [int(n) + 1 for n in population.max(axis=1)]
    needed = lattice_bytes(sizes, len(network.centres), population.shape[1])
    return Method.EXACT if needed <= LARGEST else Method.LINEARIZER


def _arrays(network: ClassNetwork, load: FloatArray) -> tuple[Closed, FloatArray]:
    """Closed classes among single servers slowed down by open ones, and the pools' delays."""
    closed, still = ~network.is_open, network.is_delay[:, None]
    demand = network.demand[closed]
    think = network.think_time[closed] + np.where(still, demand, 0.0).sum(axis=1)
    fast = np.where(network.is_pool[:, None], network.servers, 1.0)
    extra = demand * (1 - 1 / fast)
    free = np.where(still, 1.0, 1 - load / network.servers)
    slowed = np.where(still, 0.0, demand / fast / free)
    arrays = Closed(
        slowed,
        network.queues,
        think + extra.sum(axis=1),
        network.population[closed],
    )
    return arrays, extra


def _with_delays(network: ClassNetwork, rate: FloatArray, queue: FloatArray) -> FloatArray:
    """Fill in the numbers at delays, X D."""
    resting = rate[:, None] * network.demand[~network.is_open]
    return np.where(network.is_delay[:, None], resting, queue)


def _by_mva(network: ClassNetwork, load: FloatArray) -> Lengths:
    arrays, _ = _arrays(network, load)
    rate, queue = lattice_mva(arrays.demand, arrays.queues, arrays.think_time, arrays.population)
    grown = (1 + queue.sum(axis=0) / network.queues) / (1 - load / network.servers)
    growth = np.where(network.is_delay[:, None], 1.0, grown)
    return Lengths(Method.EXACT, "", rate, _with_delays(network, rate, queue), growth)


def _approximated(network: ClassNetwork, load: FloatArray, method: Method) -> Lengths:
    arrays, extra = _arrays(network, load)
    solver = schweitzer if method is Method.SCHWEITZER else linearizer
    rate, queue = solver(arrays)
    name = "Bard-Schweitzer" if method is Method.SCHWEITZER else "Linearizer"
    note = f"{name} approximate mean value analysis" + _POOL_NOTE * bool(network.is_pool.any())
    queue = _with_delays(network, rate, queue + rate[:, None] * extra)
    return Lengths(method, note, rate, queue, _growth_beside(network, load, queue))


def _growth_beside(network: ClassNetwork, load: FloatArray, queue: FloatArray) -> FloatArray:
    """Open jobs at a pool beside closed ones: one server m times as fast, after a delay."""
    fast = network.servers / network.queues
    found = 1 + queue.sum(axis=0) / network.queues
    growth = 1 - 1 / fast + found / fast / (1 - load / network.servers)
    return np.where(network.is_delay[:, None], 1.0, growth)


def _by_convolutions(network: ClassNetwork, load: FloatArray) -> Lengths:
    """Convolve the points of each set of numbers of servers together."""
    _, group = np.unique(network.servers, axis=1, return_inverse=True)
    rate, queue = np.zeros(network.demand.shape)[:, 0], np.zeros(network.demand.shape)
    rate, queue = rate[~network.is_open], queue[~network.is_open]
    growth = np.ones(load.shape)
    for number in range(int(group.max()) + 1):
        points = np.flatnonzero(group == number)
        part = _by_convolution(network.at(points), load[:, points])
        rate[:, points], queue[..., points] = part.throughput, part.queue_length
        growth[:, points] = part.open_growth
    return Lengths(Method.CONVOLUTION, "", rate, queue, growth)


def _by_convolution(network: ClassNetwork, load: FloatArray) -> Lengths:
    """Convolve, each of the parallel queues as a station of its own."""
    arrays, _ = _arrays(network, load)
    closed = ~network.is_open
    demand = network.demand[closed]
    think = network.think_time[closed]
    think = think + np.where(network.is_delay[:, None], demand, 0.0).sum(axis=1)
    which, servers, share = _stations(network)
    guess = np.maximum(schweitzer(arrays)[0], 1e-300)
    pools = Pools(
        demand[:, which] / share,
        servers,
        load[which] / share,
        think,
        network.population[closed],
        guess,
    )
    rate, own, grown = lattice_convolution(pools)
    queue, growth = np.zeros(demand.shape), np.ones(load.shape)
    for row, k in enumerate(which):
        queue[:, k] += own[:, row]
        growth[k] = grown[row]
    growth = np.where(queue.sum(axis=0) > 0, growth, growth_alone(network, load))
    return Lengths(Method.CONVOLUTION, "", rate, _with_delays(network, rate, queue), growth)


def _stations(network: ClassNetwork) -> tuple[list[int], list[int], FloatArray]:
    """Stations of the convolution: the centre of each, its servers, its share of the centre."""
    copies = np.where(network.is_delay, 0, network.queues[:, 0]).astype(int)
    which = np.repeat(np.arange(len(copies)), copies)
    servers = network.servers[which, 0] / copies[which]
    return which.tolist(), servers.astype(int).tolist(), copies[which, None].astype(float)
