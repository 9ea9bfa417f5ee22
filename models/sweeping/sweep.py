"""Results of a sweep: its reductions, and its effort."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from headway.errors import InvalidParameter, nearest
from headway.kinds import FloatArray
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.sweeping.reductions.indices import Indices
from headway.models.sweeping.reductions.moments import OF_FINITE
from headway.models.sweeping.reductions.reduction import Reduction, Row, State
from headway.models.sweeping.reductions.sketch import Distribution, Sketched
from headway.models.sweeping.spaces import Space
from headway.models.tables.shown import Answer
from headway.numerals import significant
from headway.records import dataclass


@dataclass(frozen=True)
class SweepEffort:
    """Effort of a sweep.

    Parameters
    ----------
    points
        Finished points: all of them, unless it was interrupted.
    seconds
        Elapsed time, including earlier runs of the same sweep [s].
    working, solving
        Time of all workers, and the part spent solving models [s].
    workers
        Number of worker processes.
    chunks
        Number of chunks.
    interrupted
        Whether Ctrl-C ended it.
    """

    points: int
    seconds: float
    working: float
    solving: float
    workers: int
    chunks: int
    interrupted: bool = False

    def __str__(self) -> str:
        workers = f"{self.workers} workers" if self.workers > 1 else "1 worker"
        return (
            f"{self.points:,} points in {significant(self.seconds, 3)} s by {workers}, "
            f"{100 * self.busy_share:.0f}% busy: {significant(self.rate, 3)} points/s a core, "
            f"{100 * self.kernel_share:.0f}% of the time solving"
        )

    @property
    def rate(self) -> float:
        """Points per second and core, while workers were busy."""
        return self.points / self.working if self.working else 0.0

    @property
    def kernel_share(self) -> float:
        """Share of the workers' time spent solving models."""
        return self.solving / self.working if self.working else 0.0

    @property
    def busy_share(self) -> float:
        """Share of the elapsed time for which workers were busy."""
        return self.working / (self.seconds * self.workers) if self.seconds else 0.0


@dataclass(frozen=True)
class Sweep(Answer):
    """Reductions over the points of a space.

    Parameters
    ----------
    model
        The model solved at every point.
    space
        The points.
    reductions, states
        The reductions, and their states.
    effort
        Time and number of points.
    first
        The solution of the first point, which shows how all were solved.
    alternatives
        The same of the model's alternatives that can answer it.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> swept = model.sweep({"arrival_rate": [0.0, 500.0]}, reduce=["moments"])
    >>> swept, swept.value("mean", "response_time")
    (Sweep(server-single, 2 points, moments(response_time)), 0.0025)
    """

    model: Model
    space: Space
    reductions: tuple[Reduction, ...]
    states: tuple[State, ...]
    effort: SweepEffort
    first: Solution
    alternatives: tuple["Sweep", ...] = ()

    @property
    def approximation(self) -> str:
        """Why the solutions are approximate; empty if they are exact."""
        return self.first.approximation

    def __repr__(self) -> str:
        kept = ", ".join(reduction.text for reduction in self.reductions)
        return f"Sweep({self.model.name}, {self.effort.points:,} points, {kept})"

    @cached_property
    def results(self) -> tuple[Row, ...]:
        """Statistics of all reductions in order, as dicts; values in SI."""
        each = zip(self.reductions, self.states, strict=True)
        return tuple(
            row
            for reduction, state in each
            for row in reduction.rows(state, sampled=self.space.sampled)
        )

    def values_of_all(self) -> tuple[tuple[float, float], ...]:
        """Least and largest value of each result by the model and its alternatives [SI]."""
        each = np.array([[row["value"] for row in s.results] for s in (self, *self.alternatives)])
        return tuple(zip(each.min(axis=0).tolist(), each.max(axis=0).tolist(), strict=True))

    @property
    def has_indices(self) -> bool:
        """Whether it gives Sobol indices."""
        return all(isinstance(one, Indices) for one in self.reductions)

    @cached_property
    def distributions(self) -> dict[str, Distribution]:
        """Distribution over the points, for each output with quantiles."""
        each = zip(self.reductions, self.states, strict=True)
        sketches = ((one.output, state) for one, state in each if isinstance(one, Sketched))
        return {output: Distribution.of(state) for output, state in sketches}

    def points(self, numbers: Sequence[int]) -> dict[str, FloatArray]:
        """Values of the parameters at given points of the space [SI], by parameter."""
        if not numbers:
            return {name: np.zeros(0) for name in self.space.names}
        first, after = numbers[0], numbers[-1] + 1
        if [*numbers] == [*range(first, after)]:
            return self.space.piece(first, after).points(first, after)
        each = [self.points([number]) for number in numbers]
        return {name: np.concatenate([one[name] for one in each]) for name in self.space.names}

    def value(self, statistic: str, output: str | None = None) -> float:
        """One number of the answer [SI].

        Parameters
        ----------
        statistic
            Its name in the table: ``mean``, ``p99``, ``share above 300 ms``.
        output
            The output; optional if only one has the statistic.

        Raises
        ------
        InvalidParameter
            For a statistic that was not kept; suggests the nearest.
        """
        rows = [row for row in self.results if output in (None, row["output"])]
        exact = [row for row in rows if row["statistic"] == statistic]
        matching = exact or [row for row in rows if row["statistic"] == f"{statistic}{OF_FINITE}"]
        if len(matching) != 1:
            names: Sequence[str] = [str(row["statistic"]) for row in self.results]
            more = "; give the output" if matching else nearest(statistic, names)
            msg = f"{statistic}: {len(matching)} such statistics were kept{more}"
            raise InvalidParameter(msg)
        return float(matching[0]["value"])
