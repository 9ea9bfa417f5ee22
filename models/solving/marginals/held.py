"""Laws of the numbers of jobs at stations of a network that holds jobs up, by operating point."""

from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.models.solving.solutions.blocked import point_of, points_of
from headway.queueing.blocking.numbers import blocking_numbers
from headway.queueing.blocking.solve import Way
from headway.queueing.numbers.laws import NumberLaw

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def held_laws(solution: "Solution", station: str) -> list[NumberLaw | None]:
    """How many jobs are at a station; who is held up counts where he was served.

    Parameters
    ----------
    solution, station
        A solved network with blocking or regions, and one of its stations.

    Returns
    -------
    None where the network is saturated.

    Raises
    ------
    GraphError
        Where it was not solved by its Markov chain, and behind what holds jobs up.
    """
    if solution.method != Way.CHAIN:
        msg = (
            f"jobs are held up, and {solution.method} has means only; how many jobs are there is "
            "known where the whole Markov chain is solved"
        )
        raise GraphError(msg)
    model, place = solution.model, solution.stations.index(station)
    points = [point_of(model.graph, each) for each in points_of(model.inputs, solution.shape)]
    full = np.broadcast_to(solution.saturated, solution.shape).reshape(-1)
    return [
        None if saturated else blocking_numbers(point.network, point.stations, place)
        for point, saturated in zip(points, full, strict=True)
    ]
