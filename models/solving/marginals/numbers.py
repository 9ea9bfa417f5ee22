"""Numbers of stations that are computed on demand."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.models.solving.marginals.networks import (
    named,
    number_laws,
    stay_laws,
    wait_laws,
)
from headway.models.solving.solutions.on_demand import check_percent
from headway.models.structure.outputs import Request
from headway.queueing.times.laws import merged

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution

_READ: dict[str, tuple[Callable[..., Any], Callable[[Any, float], float], float]] = {
    "empty_probability": (number_laws, lambda law, _: law.empty, 0.0),
    "waiting_probability": (number_laws, lambda law, _: law.waits, 1.0),
    "queue_length_variance": (number_laws, lambda law, _: law.variance, np.inf),
    "waiting_time_p{percent}": (wait_laws, lambda law, p: law.percentile(p / 100), np.inf),
    "waiting_time_over_{time}": (wait_laws, lambda law, time: law.longer(time), 1.0),
    "response_time_over_{time}": (stay_laws, lambda law, time: law.longer(time), 1.0),
}
"""For each output, the law of a station, how to read the number from it, and its value at
saturation."""


def station_numbers(solution: "Solution", requests: Iterable[Request]) -> "Solution":
    """Add numbers of stations that follow from distributions, such as ``disk.empty_probability``.

    Parameters
    ----------
    solution
        A solution of a network.
    requests
        The numbers by station; each station's distribution is computed once.

    Returns
    -------
    The solution with these numbers, and a note on their approximation.

    Raises
    ------
    GraphError
        If the distribution is unknown, with the reason.
    InvalidParameter
        For a percentage out of range.
    """
    values, notes = dict(solution.values), _notes(solution)
    laws_of = cache(lambda find, station: find(solution, station))
    for one in requests:
        find, read, saturated = _READ[one.output.pattern]
        if "{percent}" in one.output.pattern:
            check_percent(one.number)
        laws = laws_of(find, one.owner)
        each = [None if law is None else read(law, one.number) for law in laws]
        _check_waits(solution, one, laws)
        values[one.name] = _filled(solution, one, each, saturated).reshape(solution.shape)
        notes = merged(notes, *(law.notes for law in laws if law is not None))
    marks = replace(solution.marks, approximation="; ".join(notes))
    return replace(solution, values=values, marks=marks)


def _notes(solution: "Solution") -> tuple[str, ...]:
    return tuple(note for note in solution.approximation.split("; ") if note)


def _check_waits(solution: "Solution", one: Request, laws: Sequence[Any]) -> None:
    """Refuse the probability of a wait where the law of more than one state does not give it."""
    if one.part != "waiting_probability":
        return
    untold = (law for law in laws if law is not None and len(law.head) > 1)
    if any(np.isnan(law.waits) for law in untold):
        with named(solution, one.owner):
            msg = "the probability that an arriving job waits is unknown"
            raise GraphError(msg)


def _filled(
    solution: "Solution", one: Request, values: list[float | None], saturated: float
) -> FloatArray:
    """The result; at saturated points, the value for a saturated station, or NaN."""
    busy = np.broadcast_to(solution.values[f"{one.owner}.utilisation"], solution.shape)
    each = zip(values, busy.reshape(-1), strict=True)
    return np.array(
        [(saturated if u >= 1 else np.nan) if value is None else value for value, u in each]
    )
