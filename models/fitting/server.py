"""Servers whose inside is unknown: fit several forms, choose one, and say what it tells.

The choice: the form of the least AICc, unless another, whose AICc is within `PLAUSIBLE` of it,
predicts left-out points clearly better.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from headway.errors import HeadwayError, MeasurementError
from headway.kinds import FloatArray
from headway.models.columns import is_population, is_rate, load_column
from headway.models.fitting.closed import clients_of
from headway.models.fitting.fit import Fit, fit_model
from headway.models.fitting.loss import Loss
from headway.models.fitting.uncertainty import student
from headway.models.matching import match
from headway.models.measurements import Measurements
from headway.models.model import Model
from headway.models.regression import FEWEST_POINTS, regression_line
from headway.models.shipped import catalogue_model
from headway.models.signatures.sfs import ALL, Range, curve
from headway.models.tables import Shown, Table

Quantified = Callable[[dict[str, float]], float]
"""A quantity as a function of the free parameters."""

PLAUSIBLE = 4.0
"""Difference in AICc up to which a form is still well supported (Burnham and Anderson)."""

CLEARLY = 0.8
"""Share of the leave-one-out error that a form may have to be taken before one of less AICc."""

_VAGUE = 100.0  # times a value: an interval that reaches so far says nothing
_STEP = 1e-5  # relative step of a difference
_INSTANT = 1e-9  # seconds: less than any response time
_SPARE = 2  # points more than free parameters that a form needs


@dataclass(frozen=True)
class Form:
    """A model of the catalogue with some parameters free; delays that are not free are none."""

    model: str
    free: tuple[str, ...]
    closed: bool = False

    @property
    def name(self) -> str:
        """What tables call it."""
        return self.model if "delay" in self.free else f"{self.model} (no delay)"


FORMS = (
    Form("server-single", ("delay", "service_time")),
    Form("server", ("service_time", "servers")),
    Form("server", ("delay", "service_time", "servers")),
    Form("server-pool", ("delay", "service_time", "servers")),
    Form("server-contention", ("contention", "service_time", "servers")),
    Form("server-contention", ("delay", "contention", "service_time", "servers")),
    Form("server-misses", ("delay", "disk_time", "full_load", "growth")),
    Form("server-cache", ("service_time", "servers", "cached_load", "miss_time")),
    Form("server-batching", ("wake_up", "batching_load", "service_time", "servers")),
    Form("server-closed", ("delay", "service_time", "servers", "population"), closed=True),
)
"""What is tried, simplest first; the closed form only where the curve shows a population."""

OPEN = tuple(form for form in FORMS if not form.closed)
"""What is tried where nothing shows a population."""

CIRCULATING = (
    Form("server-single", ("delay", "service_time")),
    Form("server-closed", ("delay", "service_time", "servers")),
    Form("server-pool", ("delay", "service_time", "servers")),
)
"""What is tried where the load is a population: those whose closed network is exact."""


@dataclass(frozen=True)
class Told:
    """A quantity that a fit tells of a server, with its 95 % interval, in SI."""

    name: str
    value: float
    low: float
    high: float
    unit: str

    @property
    def determined(self) -> bool:
        """Whether its interval reaches no farther than a hundred times the value."""
        farthest = max(abs(self.low), abs(self.high))
        return math.isfinite(farthest) and (self.value == 0 or farthest < _VAGUE * abs(self.value))


@dataclass(frozen=True)
class ServerFit(Shown):
    """The forms that fit a server's curve, best first.

    Parameters
    ----------
    candidates
        Forms and their fits, the chosen one first.
    """

    candidates: tuple[tuple[Form, Fit], ...]

    @property
    def form(self) -> Form:
        """The chosen form."""
        return self.candidates[0][0]

    @property
    def best(self) -> Fit:
        """The chosen fit."""
        return self.candidates[0][1]

    def __repr__(self) -> str:
        error = self.best.comparison.summary["rms_relative_error"]
        return f"ServerFit({self.best.measurements.source}: {self.form.name}, RMS {error:.1%})"

    @cached_property
    def told(self) -> tuple[Told, ...]:
        """Base, slope, saturation, time per operation and cache, as the chosen form has them."""
        return tuple(_told(self.best))

    def tables(self) -> list[Table]:
        """The choice, the chosen fit, and what it tells."""
        from headway.models.fitting.server_tables import server_tables

        return server_tables(self)

    def rows(self) -> list[dict[str, Any]]:
        """One dict a free parameter of the chosen form."""
        return self.best.rows()

    def to_json(self) -> str:
        """The chosen fit by the contract, with ``form``, ``candidates`` and ``server``."""
        from headway.models.answers import strict_json
        from headway.models.fitting.server_tables import server_document

        return strict_json(server_document(self))

    def to_csv(self) -> str:
        """A CSV row a free parameter of the chosen form."""
        return self.best.to_csv()

    def to_toml(self, command: str = "") -> str:
        """The chosen form as a model file."""
        return self.best.to_toml(command)

    def plot(self) -> Any:
        """Draw the chosen fit, and the runners-up as thin lines."""
        from headway.models.plotting.fits import server_figure

        return server_figure(self)


def fit_server(
    measurements: Measurements,
    x: str | None = None,
    y: str | None = None,
    within: Range = ALL,
    loss: Loss = Loss.LINEAR,
) -> ServerFit:
    r"""Fit the forms that a curve can carry, and choose among them.

    Parameters
    ----------
    measurements
        A curve of response time against throughput, or of either against a population.
    x, y, within, loss
        As for `headway.models.fitting.fit.fit_model`.

    Raises
    ------
    MeasurementError
        For curves with too few points, or which no form fits.

    Examples
    --------
    >>> points = [(x, 2 + 1 / (1 - x / 1000)) for x in range(100, 1000, 100)]
    >>> text = "throughput_ops_s,response_ms\n" + "\n".join(f"{x},{y:.4f}" for x, y in points)
    >>> found = fit_server(Measurements.parse(text, "curve"))
    >>> found.form.model, round(found.best.values["service_time"], 6)
    ('server-single', 0.001)
    """
    seen = _seen(measurements, x, y)
    inside = within.holds(seen.load)
    fits: list[tuple[Form, Fit]] = []
    refused: HeadwayError | None = None
    for form in forms_for(int(inside.sum()), seen.forms):
        try:
            model = started(form, seen.rate[inside], seen.time[inside])
            model = model if seen.think_time is None else model.closed(1, seen.think_time)
            found = fit_model(model, measurements, form.free, *seen.columns, within, loss=loss)
            fits.append((form, found))
        except HeadwayError as error:
            refused = refused or error
    if not fits:
        raise refused or _too_few(measurements, int(inside.sum()))
    return ServerFit(tuple(ranked(fits)))


@dataclass(frozen=True)
class _Seen:
    """A curve as the forms need it: one pair of columns for all, rates and times to start from.

    The think time is that of a population that is the load, and None of an open curve.
    """

    columns: tuple[str, str]
    load: FloatArray
    rate: FloatArray
    time: FloatArray
    forms: Sequence[Form]
    think_time: float | None = None


def _seen(measurements: Measurements, x: str | None, y: str | None) -> _Seen:
    """Choose the columns, once for all forms."""
    if is_population(load_column(measurements, x)):
        return _circulating(measurements, x, y)
    found = curve(measurements, x, y)
    columns = (found.load.header, found.response_time.header)
    seen = clients_of(measurements, *columns)
    closed = seen is not None and seen.closed
    forms = FORMS if closed else OPEN
    load = found.load.values
    return _Seen(columns, load, load, found.response_time.values, forms)


def _circulating(measurements: Measurements, x: str | None, y: str | None) -> _Seen:
    """A closed test: rates follow from times, or times from rates, by Little's law."""
    found = match(catalogue_model("server-single"), measurements, x, y)
    jobs, measured = found.load.values, found.measured.values
    think = float(np.mean(found.model.inputs["think_time"]))
    with np.errstate(divide="ignore"):
        if found.output == "throughput":
            rate, time = measured, jobs / measured - think
        else:
            rate, time = jobs / (measured + think), measured
    columns = (found.load.header, found.measured.header)
    return _Seen(columns, jobs, rate, np.maximum(time, _INSTANT), CIRCULATING, think)


