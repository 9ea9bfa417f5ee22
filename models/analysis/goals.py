"""Goals: limits for outputs, read from text, and by how much outputs miss them."""

import re
from collections.abc import Sequence
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
from headway.numerals import significant
from headway.records import dataclass

_ANY = Scale()
_TIMES = 10.0  # the limit: larger misses are shown as multiples of it, not in per cent
_ROUNDING = 1e-12  # relative: a limit missed by less, through rounding, counts as met
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
        Name of an output, of a quantity of a class or station, or of a quantity of all stations, of
        which the largest counts.
    sense
        The allowed side of the limit.
    limit
        The limit, which is itself allowed [SI].

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
        array = np.asarray(values, float)
        over = array - self.limit if self.sense is Sense.AT_MOST else self.limit - array
        return np.asarray(np.where(np.isnan(array), np.inf, over))

    def misses(self, values: FloatArray | Sequence[float]) -> FloatArray:
        """By how much values miss the limit, relative to it; negative if they keep it.

        Infinite for NaN, which stands for an unsustainable load. Absolute for a limit of 0.

        Examples
        --------
        >>> Goal("throughput", Sense.AT_LEAST, 500.0).misses([400.0, 750.0]).tolist()
        [0.2, -0.5]
        """
        return self._beyond(values) / (abs(self.limit) or 1.0)

    def by(self, model: Model, miss: float) -> str:
        """A result of `misses` as text.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> goal, model = Goal("response_time", "<=", 0.3), catalogue_model("server-single")
        >>> [goal.by(model, miss) for miss in (0.091, 227.3, np.inf)]
        ['by 9.1%', 'by 227 times the limit', 'by an infinite amount']
        """
        if np.isinf(miss):
            return "by an infinite amount"
        if self.limit == 0:
            return f"by {self.shown(model, miss)}"
        few = miss < _TIMES
        return (
            f"by {significant(100 * miss, 3)}%"
            if few
            else f"by {significant(miss, 3)} times the limit"
        )

    def met(self, values: FloatArray | Sequence[float]) -> NDArray[np.bool_]:
        """Which values keep the limit; rounding (1e-12 of the limit) is forgiven.

        Examples
        --------
        >>> Goal("response_time", Sense.AT_MOST, 0.3).met([0.2, 0.4]).tolist()
        [True, False]
        """
        return np.asarray(self._beyond(values) <= _ROUNDING * abs(self.limit))

    def shown(self, model: Model, value: float, scale: Scale = _ANY) -> str:
        """A value of the output in the unit of the answer, or else in one that suits the limit."""
        unit = scale.suited(model.meaning(self.output).unit, abs(self.limit))
        return with_unit(in_unit(value, unit), unit)

    def text(self, model: Model, scale: Scale = _ANY) -> str:
        """The goal as text.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> Goal("response_time", "<=", 0.3).text(catalogue_model("server-single"))
        'response_time <= 300 ms'
        """
        return f"{self.output} {self.sense} {self.shown(model, self.limit, scale)}"


def is_goal(text: str) -> bool:
    """Whether a text uses <= or >=.

    Examples
    --------
    >>> is_goal("response_time<=300ms"), is_goal("response_time=300ms")
    (True, False)
    """
    return any(sense in text for sense in Sense)


def read_goals(solution: Solution, texts: str | Goal | Sequence[str | Goal]) -> tuple[Goal, ...]:
    """Read goals such as ``response_time_p99<=300ms``, ``utilisation<=80%``, ``throughput>=500``.

    Parameters
    ----------
    solution
        A solution of the model at any point, which knows the outputs.
    texts
        Texts, or goals; one may stand alone.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError
        For no goal, malformed text, an unknown output, or a limit in a wrong unit.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> [(g.output, g.limit) for g in read_goals(model.solve(500), ["node.utilisation <= 80%"])]
    [('node.utilisation', 0.8)]
    """
    texts = (texts,) if isinstance(texts, str | Goal) else texts
    if not texts:
        msg = "no target is given; give one such as response_time<=300ms"
        raise InvalidParameter(msg)
    goals = tuple(_goal(solution, text) for text in texts)
    for goal in goals:
        output_of(solution, goal.output)
    return goals


def _goal(solution: Solution, text: str | Goal) -> Goal:
    if isinstance(text, Goal):
        return text
    match = _matched(text)
    output_of(solution, match[1])
    return read_goal(solution.model, text)


def _matched(text: str) -> re.Match[str]:
    match = _WRITTEN.fullmatch(text)
    if match is None or match[2] not in tuple(Sense):
        msg = f"target {text!r}: write OUTPUT<=VALUE or OUTPUT>=VALUE, such as response_time<=300ms"
        raise InvalidParameter(msg)
    return match


def read_goal(model: Model, text: str) -> Goal:
    """Read a goal of a model's output, whether there is one or not.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> read_goal(catalogue_model("server-single"), "response_time <= 300 ms").limit
    0.3
    """
    match = _matched(text)
    unit = model.meaning(match[1]).unit
    return Goal(match[1], Sense(match[2]), quantity(match[3], unit, match[1]))
