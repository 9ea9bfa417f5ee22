"""Distributions of the number of jobs at stations with several classes, by operating point."""

from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.models.solving.classes.network import class_network
from headway.models.solving.classes.ways import class_ways
from headway.models.structure.parts.keys import of_class
from headway.models.structure.planning.by_class import class_routes
from headway.queueing.chains.class_traffic import class_traffic, network_of
from headway.queueing.chains.whole_chain import network_by_class
from headway.queueing.marginals.classes import class_marginal, whole_marginal
from headway.queueing.network.names import Method
from headway.queueing.network.network import read_network
from headway.queueing.network.product_form import lawless
from headway.queueing.numbers.laws import NumberLaw

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def class_laws(solution: "Solution", station: str) -> list[NumberLaw | None]:
    """Distribution of the number of jobs of all classes at a station, by operating point.

    Parameters
    ----------
    solution, station
        A solved network of several classes, and one of its stations.

    Returns
    -------
    The distributions; None at points where open classes saturate a station.

    Raises
    ------
    GraphError
        For a station without a product form, unless the whole Markov chain was solved.
    InvalidParameter
        For too many combinations of populations.
    """
    marked = np.broadcast_to(solution.saturated, solution.shape).reshape(-1)
    return [None if full else _law(solution.point(k), station) for k, full in enumerate(marked)]


def _law(point: "Solution", station: str) -> NumberLaw:
    model, place = point.model.network, point.stations.index(station)
    values, stations, classes = class_network(model)
    by_chain = point.method == Method.CHAIN
    if model.graph.ways_by_class:
        routes = class_routes(model.graph, values)
        parts = class_traffic(stations, classes, routes)
        network = network_by_class(parts, routes)
        reason = lawless(network)
        if reason and by_chain:
            return whole_marginal(network, place)
        if reason:
            raise GraphError(reason)
        return class_marginal(*network_of(parts), place)
    network = read_network(stations, classes, class_ways(model.graph, values))
    if by_chain and lawless(network):
        return whole_marginal(network, place)
    rates = [float(np.ravel(point[of_class(c.name, "throughput")])[0]) for c in classes]
    return class_marginal(stations, classes, place, np.array(rates))
