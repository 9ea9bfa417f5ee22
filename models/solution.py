"""Solutions: what a model says at its operating points."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import Saturated
from headway.kinds import FloatArray, Number, plain
from headway.models.model import Model, points_shape
from headway.models.saturation import saturation_throughput
from headway.models.steps import Values
from headway.models.tables import Shown, Table

COMPONENT_PARTS = ("utilisation", "residence_time", "queue_length", "throughput")


@dataclass(frozen=True)
class Solution(Shown):
    """The answer to a model at one operating point or many.

    Parameters
    ----------
    model
        What was solved, with its inputs.
    values
        Every calculated number by name, such as ``cpu.utilisation``; SI, scalar or array.
    shape
        Shape of the operating points.
    """

    model: Model
    values: Values
    shape: tuple[int, ...]

    def __repr__(self) -> str:
        points = int(np.prod(self.shape))
        return f"Solution({self.model.name}, {points} point{'s' if points != 1 else ''})"

    def __getitem__(self, name: str) -> Number:
        """One output or component number at every operating point."""
        if name == "throughput":
            return self.throughput
        if name == "saturation_throughput":
            return self.saturation_throughput
        return self._over_points(self.values[name])

    def _over_points(self, value: Any) -> Number:
        spread: Number = plain(np.broadcast_to(np.asarray(value, float), self.shape))
        return spread

    @property
    def stations(self) -> tuple[str, ...]:
        """Names of the stations; empty for a model of a program."""
        return tuple(self.model.graph.stations)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the results."""
        own = tuple(self.model.graph.outputs)
        if not self.stations:
            return own
        standard = ("throughput", "response_time", "saturation_throughput")
        return standard + tuple(name for name in own if name not in standard)

    @property
    def response_time(self) -> Number:
        """Mean response time [s]; infinite at a saturated point."""
        return self["response_time"]

    @cached_property
    def throughput(self) -> Number:
        """Jobs completed [1/s]: those that arrive, or as many as the bottleneck lets through."""
        rate = self._over_points(self.values["throughput"])
        if not self.saturated.any():
            return rate
        most = np.minimum(rate, self.saturation_throughput)
        return self._over_points(np.where(self.saturated, most, rate))

    @cached_property
    def saturation_throughput(self) -> Number:
        """Throughput at which the first station is always busy [1/s]."""
        found = saturation_throughput(self.model.graph, self.model.inputs)
        return self._over_points(found)

    @cached_property
    def _utilisations(self) -> FloatArray:
        return np.stack([np.asarray(self[f"{name}.utilisation"]) for name in self.stations])

    @cached_property
    def saturated(self) -> NDArray[np.bool_]:
        """Whether some station cannot keep up, by operating point."""
        if not self.stations:
            return np.zeros(self.shape, bool)
        over = np.zeros(self.shape, bool)
        for name in self.stations:
            over |= np.asarray(self[f"{name}.utilisation"]) >= 1
        return over

    @cached_property
    def bottleneck(self) -> NDArray[np.str_]:
        """The busiest station, by operating point."""
        return np.asarray(np.take(np.array(self.stations), self._utilisations.argmax(axis=0)))

    def require_stable(self) -> "Solution":
        """Give back this solution, or refuse it.

        Raises
        ------
        Saturated
            Naming the first saturated point's station, its utilisation and its limit.
        """
        for point in self.points():
            if point.saturated:
                raise Saturated(point.saturation_message)
        return self

    def points(self) -> Iterator["Solution"]:
        """Take the operating points apart, in order."""
        names = [n for n, v in self.values.items() if isinstance(v, float | int | np.ndarray)]
        for index in np.ndindex(self.shape):
            picked = {n: _pick(self.values[n], self.shape, index) for n in names}
            inputs = {n: _pick(v, self.shape, index) for n, v in self.model.inputs.items()}
            point = Solution(self.model.at(inputs), picked, ())
            if self.stations and "saturation_throughput" in self.__dict__:
                limit = _pick(self.saturation_throughput, self.shape, index)
                point.__dict__["saturation_throughput"] = limit
            yield point

    @property
    def saturation_message(self) -> str:
        """What is wrong at a saturated point, in one line."""
        name = str(self.bottleneck)
        rate = self.model.meaning("throughput").unit
        return (
            f"{name}: utilisation {self[f'{name}.utilisation']:.2f} at "
            f"{self.values['throughput'] / rate.scale:.6g} {rate}; "
            f"it saturates at {self.saturation_throughput / rate.scale:.6g} {rate}"
        )

    def plot(self) -> Any:
        """Draw the outputs over the swept input, as a matplotlib Figure."""
        from headway.models.plots import solution_figure

        return solution_figure(self)

    def tables(self) -> list[Table]:
        """One table over many points, or outputs and stations of a single one."""
        from headway.models.answers import solution_tables

        return solution_tables(self)

    def rows(self) -> list[dict[str, Any]]:
        """One dict an operating point: inputs, outputs and components in SI."""
        from headway.models.answers import solution_rows

        return solution_rows(self)

    def to_json(self) -> str:
        """Strict JSON by the contract in docs/design.md."""
        from headway.models.answers import solution_document, strict_json

        return strict_json(solution_document(self))

    def to_csv(self) -> str:
        """A CSV row an operating point, units in the header."""
        from headway.models.answers import solution_csv

        return solution_csv(self)


def _pick(value: Any, shape: tuple[int, ...], index: tuple[int, ...]) -> Any:
    if np.ndim(value) == 0:
        return plain(value)
    return plain(np.broadcast_to(value, shape)[index])


def solve_open(model: Model) -> Solution:
    """Solve an open network, or evaluate a model of a program."""
    inputs = model.inputs
    shape = points_shape(inputs)
    graph = model.graph
    targets = list(graph.outputs)
    if graph.stations:
        targets.append("response_time")
        targets += [f"{name}.{part}" for name in graph.stations for part in COMPONENT_PARTS]
    return Solution(model, graph.plan.run(inputs, targets), shape)
