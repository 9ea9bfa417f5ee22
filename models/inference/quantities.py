"""What a fitted form says about a server: base, slope, saturation, time per operation, cache."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.models.inference.certainty.draws import Draws, saturations
from headway.models.inference.certainty.profile import (
    Profiled,
    Quantity,
    Reached,
    freed,
    gradient,
    holding_quantity,
    profile_ends,
)
from headway.models.inference.certainty.shifts import student
from headway.models.inference.certainty.uncertainty import least_gain, worst_cost
from headway.models.inference.fit import Fit
from headway.models.inference.forecasting.predictions import ENDS
from headway.models.language.digits import ends, in_unit, with_unit
from headway.models.language.formula import Formula
from headway.models.language.scales import Scale
from headway.models.language.units import Unit, unit
from headway.models.measured.columns import is_rate
from headway.models.measured.regression import FEWEST_POINTS, regression_line
from headway.models.structure.forms import Derived
from headway.models.structure.outputs import percent_of
from headway.numerals import digits
from headway.records import dataclass

Values: TypeAlias = Mapping[str, Amount]
Told: TypeAlias = Callable[[Values], Amount]
"""A quantity as a function of the free parameters' values; for arrays, elementwise."""

SATURATION = "saturation throughput"
"""The name of the throughput at which a server is always busy."""

_CLOSE = 3.0  # largest ratio of the ends of a saturation throughput that is useful for decisions
_VAGUE = 100.0  # ratio to the value from which an interval says nothing
_WIDEST = 1e6  # ratio to a quantity up to which its interval is searched
_REACH = 0.5  # first step in the logarithm, if little is known
_ENDLESS = 600.0  # logarithm beyond that of the largest double
_HARDLY = 0.15  # relative standard error up to which linear propagation suffices


@dataclass(frozen=True)
class ServerQuantity:
    """A quantity of a server that a fit determines, with its 95% interval, in SI."""

    name: str
    value: float
    low: float
    high: float
    unit: str

    @property
    def determined(self) -> bool:
        """Whether its interval stays within a factor of a hundred of the value."""
        farthest = max(abs(self.low), abs(self.high))
        if not math.isfinite(farthest):
            return False
        if self.low < 0 < self.high:  # a number near 0 is determined by the width of its interval
            return True
        near = self.low == 0 or farthest < _VAGUE**2 * min(abs(self.low), abs(self.high))
        return near and farthest < _VAGUE * abs(self.value)

    @property
    def undetermined(self) -> str:
        """What is known of an undetermined quantity: a lower bound, or nothing."""
        if not self.low > 0:
            return "not determined"
        return f"not determined: at least {Scale().text(self.low, unit(self.unit))}"

    def shown(self, unit: Unit) -> str:
        """The value and its interval in a unit."""
        both = ends(self.low, self.high, unit)
        return with_unit(f"{in_unit(self.value, unit)} ({both})", unit)

    def __str__(self) -> str:
        if not self.determined:
            return f"{self.name}: {self.undetermined}"
        return f"{self.name}: {self.shown(Scale().suited(unit(self.unit), self.value))}"


def saturation_of(draws: Sequence[Draws], best: float) -> ServerQuantity:
    """Saturation throughput from all plausible values of one or several models.

    Ends more than three times apart are useless for decisions: then there is no upper end.

    Parameters
    ----------
    draws
        Plausible values, equally many for each model.
    best
        The best value [1/s], which is shown if it lies in the interval.
    """
    limits = np.concatenate([each.limits() for each in draws])
    low, middle, high = np.quantile(limits, ENDS).tolist()
    value = best if low <= best <= high else middle
    return ServerQuantity(
        SATURATION, value, low, high if high <= _CLOSE * low else math.inf, "op/s"
    )


def saturation_of_fit(fit: Fit) -> ServerQuantity | None:
    """Saturation throughput of a fitted model; None if no station saturates."""
    if not fit.comparison.solution.stations or not len(fit.draws.free):
        return None
    best = float(saturations(fit.problem, fit.draws.limit, fit.optimum.free[None])[0])
    return saturation_of([fit.draws], best) if math.isfinite(best) else None


def server_quantities(
    fit: Fit, limit: ServerQuantity | None = None, *, others: bool = False
) -> tuple[ServerQuantity, ...]:
    """Quantities of a fitted form, computed from its parameters.

    Parameters
    ----------
    fit
        A fit of a form of `headway.models.inference.server`.
    limit
        Its saturation throughput, if more than this form's best values determine it.
    others
        Whether other forms determine it too, so that this form's own value is listed as well.
    """
    percent = percent_of(fit.comparison.output)
    of = f" p{digits(percent)}" if percent else ""
    name = f"base response time{of}"
    quantities = [_profiled(fit, name, "ms", lambda v: _base(fit, v), 0.0)]
    rate = is_rate(fit.comparison.load)
    if rate:
        quantities.append(_linear(fit, f"slope{of}", "us*s/op", lambda v: _slope(fit, v)))
    table = fit.model.form
    if table is not None and table.saturation is not None:
        quantities += [limit or _limit(fit, table.saturation, SATURATION)]
        if limit and others:
            quantities += [_limit(fit, table.saturation, "saturation, this form only")]
    derived = table.derived if table is not None else ()
    return (*quantities, *(_derived(fit, d, 0.0) for d in derived if d.formula.names & {*fit.free}))


def _limit(fit: Fit, read: Formula, name: str) -> ServerQuantity:
    """Saturation throughput by this form alone."""
    rate = is_rate(fit.comparison.load)
    top = float(fit.comparison.load.values.max()) if rate else 0.0
    return _derived(fit, Derived(name, read, unit("op/s")), top)


