"""The effect of each parameter on each output: derivatives, elasticities, bottlenecks.

derivative = d output / d parameter; elasticity = derivative * parameter / output: the percent
by which an output changes when a parameter grows by one percent.
"""

import math
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from headway.errors import GraphError, HeadwayError, InvalidParameter
from headway.models.analysis.differences import Change, Slope, slopes
from headway.models.analysis.points import checked_outputs, method_of
from headway.models.measured.columns import Axes
from headway.models.solving.solutions.limits import station_limits
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.alternatives import weighted
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.models.tables.shown import Answer
from headway.numerals import ranked
from headway.records import dataclass


@dataclass(frozen=True)
class Effect:
    """The effect of one parameter on one output.

    Parameters
    ----------
    derivative
        In SI units of the output per SI unit of the parameter; for a count, the effect of one more.
    elasticity
        Relative change per relative change; NaN if either value is zero.
    half_width
        Half-width of the elasticity's 95% interval; None if parameters are not uncertain.
    change
        The kind: a derivative, the change over a whole step, the mean of both sides of a corner, or
        none because the output jumps.
    fewer, more
        For a count, the output with one fewer and one more; NaN if refused.
    error
        Error of the elasticity, estimated from differences over several steps; None for counts and
        fits.
    """

    derivative: float
    elasticity: float
    half_width: float | None = None
    change: Change = Change.DERIVATIVE
    fewer: float = math.nan
    more: float = math.nan
    error: float | None = None

    @property
    def ci95(self) -> tuple[float, float] | None:
        """95% interval of the elasticity, if the parameters were fitted."""
        if self.half_width is None:
            return None
        return self.elasticity - self.half_width, self.elasticity + self.half_width


@dataclass(frozen=True)
class StationLimit:
    """The saturation throughput of a station [1/s]."""

    station: str
    saturation_throughput: float


@dataclass(frozen=True)
class Sensitivity(Answer):
    """Sensitivities of a model at one operating point.

    Parameters
    ----------
    solution
        The model solved at the point.
    effects
        By output and parameter.
    axes
        The columns of the measurements that parameters were fitted to; None without.
    errors
        Standard errors of the parameters that were fitted, in SI.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.1, arrival_rate=5)
    >>> effect = sensitivity(one).effects["response_time"]["s"]  # s / (1 - arrival_rate s)
    >>> round(effect.derivative, 6), round(effect.elasticity, 6)
    (4.0, 2.0)
    """

    solution: Solution
    effects: Mapping[str, Mapping[str, Effect]]
    axes: Axes | None = None
    errors: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Sensitivity({self.model.name}: {len(self.effects)} outputs)"

    @property
    def model(self) -> Model:
        """The model at its operating point.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s"))
        >>> sensitivity(one.at(s=0.1, arrival_rate=5)).model.inputs
        {'s': 0.1, 'arrival_rate': 5.0}
        """
        return self.solution.model

    @property
    def bottleneck(self) -> str | None:
        """The bottleneck station; None for a model of a program.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("two").station("cpu", MM1(0.1), 1.0).station("disk", MM1(0.02), 2.0)
        >>> sensitivity(graph.at(arrival_rate=5)).bottleneck
        'cpu'
        """
        return str(self.solution.bottleneck) if self.solution.stations else None

    @cached_property
    def bottlenecks(self) -> tuple[StationLimit, ...]:
        """Stations with their saturation throughput, in the order in which they limit the model.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> graph = ModelGraph("two").station("cpu", MM1(0.1), 1.0).station("disk", MM1(0.02), 2.0)
        >>> limits = sensitivity(graph.at(arrival_rate=5)).bottlenecks
        >>> [(limit.station, limit.saturation_throughput) for limit in limits]
        [('cpu', 10.0), ('disk', 25.0)]
        """
        return tuple(_bottlenecks(self.solution))

    @cached_property
    def alternatives(self) -> tuple["Sensitivity", ...]:
        """Sensitivities of the model's alternatives, as far as they have the outputs.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> sensitivity(catalogue_model("server-single").at(arrival_rate=200)).alternatives
        ()
        """
        found = []
        for solution in self.solution.alternatives:
            names = [name for name in self.effects if name in solution.outputs]
            with suppress(HeadwayError):
                found.append(sensitivity(solution.model, names))
        return tuple(found)

    def elasticities(self, output: str, parameter: str) -> tuple[float, float]:
        """Least and largest elasticity of all models in which the parameter means the same."""
        meant = self.model.parameters[parameter].doc
        having = (
            one
            for one in (self, *self.alternatives)
            if parameter in one.model.parameters and one.model.parameters[parameter].doc == meant
        )
        each = [
            one.effects[output][parameter].elasticity for one in having if output in one.effects
        ]
        known = [value for value in each if math.isfinite(value)]
        return (min(known), max(known)) if known else (math.nan, math.nan)


