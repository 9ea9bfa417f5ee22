"""Judge which configurations meet all goals, many at a time."""

from collections.abc import Sequence
from dataclasses import field, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal, Sense
from headway.models.analysis.points import outputs_over, spread
from headway.models.sizing.choices import Columns, Places
from headway.models.structure.model import Model
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.outputs import on_demand
from headway.models.structure.planning.variability import SPREAD
from headway.records import dataclass


@dataclass(frozen=True, eq=False)
class Verdict:
    """The verdict on some configurations.

    Parameters
    ----------
    met
        Whether each meets all goals, with enough confidence if uncertain.
    outputs
        Each goal's output [SI], shape (configurations, goals); NaN where a station saturates.
    measure
        Ranking measure at equal cost, smaller is better; infinite where a station saturates.
    misses
        The largest miss of any goal; negative if all hold.
    share
        Probability that all goals hold; None if nothing is uncertain.
    """

    met: NDArray[np.bool_]
    outputs: FloatArray
    measure: FloatArray
    misses: FloatArray
    share: FloatArray | None = None

    def of(self, places: Places) -> "Verdict":
        """The verdict on a selection of the configurations."""
        return Verdict(
            self.met[places],
            self.outputs[places],
            self.measure[places],
            self.misses[places],
            None if self.share is None else self.share[places],
        )


def joined(verdicts: list[Verdict]) -> Verdict:
    """The verdicts on some configurations and then others as one.

    Parameters
    ----------
    verdicts
        One or more.
    """
    shares = [verdict.share for verdict in verdicts if verdict.share is not None]
    return Verdict(
        np.concatenate([verdict.met for verdict in verdicts]),
        np.concatenate([verdict.outputs for verdict in verdicts]),
        np.concatenate([verdict.measure for verdict in verdicts]),
        np.concatenate([verdict.misses for verdict in verdicts]),
        np.concatenate(shares) if shares else None,
    )


@dataclass(frozen=True)
class Chance:
    """The definition of a probability: what it is required to be, and how it is found.

    Parameters
    ----------
    confidence
        The least probability with which all goals must hold, above 0 and below 1.
    draws
        Number of draws of the uncertain parameters.
    names
        Names of the uncertain parameters.
    """

    confidence: float
    draws: int
    names: tuple[str, ...]


class Judge(Protocol):
    """What judges configurations."""

    def __call__(self, columns: Columns) -> Verdict:
        """Judge configurations, given in flat order: each entry of the columns is one."""

    def measures(self, columns: Columns) -> FloatArray:
        """The ranking measure alone."""

    def full(self) -> "Judge":
        """Judge without shortcuts, for configurations that are shown."""

    @property
    def along_axes(self) -> bool:
        """Whether measures of a whole grid are quicker by its axes than one by one."""

    @property
    def at_once(self) -> bool:
        """Whether the verdict on a whole grid is, too."""

    @property
    def is_slow(self) -> bool:
        """Whether percentiles are computed configuration by configuration."""

    @property
    def chance(self) -> Chance | None:
        """The definition of the probabilities; None if nothing is uncertain."""


