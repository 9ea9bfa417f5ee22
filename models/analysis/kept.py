"""The highest load that keeps a limit, as a page shows it, with the interval of a fit."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.models.analysis.edges import kept_around, last_kept
from headway.models.analysis.goals import Goal
from headway.models.analysis.points import method_of, outputs_at
from headway.models.analysis.target import solution_with, value_now
from headway.models.language.digits import ends
from headway.models.language.scales import Scale
from headway.models.language.titles import spoken
from headway.models.language.units import Unit
from headway.models.structure.model import Model
from headway.models.structure.outputs import percent_of
from headway.models.structure.parts.counts import counts
from headway.numerals import digits
from headway.records import dataclass


@dataclass(frozen=True)
class Kept:
    """The highest load that keeps a limit.

    Parameters
    ----------
    goal
        The limit.
    load
        The parameter that is the load.
    value, low, high
        The load, and the ends of its 95% interval [SI]: equal without a fit, infinite if no
        measurement bounds it.
    unit
        Unit of the load.
    is_count
        Whether the load is a whole number.
    """

    goal: Goal
    load: str
    value: float
    low: float
    high: float
    unit: Unit
    is_count: bool

    @property
    def what(self) -> str:
        """The limited output in words."""
        percent = percent_of(self.goal.output)
        return f"p{digits(percent)}" if percent else f"the mean {spoken(self.goal.output)}"

    @property
    def is_none(self) -> bool:
        """Whether no load keeps the limit."""
        return self.value < 1 if self.is_count else self.value <= 0

    def limit(self, model: Model, scale: Scale) -> str:
        """The limit as text."""
        return self.goal.shown(model, self.goal.limit, scale)

    def shown(self, scale: Scale) -> str:
        """The load with its interval as text.

        Examples
        --------
        >>> from headway.models.analysis.goals import Sense
        >>> from headway.models.language.units import unit
        >>> goal = Goal("response_time_p99", Sense.AT_MOST, 0.05)
        >>> kept = Kept(goal, "arrival_rate", 920.0, 880.0, 950.0, unit("op/s"), False)
        >>> kept.what, kept.shown(Scale())
        ('p99', '920 op/s (95%: 880 to 950)')
        """
        if not math.isfinite(self.high):
            return f"at least {self._one(self.low, scale)}"
        own = "none" if self.is_none else self._one(self.value, scale)
        if self.low == self.high:
            return own
        if self.is_count:
            return f"{own} (95%: {math.floor(self.low):,} to {math.floor(self.high):,})"
        return f"{own} (95%: {ends(self.low, self.high, scale.unit(self.unit))})"

    def _one(self, load: float, scale: Scale) -> str:
        if self.is_count:
            return f"{math.floor(load):,} {spoken(self.load)}"
        return scale.text(load, self.unit)


def kept_by_model(point: Model, load: str, goal: Goal) -> Kept:
    """The highest load under a limit by a model at one operating point.

    Parameters
    ----------
    point
        A model with a single value for every parameter.
    load
        The parameter that is the load.
    goal
        An upper limit.

    Raises
    ------
    InvalidParameter
        If no load keeps the limit.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.models.analysis.goals import Sense
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.1, arrival_rate=8)
    >>> round(kept_by_model(one, "arrival_rate", Goal("response_time", Sense.AT_MOST, 0.25)).value)
    6
    """
    method = method_of(solution_with(point, goal.output))

    def kept(loads: Sequence[float]) -> NDArray[np.bool_]:
        changes = [{load: float(each)} for each in loads]
        return goal.met(outputs_at(point, changes, [goal.output], method)[:, 0])

    whole = load in counts(point.graph)
    low, high = kept_around(
        kept, value_now(point, load) or point.parameters[load].unit.scale, whole
    )
    unit = point.parameters[load].unit
    if low is None:
        msg = f"no load, however low, keeps {goal.text(point)}; give a higher limit"
        raise InvalidParameter(msg)
    if math.isinf(high):
        return Kept(goal, load, low, low, high, unit, whole)
    value = last_kept(kept, low, high, whole)
    return Kept(goal, load, value, value, value, unit, whole)
