"""What each parameter does to each output: derivatives, elasticities, and what binds next.

derivative = d output / d parameter; elasticity = derivative * parameter / output: the percent
by which an output changes when a parameter grows by one percent.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from headway.errors import HeadwayError, InvalidParameter
from headway.models.counts import counts
from headway.models.model import Model
from headway.models.solution import Solution
from headway.models.tables import Column, Shown, Table

_STEP = 1e-6  # relative; a central difference is then good to some 1e-9


@dataclass(frozen=True)
class Effect:
    """What one parameter does to one output.

    Parameters
    ----------
    derivative
        In SI units of the output per SI unit of the parameter.
    elasticity
        Relative change per relative change; NaN where either is zero.
    half_width
        Half of the elasticity's 95 % interval; None where the parameters are taken as given.
    """

    derivative: float
    elasticity: float
    half_width: float | None = None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95 % interval of the elasticity, where a fit gave the parameters."""
        if self.half_width is None:
            return None
        return self.elasticity - self.half_width, self.elasticity + self.half_width


@dataclass(frozen=True)
class Bind:
    """A station's saturation: how much throughput it allows [1/s]."""

    station: str
    saturation_throughput: float


@dataclass(frozen=True)
class Sensitivity(Shown):
    """Sensitivities of a model at one operating point.

    Parameters
    ----------
    solution
        The model solved at the point.
    effects
        By output and parameter.
    symbolic
        Outputs whose derivatives come from the closed form; the others are differenced.
    """

    solution: Solution
    effects: Mapping[str, Mapping[str, Effect]]
    symbolic: frozenset[str]

    def __repr__(self) -> str:
        return f"Sensitivity({self.model.name}: {len(self.effects)} outputs)"

    @property
    def model(self) -> Model:
        """The model at its operating point."""
        return self.solution.model

    @property
    def bottleneck(self) -> str | None:
        """The station that binds; None for a model of a program."""
        return str(self.solution.bottleneck) if self.solution.stations else None

    @cached_property
    def binds(self) -> tuple[Bind, ...]:
        """Stations by the throughput that each allows, as if the others were fast enough."""
        return tuple(_binds(self.solution))

    def tables(self) -> list[Table]:
        """Elasticities by output, derivatives, and what binds."""
        from headway.models.sensitivities.tables import sensitivity_tables

        return sensitivity_tables(self)

    def rows(self) -> list[dict[str, Any]]:
        """One dict an output and parameter."""
        return [
            {"output": output, "parameter": name, **_entry(effect)}
            for output, effects in self.effects.items()
            for name, effect in effects.items()
        ]

    def to_json(self) -> str:
        """Strict JSON by the contract in docs/design.md."""
        from headway.models.answers import strict_json

        document = {
            "model": self.model.name,
            "preset": self.model.preset,
            "inputs": {name: float(value) for name, value in self.model.inputs.items()},
            "outputs": {
                output: {name: _entry(effect) for name, effect in effects.items()}
                for output, effects in self.effects.items()
            },
            "bottleneck": self.bottleneck,
            "binds": [
                {"station": b.station, "saturation_throughput": b.saturation_throughput}
                for b in self.binds
            ],
        }
        return strict_json(document)

    def to_csv(self) -> str:
        """A CSV row an output and parameter."""
        rows = self.rows()
        if any("ci95" in row for row in rows):
            ends = [dict(zip(("low", "high"), row.pop("ci95"), strict=True)) for row in rows]
            rows = [row | end for row, end in zip(rows, ends, strict=True)]
        titles = tuple(rows[0]) if rows else ("output", "parameter")
        return Table("", tuple(Column(t, tuple(r[t] for r in rows)) for t in titles)).to_csv()

    def plot(self) -> Any:
        """Draw elasticities as a tornado, the largest on top, as a matplotlib Figure."""
        from headway.models.plotting.sensitivities import tornado

        return tornado(self)


def _entry(effect: Effect) -> dict[str, Any]:
    entry = {"derivative": effect.derivative, "elasticity": effect.elasticity}
    return entry if effect.ci95 is None else {**entry, "ci95": list(effect.ci95)}


