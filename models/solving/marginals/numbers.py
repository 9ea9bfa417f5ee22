"""Numbers of stations that are computed on demand."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.models.solving.marginals.networks import (
    WaitLaws,
    named,
    number_laws,
    stay_laws,
    wait_laws,
)
from headway.models.solving.solutions.on_demand import StationOutput, check_percent
from headway.models.solving.solutions.queue_lengths import NumberLaws
from headway.queueing.numbers.laws import NumberLaw
from headway.queueing.times.laws import merged

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution

_OF_NUMBERS: dict[str, tuple[Callable[[NumberLaw], float], float]] = {
    "empty_probability": (lambda law: law.empty, 0.0),
    "waiting_probability": (lambda law: law.waits, 1.0),
    "queue_length_variance": (lambda law: law.variance, np.inf),
}
"""A number from a distribution, and its value at a saturated station."""


def station_numbers(solution: "Solution", outputs: Iterable[StationOutput]) -> "Solution":
    """Add numbers of stations that follow from distributions, such as ``disk.empty_probability``.

    Parameters
    ----------
    solution
        A solution of a network.
    outputs
        The requested numbers by station; each station's distribution is computed once.

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
    numbers, waits = cache(partial(number_laws, solution)), cache(partial(wait_laws, solution))
    stays = cache(partial(stay_laws, solution))
    for one in outputs:
        if one.time is not None:
            times = (waits if one.part.startswith("waiting") else stays)(one.station)
            calculated = _of_longer(solution, one, times, one.time)
            notes = merged(notes, *(law.notes for law in times if law is not None))
        elif one.percent is None:
            laws = numbers(one.station)
            calculated = _of_numbers(solution, one, laws)
            notes = merged(notes, *(law.notes for law in laws if law is not None))
        else:
            check_percent(one.percent)
            times = waits(one.station)
            calculated = _of_waits(solution, one, times, one.percent / 100)
            notes = merged(notes, *(law.notes for law in times if law is not None))
        values[one.name] = calculated.reshape(solution.shape)
    marks = replace(solution.marks, approximation="; ".join(notes))
    return replace(solution, values=values, marks=marks)


def _notes(solution: "Solution") -> tuple[str, ...]:
    return tuple(note for note in solution.approximation.split("; ") if note)


def _of_numbers(solution: "Solution", one: StationOutput, laws: NumberLaws) -> FloatArray:
    read, saturated = _OF_NUMBERS[one.part]
    numbers = _filled(
        solution, one, [None if law is None else read(law) for law in laws], saturated
    )
    untold = (law for law in laws if law is not None and len(law.head) > 1)
    if one.part == "waiting_probability" and any(np.isnan(law.waits) for law in untold):
        _refuse_waits(solution, one)
    return numbers


def _refuse_waits(solution: "Solution", one: StationOutput) -> None:
    with named(solution, one.station):
        msg = "the probability that an arriving job waits is unknown"
        raise GraphError(msg)


def _of_waits(solution: "Solution", one: StationOutput, laws: WaitLaws, share: float) -> FloatArray:
    times = [None if law is None else law.percentile(share) for law in laws]
    return _filled(solution, one, times, np.inf)


def _of_longer(solution: "Solution", one: StationOutput, laws: WaitLaws, time: float) -> FloatArray:
    chances = [None if law is None else law.longer(time) for law in laws]
    return _filled(solution, one, chances, 1.0)


def _filled(
    solution: "Solution", one: StationOutput, values: list[float | None], saturated: float
) -> FloatArray:
    """The result; at saturated points, the value for a saturated station, or NaN."""
    busy = np.broadcast_to(solution.values[f"{one.station}.utilisation"], solution.shape)
    each = zip(values, busy.reshape(-1), strict=True)
    return np.array(
        [(saturated if u >= 1 else np.nan) if value is None else value for value, u in each]
    )
