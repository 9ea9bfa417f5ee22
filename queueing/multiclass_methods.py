"""The ways to solve the closed classes of a network, beside its open ones."""

from dataclasses import dataclass

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.abilities import ServiceKind
from headway.queueing.approximate import Closed, linearizer, schweitzer
from headway.queueing.centres import Method
from headway.queueing.classes import ClassNetwork
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
        Mean number of open jobs for each server they hold, shape (stations, points), where
        the method tells.
    """

    method: Method
    approximation: str
    throughput: FloatArray
    queue_length: FloatArray
    open_growth: FloatArray | None = None


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
    InvalidParameter
        For a lattice of populations too large for an exact method.
    """
    used = _choose(network, method)
    if used is Method.EXACT and not network.is_pool.any():
        return _by_mva(network, load)
    if used in {Method.EXACT, Method.CONVOLUTION}:
        return _by_convolution(network, load)
    return _approximated(network, load, used)


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
    pool = network.is_pool[:, None]
    fast = np.where(pool, network.servers, 1.0)
    extra = np.where(pool, demand * (1 - 1 / fast), 0.0)
    queues = np.array([_queues(c.kind, c.servers) for c in network.centres])[:, None]
    free = np.where(still, 1.0, 1 - load / network.servers)
    slowed = np.where(still, 0.0, demand / fast / free)
    arrays = Closed(
        slowed,
        np.broadcast_to(queues, load.shape),
        think + extra.sum(axis=1),
        network.population[closed],
    )
    return arrays, extra


def _queues(kind: ServiceKind, servers: int) -> float:
    return float(servers) if kind is ServiceKind.PARALLEL else 1.0


def _with_delays(network: ClassNetwork, rate: FloatArray, queue: FloatArray) -> FloatArray:
    """Fill in the numbers at delays, X D."""
    resting = rate[:, None] * network.demand[~network.is_open]
    return np.where(network.is_delay[:, None], resting, queue)


def _by_mva(network: ClassNetwork, load: FloatArray) -> Lengths:
    arrays, _ = _arrays(network, load)
    rate, queue = lattice_mva(arrays.demand, arrays.queues, arrays.think_time, arrays.population)
    return Lengths(Method.EXACT, "", rate, _with_delays(network, rate, queue))


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
    servers = network.servers
    fast = (1 + queue.sum(axis=0)) / (1 - np.minimum(load / servers, 0.999999)) / servers
    return np.asarray(1 - 1 / servers + fast)


def _by_convolution(network: ClassNetwork, load: FloatArray) -> Lengths:
    """Convolve, each of the parallel queues as a station of its own."""
    arrays, _ = _arrays(network, load)
    closed = ~network.is_open
    demand, think = network.demand[closed], network.think_time[closed]
    think = think + np.where(network.is_delay[:, None], demand, 0.0).sum(axis=1)
    which, servers, parts = _stations(network)
    share = np.array(parts)[:, None]
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
    return Lengths(Method.CONVOLUTION, "", rate, _with_delays(network, rate, queue), growth)


def _stations(network: ClassNetwork) -> tuple[list[int], list[int], list[float]]:
    """Stations of the convolution: the centre of each, its servers, its share of the centre."""
    which: list[int] = []
    servers: list[int] = []
    parts: list[float] = []
    for k, c in enumerate(network.centres):
        if c.kind is ServiceKind.DELAY:
            continue
        copies = int(_queues(c.kind, c.servers))
        which += [k] * copies
        servers += [1 if c.kind is ServiceKind.PARALLEL else int(c.servers)] * copies
        parts += [float(copies)] * copies
    return which, servers, parts
