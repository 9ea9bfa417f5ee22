"""Analytic and simulated answers side by side, to check the formulas."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from functools import cached_property
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.models.language.frozen import Kept
from headway.models.language.units import Unit
from headway.models.language.verbs import who_does
from headway.models.running.crews import Crew
from headway.models.simulating.planning import AT_MOST
from headway.models.simulating.simulation import Simulation
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.outputs import part_unit, percentile_name
from headway.models.tables.shown import Answer
from headway.queueing.playing.estimates import Estimate, together
from headway.records import dataclass

TOGETHER = 0.99
"""Joint confidence of all intervals of a check."""

PARTS = ("utilisation", "queue_length", "response_time")
"""Checked results of each station; the response time is that of a visit."""


@dataclass(frozen=True)
class CheckedResult:
    """A result, both calculated and simulated.

    Parameters
    ----------
    name
        Its name, such as ``response_time``, ``class web.throughput`` or ``cpu.utilisation``.
    unit
        The unit for display.
    analytic
        The solver's result; None if it has none.
    simulated
        The simulated estimate.
    confidence
        Confidence of the interval, chosen so that all rows hold jointly.
    """

    name: str
    unit: Unit
    analytic: float | None
    simulated: Estimate
    confidence: float

    @property
    def interval(self) -> tuple[float, float]:
        """The simulated interval."""
        return self.simulated.interval(self.confidence)

    @property
    def difference(self) -> float | None:
        """The analytic result divided by the simulated one, minus 1."""
        if self.analytic is None or self.simulated.mean == 0:
            return None
        return self.analytic / self.simulated.mean - 1

    @property
    def inside(self) -> bool | None:
        """Whether the interval contains the analytic result; None if there is none."""
        return (
            None if self.analytic is None else self.simulated.holds(self.analytic, self.confidence)
        )


@dataclass(frozen=True, eq=False)
class Check(Kept, Answer):
    """A solution compared with a simulation of the same model.

    Parameters
    ----------
    solution, simulation
        The two answers.
    rows_checked
        The results that both have: of the system, of classes and of stations.
    unknown
        Why some percentile has no analytic result; empty if all have one.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> model = ModelGraph("one").station("cpu", MM1(0.1)).at(arrival_rate=5)
    >>> check = model.check(half_width=0.2)
    >>> check["cpu.queue_length"].analytic, check["cpu.queue_length"].inside
    (1.0, True)
    """

    solution: Solution
    simulation: Simulation
    rows_checked: tuple[CheckedResult, ...]
    unknown: str = ""

    def __repr__(self) -> str:
        outside = f"{len(self.outside)} of {len(self.rows_checked)} outside"
        return f"Check({self.simulation.model.name}, {outside})"

    def __getitem__(self, name: str) -> CheckedResult:
        """A row by its name."""
        return next(row for row in self.rows_checked if row.name == name)

    @cached_property
    def outside(self) -> tuple[str, ...]:
        """Names of the analytic results outside their intervals."""
        return tuple(row.name for row in self.rows_checked if row.inside is False)

    @property
    def largest(self) -> CheckedResult | None:
        """The row with the largest relative difference."""
        known = [row for row in self.rows_checked if row.difference is not None]
        return max(known, key=lambda row: abs(row.difference or 0.0), default=None)

    @property
    def _value(self) -> tuple[Any, ...]:
        return self.solution, self.simulation, self.rows_checked


def check_model(
    model: Model,
    percentiles: Sequence[float] = (),
    half_width: float = 0.02,
    seed: int = 1,
    at_most: float = AT_MOST,
    progress: Callable[[str, float], None] | None = None,
    executor: Executor | Crew | None = None,
) -> Check:
    """Solve a model and simulate it.

    Parameters
    ----------
    model
        With one operating point.
    percentiles, half_width, seed, at_most, progress, executor
        As for `headway.models.simulating.runs.simulate_model`.

    Raises
    ------
    GraphError, Saturated, InvalidParameter
        For models that cannot be solved or simulated, with the reason.
    """
    solution = model.solve().require_stable()
    solution, unknown = _with_percentiles(solution, percentiles)
    options = half_width, seed, percentiles, at_most, progress, executor
    simulation: Simulation = who_does(Model, "simulate")(model, *options)
    return Check(solution, simulation, tuple(_rows(solution, simulation)), unknown)


def _with_percentiles(solution: Solution, percentiles: Sequence[float]) -> tuple[Solution, str]:
    """The solution with percentiles; or without them, and the reason."""
    if percentiles and solution.model.graph.layers:
        why = "layered services have no formula for these times"
        return solution, f"{', '.join(map(percentile_name, percentiles))}: {why}"
    try:
        return solution.with_percentiles(percentiles), ""
    except GraphError as error:
        return solution, f"{', '.join(map(percentile_name, percentiles))}: {error}"


def _rows(solution: Solution, simulation: Simulation) -> Iterator[CheckedResult]:
    names = list(_names(simulation))
    confidence = together(TOGETHER, len(names))
    for name, unit in names:
        yield CheckedResult(name, unit, _analytic(solution, name), simulation[name], confidence)


def _names(simulation: Simulation) -> Iterator[tuple[str, Unit]]:
    """The results to check, system first."""
    for name in simulation.outputs:
        yield name, simulation.model.meaning(name).unit
    for name, parts in simulation.classes.items():
        for part in parts:
            yield f"class {name}.{part}", simulation.model.meaning(part).unit
    for name, parts in simulation.stations.items():
        for part in (part for part in PARTS if part in parts):
            yield f"{name}.{part}", part_unit(part)
    others = (simulation.regions, *simulation.layers.values())
    for name, parts in (one for each in others for one in each.items()):
        for part in parts:
            yield f"{name}.{part}", part_unit(part)


def _analytic(solution: Solution, name: str) -> float | None:
    station, _, part = name.rpartition(".")
    if station in solution.stations and part == "response_time":  # by Little's law
        return _one(solution[f"{station}.queue_length"]) / _one(solution[f"{station}.throughput"])
    graph = solution.model.graph
    own = station in (*solution.stations, *graph.regions) or (station and graph.layers)
    if own or name in (*solution.outputs, *solution.class_outputs):
        return _one(solution[name])
    return None


def _one(value: Any) -> float:
    return float(np.ravel(value)[0])