def sensitivity(model: Model, wanted: Collection[str] | None = None) -> Sensitivity:
    """Differentiate the outputs of a model with respect to every parameter.

    Central differences of the solved model, extrapolated to zero step size; counts (servers,
    places, jobs) change by one.

    Parameters
    ----------
    model
        With a single value for every parameter.
    wanted
        Names of outputs, including percentiles such as ``response_time_p99``; every output by
        default.

    Raises
    ------
    InvalidParameter
        For several operating points, and for unknown outputs.
    GraphError
        For a percentile that is not available; says why.
    Saturated
        If the model cannot sustain its load.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid").at(arrival_rate=1200.0)
    >>> answer = sensitivity(raid)
    >>> answer.bottleneck, round(answer.effects["saturation_throughput"]["cpu_time"].elasticity, 9)
    ('cpu', -1.0)
    """
    model = _at_one_point(model)
    solution = model.solve().require_stable().answering(*(wanted or ()))
    outputs = _wanted(solution, wanted)
    whole = counts(model.graph)
    method = solution.method if model.graph.blocks else method_of(solution)
    alone = weighted(model)[0].model
    derivatives = slopes(alone, list(model.parameters), outputs, whole, method)
    effects = {
        output: {
            name: _effect(slope, model.inputs[name], solution[output])
            for name, slope in derivatives[output].items()
        }
        for output in outputs
    }
    return Sensitivity(solution, effects)


def _at_one_point(model: Model) -> Model:
    """The model with plain numbers, and with parameters if it has none; refuses several points."""
    several = [name for name, value in model.inputs.items() if np.size(value) > 1]
    if several:
        msg = (
            f"sensitivity needs one operating point, but {several[0]} has several values; give one"
        )
        raise InvalidParameter(msg)
    others = {n: v for n, v in model.inputs.items() if not isinstance(v, float)}
    model = model.at({name: float(np.ravel(value)[0]) for name, value in others.items()})
    return model if model.parameters else model.exposing(*model.graph.worth_naming)


def _wanted(solution: Solution, wanted: Collection[str] | None) -> list[str]:
    """Outputs to differentiate: those wanted, or all that are not set by an input."""
    named = None if wanted is None else checked_outputs(solution, wanted)
    asked = [one.name for one in solution.station_requests]
    by_class = solution.class_outputs if solution.shared else ()
    return [
        name
        for name in (*solution.outputs, *by_class, *asked)
        if not _echoes(solution, name) and (named is None or name in named)
    ]


def _echoes(solution: Solution, output: str) -> bool:
    """Whether an output is just an arrival rate."""
    model = solution.model
    if output == "throughput":
        return "arrival_rate" in model.parameters and "loss_probability" not in solution.values
    opened = (name for name, c in model.graph.classes.items() if "arrival_rate" in c)
    return output in [f"class {name}.throughput" for name in opened]


def _effect(slope: Slope, value: Any, output: Any) -> Effect:
    scale = float(value) / float(output) if float(output) else math.nan
    share = slope.value * scale if math.isfinite(slope.value) else math.nan
    smooth = slope.change in {Change.DERIVATIVE, Change.CORNER}
    error = abs(slope.error * scale) if smooth and math.isfinite(scale) else None
    return Effect(slope.value, share, None, slope.change, slope.fewer, slope.more, error)


def _bottlenecks(solution: Solution) -> list[StationLimit]:
    """The stations, in the order in which they saturate."""
    try:
        limits = station_limits(solution)
    except GraphError:  # closed classes have no limits of their own
        return []
    limited = [name for name, limit in limits.items() if math.isfinite(limit)]
    return [StationLimit(name, limits[name]) for name in ranked(limited, limits)]
