"""Distributions of the number of jobs at stations of a network that blocks, by operating point."""

from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.models.solving.solutions.blocked import point_of, points_of
from headway.queueing.blocking.numbers import blocking_numbers
from headway.queueing.blocking.solve_blocking import BlockingMethod
from headway.queueing.numbers.laws import NumberLaw

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def blocked_laws(solution: "Solution", station: str) -> list[NumberLaw | None]:
    """Distribution of the number of jobs at a station; a blocked job counts where it was served.

    Parameters
    ----------
    solution, station
        A solved network with blocking or regions, and one of its stations.

    Returns
    -------
    The distributions; None at points where the network is saturated.

    Raises
    ------
    GraphError
        If it was not solved by its Markov chain, and for stations behind one that blocks.
    """
    if solution.method != BlockingMethod.CHAIN:
        msg = (
            f"the network blocks, and method {solution.method} gives means only; numbers of jobs "
            "need the whole Markov chain (method exact)"
        )
        raise GraphError(msg)
    model, place = solution.model, solution.stations.index(station)
    points = [point_of(model.graph, each) for each in points_of(model.inputs, solution.shape)]
    full = np.broadcast_to(solution.saturated, solution.shape).reshape(-1)
    return [
        None if saturated else blocking_numbers(point.network, point.stations, place)
        for point, saturated in zip(points, full, strict=True)
    ]
