"""Percentiles of layered services by simulation, as no law is known."""

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from headway.models.language.verbs import who_does
from headway.models.structure.model import Model
from headway.models.structure.outputs import Request, percentile_name
from headway.numerals import significant

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution

HALF_WIDTH = 0.02
"""Relative half width of the 95% intervals. Chosen."""


def layered_percentiles(solution: "Solution", requests: Sequence[Request]) -> "Solution":
    """Add percentiles of the response times of all clients and requests from outside.

    Parameters
    ----------
    solution
        A solution of layered services; where it is saturated, percentiles are infinite.
    requests
        Percentages between 0 and 100.

    Raises
    ------
    GraphError, InvalidParameter
        For services that cannot be simulated.
    """
    percents = tuple(dict.fromkeys(one.number for one in requests))
    simulate = who_does(Model, "simulate")
    over = np.ravel(np.broadcast_to(solution.saturated, solution.shape))
    found = [
        None if over[k] else simulate(solution.point(k).model, HALF_WIDTH, 1, percents)
        for k in range(over.size)
    ]
    values = {}
    widest = 0.0
    for one in requests:
        each = [point and point[percentile_name(one.number)] for point in found]
        means = [inf if estimate is None else estimate.mean for estimate in each]
        values[one.name] = np.reshape(means, solution.shape)
        widths = [e.half_width() / e.mean for e in each if e is not None and e.mean > 0]
        widest = max([widest, *widths])
    note = f"percentiles simulated, within {significant(100 * widest, 2)}% (95%)"
    notes = [part for part in (solution.approximation, note) if part]
    marks = replace(solution.marks, approximation="; ".join(notes))
    return replace(solution, values={**solution.values, **values}, marks=marks)
