"""Laws of the numbers of jobs at stations that several classes share, by operating point."""

from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.models.solving.classes.solve import class_network
from headway.models.structure.parts.keys import of_class
from headway.queueing.marginals.classes import class_marginal
from headway.queueing.numbers.laws import NumberLaw

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
    if point.model.network.graph.ways_by_class:
        msg = (
            f"{point.model.name}: how many jobs are at a station is known as a mean only where "
            "classes go ways of their own; simulate the model"
        )
        raise GraphError(msg)
    _, stations, classes = class_network(point.model.network)
    rates = [float(np.ravel(point[of_class(c.name, "throughput")])[0]) for c in classes]
    place = point.stations.index(station)
    return class_marginal(stations, classes, place, np.array(rates))
