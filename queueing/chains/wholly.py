"""Small networks of closed chains without a product form, exactly by their whole Markov chain."""

from dataclasses import replace

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.chains.parting import assembled
from headway.queueing.chains.parts import Parts
from headway.queueing.chains.routes import ClassRoutes, entry_states
from headway.queueing.classes.whole import most_states, whole_chain
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network, laid_out
from headway.queueing.network.product_form import without_form
from headway.queueing.network.result import Result
from headway.queueing.network.routing import Routing


def solved_wholly(parts: Parts, network: Network, method: Method) -> Result | None:
    """Solve a network without a product form state by state.

    Parameters
    ----------
    parts, network
        The chains, and the network by class (`network_by_class`).
    method
        ``exact`` and ``chain`` go further than ``auto``; approximations do not ask for it.

    Returns
    -------
    None where a product form holds, for open classes, and where there are too many states.
    """
    plain = not without_form(network).any()
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


def network_by_class(parts: Parts, routes: ClassRoutes) -> Network:
    """The network as its classes see it, with the ways between its stations."""
    rounds = parts.rounds
    ways = Routing(
        np.moveaxis(_own_entries(routes), 0, -1),
        np.moveaxis(rounds.onward.swapaxes(3, 4), 0, -1),
        np.moveaxis(rounds.last, 0, -1),
    )
    stations = [
        replace(station, visits=[parts.shaped(row) for row in parts.visits[:, k]])
        for k, station in enumerate(parts.stations)
    ]
    return replace(laid_out(stations, parts.classes, ways), chains=rounds.chains)


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


def unsolved(parts: Parts, method: Method) -> Result:
    """What is said of a whole answer; its numbers are put in by `assembled`."""
    none, saturated = np.zeros(0), np.zeros(parts.shape, bool)
    return Result(method, none, none, none, none, none, none, none, saturated=saturated)
