"""The search for a size: goals, choices and cost read, configurations judged, the answer made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal, Sense, read_goals
from headway.models.sizing.beyond import around, evolved
from headway.models.sizing.bounds import bounded
from headway.models.sizing.chance import ByChance, by_chance
from headway.models.sizing.choices import Columns, Grid, grid_of
from headway.models.sizing.cost import Cost, cost_of
from headway.models.sizing.judge import ByModel, Judge, ranked_by
from headway.models.sizing.refusal import refusal
from headway.models.sizing.resources import resources
from headway.models.sizing.search import Explored, in_order, search
from headway.models.sizing.size import Configuration, Scope, Size
from headway.models.solving.percentile import all_at_once
from headway.models.solving.solutions.asked import PERCENTILE
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model


@dataclass(frozen=True)
class Extent:
    """How many configurations are looked at.

    Parameters
    ----------
    judged
        Judged one by one for the cheapest, at most.
    priced
        Priced one by one, at most, where bounds leave more than can be judged.
    front
        Solved for the front.
    """

    judged: int = 1_000_000
    priced: int = 20_000_000
    front: int = 131_072

    def within(self, judge: Judge, solution: Solution) -> "Extent":
        """Fewer where each takes longer: closed networks, many draws, percentiles one by one."""
        judged = self.judged if judge.chance is None else self.judged // 10
        return Extent(
            judged // 100 if judge.is_slow else judged,
            self.priced,
            self.front if solution.is_open else self.front // 32,
        )


USUAL = Extent()
_MOST_SLOW = 50


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked for: a model with goals, choices and their cost, and who judges."""

    model: Model
    goals: tuple[Goal, ...]
    grid: Grid
    cost: Cost
    judge: Judge

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Choices of which more can only help."""
        return resources(self.model, self.goals, self.grid.names)


def size_model(
    model: Model,
    targets: Sequence[str | Goal],
    choose: Mapping[str, Sequence[float] | FloatArray],
    cost: str,
    confidence: float | None = None,
    extent: Extent = USUAL,
) -> Size:
    """Find the cheapest configuration that meets all targets.

    Parameters
    ----------
    model
        At one operating point, but for what can be chosen.
    targets
        As ``response_time<=300ms``, ``utilisation<=0.8``, ``throughput>=500``.
    choose
        Values to choose from by parameter [SI].
    cost
        A formula of the choices, such as ``400*cores + 250*disks``.
    confidence
        With which probability all targets must hold [%], above 0 and at most 99.98, where some
        parameters are uncertain; their best values alone count if it is left out.
    extent
        How many configurations are looked at.

    Raises
    ------
    InvalidParameter, UnknownParameter, FormulaError, UnitError
        For targets, choices or a cost that cannot be read, and targets that nothing meets.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid").at(arrival_rate=1200)
    >>> choose = {"disks": range(4, 33), "memory": [256e6, 512e6, 1024e6]}
    >>> size_model(raid, ["response_time<=10ms"], choose, "200*disks + memory/1e6").best.values
    {'disks': 4.0, 'memory': 1024000000.0}
    """
    grid = grid_of(model, choose)
    model = model.exposing(*choose).at(grid.ends(0))
    solution = model.solve()
    if np.prod(solution.shape) != 1:
        msg = f"{model.name}: sizing needs one operating point; leave out lists and ranges"
        raise InvalidParameter(msg)
    goals = read_goals(solution, targets)
    certain = ByModel(model, goals, is_slow=_are_slow(goals, solution))
    judge = certain if confidence is None else _unsure(certain, confidence, grid)
    asked = Question(model, goals, grid, cost_of(cost, grid.names), judge)
    return answered(asked, extent.within(judge, solution))


def _are_slow(goals: Sequence[Goal], solution: Solution) -> bool:
    """Whether some goal is a percentile that is found configuration by configuration."""
    return any(PERCENTILE in goal.output for goal in goals) and not all_at_once(solution)


def _unsure(certain: ByModel, confidence: float, grid: Grid) -> ByChance:
    """Judge by draws; refuse it where each takes too long."""
    if certain.is_slow and grid.size > _MOST_SLOW:
        msg = (
            f"percentiles of {certain.model.name} are too slow for draws of {grid.size} "
            f"configurations; offer at most {_MOST_SLOW}"
        )
        raise InvalidParameter(msg)
    return by_chance(certain, confidence, grid.names)


def answered(asked: Question, extent: Extent) -> Size:
    """Search for what is asked for, and show what lies around it.

    Raises
    ------
    InvalidParameter
        Where nothing meets the goals.
    """
    grid = asked.grid
    found, proven = cheapest(asked, extent)
    if found.best is None:
        raise InvalidParameter(
            refusal(asked.model, asked.goals, found, asked.judge.chance, grid.size)
        )
    best = _configurations(asked, found.grid.at(found.places[[found.best]]))[0]
    if found.places.size < grid.size:
        near = around(grid, grid.places_of(best.values))
        found = search(near, in_order(near, asked.cost), asked.judge, near.size)
    return _sized(asked, best, found, proven=proven)


def cheapest(asked: Question, extent: Extent) -> tuple[Explored, bool]:
    """Look at every configuration that bounds leave, or, of too many, let some evolve.

    Also whether nothing cheaper meets the goals for certain.
    """
    grid, ceiling = asked.grid, np.inf
    if grid.size > extent.judged:
        left = bounded(grid, asked.resources, asked.cost, asked.judge)
        grid, ceiling = left.grid, left.ceiling
    if grid.size <= (extent.judged if np.isinf(ceiling) else extent.priced):
        ordered = in_order(grid, asked.cost, ceiling)
        if ordered[0].size <= extent.judged:
            return search(grid, ordered, asked.judge, extent.front), True
    return evolved(grid, asked.cost, asked.judge), False


def _sized(asked: Question, best: Configuration, explored: Explored, *, proven: bool) -> Size:
    numbers = {"cheaper": explored.cheaper, "nearest": explored.nearest}
    named = {name: place for name, place in numbers.items() if place is not None}
    wanted = explored.places[[*named.values(), *explored.front()]]
    judged = _configurations(asked, explored.grid.at(wanted))
    shown = dict(zip(named, judged, strict=False))
    steps = _steps(asked, best)
    stepped = _configurations(asked, _stacked(list(steps.values()))) if steps else []
    return Size(
        model=asked.model.at(best.values),
        goals=asked.goals,
        cost=asked.cost,
        grid=asked.grid,
        best=best,
        cheaper=shown.get("cheaper"),
        nearest=shown.get("nearest"),
        steps=dict(zip(steps, stepped, strict=True)),
        front=tuple(judged[len(named) :]),
        scope=_scope(asked, explored),
        looked_at=int(explored.measures.size),
        proven=proven,
        chance=asked.judge.chance,
    )


def _scope(asked: Question, explored: Explored) -> Scope:
    if explored.grid.size < asked.grid.size:
        return Scope.AROUND
    return Scope.ALL if explored.measures.size == asked.grid.size else Scope.CHEAPEST


def _configurations(asked: Question, columns: Columns) -> list[Configuration]:
    """Judge configurations once more, to be shown."""
    verdict, costs = asked.judge.full()(columns), asked.cost.of(columns)
    sign = 1.0 if ranked_by(asked.model, asked.goals).sense is Sense.AT_MOST else -1.0
    found = []
    for k, outputs in enumerate(verdict.outputs.tolist()):
        pairs = zip(asked.goals, outputs, strict=True)
        missed = tuple((goal, float(goal.misses(x))) for goal, x in pairs if not goal.met(x))
        values = {name: float(column[k]) for name, column in columns.items()}
        told = float(costs[k]), tuple(map(_told, outputs)), sign * float(verdict.measure[k])
        share = None if verdict.share is None else float(verdict.share[k])
        found.append(Configuration(values, *told, bool(verdict.met[k]), missed, share))
    return found


def _told(output: float) -> float | None:
    return None if np.isnan(output) else output


def _steps(asked: Question, best: Configuration) -> dict[str, Mapping[str, float]]:
    """By choice, the configuration that differs in it alone and is the next cheaper one."""
    steps: dict[str, Mapping[str, float]] = {}
    for name, values in asked.grid.values.items():
        line = [{**best.values, name: value} for value in values]
        costs = asked.cost.of(_stacked(line))
        less = np.flatnonzero(costs < best.cost)
        if less.size:
            steps[name] = line[less[np.argmax(costs[less])]]
    return steps


def _stacked(each: Sequence[Mapping[str, float]]) -> dict[str, FloatArray]:
    """Configurations as columns."""
    return {name: np.array([values[name] for values in each]) for name in each[0]}