def _too_few(measurements: Measurements, points: int) -> MeasurementError:
    fewest = len(FORMS[0].free) + _SPARE
    return MeasurementError(
        f"{measurements.source}: {points} point{'s' * (points != 1)}; "
        f"the simplest server takes {fewest} different loads at least"
    )


def forms_for(points: int, forms: Sequence[Form] = OPEN) -> list[Form]:
    """The forms that so many points can carry.

    Examples
    --------
    >>> [form.name for form in forms_for(4)]
    ['server-single', 'server (no delay)']
    """
    return [form for form in forms if len(form.free) + _SPARE <= points]


def started(form: Form, rate: FloatArray, time: FloatArray) -> Model:
    """A form with values to start from, read off the curve."""
    model = catalogue_model(form.model)
    least, most, top = float(time.min()), float(time.max()), float(rate.max())
    own = {
        "delay": least / 2,
        "service_time": least / 2,
        "servers": max(0.6 * top * least, 0.1),
        "contention": float(time.mean()) / top,
        "cached_load": 0.3 * top,
        "miss_time": float(time.mean()),
        "disk_time": 0.3 * most,
        "full_load": 1.2 * top,
        "batching_load": 0.3 * top,
        "wake_up": most,
        "population": float(np.ceil(1.2 * (rate * time).max())) + 1,
    }
    if form.model == "server-single":
        own["service_time"] = 0.8 / top
    if form.model in ("server-pool", "server-closed"):
        own["servers"] = float(np.ceil(own["servers"]))
    values = {name: value for name, value in own.items() if name in model.parameters}
    if "delay" not in form.free:
        values["delay"] = 0.0
    return model.at(values)


