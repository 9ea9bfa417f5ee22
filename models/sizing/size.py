"""Sizes: the cheapest configuration that meets targets, and what less or more money would buy."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from functools import cached_property

from headway.models.analysis.goals import Goal
from headway.models.language.frozen import Kept
from headway.models.sizing.choices import ChoiceGrid
from headway.models.sizing.cost import Cost
from headway.models.sizing.judge import Chance, ranked_by
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.outputs import percent_of
from headway.models.tables.shown import Answer
from headway.models.uncertain.beyond import HELD
from headway.numerals import digits
from headway.records import dataclass


class Scope(StrEnum):
    """Which configurations were examined for the front and for the cheaper ones."""

    ALL = "all"
    CHEAPEST = "cheapest"
    AROUND = "around the best"


@dataclass(frozen=True, eq=False)
class Configuration(Kept):
    """A configuration: a value for each choice.

    Parameters
    ----------
    values
        Value of each choice [SI].
    cost
        Cost by the formula.
    outputs
        Each goal's output [SI]; None if a station saturates.
    measure
        Ranking measure at equal cost: mean response time [s], or for a program the first goal's
        output; infinite when saturated.
    meets
        Whether all goals hold, with the required probability if parameters are uncertain.
    missed
        Goals that it misses at the best values, and by what share of their limits.
    probability
        Probability that all goals hold; None if nothing is uncertain.
    """

    values: Mapping[str, float]
    cost: float
    outputs: tuple[float | None, ...]
    measure: float
    meets: bool = True
    missed: tuple[tuple[Goal, float], ...] = ()
    probability: float | None = None


@dataclass(frozen=True, eq=False)
class Size(Kept, Answer):
    """The cheapest configuration that meets targets.

    Parameters
    ----------
    model
        A model at one operating point.
    goals, cost, grid
        The goals, the cost of configurations, and the choices.
    best
        The cheapest that meets all goals; the fastest of several at that cost.
    cheaper, nearest
        The one that misses the goals by the least, among those of the next lower cost, and among
        all cheaper ones; None if nothing is cheaper.
    steps
        By choice: the best configuration with only that choice at its next cheaper value.
    front
        Configurations that no cheaper one beats in response time, each at least 1% faster.
    scope, looked_at
        Which configurations were examined for the front and the cheaper ones, and how many: all, as
        many of the cheapest as can be solved, or, if there are too many, those around the best one.
    proven
        Whether it is proven that no cheaper configuration meets the goals.
    chance
        The required probability, the number of draws, and the uncertain parameters; None if nothing
        is uncertain.
    followed
        For a size over a day: how that was solved; None for a single operating point.

    Examples
    --------
    >>> from headway.models import ModelGraph, size_model
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
    >>> busy = pool.at(s=0.002, m=1, arrival_rate=1400)
    >>> answer = size_model(busy, ["response_time<=2.5ms"], {"m": range(1, 33)}, "400*m")
    >>> answer, answer.cheaper.values, answer.proven
    (Size(m=5 at 2000), {'m': 4.0}, True)
    """

    model: Model
    goals: tuple[Goal, ...]
    cost: Cost
    grid: ChoiceGrid
    best: Configuration
    cheaper: Configuration | None
    nearest: Configuration | None
    steps: Mapping[str, Configuration]
    front: tuple[Configuration, ...]
    scope: Scope
    looked_at: int
    proven: bool = True
    chance: Chance | None = None
    followed: tuple[str, ...] | None = None

    def over_a_day(self, followed: tuple[str, ...]) -> "Size":
        """The size with notes on the day: how it was solved, and what is approximate."""
        return replace(self, followed=followed)

    @property
    def approximation(self) -> str:
        """What is approximate about the best configuration; empty if nothing is."""
        if self.followed is None:
            return self.solution.approximation
        return "; ".join(line for line in self.followed if line.startswith("approximate"))

    @property
    def caution(self) -> str:
        """How often such sizes held, if a fitted model gave this one with a probability."""
        if self.chance is None or not self.model.measured_to:
            return ""
        is_percentile = any(percent_of(goal.output) is not None for goal in self.goals)
        what = "a percentile" if is_percentile else "a mean"
        return (
            f"on simulated servers that none of the forms describes, "
            f"{100 * HELD[is_percentile]:.0f}% of the sizes found for {what} at 95% met the target"
        )

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={digits(value)}" for name, value in self.best.values.items())
        return f"Size({values} at {digits(self.best.cost)})"

    @property
    def ranking(self) -> Goal:
        """The ranking measure at equal cost and on the front."""
        return ranked_by(self.model, self.goals)

    @cached_property
    def solution(self) -> Solution:
        """The model with the best configuration."""
        solution = self.model.at(self.best.values).solve()
        return solution.answering(*(goal.output for goal in self.goals))
