"""Judging configurations: which of them meet all goals, many at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal, Sense
from headway.models.analysis.points import outputs_over
from headway.models.sizing.choices import Columns
from headway.models.structure.model import Model


@dataclass(frozen=True, eq=False)
class Verdict:
    """What is known of some configurations.

    Parameters
    ----------
    met
        Whether each meets all goals, or surely enough.
    outputs
        Each goal's output [SI], shape (configurations, goals); NaN where a station saturates.
    measure
        What they are ranked by at equal cost, the smaller the better; infinite when saturated.
    misses
        By how much the goal that is missed most is missed; negative where all hold.
    share
        Probability with which all goals hold; None where nothing is uncertain.
    """

    met: NDArray[np.bool_]
    outputs: FloatArray
    measure: FloatArray
    misses: FloatArray
    share: FloatArray | None = None


class Judge(Protocol):
    """Who knows what configurations are worth."""

    def __call__(self, columns: Columns) -> Verdict:
        """Judge configurations, an entry of each column one of them."""

    def measures(self, columns: Columns) -> FloatArray:
        """What configurations are ranked by alone."""

    def full(self) -> "Judge":
        """The same, sparing nothing, for configurations that are shown."""


@dataclass(frozen=True, eq=False)
class ByModel:
    """Judges by solving a model, as arrays.

    Parameters
    ----------
    model
        At one operating point.
    goals
        What must hold.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", arrival_rate=500)
    >>> judge = ByModel(model, (Goal("response_time", "<=", 0.0025),))
    >>> found = judge({"service_time": np.array([0.0005, 0.001, 0.002])})
    >>> found.met.tolist(), found.misses.round(3).tolist()
    ([True, False, False], [-0.333, 0.2, inf])
    """

    model: Model
    goals: tuple[Goal, ...]

    @property
    def ranking(self) -> Goal:
        """What configurations are ranked by."""
        return ranked_by(self.model, self.goals)

    def __call__(self, columns: Columns) -> Verdict:
        """Judge configurations."""
        asked = [*(goal.output for goal in self.goals), self.ranking.output]
        found = outputs_over(self.model, columns, asked)
        outputs = found[:, :-1]
        return Verdict(
            all_met(self.goals, outputs),
            outputs,
            self._ranked(found[:, -1]),
            worst_miss(self.goals, outputs),
        )

    def measures(self, columns: Columns) -> FloatArray:
        """What configurations are ranked by alone."""
        return self._ranked(outputs_over(self.model, columns, [self.ranking.output])[:, 0])

    def full(self) -> "ByModel":
        """The same: it spares nothing."""
        return self

    def _ranked(self, found: FloatArray) -> FloatArray:
        sign = 1.0 if self.ranking.sense is Sense.AT_MOST else -1.0
        return np.asarray(np.where(np.isnan(found), np.inf, sign * found))


def ranked_by(model: Model, goals: Sequence[Goal]) -> Goal:
    """What is best at equal cost: a short response time, or of a program the first goal's output.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> ranked_by(catalogue_model("server-single"), ()).output
    'response_time'
    """
    if model.graph.stations:
        return Goal("response_time", Sense.AT_MOST, 1.0)
    return goals[0]


def all_met(goals: Sequence[Goal], outputs: FloatArray) -> NDArray[np.bool_]:
    """Which rows of outputs meet every goal."""
    each = [goal.met(column) for goal, column in zip(goals, outputs.T, strict=True)]
    return np.asarray(np.all(each, axis=0))


def worst_miss(goals: Sequence[Goal], outputs: FloatArray) -> FloatArray:
    """By how much each row misses the goal that it misses most."""
    each = [goal.misses(column) for goal, column in zip(goals, outputs.T, strict=True)]
    return np.asarray(np.max(each, axis=0))