def ranked(fits: Sequence[tuple[Form, Fit]]) -> list[tuple[Form, Fit]]:
    """The chosen form first, the others by AICc."""
    by_aicc = sorted(fits, key=lambda pair: pair[1].aicc)
    chosen = by_aicc[0]
    for pair in by_aicc[1:]:
        plausible = pair[1].aicc <= by_aicc[0][1].aicc + PLAUSIBLE
        if plausible and pair[1].leave_one_out_rms < CLEARLY * chosen[1].leave_one_out_rms:
            chosen = pair
    return [chosen, *(pair for pair in by_aicc if pair is not chosen)]


def _told(fit: Fit) -> list[Told]:
    """Quantities of the fitted form with intervals by linear propagation of logarithms."""
    slope: Quantified = lambda v: _slope(fit, v)  # noqa: E731 - one of a list of the like
    wanted: list[tuple[str, str, Quantified]] = [
        ("base response time", "ms", lambda v: _base(fit, v)),
        *([("slope", "us*s/op", slope)] if is_rate(fit.comparison.load) else []),
        ("saturation throughput", "op/s", lambda v: _saturation(fit, v)),
        *((words, unit, of) for name, words, unit, of in _DIRECT if name in fit.values),
    ]
    return [_quantity(fit, name, unit, of) for name, unit, of in wanted]


_DIRECT: tuple[tuple[str, str, str, Quantified], ...] = (
    ("service_time", "time per operation", "ms", lambda v: v["service_time"]),
    ("disk_time", "disk time per miss", "ms", lambda v: v["disk_time"]),
    ("cached_load", "load that the cache holds", "op/s", lambda v: v["cached_load"]),
    ("growth", "load at which half of it misses", "op/s", lambda v: _half_missing(v)),
    ("population", "requests that circulate", "", lambda v: v["population"]),
)


def _half_missing(values: dict[str, float]) -> float:
    return float(values["full_load"] * 0.5 ** (1 / max(values["growth"], 1e-9)))


def _predicted(fit: Fit, values: dict[str, float]) -> FloatArray:
    order = np.argsort(fit.comparison.load.values, kind="stable")
    return fit.problem.predict(np.array([values[name] for name in fit.free]))[order]


def _base(fit: Fit, values: dict[str, float]) -> float:
    """Response time at the least load; from a throughput of jobs that circulate, N/X - Z."""
    first = float(_predicted(fit, values)[0])
    if fit.comparison.output != "throughput":
        return first
    jobs = float(fit.comparison.load.values.min())
    return jobs / first - float(np.min(np.asarray(fit.model.inputs["think_time"])))


def _slope(fit: Fit, values: dict[str, float]) -> float:
    predicted = _predicted(fit, values)
    if predicted.size < FEWEST_POINTS or not np.isfinite(predicted).all():
        return float("nan")
    return regression_line(np.sort(fit.comparison.load.values), predicted).slope


def _saturation(fit: Fit, values: dict[str, float]) -> float:
    if "full_load" in values:
        return values["full_load"]
    servers = values.get("servers", float(np.ravel(fit.model.inputs.get("servers", 1.0))[0]))
    return servers / values["service_time"]


def _difference(fit: Fit, parameter: str, of: Quantified) -> float:
    """Derivative of a quantity for a parameter, one-sided where a side saturates."""
    best = fit.values
    points = (best[parameter], *fit.problem.around(parameter, best[parameter], _STEP))
    found = {point: float(of({**best, parameter: point})) for point in points}
    ends = sorted(point for point in found if np.isfinite(found[point]))
    if len(ends) < 2:
        return 0.0
    return (found[ends[-1]] - found[ends[0]]) / (ends[-1] - ends[0])


def _quantity(fit: Fit, name: str, unit: str, of: Quantified) -> Told:
    """A quantity and its interval, linearly from that of the parameters."""
    best = fit.values
    value = float(of(best))
    slopes = [_difference(fit, parameter, of) for parameter in fit.free]
    spread = np.nan_to_num(fit.known.covariance, posinf=0.0)
    slope = np.nan_to_num(np.array(slopes), posinf=0.0, neginf=0.0)
    half = student(fit.known.degrees) * float(np.sqrt(max(slope @ spread @ slope, 0.0)))
    if value > 0 and half < np.inf:
        factor = float(np.exp(min(half / value, 50.0)))
        return Told(name, value, value / factor, value * factor, unit)
    return Told(name, value, value - half, value + half, unit)
