"""Small closed networks without a product form, exactly by their whole Markov chain."""

from dataclasses import replace

import numpy as np

from headway.queueing.chains.by_class import assembled
from headway.queueing.chains.class_traffic import ClassTraffic
from headway.queueing.chains.measured import BEGUN_NOTE, begun_error
from headway.queueing.chains.routes import ClassRoutes, entry_states
from headway.queueing.classes.whole import most_states, whole_chain
from headway.queueing.methods.registry import approximates
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network, laid_out
from headway.queueing.network.product_form import without_form
from headway.queueing.network.result import Result
from headway.queueing.network.routing import Routing


def solve_whole_chain(traffic: ClassTraffic, network: Network, method: str) -> Result | None:
    """Solve a network without a product form by its Markov chain.

    Parameters
    ----------
    traffic, network
        The chains, and the network by class (`network_by_class`).
    method
        ``exact`` and ``chain`` take more states than ``auto``; approximations do not use the chain.

    Returns
    -------
    None for a product form, for open classes, and for too many states.
    """
    plain = not without_form(network).any()
    if approximates(method) or (plain and method != Method.CHAIN):
        return None
    solved = whole_chain(network, most_states(method))
    if solved is None:
        return None
    some = solved.throughput > 0
    stay = solved.queue_length / np.where(some, solved.throughput, 1.0)
    stay = np.where(some, stay, traffic.times)
    busy = solved.throughput * traffic.times / network.servers
    busy = np.where(network.is_delay[:, None], 0.0, busy)
    rate = np.zeros(
        traffic.shares.shape
    )  # cycles: throughput over visits at any station with visits
    for chain in map(list, traffic.cycles.chains):
        visits, through = traffic.visits[chain], solved.throughput[chain]
        each = np.where(visits > 0, through / np.where(visits > 0, visits, 1.0), 0.0)
        rate[chain] = each.max(axis=(0, 1))
    outcome = unsolved(traffic, Method.CHAIN)
    if not plain and not begun_error(traffic.cycles.visits, traffic.shares).exact:
        outcome = replace(outcome, approximation=BEGUN_NOTE)
    return assembled(traffic, outcome, stay, solved.queue_length, busy, rate)


def network_by_class(traffic: ClassTraffic, routes: ClassRoutes) -> Network:
    """The network by class, with its routes between stations."""
    entries = entry_states(routes)
    pairs = entries.reshape(*entries.shape[:2], len(routes.classes), len(routes.stations))
    cycles = traffic.cycles
    ways = Routing(
        np.moveaxis(np.einsum("pcck->pck", pairs), 0, -1),
        np.moveaxis(cycles.onward.swapaxes(3, 4), 0, -1),
        np.moveaxis(cycles.last, 0, -1),
    )
    stations = [
        replace(station, visits=[traffic.shaped(row) for row in traffic.visits[:, k]])
        for k, station in enumerate(traffic.stations)
    ]
    return replace(laid_out(stations, traffic.classes, ways), chains=cycles.chains)


def unsolved(traffic: ClassTraffic, method: Method) -> Result:
    """A result with method and saturation, to be completed by `assembled`."""
    none, saturated = np.zeros(0), np.zeros(traffic.shape, bool)
    return Result(method, none, none, none, none, none, none, none, saturated=saturated)
