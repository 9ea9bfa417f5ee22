"""Servers whose inside is unknown: fit several forms, choose one, and say what it tells.

The choice: the form of the least AICc, unless another, whose AICc is within `PLAUSIBLE` of it,
predicts left-out points clearly better; within `SUBSTANTIAL` where it has more parameters.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from headway.errors import HeadwayError, MeasurementError
from headway.kinds import FloatArray
from headway.models.inference.advice import advised
from headway.models.inference.certainty.draws import Draws, drawn, plausible, saturations
from headway.models.inference.certainty.weights import akaike_weights
from headway.models.inference.closed_curves import BEHIND, clients_of
from headway.models.inference.fit import SATURATION_THROUGHPUT, Fit
from headway.models.inference.fitting import fit_model
from headway.models.inference.forms import (
    SPARE,
    Form,
    forms_for,
    knowing,
    listed_forms,
    of_loads,
    started,
)
from headway.models.inference.next_load import NextLoads
from headway.models.inference.predictions import Predictions, predicted
from headway.models.inference.searching.loss import Loss
from headway.models.inference.told import Told, saturation_of, told_of
from headway.models.inference.warnings import is_worse_than_constant
from headway.models.measured.columns import find, is_population, load_column
from headway.models.measured.matching import Named, match
from headway.models.measured.measurements import Measurements
from headway.models.measured.roles import DELIVERED, OFFERED
from headway.models.signatures.sfs import ALL, Range
from headway.models.signatures.sfs import curve as curve_of
from headway.models.structure.forms import Load
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.models.tables.shown import Answer

PLAUSIBLE = 4.0
"""Difference in AICc up to which a form is still well supported (Burnham and Anderson)."""

SUBSTANTIAL = 2.0
"""Difference up to which one has substantial support: as much as a form of more parameters needs.

