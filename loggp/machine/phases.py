"""Frequency-cost models that compose: events, and phases in series and in parallel.

Source: Martin's thesis, section 1.2.4 (the time of a program is the sum of count times cost over
its events: no queueing, no overlap unless a phase says so).
"""

from functools import reduce
from typing import Protocol

from headway.errors import InvalidParameter
from headway.kinds import Amount, Quantity, apply, check_not_negative
from headway.records import dataclass


class Phase(Protocol):
    """Anything that takes time: an event, a series, concurrent phases, or a class of your own."""

    @property
    def time(self) -> Amount:
        """Time the phase takes [s]."""
        ...


@dataclass(frozen=True)
class Event:
    """An event with a count and a cost: F C.

    Parameters
    ----------
    count
        Number of occurrences F, 0 or more.
    cost
        Time C of one occurrence [s], 0 or more.
    name
        Its name, for reports.

    Examples
    --------
    >>> Event(1000, 21.6e-6, "blocking read").time
    0.0216
    """

    count: Quantity
    cost: Quantity
    name: str = ""

    def __post_init__(self) -> None:
        check_not_negative(f"count of {self.name or 'event'}", self.count)
        check_not_negative(f"cost of {self.name or 'event'}", self.cost)

    @property
    def time(self) -> Amount:
        """Time of all occurrences [s]."""
        return self.count * self.cost


def _check_not_empty(kind: str, phases: tuple[Phase, ...]) -> None:
    """Refuse an empty composition."""
    if not phases:
        msg = f"{kind} has no phases; give it at least one"
        raise InvalidParameter(msg)


@dataclass(frozen=True)
class Series:
    """Phases one after the other: their times add up.

    Examples
    --------
    >>> Series((Event(2, 3.0), Event(1, 1.0))).time
    7.0
    """

    phases: tuple[Phase, ...]

    def __post_init__(self) -> None:
        _check_not_empty("Series", self.phases)

    @property
    def time(self) -> Amount:
        """Sum of the times of the phases [s]."""
        return sum((phase.time for phase in self.phases[1:]), self.phases[0].time)


@dataclass(frozen=True)
class Concurrent:
    """Concurrent phases, all of which must end: the longest counts.

    Examples
    --------
    >>> from sympy import Symbol
    >>> Concurrent((Event(2, 3), Event(1, Symbol("x", positive=True)))).time
    Max(6, x)
    """

    phases: tuple[Phase, ...]

    def __post_init__(self) -> None:
        _check_not_empty("Concurrent", self.phases)

    @property
    def time(self) -> Amount:
        """Longest of the times of the phases [s]."""
        return reduce(
            lambda longest, phase: apply("max", longest, phase.time),
            self.phases[1:],
            self.phases[0].time,
        )
