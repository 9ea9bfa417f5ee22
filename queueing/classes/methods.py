"""Methods for networks of classes with a product form: lattice, convolution and recursions.

Open classes take their share of every server first; closed ones circulate in the rest.
"""

from collections.abc import Callable

import numpy as np

from headway.columns import distinct_columns
from headway.kinds import FloatArray
from headway.queueing.classes.answers import answered
from headway.queueing.classes.approximate import approximated
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
from headway.queueing.classes.ordered import by_mean_value, open_by_priority
from headway.queueing.closed.approximate import Closed, linearizer, schweitzer
from headway.queueing.closed.pools import closed_rates
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.methods.memory import LARGEST
from headway.queueing.methods.method import Cost
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.overload import find_overload, without
from headway.queueing.network.product_form import ranked
from headway.queueing.network.result import Result
from headway.queueing.recursion.closed_classes import solve_groups
from headway.queueing.recursion.estimates import (
    SOLVERS,
    estimate,
    estimate_convolution,
    estimate_walk,
    refuse_large,
)
from headway.queueing.stations.speeds.varying import growth_at

_Given = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def open_classes(network: Network) -> Result:
    """Solve open classes, each station by its own law at its arrival rates."""
    if ranked(network).any():
        return open_by_priority(network)
    overload = find_overload(network)
    alone = Lengths.without_jobs(growth_alone(network, overload.sustained))
    return answered(network, overload, alone)


def walked(network: Network) -> Result:
    """Solve by exact mean value analysis over the lattice of populations."""

    def walk(rest: Network, load: FloatArray) -> Lengths:
        needed = walk_cost(rest)
        if needed.memory <= LARGEST:  # otherwise it reports the number of populations itself
            refuse_large(Method.EXACT, needed)
        return _grown(rest, load, Method.EXACT, *lattice_mva(*_single(rest, load)))

    return circulating(network, walk)


def convolved(network: Network) -> Result:
    """Solve by convolution over the lattice of populations."""

    def convolve(rest: Network, load: FloatArray) -> Lengths:
        needed = convolution_cost(rest)
        if needed.memory <= LARGEST:
            refuse_large(Method.CONVOLUTION, needed)
        return _by_convolutions(rest, load)

    return circulating(network, convolve)


def by_recal(network: Network) -> Result:
    """Solve by RECAL, a recursion by chain."""
    return _by_recursion(network, Method.RECAL)


def by_quadrature(network: Network) -> Result:
    """Solve by numerical integration of the normalisation constant."""
    return _by_recursion(network, Method.QUADRATURE)


def _by_recursion(network: Network, method: Method) -> Result:
    def recur(rest: Network, load: FloatArray) -> Lengths:
        given = _single(rest, load)
        refuse_large(method, estimate(method, *given))
        return _grown(rest, load, method, *solve_groups(SOLVERS[method], *given))

    return circulating(network, recur)


def by_linearizer(network: Network) -> Result:
    """Solve by approximate mean value analysis with Linearizer's correction."""
    if ranked(network).any():
        return by_mean_value(network, Method.LINEARIZER)
    return circulating(
        network, lambda rest, load: approximated(rest, load, Method.LINEARIZER, linearizer)
    )


def by_schweitzer(network: Network) -> Result:
    """Solve by approximate mean value analysis with Bard and Schweitzer's estimate."""
    if ranked(network).any():
        return by_mean_value(network, Method.SCHWEITZER)
    return circulating(
        network, lambda rest, load: approximated(rest, load, Method.SCHWEITZER, schweitzer)
    )


def circulating(network: Network, find: Callable[[Network, FloatArray], Lengths]) -> Result:
    """Solve a network whose closed classes a function solves, with the capacity open ones leave.

    Parameters
    ----------
    network
        A network with some closed classes.
    find
        Function of the network without the jobs that a saturated station would never release, and
        of the servers that open classes hold, shape (stations, points).
    """
    overload = find_overload(network)
    return answered(network, overload, find(without(network, overload), overload.sustained))


def recal_cost(network: Network) -> Cost:
    """The cost of RECAL."""
    return estimate(Method.RECAL, *_single(network, find_overload(network).sustained))


def quadrature_cost(network: Network) -> Cost:
    """The cost of a quadrature."""
    return estimate(Method.QUADRATURE, *_single(network, find_overload(network).sustained))


def growth_alone(network: Network, load: FloatArray) -> FloatArray:
    """Response over service time of open classes alone: 1 + C(m, u) / (m - u).

    Parameters
    ----------
    load
        Servers u held by them, shape (stations, points).
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


def _sizes(network: Network) -> list[int]:
    """N_c + 1 for each closed class, the largest over all points."""
    return [int(n) + 1 for n in network.population[~network.is_open].max(axis=1)]


def walk_cost(network: Network) -> Cost:
    """The cost of mean value analysis over the lattice of populations."""
    closed = ~network.is_open
    memory = lattice_bytes(_sizes(network), len(network.stations), network.population.shape[1])
    return estimate_walk(memory, network.demand[closed], network.population[closed])


def convolution_cost(network: Network) -> Cost:
    """The cost of a convolution, with each of the parallel queues as a station of its own."""
    sizes, points = _sizes(network), network.population.shape[1]
    queues = np.where(network.is_delay[:, None], 0, network.queues).max(axis=1)
    memory = convolution_bytes(sizes, int(queues.sum()), points)
    lengths = float((queues * _lengths(network)).sum())
    return estimate_convolution(memory, sizes, int(queues.sum()), lengths, points)


def _lengths(network: Network) -> FloatArray:
    """Number of speeds of each station that matter for the closed jobs and one more."""
    jobs = max(int(network.population.sum(axis=0).max()), 1) + 1
    each = (network.servers / network.queues).max(axis=1)
    for k, speeds in network.speeds.items():
        each[k] = len(speeds)
    return np.minimum(np.where(network.is_delay, 1.0, each), jobs)


def _single(network: Network, load: FloatArray) -> _Given:
    """Demands, queues, think times and populations of closed classes at single servers."""
    population, demand = network.population[~network.is_open], queueing_demands(network)
    return demand / free_share(network, load), network.queues, thinking(network), population


def _grown(
    network: Network, load: FloatArray, method: Method, rate: FloatArray, queue: FloatArray
) -> Lengths:
    growth = (1 + queue.sum(axis=0) / network.queues) / free_share(network, load)
    growth = np.where(network.is_delay[:, None], 1.0, growth)
    return Lengths(method, "", rate, with_delays(network, rate, queue), growth)


def _by_convolutions(network: Network, load: FloatArray) -> Lengths:
    """Convolve points with the same numbers of servers together."""
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
    """Convolve, with each of the parallel queues as a station of its own."""
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
    """Throughputs as if each station were one server, of the speed that it has when full."""
    full = np.where(network.is_crowd[:, None], network.fastest, 1.0)
    free = np.where(network.is_delay[:, None], 1.0, 1 - load / network.full)
    population = network.population[~network.is_open]
    demand, still = queueing_demands(network) / full, thinking(network)
    near = schweitzer(Closed(demand, network.queues, still, population, free))
    return np.maximum(near.rate, 1e-300)


def convolution_stations(
    network: Network, load: FloatArray
) -> tuple[list[int], tuple[FloatArray, ...], FloatArray, FloatArray]:
    """Queues for the convolution, with parallel ones separately.

    Closed jobs never use more servers than there are jobs. If open classes use some, the capacity
    left to closed jobs is a speed for each number of these, and one more number gives the open jobs
    present beside the last.

    Returns
    -------
    For each, its station, its speeds, the share of these taken by open classes, its part of the
    station.
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