Else noise chose it before a simpler one that made the curve, 3 times of 100 instead of 5."""

CLEARLY = 0.8
"""Share of the leave-one-out error that a form may have to be taken before one of less AICc."""

Seen = Callable[[str, float], None]
"""Told what goes on, and the share of the whole that it is."""

_FITTING = 0.5  # share of the work that fitting is; the rest are intervals and left-out points
_BEYOND = 4.0  # times the most jobs that were inside: farther no count is looked for
_INSTANT = 1e-9  # seconds: less than any response time


def _ignore(_doing: str, _share: float) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class ServerFit(Answer):
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
        """Base, slope, time per operation and cache as the chosen form has them, and saturation.

        The saturation throughput is that of all forms that fit not significantly worse.
        """
        return told_of(self.best, self.saturation)

    @cached_property
    def plausible(self) -> tuple[tuple[Form, Fit], ...]:
        """The chosen form, and those that fit not significantly worse than the best."""
        fits = [(fit.problem, fit.found) for _, fit in self.candidates]
        pairs = zip(self.candidates, plausible(fits), strict=True)
        return tuple(pair for pair, fits_well in pairs if fits_well or pair is self.candidates[0])

    @cached_property
    def draws(self) -> tuple[Draws, ...]:
        """Plausible values of each plausible form: all count alike."""
        fits = [fit for _, fit in self.plausible if _tells_limit(fit)]
        found = [drawn(fit.problem, fit.model.form.saturation) for fit in fits if fit.model.form]
        return tuple(each for each in found if len(each.free))

    @cached_property
    def saturation(self) -> Told | None:
        """Saturation throughput by all plausible forms; None where none of them tells."""
        if not self.draws:
            return None
        best, table = self.best, self.best.model.form
        read = table.saturation if table is not None else None
        limit = saturations(best.problem, read, best.found.free[None])
        return saturation_of(self.draws, float(limit[0]))

    def predict(self, loads: FloatArray | Sequence[float]) -> Predictions:
        r"""What to expect at other loads, by all plausible forms together.

        Parameters
        ----------
        loads
            Throughputs [1/s], or populations where these are the load.

        Returns
        -------
        Throughput and response time, each with the 95 % band of one further measurement, and the
        share of what is plausible that sustains each load.

        Raises
        ------
        InvalidParameter
            For loads that are not above 0, and populations that are not whole.

        Examples
        --------
        >>> points = [(x, 2 + 1 / (1 - x / 1000)) for x in range(100, 1000, 100)]
        >>> text = "throughput_ops_s,response_ms
        " + "
        ".join(f"{x},{y:.4f}" for x, y in points)
        >>> found = fit_server(Measurements.parse(text, "curve"))
        >>> low, middle, high = found.predict([950.0]).response_time[:, 0]
        >>> bool(low < 22e-3 < high)
        True
        """
        best = self.best
        return predicted(self.form.family, best.load, best.comparison.load.unit, loads, self.draws)

    @cached_property
    def weights(self) -> FloatArray:
        """Share of the support that each candidate has, by its AICc; all sum to 1."""
        return akaike_weights([fit.aicc for _, fit in self.candidates])

    def examined(self) -> "ServerFit":
        """The same, with all computed that its tables show and that takes further fits."""
        return self.examining(_ignore, 1.0)

    def examining(self, seen: Seen, share: float) -> "ServerFit":
        """The same as `examined`, saying what goes on, and which part of a share is done."""
        part = share / (len(self.candidates) + 1)
        seen(f"{self.form.name}: intervals", part)
        _ = self.told, self.best.examined()
        for form, fit in self.candidates:
            seen(f"{form.name}: points left out", part)
            _ = fit.leave_one_out
        return self

    def to_toml(self, command: str = "") -> str:
        """The chosen form as a model file."""
        return self.best.to_toml(command)

    def next_loads(self, quantity: str = SATURATION_THROUGHPUT) -> NextLoads:
        """Loads to measure at next; see `Fit.next_loads`.

        Parameters
        ----------
        quantity
            ``saturation_throughput``, or ``response_time@LOAD`` with a load in SI or with a unit.
        """
        return advised(self.best, quantity, self.draws)


def _tells_limit(fit: Fit) -> bool:
    return fit.model.form is not None and fit.model.form.saturation is not None


def fit_server(
    measurements: Measurements,
    x: str | None = None,
    y: str | None = None,
    within: Range = ALL,
    loss: Loss = Loss.LINEAR,
    family: str | None = None,
    seen: Seen = _ignore,
    forms: Sequence[str | Model] | None = None,
) -> ServerFit:
    r"""Fit the forms that a curve can carry, and choose among them.

    Parameters
    ----------
    measurements
        A curve of response time against throughput, or of either against a population.
    x, y, within, loss
        As for `headway.models.inference.fitting.fit_model`.
    family
        Whose forms are tried; all that there are where it is left out.
    seen
        Told before each step what it is, and its share; all shares add up to 1.
    forms
        Models that compete: names, paths of model files, models, or ``all`` for those of the
        catalogue, which compete where it is left out.

    Raises
    ------
    MeasurementError
        For curves with too few points, or which no form fits.
    UnknownModel, ModelFileError, InvalidParameter
        For a family that has no form, and listed forms that are none.

    Examples
    --------
    >>> points = [(x, 2 + 1 / (1 - x / 1000)) for x in range(100, 1000, 100)]
    >>> text = "throughput_ops_s,response_ms\n" + "\n".join(f"{x},{y:.4f}" for x, y in points)
    >>> found = fit_server(Measurements.parse(text, "curve"))
    >>> found.form.model, round(found.best.values["service_time"], 6)
    ('server-single', 0.001)
    """
    chosen = choose_form(measurements, x, y, within, loss, family, seen, forms)
    return chosen.examining(seen, 1 - _FITTING)


def choose_form(
    measurements: Measurements,
    x: str | None = None,
    y: str | None = None,
    within: Range = ALL,
    loss: Loss = Loss.LINEAR,
    family: str | None = None,
    seen: Seen = _ignore,
    forms: Sequence[str | Model] | None = None,
) -> ServerFit:
    """Fit and choose as `fit_server`, and leave intervals and left-out points for when asked."""
    curve = _seen(measurements, x, y, listed_forms(forms, family))
    inside = within.holds(curve.load)
    tried = forms_for(int(inside.sum()), curve.forms)
    fits: list[tuple[Form, Fit]] = []
    refused: HeadwayError | None = None
    for form in tried:
        seen(form.name, _FITTING / len(tried))
        try:
            ends = curve.rate[inside], curve.time[inside]
            model = started(form, *ends, measurements.facts)
            model = model if curve.think_time is None else model.closed(1, curve.think_time)
            found = fit_model(
                model, measurements, form.free, *curve.columns, within, curve.limits(form), loss
            )
            fits.append((form, found))
        except HeadwayError as error:
            refused = refused or error
    if not fits:
        raise refused or _too_few(measurements, int(inside.sum()), curve.forms)
    best = ranked(fits)
    _check_falling(measurements, curve.load[inside], curve.time[inside], [fit for _, fit in best])
    return ServerFit(tuple(best))


def _check_falling(
    measurements: Measurements, load: FloatArray, time: FloatArray, fits: Sequence[Fit]
) -> None:
    """Refuse a curve that falls so that no form explains it."""
    falls = float(np.sum((load - load.mean()) * (time - time.mean()))) < 0
    if falls and all(is_worse_than_constant(fit) for fit in fits):
        msg = (
            f"{measurements.source}: response time falls with the load, and no form that so many "
            f"points can carry explains that; check the columns (--x, --y), or measure more loads"
        )
        raise MeasurementError(msg)


@dataclass(frozen=True)
class _Seen:
    """A curve as the forms need it: one pair of columns for all, rates and times to start from.

    The think time is that of a population that is the load, and None of an open curve.
    """

    columns: tuple[str, Named]
    load: FloatArray
    rate: FloatArray
    time: FloatArray
    forms: Sequence[Form]
    think_time: float | None = None

    def limits(self, form: Form) -> dict[str, tuple[float, float]]:
        """How far to look for what counts something in a room that is filled from outside.

        Servers, batches and places beyond those that were ever taken, X R, change nothing there.
        """
        if form.variant.load is not Load.OFFERED:
            return {}
        most = float(np.ceil(_BEYOND * (self.rate * self.time).max()))
        return {
            name: (1.0, max(most, 2.0)) for name in form.free if name in counts(form.made.graph)
        }


def _seen(measurements: Measurements, x: str | None, y: str | None, every: Sequence[Form]) -> _Seen:
    """Choose the columns, once for all forms, and of these those that suit the load."""
    if is_population(load_column(measurements, x)):
        forms = _suiting(measurements, every, Load.POPULATION)
        return _circulating(measurements, x, y, forms)
    offered = _offered(measurements, x, y, every)
    if offered is not None:
        return offered
    found = curve_of(measurements, x, y)
    columns = (found.load.header, found.response_time.header)
    seen = clients_of(measurements, *columns)
    bent = (Load.BENT,) if seen is not None and seen.closed else ()
    forms = _suiting(measurements, every, Load.OPEN, *bent)
    load = found.load.values
    return _Seen(columns, load, load, found.response_time.values, forms)


def _offered(
    measurements: Measurements, x: str | None, y: str | None, every: Sequence[Form]
) -> _Seen | None:
    """A test that fell behind what it offered, as forms with a room see it; None for any other.

    These forms explain throughput and response time at the offered rate. Open ones are not tried
    beside them: that less comes through than is offered is nothing that they could say, and an
    AICc of other numbers is not to be compared.
    """
    forms = knowing(of_loads(every, Load.OFFERED), measurements.facts)
    asked, rate = find(measurements, OFFERED), find(measurements, DELIVERED)
    named = {column.header: column for column in (asked, rate) if column is not None}
    other = x is not None and (asked is None or measurements.column(x) is not asked)
    if not forms or len(named) < 2 or y is not None or other:
        return None
    found = match(forms[0].made, measurements)
    by_output = {one.output: one.measured.values for one in found.each}
    if set(by_output) != {"response_time", "throughput"}:
        return None
    load, delivered = found.load.values, by_output["throughput"]
    if not (delivered < BEHIND * load).any():
        return None
    columns = (found.load.header, [one.measured.header for one in found.each])
    return _Seen(columns, load, delivered, by_output["response_time"], forms)


def _suiting(measurements: Measurements, every: Sequence[Form], *loads: Load) -> Sequence[Form]:
    """Forms for these loads that are told all they must be; never none."""
    found = knowing(of_loads(every, *loads), measurements.facts)
    if not found:
        names = ", ".join(dict.fromkeys(form.model for form in every))
        msg = (
            f"{measurements.source}: none of the forms {names} is tried for a load like this "
            f"({', '.join(loads)}) and what the file discloses"
        )
        raise MeasurementError(msg)
    return found


def _circulating(
    measurements: Measurements, x: str | None, y: str | None, forms: Sequence[Form]
) -> _Seen:
    """A closed test: rates follow from times, or times from rates, by Little's law."""
    found = match(forms[0].made, measurements, x, y)
    jobs, measured = found.load.values, found.measured.values
    think = float(np.mean(found.model.inputs["think_time"]))
    with np.errstate(divide="ignore"):
        if found.output == "throughput":
            rate, time = measured, jobs / measured - think
        else:
            rate, time = jobs / (measured + think), measured
    columns = (found.load.header, [one.measured.header for one in found.each])
    return _Seen(columns, jobs, rate, np.maximum(time, _INSTANT), forms, think)


def _too_few(measurements: Measurements, points: int, forms: Sequence[Form]) -> MeasurementError:
    fewest = min(len(form.free) for form in forms) + SPARE
    return MeasurementError(
        f"{measurements.source}: {points} point{'s' * (points != 1)}; "
        f"the simplest server takes {fewest} different loads at least"
    )


def ranked(fits: Sequence[tuple[Form, Fit]]) -> list[tuple[Form, Fit]]:
    """The chosen form first, the others by AICc."""
    by_aicc = sorted(fits, key=lambda pair: pair[1].aicc)
    chosen = by_aicc[0]
    for pair in by_aicc[1:]:
        richer = len(pair[1].free) > len(chosen[1].free)
        most = by_aicc[0][1].aicc + (SUBSTANTIAL if richer else PLAUSIBLE)
        plausible = pair[1].aicc <= most
        if plausible and pair[1].leave_one_out_rms < CLEARLY * chosen[1].leave_one_out_rms:
            chosen = pair
    return [chosen, *(pair for pair in by_aicc if pair is not chosen)]
