"""Find a size: read goals, choices and cost, judge configurations, and build the answer."""

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal, Sense, read_goals
from headway.models.sizing.beyond import around, evolved
from headway.models.sizing.bounds import bounded
from headway.models.sizing.chance import ByChance, by_chance
from headway.models.sizing.choices import ChoiceGrid, Columns, grid_of
from headway.models.sizing.cost import Cost, cost_of
from headway.models.sizing.judge import ByModel, Judge, ranked_by
from headway.models.sizing.refusal import refusal
from headway.models.sizing.resources import resources
from headway.models.sizing.search import Explored, in_order, search
from headway.models.sizing.size import Configuration, Scope, Size
from headway.models.sizing.watched import Progress, watched
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.alternatives import able_to, weighted
from headway.models.structure.model import Model, check_model
from headway.records import dataclass


@dataclass(frozen=True)
class Extent:
    """Limits on how many configurations are examined.

    Parameters
    ----------
    judged
        Most configurations judged one by one for the cheapest.
    priced
        Most configurations priced one by one, if bounds leave more than can be judged.
    front
        Most configurations solved for the front.
    """

    judged: int = 1_000_000
    priced: int = 20_000_000
    front: int = 131_072

    def within(self, judge: Judge, solution: Solution) -> "Extent":
        """Limits reduced for slow cases: closed networks, many draws, percentiles one at a time.

        Layers take some 10 ms each, as those with other numbers of few threads are other systems.
        """
        judged = self.judged if judge.chance is None else self.judged // 10
        slower = 512 if solution.model.graph.layers else 1 if solution.is_open else 32
        return Extent(
            judged // 100 if judge.is_slow else judged,
            self.priced,
            self.front // slower,
        )


USUAL = Extent()
_MOST_SLOW = 50


@dataclass(frozen=True, eq=False)
class Question:
    """A sizing problem: a model with goals, choices, their cost, and a judge."""

    model: Model
    goals: tuple[Goal, ...]
    grid: ChoiceGrid
    cost: Cost
    judge: Judge

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Choices of which more can only help."""
        return resources(self.model, self.goals, self.grid.names)


def size_model(
    model: Model,
    targets: str | Goal | Sequence[str | Goal],
    choose: Mapping[str, Sequence[float] | FloatArray],
    cost: str,
    confidence: float | None = None,
    extent: Extent = USUAL,
    progress: Progress | None = None,
) -> Size:
    """Find the cheapest configuration that meets all targets.

    Parameters
    ----------
    model
        A model at one operating point, apart from the choices.
    targets
        As ``response_time<=300ms``, ``utilisation<=0.8``, ``throughput>=500``: one, or several.
    choose
        Values to choose from by parameter [SI].
    cost
        A formula of the choices, such as ``400*cores + 250*disks``.
    confidence
        Required probability that all targets hold [%], above 0 and at most 99.98, for uncertain
        parameters; by default only their best values count.
    extent
        Limits on how many configurations are examined.
    progress
        Called with what was done, in words, and its share of the most that there is to do.

    Raises
    ------
    InvalidParameter, UnknownParameter, FormulaError, UnitError
        For malformed targets, choices or cost, and for targets that no configuration meets.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid").at(arrival_rate=1200)
    >>> choose = {"disks": range(4, 33), "memory": [256e6, 512e6, 1024e6]}
    >>> size_model(raid, ["response_time<=10ms"], choose, "200*disks + memory/1e6").best.values
    {'disks': 4.0, 'memory': 1024000000.0}
    """
    check_model(model)
    grid = grid_of(model, choose)
    whole = model.at(grid.ends(0))
    whole = able_to(whole, lambda one: _check_asked(one.at(grid.ends()), targets))
    each = [one.model for one in weighted(whole)]
    model, solutions = each[0], [_solved(one, grid) for one in each]
    solution = solutions[0]
    if np.prod(solution.shape) != 1:
        msg = f"{model.name}: sizing needs one operating point; remove lists and ranges"
        raise InvalidParameter(msg)
    goals = read_goals(solution, targets)
    certain = ByModel(model, goals, is_slow=any(_are_slow(goals, one) for one in solutions))
    judge = certain if confidence is None else _unsure(certain, whole, confidence, grid)
    told = watched(judge, model, progress, grid.size)
    question = Question(whole, goals, grid, cost_of(cost, grid.names), told)
    return answered(question, extent.within(judge, solution))


def _solved(model: Model, grid: ChoiceGrid) -> Solution:
    """The model at the first value of each choice; at the last if the first cannot be solved."""
    try:
        return model.solve()
    except GraphError:
        return model.at(grid.ends()).solve()


def _are_slow(goals: Sequence[Goal], solution: Solution) -> bool:
    """Whether some goal's output is computed for one configuration at a time."""
    return not solution.together(goal.output for goal in goals)


def _check_asked(model: Model, targets: str | Goal | Sequence[str | Goal]) -> None:
    """Refuse targets that have no value even where the model has the most of every choice."""
    solution = model.solve()
    _are_slow(read_goals(solution, targets), solution)