@dataclass(frozen=True, eq=False)
class ByModel:
    """Judges by solving a model over arrays.

    Parameters
    ----------
    model
        A model at one operating point.
    goals
        The goals that must hold.
    is_slow
        Whether percentiles are computed one at a time: then only where all other goals hold, and
        once.
    is_full
        Whether they are computed where other goals fail as well.
    seen
        Rows of percentiles that have been computed, by the values of the configuration.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", arrival_rate=500)
    >>> judge = ByModel(model, (Goal("response_time", "<=", 0.0025),))
    >>> answer = judge({"service_time": np.array([0.0005, 0.001, 0.002])})
    >>> answer.met.tolist(), answer.misses.round(3).tolist()
    ([True, False, False], [-0.333, 0.2, inf])
    """

    model: Model
    goals: tuple[Goal, ...]
    is_slow: bool = False
    is_full: bool = False
    seen: dict[tuple[float, ...], FloatArray] = field(default_factory=dict, repr=False)

    @property
    def ranking(self) -> Goal:
        """The output by which configurations are ranked."""
        return ranked_by(self.model, self.goals)

    def __call__(self, columns: Columns) -> Verdict:
        """Judge configurations."""
        slow = self.goals if self.is_slow else ()
        late = [k for k, goal in enumerate(slow) if _is_late(self.model, goal)]
        early = [k for k in range(len(self.goals)) if k not in late]
        quick = [*(self.goals[k].output for k in early), self.ranking.output]
        known = outputs_over(self.model, columns, quick)
        outputs = np.full((len(self.goals), len(known)), np.nan).T
        outputs[:, early] = known[:, :-1]
        lasting = np.isfinite(known[:, -1])
        met = all_met([self.goals[k] for k in early], known[:, :-1])
        left = lasting & (met | self.is_full)
        if late and left.any():
            part = {name: column[left] for name, column in spread(columns).items()}
            outputs[np.flatnonzero(left)[:, None], late] = self._percentiles(part, late)
        missed = all_misses(self.goals, outputs)
        skipped = np.flatnonzero(lasting & ~left)[:, None]
        missed[skipped, late] = -np.inf  # not computed, as other goals fail already
        met = all_met(self.goals, outputs) if late else met
        return Verdict(met, outputs, self._ranked(known[:, -1]), missed.max(axis=1))

    def measures(self, columns: Columns) -> FloatArray:
        """The ranking measure alone."""
        return self._ranked(outputs_over(self.model, columns, [self.ranking.output])[:, 0])

    def full(self) -> "ByModel":
        """Judge with every percentile computed."""
        return replace(self, is_full=True)

    def _percentiles(self, columns: Columns, late: Sequence[int]) -> FloatArray:
        """Outputs of late goals; those that were computed before are not computed again."""
        rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
        new = [k for k, row in enumerate(rows) if row not in self.seen]
        if new:
            part = {name: column[new] for name, column in columns.items()}
            found = outputs_over(self.model, part, [self.goals[k].output for k in late])
            self.seen.update(zip([rows[k] for k in new], found, strict=True))
        return np.stack([self.seen[row] for row in rows])

    @property
    def along_axes(self) -> bool:
        """Whether each station of an open network is solved alone, by the choices it depends on."""
        spreads = self.model.graph.plan.calculates(SPREAD)
        return self.model.network_kind is NetworkKind.OPEN and not spreads

    @property
    def at_once(self) -> bool:
        """Whether stations are solved alone and no goal asks for more than means."""
        return self.along_axes and not any(_is_late(self.model, goal) for goal in self.goals)

    @property
    def chance(self) -> None:
        """Nothing is uncertain."""
        return

    def _ranked(self, values: FloatArray) -> FloatArray:
        sign = 1.0 if self.ranking.sense is Sense.AT_MOST else -1.0
        return np.asarray(np.where(np.isnan(values), np.inf, sign * values))


def ranked_by(model: Model, goals: Sequence[Goal]) -> Goal:
    """The ranking measure at equal cost: response time, or for a program the first goal's output.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> ranked_by(catalogue_model("server-single"), ()).output
    'response_time'
    """
    if model.graph.stations:
        return Goal("response_time", Sense.AT_MOST, 1.0)
    return goals[0]


def _is_late(model: Model, goal: Goal) -> bool:
    """Whether a goal's output is computed on demand, which takes longer."""
    return bool(on_demand([goal.output], model.graph.classes, model.graph.stations))


def all_met(goals: Sequence[Goal], outputs: FloatArray) -> NDArray[np.bool_]:
    """Which rows of outputs meet every goal."""
    each = [goal.met(column) for goal, column in zip(goals, outputs.T, strict=True)]
    return np.asarray(np.all(each, axis=0)) if each else np.ones(len(outputs), bool)


def all_misses(goals: Sequence[Goal], outputs: FloatArray) -> FloatArray:
    """By how much each row misses each goal, as a share of its limit; negative if it holds."""
    each = [goal.misses(column) for goal, column in zip(goals, outputs.T, strict=True)]
    return np.stack(each).T
