"""Percentiles of layered services by simulation, as no law is known."""

from collections.abc import Callable, Sequence
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

HALF_WIDTH = 0.02
"""Relative half width of the 95% intervals at which a simulation ends. Chosen."""

EVENTS = 1e8
"""Events at which it ends with whatever width it has then. Chosen."""


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
    """One simulation of a given number of events, so that every machine says the same."""
    simulate: Callable[..., _Simulation] = who_does(Model, "simulate")
    try:
        return simulate(model, HALF_WIDTH, 1, percents, at_most=EVENTS, settles=True)
    except InvalidParameter as error:
        msg = f"percentiles are simulated, where {error}, and simulate all (--method simulation)"
        raise InvalidParameter(msg) from None