def _derived(fit: Fit, derived: Derived, least: float) -> ServerQuantity:
    """Quantities from parameters: a free parameter with its interval, or a function of some."""
    read, shown = derived.formula, derived.unit.text
    if read.text in fit.values:
        return ServerQuantity(derived.name, fit.values[read.text], *fit.ci95[read.text], shown)
    inputs = fit.model.inputs
    fixed = {name: float(np.ravel(inputs[name])[0]) for name in read.names - {*fit.free}}

    def of(values: Values) -> Amount:
        return read.evaluate({**fixed, **values})

    free = [name for name in fit.free if name in read.names]
    if len(free) == 1 and (both := _of_ends(fit, free[0], of)) is not None:
        return ServerQuantity(derived.name, float(of(fit.values)), *both, shown)
    return _profiled(fit, derived.name, shown, of, least)


def _of_ends(fit: Fit, name: str, of: Told) -> tuple[float, float] | None:
    """The interval of a function of one parameter, from that of the parameter; or None."""
    low, high = fit.ci95[name]
    if not (low > 0 and math.isfinite(high)):
        return None
    both = sorted(float(of({**fit.values, name: end})) for end in (low, high))
    inside = both[0] <= of(fit.values) <= both[1]
    return (both[0], both[1]) if inside and both[0] > 0 and math.isfinite(both[1]) else None


def _predicted(fit: Fit, values: Values) -> FloatArray:
    """Predictions by load, a row for each set of values."""
    order = np.argsort(fit.comparison.load.values, kind="stable")
    sets = np.stack([np.asarray(values[name], float) for name in fit.free], axis=-1)
    predicted = fit.problem.predict(sets.reshape(-1, len(fit.free)))
    return fit.problem.first(predicted)[:, order].reshape(*sets.shape[:-1], -1)


def _base(fit: Fit, values: Values) -> FloatArray:
    """Response time at the least load; if driven by the throughput of circulating jobs, N/X - Z."""
    first = _predicted(fit, values)[..., 0]
    if fit.comparison.output != "throughput":
        return first
    jobs = float(fit.comparison.load.values.min())
    return np.asarray(jobs / first - float(np.min(np.asarray(fit.model.inputs["think_time"]))))


def _slope(fit: Fit, values: Values) -> FloatArray:
    """Slope of a straight line through the predictions; NaN if there are too few."""
    loads = np.sort(fit.comparison.load.values)

    def of_row(predicted: FloatArray) -> float:
        if predicted.size < FEWEST_POINTS or not np.isfinite(predicted).all():
            return float("nan")
        return regression_line(loads, predicted).slope

    return np.apply_along_axis(of_row, -1, _predicted(fit, values))


def _of_sets(fit: Fit, of: Told) -> Quantity:
    return lambda free: np.asarray(of(dict(zip(fit.free, np.moveaxis(free, -1, 0), strict=True))))


def _linear(fit: Fit, name: str, shown: str, of: Told) -> ServerQuantity:
    """A quantity and its interval, by linear propagation from the parameters."""
    value, half = _about(fit, of)
    if half < value:
        return _positive(name, value, half, shown)
    return ServerQuantity(name, value, value - half, value + half, shown)


def _about(fit: Fit, of: Told) -> tuple[float, float]:
    """A quantity and its half-width, by linear propagation from the parameters."""
    quantity = _of_sets(fit, of)
    slopes = gradient(fit.problem, quantity, fit.optimum.free)
    half = student(fit.uncertainty.degrees) * fit.uncertainty.error_of(slopes)
    return float(quantity(fit.optimum.free)), half


def _positive(name: str, value: float, half: float, shown: str) -> ServerQuantity:
    """A positive quantity and its interval, by its logarithm: however uncertain, it is positive."""
    if not value > 0:
        return ServerQuantity(name, 0.0, 0.0, max(value + half, 0.0), shown)
    share = half / value
    factor = math.exp(share) if share < _ENDLESS else math.inf
    return ServerQuantity(name, value, value / factor, value * factor, shown)


def _profiled(fit: Fit, name: str, shown: str, of: Told, least: float) -> ServerQuantity:
    """A positive quantity and its interval by profile likelihood, by its logarithm.

    The linear interval is used if counts cannot vary continuously, and if it is narrow.
    """
    plain = _positive(name, *_about(fit, of), shown)
    if not plain.value > 0:
        return plain
    narrow = math.isfinite(plain.high) and math.log(plain.high / plain.value) < 2 * _HARDLY
    rest = freed(fit.problem.starting(fit.optimum.free)) if fit.problem.whole else fit.problem
    stuck = rest.names != fit.free or fit.uncertainty.degrees <= 0
    if stuck or (narrow and not fit.optimum.at_bound.any()):
        return plain

    def quantity(free: FloatArray) -> FloatArray:
        value = _of_sets(fit, of)(free)
        return np.where(value > 0, np.log(np.where(value > 0, value, 1.0)), -np.inf)

    best = Reached(float(quantity(fit.optimum.free)), fit.optimum.cost, fit.optimum.free)
    reach = min(math.log(plain.high / plain.value), _REACH) if plain.high < math.inf else _REACH
    wide = math.log(_WIDEST)
    limits = (math.log(least) if least else best.value - wide, best.value + wide)
    most = worst_cost(fit.optimum, fit.uncertainty)
    hold = holding_quantity(rest, quantity, reach, least_gain(fit.optimum, fit.uncertainty))
    [ends] = profile_ends(hold, [Profiled(best, reach, limits)], most)
    low = math.exp(ends[0])
    high = math.inf if ends[1] >= limits[1] else math.exp(ends[1])
    return ServerQuantity(name, math.exp(best.value), low, high, shown)