def _unsure(certain: ByModel, whole: Model, confidence: float, grid: ChoiceGrid) -> ByChance:
    """A judge by draws; refused if each draw takes too long."""
    if certain.is_slow and grid.size > _MOST_SLOW:
        msg = (
            f"percentiles of {certain.model.name} are too slow for draws of {grid.size} "
            f"configurations; offer at most {_MOST_SLOW}"
        )
        raise InvalidParameter(msg)
    return by_chance(certain, whole, confidence, grid.names)


def answered(question: Question, extent: Extent) -> Size:
    """Search for the size, and add its alternatives.

    Raises
    ------
    InvalidParameter
        If no configuration meets the goals.
    """
    grid = question.grid
    explored, proven = cheapest(question, extent)
    if explored.best is None:
        raise InvalidParameter(
            refusal(question.model, question.goals, explored, question.judge.chance, grid.size)
        )
    columns = explored.grid.at(explored.places[[explored.best]])
    best = {name: float(column[0]) for name, column in columns.items()}
    if explored.places.size < grid.size:
        near = around(grid, grid.places_of(best))
        explored = search(near, in_order(near, question.cost), question.judge, near.size)
    return _sized(question, best, explored, proven=proven)


def cheapest(question: Question, extent: Extent) -> tuple[Explored, bool]:
    """Examine every configuration within bounds or, if there are too many, evolve a sample of them.

    Also return whether it is proven that nothing cheaper meets the goals.
    """
    grid, ceiling = question.grid, np.inf
    if grid.size > extent.judged:
        left = bounded(grid, question.resources, question.cost, question.judge)
        grid, ceiling = left.grid, left.ceiling
    if grid.size <= (extent.judged if np.isinf(ceiling) else extent.priced):
        ordered = in_order(grid, question.cost, ceiling)
        if ordered[0].size <= extent.judged:
            return search(grid, ordered, question.judge, extent.front), True
    return evolved(grid, question.cost, question.judge), False


def _sized(
    question: Question, best: Mapping[str, float], explored: Explored, *, proven: bool
) -> Size:
    """The size, with everything that is shown judged again, together."""
    numbers = {"cheaper": explored.cheaper, "nearest": explored.nearest}
    named = {name: place for name, place in numbers.items() if place is not None}
    wanted = explored.grid.at(explored.places[[*named.values(), *explored.front()]])
    steps = _steps(question, best)
    alone = _stacked([best, *steps.values()])
    columns = {name: np.concatenate([alone[name], wanted[name]]) for name in alone}
    found, *judged = _configurations(question, columns)
    stepped, others = judged[: len(steps)], judged[len(steps) :]
    shown = dict(zip(named, others, strict=False))
    return Size(
        model=question.model.at(best),
        goals=question.goals,
        cost=question.cost,
        grid=question.grid,
        best=found,
        cheaper=shown.get("cheaper"),
        nearest=shown.get("nearest"),
        steps=dict(zip(steps, stepped, strict=True)),
        front=tuple(others[len(named) :]),
        scope=_scope(question, explored),
        looked_at=int(explored.measures.size),
        proven=proven,
        chance=question.judge.chance,
    )


def _scope(question: Question, explored: Explored) -> Scope:
    if explored.grid.size < question.grid.size:
        return Scope.AROUND
    return Scope.ALL if explored.measures.size == question.grid.size else Scope.CHEAPEST


def _configurations(question: Question, columns: Columns) -> list[Configuration]:
    """Judge configurations again, for display."""
    verdict, costs = question.judge.full()(columns), question.cost.of(columns)
    sign = 1.0 if ranked_by(question.model, question.goals).sense is Sense.AT_MOST else -1.0
    configurations = []
    for k, outputs in enumerate(verdict.outputs.tolist()):
        pairs = zip(question.goals, outputs, strict=True)
        missed = tuple((goal, float(goal.misses(x))) for goal, x in pairs if not goal.met(x))
        values = {name: float(column[k]) for name, column in columns.items()}
        results = float(costs[k]), tuple(map(_or_none, outputs)), sign * float(verdict.measure[k])
        share = None if verdict.share is None else float(verdict.share[k])
        configurations.append(Configuration(values, *results, bool(verdict.met[k]), missed, share))
    return configurations


def _or_none(output: float) -> float | None:
    return None if np.isnan(output) else output


def _steps(question: Question, best: Mapping[str, float]) -> dict[str, Mapping[str, float]]:
    """By choice: the best configuration with only that choice at its next cheaper value."""
    steps: dict[str, Mapping[str, float]] = {}
    alone = _stacked([best])
    most = question.cost.of(alone)[0]
    for name, values in question.grid.values.items():
        costs = question.cost.of({**alone, name: np.array(values, float)})
        less = np.flatnonzero(costs < most)
        if less.size:
            steps[name] = {**best, name: values[less[np.argmax(costs[less])]]}
    return steps


def _stacked(each: Sequence[Mapping[str, float]]) -> dict[str, FloatArray]:
    """Configurations as columns."""
    return {name: np.array([values[name] for values in each]) for name in each[0]}
