"""A model: a graph whose parameters have values, ready to be solved."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from headway.errors import InvalidParameter, UnknownModel, UnknownParameter
from headway.kinds import Number
from headway.models.graph import ModelGraph
from headway.models.names import nearest
from headway.models.parameters import Parameter, Preset
from headway.models.tables import Shown, Table
from headway.models.units import ONE, Unit, unit

if TYPE_CHECKING:
    from headway.models.comparison import Comparison
    from headway.models.measurements import Measurements
    from headway.models.solution import Solution


@dataclass(frozen=True)
class Meaning:
    """What a derived number or an output is, for tables."""

    unit: Unit = ONE
    doc: str = ""
    source: str = ""


@dataclass(frozen=True)
class Model(Shown):
    """A model graph with values for its parameters.

    Parameters
    ----------
    graph
        The structure.
    parameters
        Value, unit, bounds and source by name.
    presets
        Published sets of values.
    meanings
        Units and explanations of bindings and outputs.
    doc, source, assumptions
        What it models, where it is published, what it takes for granted.
    preset
        The preset in force, if any.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.5)
    >>> one.solve(arrival_rate=1.0).response_time
    1.0
    """

    graph: ModelGraph
    parameters: Mapping[str, Parameter]
    presets: Mapping[str, Preset] = field(default_factory=dict)
    meanings: Mapping[str, Meaning] = field(default_factory=dict)
    doc: str = ""
    source: str = ""
    assumptions: str = ""
    preset: str | None = None

    @classmethod
    def of(cls, graph: ModelGraph) -> "Model":
        """Make a model of a graph, its parameters still without values."""
        names = list(graph.parameters)
        if graph.stations and (
            not graph.arrivals or any("arrival_rate" in f.names for f in graph.arrivals.values())
        ):
            names.append("arrival_rate")
        rate = Parameter("arrival_rate", None, unit("1/s"), 0.0, doc="arrivals from outside")
        parameters = {name: rate if name == "arrival_rate" else Parameter(name) for name in names}
        graph.plan  # noqa: B018 - refuses circles now rather than when it is solved
        return cls(graph, parameters)

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.graph.name

    def at(self, values: Mapping[str, Any] | None = None, /, **named: Any) -> "Model":
        """Give parameters values: SI numbers, arrays of operating points, or text with units.

        Raises
        ------
        UnknownParameter
            For a name the model does not have.
        InvalidParameter, UnitError
            For a value out of bounds or of the wrong dimension.
        """
        changed = dict(self.parameters)
        for name, value in {**(values or {}), **named}.items():
            if name not in changed:
                msg = f"{self.name} has no parameter {name!r}{nearest(name, changed)}"
                raise UnknownParameter(msg)
            changed[name] = changed[name].at(value)
        return replace(self, parameters=changed)

    def with_preset(self, name: str) -> "Model":
        """Take the values of a published set.

        Raises
        ------
        UnknownModel
            For a preset the model does not have.
        """
        if name not in self.presets:
            msg = f"{self.name} has no preset {name!r}{nearest(name, self.presets)}"
            raise UnknownModel(msg)
        return replace(self.at(self.presets[name].values), preset=name)

    def compare(
        self,
        measurements: "Measurements",
        x: str | None = None,
        y: str | None = None,
        low: float = -math.inf,
        high: float = math.inf,
    ) -> "Comparison":
        """Hold the model against measurements; see `headway.models.comparison.compare`."""
        from headway.models.comparison import compare
        from headway.models.signature import Range

        return compare(self, measurements, x, y, Range(low, high))

    def to_toml(self) -> str:
        """The model as the text of a model file; reading it gives the same numbers."""
        from headway.models.file_writing import to_toml

        return to_toml(self)

    def __repr__(self) -> str:
        preset = f", preset {self.preset}" if self.preset else ""
        return f"Model({self.name}{preset}: {len(self.parameters)} parameters)"

    def tables(self) -> list[Table]:
        """Parameters, formulas, stations, routes and presets."""
        from headway.models.description import description_tables

        return description_tables(self)

    @property
    def inputs(self) -> dict[str, Number]:
        """The SI value of every parameter.

        Raises
        ------
        InvalidParameter
            If one has no value.
        """
        values = {name: p.value for name, p in self.parameters.items() if p.value is not None}
        missing = [name for name in self.parameters if name not in values]
        if missing:
            msg = f"{self.name}: no value for {', '.join(missing)}; set {missing[0]}=..."
            raise InvalidParameter(msg)
        return values

    def solve(self, arrival_rate: Number | None = None) -> "Solution":
        """Solve the open network (or the program) at every operating point at once.

        Parameters
        ----------
        arrival_rate
            Jobs from outside [1/s], 0 or more, scalar or array; the parameter's own value
            if left out.

        Raises
        ------
        InvalidParameter
            For a parameter without value, or shapes that do not fit each other.
        """
        from headway.models.solution import solve_open

        model = self if arrival_rate is None else self.at(arrival_rate=arrival_rate)
        return solve_open(model)

    def meaning(self, name: str) -> Meaning:
        """Unit and explanation of an output or binding."""
        if name in self.meanings:
            return self.meanings[name]
        if name in ("throughput", "saturation_throughput"):
            rate = self.parameters.get("arrival_rate")
            return Meaning(rate.unit if rate else unit("1/s"))
        return Meaning(unit("s")) if name.endswith("_time") else Meaning()


def points_shape(inputs: Mapping[str, Number]) -> tuple[int, ...]:
    """The shape that all inputs broadcast to: one entry an operating point."""
    try:
        return np.broadcast_shapes(*(np.shape(value) for value in inputs.values()))
    except ValueError:
        shapes = {name: np.shape(v) for name, v in inputs.items() if np.ndim(v)}
        msg = f"these arrays do not fit each other: {shapes}; give them one length"
        raise InvalidParameter(msg) from None
