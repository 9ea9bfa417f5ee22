"""A fit as a problem: residuals weighed by what is known, parameters on their own scales."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter, MeasurementError, nearest
from headway.kinds import FloatArray
from headway.models.inference.searching.loss import Loss, loss_cost
from headway.models.measured.bends import bent_by_level
from headway.models.measured.cells import Observed
from headway.models.measured.matching import Match
from headway.models.solving.evaluate import Evaluator, evaluator
from headway.models.solving.paced import paced_evaluator
from headway.models.solving.solutions.saturation import RATES
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts

RELATIVE_NOISE = 0.02
"""Relative error of a measurement beyond what its printed digits leave open."""

Ends = tuple[float, float]

_WIDEST = 1e12  # times the least value: no curve spans more, and no sum of squares would hold it

SMALLEST = 1e-9
"""Smallest value of a free parameter, as a share of where it starts: stations need above 0."""


@dataclass(frozen=True)
class Scale:
    """Bounds of a free parameter, whether it is searched for by its logarithm, and its least.

    The least is what the lower bound stands for: nothing, where only what is above 0 is searched.
    """

    low: float
    high: float
    logarithmic: bool
    least: float

    def within(self, low: float, high: float) -> tuple[float, float]:
        """An interval inside the bounds; what reaches the least that is searched begins at none."""
        return (self.least if low <= self.low else low), min(high, self.high)


@dataclass(frozen=True)
class Problem:
    """Free parameters, measured values and their weights.

    Parameters
    ----------
    model
        With the measured points as arrays, and values for every parameter.
    names
        Free parameters.
    scales
        By free parameter.
    measured, sigma
        SI values and their standard errors up to a common factor; infinite ones count for nothing.
    used
        Which points count; all the others must still be sustained.
    evaluate
        Predictions and derivatives.
    whole
        Free parameters that count something: servers, jobs.
    times, rates
        Shortest and longest time, least and largest rate that the data speak of [s, 1/s].
    still
        Free parameters that no descent moves: counts, which are whole.
    loss
        How residuals count.
    """

    model: Model
    names: tuple[str, ...]
    scales: tuple[Scale, ...]
    measured: FloatArray
    sigma: FloatArray
    used: Any
    evaluate: Evaluator
    whole: tuple[str, ...] = ()
    times: Ends = (1.0, 1.0)
    rates: Ends = (1.0, 1.0)
    still: frozenset[str] = frozenset()
    loss: Loss = Loss.LINEAR

    @cached_property
    def fixed(self) -> Mapping[str, Any]:
        """Values of the parameters that are not free."""
        return {n: v for n, v in self.model.inputs.items() if n not in self.names}

    @cached_property
    def initial(self) -> FloatArray:
        """Values of the free parameters to start from."""
        inputs = self.model.inputs
        pairs = zip(self.names, self.scales, strict=True)
        return np.array([min(max(float(inputs[n]), s.low), s.high) for n, s in pairs])

    @cached_property
    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the free parameters."""
        return np.array([s.low for s in self.scales]), np.array([s.high for s in self.scales])

    @cached_property
    def logarithmic(self) -> NDArray[np.bool_]:
        """Which free parameters are searched for by their logarithm."""
        return np.array([s.logarithmic for s in self.scales], bool)

    def inner(self, free: FloatArray) -> FloatArray:
        """Values as the search sees them; any leading axes."""
        logarithmic = np.log(np.where(self.logarithmic, free, 1.0))
        return np.asarray(np.where(self.logarithmic, logarithmic, free))

    def outer(self, inner: FloatArray) -> FloatArray:
        """Values as the model sees them, within their bounds, counts whole; any leading axes."""
        powers = np.exp(np.minimum(np.where(self.logarithmic, inner, 0.0), 700.0))
        return self.rounded(np.where(self.logarithmic, powers, inner))

    def rounded(self, free: FloatArray) -> FloatArray:
        """Values within their bounds, and counts that are whole."""
        counted = np.array([name in self.whole for name in self.names], bool)
        inside = np.clip(free, *self.bounds)
        return np.asarray(np.where(counted, np.maximum(np.round(inside), 1.0), inside))

    def values(self, free: Sequence[float] | FloatArray) -> dict[str, Any]:
        """Values of every parameter; columns, where there are several sets of free ones."""
        sets = np.asarray(free, float)
        columns = map(float, sets) if sets.ndim == 1 else sets.T[..., None]
        return {**self.fixed, **dict(zip(self.names, columns, strict=True))}

    def predict(self, free: FloatArray) -> FloatArray:
        """Predictions at every point, used or not; a row for each set of free values."""
        return self.evaluate.predict(self.values(free))

    def residuals(self, free: FloatArray) -> FloatArray:
        """Errors of the used points over their standard errors; infinite if any is lost."""
        predicted = self.predict(free)
        found = np.isfinite(predicted).all(axis=-1, keepdims=True)
        errors = (np.where(found, predicted, 0.0) - self.measured) / self.sigma
        return np.where(found, errors[..., self.used], np.inf)

    def cost(self, free: FloatArray) -> Any:
        """What the search makes least; infinite where a measured load is not sustained."""
        return loss_cost(self.residuals(free), self.loss)

    def jacobian(self, free: FloatArray) -> FloatArray:
        """Derivatives of the residuals, shape (used points, free parameters)."""
        return np.asarray((self.slopes(free) / self.sigma[..., None])[..., self.used, :])

    def slopes(self, free: FloatArray) -> FloatArray:
        """Derivatives of the predictions at every point; of a count, its unit difference."""
        values, moving = self.values(free), [name for name in self.names if name not in self.still]
        smooth = [name for name in moving if self.relaxed or name not in self.whole]
        slopes = self.evaluate.slopes(values, smooth)
        found = dict(zip(smooth, np.moveaxis(slopes, -1, 0), strict=True))
        found |= {n: self._unit_difference(values, n) for n in moving if n not in smooth}
        found |= dict.fromkeys(self.still, np.zeros(slopes.shape[:-1]))
        return np.stack([found[name] for name in self.names], axis=-1)

    @property
    def relaxed(self) -> bool:
        """Whether predictions make sense for counts that are not whole."""
        return self.evaluate.smooth >= set(self.whole)

    def _unit_difference(self, values: Mapping[str, Any], name: str) -> FloatArray:
        low, high = self.around(name, values[name], 0.0)
        ends = [self.evaluate.predict({**values, name: value}) for value in (low, high)]
        ends = [np.where(np.isfinite(e), e, self.evaluate.predict(values)) for e in ends]
        return np.asarray((ends[1] - ends[0]) / (high - low))

    def around(self, name: str, value: Any, step: float) -> tuple[Any, Any]:
        """Values to take a difference between: a relative step, or the next whole numbers."""
        if name in self.whole and not self.relaxed:
            return np.maximum(value - 1, 1.0), value + 1
        return value * (1 - step), value * (1 + step)

    def starting(self, free: FloatArray) -> "Problem":
        """The same problem, started from other values."""
        values = dict(zip(self.names, map(float, free), strict=True))
        return replace(self, model=self.model.at(values))

    def weighing(self, measured: FloatArray, sigma: FloatArray) -> "Problem":
        """The same problem with other measured values and errors, a row for each set of values."""
        return replace(self, measured=measured, sigma=sigma)

    def of_rows(self, rows: NDArray[np.intp]) -> "Problem":
        """What some sets of values are held against."""
        if self.measured.ndim == 1:
            return self
        return self.weighing(self.measured[rows], self.sigma[rows])

    def without(self, left_out: Any) -> "Problem":
        """The same problem with some points not counted."""
        return replace(self, used=self.used & ~np.asarray(left_out))

    def holding(self, name: str, value: float) -> "Problem":
        """The same problem with one parameter no longer free."""
        index = self.names.index(name)
        kept = [k for k in range(len(self.names)) if k != index]
        return replace(
            self,
            model=self.model.at({name: value}),
            names=tuple(self.names[k] for k in kept),
            scales=tuple(self.scales[k] for k in kept),
            whole=tuple(other for other in self.whole if other != name),
            still=self.still - {name},
        )

    @cached_property
    def rounding(self) -> float:
        """Variance that rounding to the printed digits alone gives, of the weighted errors."""
        own = 1 - (RELATIVE_NOISE * self.measured / self.sigma) ** 2
        return float(np.mean(own[self.used]))


