"""Percentiles of layered services by simulation, as no law is known."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Protocol

import numpy as np

from headway.errors import InvalidParameter
from headway.models.language.verbs import who_does
from headway.models.structure.model import Model
from headway.models.structure.outputs import Request, percentile_name
from headway.numerals import significant
from headway.queueing.playing.estimates import Estimate

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution

HALF_WIDTHS = 0.02, 0.05, 0.1
"""Relative half widths of the 95% intervals: the first that does not take too long. Chosen."""


class _Simulation(Protocol):
    def __getitem__(self, name: str) -> Estimate:
        """The estimate of an output."""


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
    over = np.ravel(np.broadcast_to(solution.saturated, solution.shape))
    found = [
        None if over[k] else _simulated(solution.point(k).model, percents) for k in range(over.size)
    ]
    values = {}
    widest = 0.0
    for asked in requests:
        each = [None if one is None else one[percentile_name(asked.number)] for one in found]
        means = [inf if estimate is None else estimate.mean for estimate in each]
        values[asked.name] = np.reshape(means, solution.shape)
        widths = [e.half_width() / e.mean for e in each if e is not None and e.mean > 0]
        widest = max([widest, *widths])
    note = f"percentiles simulated, within {significant(100 * widest, 2)}% (95%)"
    notes = [part for part in (solution.approximation, note) if part]
    marks = replace(solution.marks, approximation="; ".join(notes))
    return replace(solution, values={**solution.values, **values}, marks=marks)


def _simulated(model: Model, percents: tuple[float, ...]) -> _Simulation:
    """As precise as the time allows, which is less on a slow or a busy machine."""
    simulate: Callable[..., _Simulation] = who_does(Model, "simulate")
    for half_width in HALF_WIDTHS[:-1]:
        with suppress(InvalidParameter):
            return simulate(model, half_width, 1, percents)
    return simulate(model, HALF_WIDTHS[-1], 1, percents)
