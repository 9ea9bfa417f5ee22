"""Laws of the numbers of jobs at stations that several classes share, by operating point."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.models.solving.classes.solve import class_network
from headway.models.structure.parts.keys import of_class
from headway.models.structure.planning.by_class import class_routes
from headway.queueing.chains.parts import network_of, parts_of
from headway.queueing.classes.network import SharedStation
from headway.queueing.marginals.classes import class_marginal
from headway.queueing.numbers.laws import NumberLaw
from headway.queueing.stations.abilities import Discipline, ServiceKind

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def class_laws(solution: "Solution", station: str) -> list[NumberLaw | None]:
    """How many jobs of all classes together are at a station, by operating point.

    Parameters
    ----------
    solution, station
        A solved network of several classes, and one of its stations.

    Returns
    -------
    None where open classes saturate some station.

    Raises
    ------
    GraphError
        For a station without a product form.
    InvalidParameter
        For a lattice of populations too large to walk.
    """
    marked = np.broadcast_to(solution.saturated, solution.shape).reshape(-1)
    return [
        None if full else _law(solution.point(k) if solution.shape else solution, station)
        for k, full in enumerate(marked)
    ]


def _law(point: "Solution", station: str) -> NumberLaw:
    model, place = point.model.network, point.stations.index(station)
    values, stations, classes = class_network(model)
    if model.graph.ways_by_class:
        _check_alike(stations)
        parts = parts_of(stations, classes, class_routes(model.graph, values))
        return class_marginal(*network_of(parts), place)
    rates = [float(np.ravel(point[of_class(c.name, "throughput")])[0]) for c in classes]
    return class_marginal(stations, classes, place, np.array(rates))


def _check_alike(stations: Sequence[SharedStation]) -> None:
    """Refuse chains that queues in order of arrival serve for different times in their classes."""
    for station in stations:
        ordered = station.discipline == Discipline.FCFS and station.kind is not ServiceKind.DELAY
        if ordered and len({float(time) for time in station.service_times}) > 1:
            msg = (
                f"{station.name}: first come first served with times that differ by class; how "
                "many jobs are there has no known distribution"
            )
            raise GraphError(msg)