def problem(
    model: Model, found: Match, free: Sequence[str], source: str, loss: Loss = Loss.LINEAR
) -> Problem:
    """Set a fit up.

    Parameters
    ----------
    model
        With values for every parameter; those of free ones are where the search starts.
    found
        The measured points.
    free
        Names of the parameters to determine.
    source
        What the points are, for messages.
    loss
        How residuals count.

    Raises
    ------
    UnknownParameter, InvalidParameter
        For a free parameter that the model lacks, that has no value to start from or that
        the data set.
    MeasurementError
        For fewer points than free parameters, equal loads, or values that are not above 0.
    """
    _check_free(model, found, free)
    _check_mean(found, source)
    _check_points(found, len(free), source)
    measured = found.measured.values
    rounding = np.nan_to_num(found.measured.resolution) / (math.sqrt(3) * measured)
    sigma = measured * np.sqrt(RELATIVE_NOISE**2 + rounding**2)
    whole = tuple(name for name in free if name in counts(model.graph))
    if "throughput" in found.inputs:
        at_points = model.at({n: v for n, v in found.inputs.items() if n != "throughput"})
        rate = found.load.values
        full = bent_by_level(found.inputs, rate, measured)
        evaluate = paced_evaluator(at_points, rate, full, tuple(free))
    else:
        at_points = model.at(found.inputs)
        if model.is_closed:
            at_points.solve()  # what cannot be closed says why
        evaluate = evaluator(at_points, found.output, free, whole)
    scales = tuple(_scale(model, name) for name in free)
    used = np.ones(measured.shape, bool)
    weighed = at_points, tuple(free), scales, measured, sigma, used
    times, rates = _times_and_rates(found)
    return Problem(*weighed, evaluate, whole, times, rates, loss=loss)


