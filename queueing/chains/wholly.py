"""Small networks of closed chains without a product form, exactly by their whole Markov chain."""

from dataclasses import replace

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.chains.parting import assembled
from headway.queueing.chains.parts import Parts
from headway.queueing.chains.routes import ClassRoutes, entry_states
from headway.queueing.classes.crossings import by_priority
from headway.queueing.classes.fcfs import unequal
from headway.queueing.classes.network import ClassNetwork, read_network
from headway.queueing.classes.solve import MulticlassSolution
from headway.queueing.classes.ways import ClassWays
from headway.queueing.classes.whole import most_states, whole_chain
from headway.queueing.closed.demands import Method


def solved_wholly(parts: Parts, routes: ClassRoutes, method: Method) -> MulticlassSolution | None:
    """Solve a network whose classes wait in order with times of their own, state by state.

    Parameters
    ----------
    parts, routes
        The network by class, and where its jobs go.
    method
        ``exact`` and ``chain`` go further than ``auto``; approximations do not ask for it.

    Returns
    -------
    None where a product form holds, for open classes, classes that nobody ever is of, and where
    there are too many states.
    """
    if not parts.visits.any(axis=(1, 2)).all():
        return None
    network = network_by_class(parts, routes)
    everybody = with_everybody(parts, network)
    plain = not unequal(everybody).any() and not by_priority(everybody).any()
    if method.approximate or (plain and method is not Method.CHAIN):
        return None
    solved = whole_chain(network, most_states(method))
    if solved is None:
        return None
    some = solved.throughput > 0
    stay = solved.queue_length / np.where(some, solved.throughput, 1.0)
    stay = np.where(some, stay, parts.times)
    busy = solved.throughput * parts.times / network.servers
    busy = np.where(network.is_delay[:, None], 0.0, busy)
    return assembled(
        parts,
        unsolved(parts, Method.CHAIN),
        stay,
        solved.queue_length,
        busy,
        _rounds(parts, solved.throughput),
    )


def with_everybody(parts: Parts, network: ClassNetwork) -> ClassNetwork:
    """The network with all jobs of a chain in each of its classes, as they may come to be."""
    everybody = np.maximum(network.population, 1)
    for chain in map(list, parts.rounds.chains):
        everybody[chain] = np.maximum(network.population[chain].sum(axis=0), 1)
    return replace(network, population=everybody)


def network_by_class(parts: Parts, routes: ClassRoutes) -> ClassNetwork:
    """The network as its classes see it, with the ways between its stations."""
    rounds = parts.rounds
    ways = ClassWays(
        np.moveaxis(_own_entries(routes), 0, -1),
        np.moveaxis(rounds.onward.swapaxes(3, 4), 0, -1),
        np.moveaxis(rounds.last, 0, -1),
    )
    stations = [
        replace(station, visits=[parts.shaped(row) for row in parts.visits[:, k]])
        for k, station in enumerate(parts.stations)
    ]
    return read_network(stations, parts.classes, ways)


def _own_entries(routes: ClassRoutes) -> FloatArray:
    """Where each class comes in, shape (points, classes, stations)."""
    entries = entry_states(routes)
    pairs = entries.reshape(*entries.shape[:2], len(routes.classes), len(routes.stations))
    return np.asarray(np.einsum("pcck->pck", pairs))


def _rounds(parts: Parts, through: FloatArray) -> FloatArray:
    """Rounds of each class's chain, shape (classes, points) [1/s]: completions over visits."""
    rate = np.zeros(parts.shares.shape)
    for chain in map(list, parts.rounds.chains):
        visits = parts.visits[chain]
        each = np.where(visits > 0, through[chain] / np.where(visits > 0, visits, 1.0), 0.0)
        rate[chain] = each.max(axis=(0, 1))
    return rate


def unsolved(parts: Parts, method: Method) -> MulticlassSolution:
    """What is said of a whole answer; its numbers are put in by `assembled`."""
    none, saturated = np.zeros(0), np.zeros(parts.shape, bool)
    return MulticlassSolution(method, none, none, none, none, none, none, none, saturated=saturated)