def sensitivity(model: Model, wanted: Collection[str] | None = None) -> Sensitivity:
    """Differentiate outputs of a model for every parameter.

    In closed form where there is one; saturation throughput, closed networks and what else
    has none by central differences.

    Parameters
    ----------
    model
        With a single value for every parameter.
    wanted
        Names of outputs; every output if left out.

    Raises
    ------
    InvalidParameter
        For several operating points at once.
    Saturated
        Where the model cannot sustain its load.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid").at(arrival_rate=1200.0)
    >>> found = sensitivity(raid)
    >>> found.bottleneck, round(found.effects["saturation_throughput"]["cpu_time"].elasticity, 9)
    ('cpu', -1.0)
    """
    several = [name for name, value in model.inputs.items() if np.size(value) > 1]
    if several:
        msg = f"sensitivity is taken at one point; {several[0]} has several values"
        raise InvalidParameter(msg)
    model = model.at({name: float(np.ravel(v)[0]) for name, v in model.inputs.items()})
    solution = model.solve().require_stable()
    outputs = [
        name
        for name in solution.outputs
        if not _echoes(model, name) and (wanted is None or name in wanted)
    ]
    closed = {output: _symbolic(model, output) for output in outputs}
    numeric = _differences(model, [o for o, found in closed.items() if found is None])
    effects = {
        output: {
            name: _effect(slope, model.inputs[name], solution[output])
            for name, slope in (closed[output] or numeric[output]).items()
        }
        for output in outputs
    }
    known = frozenset(output for output, found in closed.items() if found is not None)
    return Sensitivity(solution, effects, known)


def _echoes(model: Model, output: str) -> bool:
    """Tell whether an output is but the open network's arrival rate."""
    return output == "throughput" and "arrival_rate" in model.parameters


def _effect(slope: float, value: Any, output: Any) -> Effect:
    scale = float(value) / float(output) if float(output) else math.nan
    return Effect(slope, slope * scale if math.isfinite(slope) else math.nan)


def _symbolic(model: Model, output: str) -> dict[str, float] | None:
    """Derivatives from the closed form; None where there is none."""
    from headway.models.fitting.evaluate import evaluator

    if output == "saturation_throughput" or model.is_closed:
        return None
    names = list(model.parameters)
    compiled = evaluator(model, output, names, counts(model.graph))
    if not compiled.smooth:
        return None
    smooth = [name for name in names if name in compiled.smooth]
    found = dict(zip(smooth, compiled.slopes(model.inputs, smooth)[0].tolist(), strict=True))
    rest = [name for name in names if name not in found]
    found |= {name: _difference(model, name, [output])[output] for name in rest}
    return {name: found[name] for name in names}


def _differences(model: Model, outputs: Sequence[str]) -> dict[str, dict[str, float]]:
    each = {name: _difference(model, name, outputs) for name in model.parameters} if outputs else {}
    return {output: {name: each[name][output] for name in each} for output in outputs}


def _difference(model: Model, name: str, outputs: Sequence[str]) -> dict[str, float]:
    """Central difference of some outputs; a unit difference where only whole numbers do."""
    value = float(model.inputs[name])
    scale = abs(value) or model.parameters[name].unit.scale
    for step in (_STEP * scale, 1.0):
        low, here, high = (_sustained(model, name, value + side * step) for side in (-1, 0, 1))
        if high is not None or low is not None:
            first, last = low or here, high or here
            width = step * ((high is not None) + (low is not None))
            assert first is not None  # noqa: S101 - the point itself is solved
            assert last is not None  # noqa: S101
            return {o: (float(last[o]) - float(first[o])) / width for o in outputs}
    return dict.fromkeys(outputs, math.nan)


def _sustained(model: Model, name: str, value: float) -> Solution | None:
    found = solved(model, name, value)
    return None if found is None or (found.stations and found.saturated.any()) else found


def solved(model: Model, name: str, value: float) -> Solution | None:
    """Solve with another value of one parameter; None where there is no solution."""
    try:
        return model.at({name: value}).solve()
    except HeadwayError:
        return None


def _binds(solution: Solution) -> list[Bind]:
    """Let the stations bind one after the other: scale each up to where it is always busy."""
    if not solution.stations or solution.classes:
        return []
    from headway.models.roots import first_crossing

    found = []
    for name, _ in _with_capacity(solution):
        share = _share_of(solution, name)
        limit = float(first_crossing(share, (1,))[0])
        if math.isfinite(limit):
            found.append(Bind(name, limit))
    return sorted(found, key=lambda bind: bind.saturation_throughput)


def _with_capacity(solution: Solution) -> list[tuple[str, float]]:
    capacities = [
        (name, float(np.ravel(solution.values[f"station {name}"].capacity)[0]))
        for name in solution.stations
    ]
    return [(name, capacity) for name, capacity in capacities if math.isfinite(capacity)]


def _share_of(solution: Solution, name: str) -> Any:
    """How busy a station would be at a throughput of the whole network."""
    graph, inputs = solution.model.graph, solution.model.inputs
    targets = ["visits", f"station {name}"]

    def share(rate: Any) -> Any:
        values = graph.plan.run({**inputs, "throughput": rate, "arrival_rate": rate}, targets)
        busy = rate * values["visits"][name] / values[f"station {name}"].capacity
        return np.broadcast_to(np.asarray(busy, float), np.shape(rate))

    return share
