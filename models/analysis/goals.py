"""Goals: what outputs must stay below or above, read from text, and by how much they are missed."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.points import output_of
from headway.models.language.digits import in_unit, with_unit
from headway.models.language.scales import Scale
from headway.models.language.units import quantity
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model

_ANY = Scale()
_TIMES = 10.0  # the limit: misses from there on are told in times of it, not in per cent
_ROUNDING = 1e-12  # relative: a limit that is met but for rounding is met
_WRITTEN = re.compile(r"\s*(.+?)\s*(<=|>=|<|>|=)\s*(.*?)\s*", re.DOTALL)


class Sense(StrEnum):
    """On which side of its limit an output must stay."""

    AT_MOST = "<="
    AT_LEAST = ">="


@dataclass(frozen=True)
class Goal:
    """A limit that an output must keep.

    Parameters
    ----------
    output
        Name of an output, of a class's or a station's number, or of a number that every station
        has: then of the largest.
    sense
        Which side of the limit is right.
    limit
        The limit itself, which is allowed [SI].

    Examples
    --------
    >>> fast = Goal("response_time", Sense.AT_MOST, 0.3)
    >>> fast.met([0.2, 0.3, 0.4, np.inf]).tolist()
    [True, True, False, False]
    >>> fast.misses([0.15, 0.36]).round(9).tolist()
    [-0.5, 0.2]
    """

    output: str
    sense: Sense
    limit: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "sense", Sense(self.sense))
        if not np.isfinite(self.limit):
            msg = f"{self.output}: the limit {self.limit} must be finite"
            raise InvalidParameter(msg)

    def _beyond(self, values: FloatArray | Sequence[float]) -> FloatArray:
        found = np.asarray(values, float)
        over = found - self.limit if self.sense is Sense.AT_MOST else self.limit - found
        return np.asarray(np.where(np.isnan(found), np.inf, over))

    def misses(self, values: FloatArray | Sequence[float]) -> FloatArray:
        """How far values are on the wrong side, relative to the limit; negative on the right one.

        Infinite for NaN, which stands for what cannot be sustained. Of a limit of 0 absolute.
        """
        return self._beyond(values) / (abs(self.limit) or 1.0)

    def by(self, model: Model, miss: float) -> str:
        """How far a value is on the wrong side, as `misses` counts it, as people read it.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> goal, model = Goal("response_time", "<=", 0.3), catalogue_model("server-single")
        >>> [goal.by(model, miss) for miss in (0.091, 227.3, np.inf)]
        ['by 9.1 %', 'by 227 times the limit', 'by an infinite amount']
        """
        if np.isinf(miss):
            return "by an infinite amount"
        if self.limit == 0:
            return f"by {self.shown(model, miss)}"
        few = miss < _TIMES
        return f"by {100 * miss:.3g} %" if few else f"by {float(f'{miss:.3g}'):.0f} times the limit"

    def met(self, values: FloatArray | Sequence[float]) -> NDArray[np.bool_]:
        """Which values keep the limit; rounding (1e-12 of the limit) is forgiven."""
        return np.asarray(self._beyond(values) <= _ROUNDING * abs(self.limit))

    def shown(self, model: Model, value: float, scale: Scale = _ANY) -> str:
        """A value of the output in the unit of an answer, else in one that suits the limit."""
        unit = scale.suited(model.meaning(self.output).unit, abs(self.limit))
        return with_unit(in_unit(value, unit), unit)

    def text(self, model: Model, scale: Scale = _ANY) -> str:
        """The goal as people read it.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> Goal("response_time", "<=", 0.3).text(catalogue_model("server-single"))
        'response_time <= 300 ms'
        """
        return f"{self.output} {self.sense} {self.shown(model, self.limit, scale)}"


def is_goal(text: str) -> bool:
    """Whether a text is written with <= or >=.

    Examples
    --------
    >>> is_goal("response_time<=300ms"), is_goal("response_time=300ms")
    (True, False)
    """
    return any(sense in text for sense in Sense)


def read_goals(solution: Solution, texts: Sequence[str | Goal]) -> tuple[Goal, ...]:
    """Read goals such as ``response_time_p99<=300ms``, ``utilisation<=80%``, ``throughput>=500``.

    Parameters
    ----------
    solution
        Of the model at any point: it knows the outputs.
    texts
        Texts, or goals that are there already.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError
        For no goal, text that is none, an output that is none, or a limit in another unit.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> [(g.output, g.limit) for g in read_goals(model.solve(500), ["node.utilisation <= 80%"])]
    [('node.utilisation', 0.8)]
    """
    if not texts:
        msg = "no target is given; write one such as response_time<=300ms"
        raise InvalidParameter(msg)
    goals = tuple(_goal(solution, text) for text in texts)
    for goal in goals:
        output_of(solution, goal.output)
    return goals


def _goal(solution: Solution, text: str | Goal) -> Goal:
    if isinstance(text, Goal):
        return text
    found = _WRITTEN.fullmatch(text)
    if found is None or found[2] not in tuple(Sense):
        msg = f"target {text!r}: write OUTPUT<=VALUE or OUTPUT>=VALUE, such as response_time<=300ms"
        raise InvalidParameter(msg)
    output_of(solution, found[1])
    unit = solution.model.meaning(found[1]).unit
    return Goal(found[1], Sense(found[2]), quantity(found[3], unit, found[1]))
