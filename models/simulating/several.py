"""Simulations at several operating points with common random numbers.

The k-th number drawn for a purpose (a gap between arrivals, the work of a job) is the same at every
point, so chance does not hide the differences between points.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from math import prod
from typing import Any

import numpy as np

from headway.errors import GraphError, InvalidParameter, Saturated
from headway.models.language.frozen import Kept
from headway.models.language.scales import Scale
from headway.models.running.crews import Crew, crew_of
from headway.models.simulating.planning import AT_MOST
from headway.models.simulating.runs import Progress, check_simulated, simulate_model
from headway.models.simulating.simulation import Simulation
from headway.models.structure.inputs import points_shape
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.records import dataclass


@dataclass(frozen=True, eq=False)
class Simulations(Kept, Answer):
    """A model's answers by simulation at several operating points.

    Parameters
    ----------
    model
        With lists or ranges of values.
    points
        The simulation at each operating point, in order.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> model = ModelGraph("one").station("cpu", MM1(0.1)).at(arrival_rate=[2.0, 5.0])
    >>> slow, fast = (point["response_time"] for point in model.simulate_points(0.2).points)
    >>> slow.holds(0.125), fast.holds(0.2)
    (True, True)
    """

    model: Model
    points: tuple[Simulation, ...]

    def __repr__(self) -> str:
        return f"Simulations({self.model.name}, {len(self.points)} points)"

    @property
    def varied(self) -> tuple[str, ...]:
        """Parameters that differ between the points."""
        return _varied(self.model)

    @property
    def wanted(self) -> int:
        """Number of operating points of the model."""
        return prod(points_shape(self.model.inputs))

    @property
    def interrupted(self) -> bool:
        """Whether it stopped before reaching the half width everywhere."""
        cut = any(point.effort.interrupted for point in self.points)
        return cut or len(self.points) < self.wanted

    @property
    def _value(self) -> tuple[Any, ...]:
        return self.model, self.points


def simulate_points(
    model: Model,
    half_width: float = 0.02,
    seed: int = 1,
    percentiles: Sequence[float] = (),
    at_most: float = AT_MOST,
    progress: Progress | None = None,
    executor: Executor | Crew | None = None,
) -> Simulations:
    """Simulate a model at each of its operating points.

    Parameters
    ----------
    model
        With lists or ranges of values, or with one operating point.
    half_width, seed, percentiles, at_most, progress, executor
        As for `headway.models.simulating.runs.simulate_model`, at each point.

    Raises
    ------
    GraphError, Saturated, InvalidParameter
        As `simulate_model`, naming the point; before anything is simulated where possible.
    """
    each, crew = list(_points(model)), crew_of(executor)
    for point in each:
        with _named(model, point):
            check_simulated(point)
    options = half_width, seed, percentiles, at_most, progress, crew
    made: list[Simulation] = []
    for point in each:
        try:
            with _named(model, point):
                made.append(simulate_model(point, *options))
        except KeyboardInterrupt:
            if not made:
                raise
            break
        if made[-1].effort.interrupted:
            break
    return Simulations(model, tuple(made))


def _varied(model: Model) -> tuple[str, ...]:
    return tuple(name for name, value in model.inputs.items() if np.size(value) > 1)


def _points(model: Model) -> Iterator[Model]:
    shape, names = points_shape(model.inputs), _varied(model)
    columns = (np.broadcast_to(np.asarray(model.inputs[n], float), shape).ravel() for n in names)
    for values in zip(*columns, strict=True) if names else [()]:
        yield model.at({n: float(v) for n, v in zip(names, values, strict=True)})


@contextmanager
def _named(model: Model, point: Model) -> Iterator[None]:
    """Name the operating point at which something is refused."""
    try:
        yield
    except (GraphError, InvalidParameter, Saturated) as error:
        names = _varied(model)
        if not names:
            raise
        values = ((name, float(np.ravel(point.inputs[name])[0])) for name in names)
        texts = (f"{n} {Scale().text(value, model.parameters[n].unit)}" for n, value in values)
        where = ", ".join(texts)
        msg = f"at {where}: {error}"
        raise type(error)(msg) from None