def _times_and_rates(found: Match) -> tuple[Ends, Ends]:
    """Ends of what is measured in time and per time; one tells the other where there is but one."""
    ends: dict[int, Ends] = {}
    for column in (found.measured, found.load):
        values = np.abs(column.values[column.values != 0])
        ends[column.unit.dimension[0]] = float(values.min()), float(values.max())
    times = ends.get(1) or tuple(1 / end for end in reversed(ends.get(-1, (1.0, 1.0))))
    rates = ends.get(-1) or tuple(1 / end for end in reversed(times))
    return (times[0], times[1]), (rates[0], rates[1])


def _check_free(model: Model, found: Match, free: Sequence[str]) -> None:
    if not free:
        msg = f"name the parameters to fit{nearest('', set(model.parameters) - set(found.inputs))}"
        raise InvalidParameter(msg)
    for name in free:
        model.exposing(name)
        if name in found.inputs:
            msg = f"{name} is a column of the data; it cannot be fitted too"
            raise InvalidParameter(msg)
        if list(free).count(name) > 1:
            msg = f"{name} is named twice among the free parameters"
            raise InvalidParameter(msg)
        value = model.parameters[name].value
        if value is None or np.ndim(value):
            msg = f"{name} has no single value to start from; set {name}=..."
            raise InvalidParameter(msg)


_WIDEST_LOAD = 1e7  # times the least load: what a slip of decades makes, and no benchmark


def _check_span(column: Observed, source: str, widest: float) -> None:
    least, most = float(column.values.min()), float(column.values.max())
    if most > widest * least:
        msg = f"{source}: {column.header} goes from {least:.3g} to {most:.3g} (SI); check it"
        raise MeasurementError(msg)


def _check_mean(found: Match, source: str) -> None:
    if found.percent is not None:
        name = found.measured.header
        msg = f"{source}: {name} holds percentiles; a fit is of means: --y names one"
        raise MeasurementError(msg)


def _check_points(found: Match, free: int, source: str) -> None:
    measured = found.measured.values
    different = np.unique(np.stack([*found.inputs.values()]), axis=1).shape[1]
    if not (measured > 0).all():
        msg = f"{source}: {found.measured.header} must be above 0, as errors are relative to it"
        raise MeasurementError(msg)
    if measured.size < 2:
        msg = f"{source}: one point is no curve; a fit needs several loads"
        raise MeasurementError(msg)
    if different < 2:
        msg = f"{source}: all points are at one load; a fit needs different ones"
        raise MeasurementError(msg)
    driven = next(iter(found.inputs)) in (*RATES, "population")
    if driven and not (found.load.values > 0).all():
        msg = f"{source}: {found.load.header} holds a load of 0, at which nothing can be measured"
        raise MeasurementError(msg)
    _check_span(found.measured, source, _WIDEST)
    if (found.load.values > 0).all():
        _check_span(found.load, source, _WIDEST_LOAD)
    if free > different:
        msg = f"{source}: {free} free parameters but {different} different points; fix some"
        raise MeasurementError(msg)
    if np.ptp(measured) == 0:
        msg = f"{source}: {found.measured.header} is the same at every load; nothing can be fitted"
        raise MeasurementError(msg)


def _scale(model: Model, name: str) -> Scale:
    """Search by logarithm for what is above 0 by its bound or by being a station's number."""
    parameter = model.parameters[name]
    start = float(parameter.value or 0.0)
    positive = parameter.minimum >= 0 or (bool(model.graph.stations) and start > 0)
    if not positive:
        return Scale(
            parameter.minimum, parameter.maximum, logarithmic=False, least=parameter.minimum
        )
    low = max(parameter.minimum, SMALLEST * (start or parameter.unit.scale))
    least = max(parameter.minimum, 0.0)
    return Scale(low, parameter.maximum, logarithmic=True, least=least)
