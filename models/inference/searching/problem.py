"""A fit as a problem: weighted residuals, and parameters on scales of their own."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.inference.searching.loss import Loss, loss_cost
from headway.models.solving.evaluate import ADDED, Evaluator, slope_between
from headway.models.structure.model import Model
from headway.records import dataclass

RELATIVE_NOISE = 0.02
"""Relative error of a measurement, in addition to that of its printed digits."""

Ends = tuple[float, float]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class SearchBounds:
    """Bounds of a free parameter, whether it is searched by its logarithm, and its least value.

    The least value stands for the lower bound: for zero, if only values above 0 are searched.
    """

    low: float
    high: float
    logarithmic: bool
    least: float

    def within(self, low: float, high: float) -> tuple[float, float]:
        """An interval within the bounds; it begins at zero if it reaches the least value."""
        return (self.least if low <= self.low else low), min(high, self.high)


@dataclass(frozen=True)
class Problem:
    """Free parameters, measured values and their weights.

    Parameters
    ----------
    model
        The model with the measured points as arrays, and values for every parameter.
    names
        Names of the free parameters.
    scales
        Bounds and scale by free parameter.
    measured, sigma
        SI values and their standard errors up to a common factor; an infinite error excludes a
        value. All points of the first output come first, then those of the next.
    used
        Which points count; the others must still be sustained.
    evaluate
        Predictions and derivatives.
    whole
        Free parameters that count something: servers, jobs.
    times, rates
        Shortest and longest time, least and largest rate in the data [s, 1/s].
    still
        Free parameters that no descent moves: counts, which are whole numbers.
    loss
        How residuals count.
    outputs
        The output measured, by point.
    share
        How much each row counts: half, if two outputs of its point carry the same information.
    scatter
        Error of each output relative to 2%, up to a common factor.
    added
        Increments of free parameters, an entry for each point.
    places
        Index of each point's setting among the different ones; None if there is no telling.
    """

    model: Model
    names: tuple[str, ...]
    scales: tuple[SearchBounds, ...]
    measured: FloatArray
    sigma: FloatArray
    used: Any
    evaluate: Evaluator
    whole: tuple[str, ...] = ()
    times: Ends = (1.0, 1.0)
    rates: Ends = (1.0, 1.0)
    still: frozenset[str] = frozenset()
    loss: Loss = Loss.LINEAR
    outputs: tuple[str, ...] = ("",)
    share: FloatArray | float = 1.0
    scatter: tuple[float, ...] = (1.0,)
    added: Mapping[str, FloatArray] = field(default_factory=dict)
    places: NDArray[np.intp] | None = None

    @property
    def counted(self) -> int:
        """Number of measurements; outputs that determine each other count once per point."""
        return round(float(np.sum(self.share * self.used)))

    @property
    def loads(self) -> int:
        """Rows of each output."""
        return int(self.used.size) // len(self.outputs)

    @property
    def estimated(self) -> int:
        """Number of errors that are estimated: one scatter, or one for each output."""
        return len(set(self.scatter))

    def first(self, rows: FloatArray) -> FloatArray:
        """Select the rows of the first output, along the last axis."""
        return rows[..., : rows.shape[-1] // len(self.outputs)]

    def of_points(self, marks: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Rows of some points, with all their outputs; points along the last axis."""
        return np.tile(marks, (1,) * (marks.ndim - 1) + (len(self.outputs),))

    @cached_property
    def fixed(self) -> Mapping[str, Any]:
        """Values of the parameters that are not free."""
        inputs = {n: v for n, v in self.model.inputs.items() if n not in self.names}
        return inputs | {ADDED + name: more for name, more in self.added.items()}

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
        """Values on the scales of the search; any leading axes."""
        logarithmic = np.log(np.where(self.logarithmic, free, 1.0))
        return np.asarray(np.where(self.logarithmic, logarithmic, free))

    def outer(self, inner: FloatArray) -> FloatArray:
        """Values on the scales of the model, within bounds, with whole counts; any leading axes."""
        powers = np.exp(np.minimum(np.where(self.logarithmic, inner, 0.0), 700.0))
        return self.rounded(np.where(self.logarithmic, powers, inner))

    def rounded(self, free: FloatArray) -> FloatArray:
        """Values within their bounds, with whole counts."""
        low, high = self.bounds
        inside = np.minimum(np.maximum(free, low), high)
        if not self.whole:
            return inside
        return np.where(self._counted, np.maximum(np.round(inside), 1.0), inside)

    @cached_property
    def _counted(self) -> NDArray[np.bool_]:
        """Which free parameters are counts."""
        return np.array([name in self.whole for name in self.names], bool)

    def values(self, free: Sequence[float] | FloatArray) -> dict[str, Any]:
        """Values of every parameter; columns if there are several sets of free ones."""
        sets = np.asarray(free, float)
        columns = map(float, sets) if sets.ndim == 1 else sets.T[..., None]
        return {**self.fixed, **dict(zip(self.names, columns, strict=True))}

    def predict(self, free: FloatArray) -> FloatArray:
        """Predictions at every point, used or not; a row for each set of free values."""
        return self.evaluate.predict(self.values(free))

    def residuals(self, free: FloatArray, rows: Rows | None = None) -> FloatArray:
        """Errors of the used points over their standard errors; infinite if not sustained.

        Parameters
        ----------
        free
            Values of the free parameters, any leading axes.
        rows
            Which rows of the measured values apply, if each set of values has its own.
        """
        return self._errors(self.predict(free), rows)

    def _errors(self, predicted: FloatArray, rows: Rows | None) -> FloatArray:
        whose = self._whose(rows)
        solved = np.isfinite(predicted).all(axis=-1, keepdims=True)
        every = bool(solved.all())
        known = predicted if every else np.where(solved, predicted, 0.0)
        errors = (known - self.measured[whose]) * self._weights[whose]
        return self._of_used(errors if every else np.where(solved, errors, np.inf), -1)

    def cost(self, free: FloatArray) -> Any:
        """The cost that the search minimises; infinite if a measured load is not sustained."""
        return loss_cost(self.residuals(free), self.loss)

    def jacobian(self, free: FloatArray, rows: Rows | None = None) -> FloatArray:
        """Derivatives of the residuals, shape (used points, free parameters); as `residuals`."""
        return self._weighed(self.slopes(free), rows)

    def _weighed(self, slopes: FloatArray, rows: Rows | None) -> FloatArray:
        return self._of_used(slopes * self._weights[self._whose(rows)][..., None], -2)

    def both(self, free: FloatArray, rows: Rows | None = None) -> tuple[FloatArray, FloatArray]:
        """Residuals and their derivatives, from one solution if that gives both."""
        predicted, slopes = self.predict_with_slopes(free)
        return self._errors(predicted, rows), self._weighed(slopes, rows)

    @cached_property
    def at_once(self) -> bool:
        """Whether `both` takes hardly longer than residuals alone."""
        return self.evaluate.both is not None and set(self.names) == {*self._smooth, *self.still}

    def _whose(self, rows: Rows | None) -> Any:
        """The measured values that apply: one row for all sets of values, or a row each."""
        return ... if rows is None or self.measured.ndim == 1 else rows

    @cached_property
    def _weights(self) -> FloatArray:
        """Weight of each point's error."""
        return np.asarray(np.sqrt(self.share) / self.sigma)

    def _of_used(self, rows: FloatArray, axis: int) -> FloatArray:
        """Rows of the points that count."""
        return rows if self._all_used else np.compress(self.used, rows, axis)

    @cached_property
    def _all_used(self) -> bool:
        return bool(np.all(self.used))

    def slopes(self, free: FloatArray) -> FloatArray:
        """Derivatives of the predictions at every point; for a count, the difference by one."""
        values = self.values(free)
        return self._of_names(self.evaluate.slopes(values, self._smooth), values)

    def predict_with_slopes(self, free: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Predictions at every point and their derivatives, as `predict` and `slopes`."""
        if self.evaluate.both is None:
            return self.predict(free), self.slopes(free)
        values = self.values(free)
        predicted, slopes = self.evaluate.both(values, self._smooth)
        return predicted, self._of_names(slopes, values)

    def _of_names(self, slopes: FloatArray, values: Mapping[str, Any]) -> FloatArray:
        """Derivatives for all free parameters, from those for the smooth ones."""
        smooth = self._smooth
        if smooth == self.names:
            return slopes
        every = np.zeros((*slopes.shape[:-1], len(self.names)))
        for k, name in enumerate(self.names):
            if name in smooth:
                every[..., k] = slopes[..., smooth.index(name)]
            elif name not in self.still:
                every[..., k] = self._unit_difference(values, name)
        return every

    @cached_property
    def _smooth(self) -> tuple[str, ...]:
        """Free parameters that move and have a derivative."""
        counted = () if self.relaxed else self.whole
        return tuple(n for n in self.names if n not in self.still and n not in counted)

    @property
    def relaxed(self) -> bool:
        """Whether predictions make sense for counts that are not whole numbers."""
        return self.evaluate.smooth >= set(self.whole)

    def _unit_difference(self, values: Mapping[str, Any], name: str) -> FloatArray:
        value = values[name]
        low, high = self.around(name, value, 0.0)
        below, above = (self.evaluate.predict({**values, name: end}) for end in (low, high))
        here = self.evaluate.predict(values)
        return slope_between(below, here, above, value - low, high - value)

    def around(self, name: str, value: Any, step: float) -> tuple[Any, Any]:
        """Values to take a difference between: a relative step away, or the next whole numbers."""
        if name in self.whole and not self.relaxed:
            return np.maximum(value - 1, 1.0), value + 1
        return value * (1 - step), value * (1 + step)

    def starting(self, free: FloatArray) -> "Problem":
        """The problem with other values to start from."""
        values = dict(zip(self.names, map(float, free), strict=True))
        return replace(self, model=self.model.at(values))

    def weighing(self, measured: FloatArray, sigma: FloatArray) -> "Problem":
        """The problem with other measured values and errors, a row for each set of values."""
        return replace(self, measured=measured, sigma=sigma)

    def without(self, left_out: Any) -> "Problem":
        """The problem without some of the points."""
        return replace(self, used=self.used & ~np.asarray(left_out))

    def holding(self, name: str, value: float) -> "Problem":
        """The problem with one parameter no longer free."""
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
        """Variance of the weighted errors that is due to rounding to the printed digits."""
        noise = RELATIVE_NOISE * np.repeat(self.scatter, self.loads)
        own = 1 - (noise * self.measured / self.sigma) ** 2
        return float(np.mean(own[self.used]))
