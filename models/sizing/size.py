"""Sizes: the cheapest configuration that meets targets, and what less and more would buy."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from headway.models.analysis.goals import Goal
from headway.models.language.digits import digits
from headway.models.language.frozen import Kept
from headway.models.sizing.choices import Grid
from headway.models.sizing.cost import Cost
from headway.models.sizing.judge import Chance, ranked_by
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer


class Scope(StrEnum):
    """Which configurations were looked at for the front, and for those that cost less."""

    ALL = "all"
    CHEAPEST = "cheapest"
    AROUND = "around the best"


@dataclass(frozen=True, eq=False)
class Configuration(Kept):
    """A value for each parameter that can be chosen.

    Parameters
    ----------
    values
        By parameter [SI].
    cost
        By the formula.
    outputs
        Each goal's output [SI]; None where a station saturates.
    measure
        Mean response time [s], or of a program the first goal's output, which is best at equal
        cost; infinite when saturated.
    meets
        Whether all goals hold; where parameters are uncertain, whether they do surely enough.
    missed
        Goals that it misses at the best values, and by which share of their limits.
    probability
        That all goals hold; None where nothing is uncertain.
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
        At one operating point.
    goals, cost, grid
        What must hold, what configurations cost, and what can be chosen.
    best
        The cheapest that meets all goals; of several at that cost the fastest.
    cheaper, nearest
        Of those that cost less, and so miss some goals: of the next lower cost, and of all of
        them, the one that misses them by the least; None where nothing costs less.
    steps
        By choice, the best one with the next cheaper value of that choice alone.
    front
        Configurations that no cheaper one beats in response time, each 1 % faster at least.
    scope, looked_at
        Which configurations the front and the cheaper ones are of, and how many these are: all,
        as many of the cheapest as can be solved, or, of very many, those around the best one.
    proven
        Whether no cheaper configuration meets the goals for certain.
    chance
        With which probability all goals must hold, and of how many draws of which parameters
        that is told; None where nothing is uncertain.

    Examples
    --------
    >>> from headway.models import ModelGraph, size_model
    >>> from headway.queueing import MMm
    >>> pool = ModelGraph("pool").declare("s", "m").station("cpu", MMm("s", "m"))
    >>> busy = pool.at(s=0.002, m=1, arrival_rate=1400)
    >>> found = size_model(busy, ["response_time<=2.5ms"], {"m": range(1, 33)}, "400*m")
    >>> found, found.cheaper.values, found.proven
    (Size(m=5 at 2000), {'m': 4.0}, True)
    """

    model: Model
    goals: tuple[Goal, ...]
    cost: Cost
    grid: Grid
    best: Configuration
    cheaper: Configuration | None
    nearest: Configuration | None
    steps: Mapping[str, Configuration]
    front: tuple[Configuration, ...]
    scope: Scope
    looked_at: int
    proven: bool = True
    chance: Chance | None = None

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={digits(value)}" for name, value in self.best.values.items())
        return f"Size({values} at {self.best.cost:g})"

    @property
    def ranking(self) -> Goal:
        """What is best at equal cost, and what the front is of."""
        return ranked_by(self.model, self.goals)

    @cached_property
    def solution(self) -> Solution:
        """The model with the best configuration."""
        solution = self.model.at(self.best.values).solve()
        return solution.answering(*(goal.output for goal in self.goals))
