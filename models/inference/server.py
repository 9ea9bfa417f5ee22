"""Servers of unknown inside: fit several forms, choose one, and report what it says.

The form of least AICc is chosen, unless another whose AICc is within `PLAUSIBLE` of it predicts
left-out points clearly better; within `SUBSTANTIAL` if that one has more parameters. Among forms of
a population, one with more parameters than AICc can judge may also be chosen if its error is
smaller by the factor `FAR`. A form with a parameter that is not determined and out of reach of the
data is chosen only if every other form within `PLAUSIBLE` has such a parameter as well.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from headway.errors import GraphError, HeadwayError, MeasurementError
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal
from headway.models.inference.advice import advised, highest_load
from headway.models.inference.certainty.draws import Draws, drawn, plausible, saturations
from headway.models.inference.certainty.weights import akaike_weights
from headway.models.inference.fit import SATURATION_THROUGHPUT, Fit
from headway.models.inference.fitting import fit_model
from headway.models.inference.forecasting.elsewhere import (
    Elsewhere,
    highest_measured,
    load_of,
)
from headway.models.inference.forecasting.highest_load import PRECISION, HighestLoad
from headway.models.inference.forecasting.next_load import NextLoads
from headway.models.inference.forecasting.predictions import (
    Predictions,
    form_weights,
    percents_of,
    predicted,
    usual_percents,
)
from headway.models.inference.forecasting.tails import tails_of
from headway.models.inference.form_curve import curve_for_forms
from headway.models.inference.forms import (
    KNOWN_SPARE,
    Form,
    forms_for,
    listed_forms,
    spare_for,
    started,
)
from headway.models.inference.quantities import ServerQuantity, saturation_of, server_quantities
from headway.models.inference.searching.loss import Loss
from headway.models.inference.warnings import is_worse_than_constant
from headway.models.language.names import names_in
from headway.models.measured.measurements import Measurements
from headway.models.reading.loadtest import Measured, measurements_in
from headway.models.signatures.sfs import Range
from headway.models.structure.alternatives import Alternative, together
from headway.models.structure.loads import Load
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.numerals import counted
from headway.records import dataclass

PLAUSIBLE = 4.0
"""Difference in AICc up to which a form is still well supported (Burnham and Anderson)."""

SUBSTANTIAL = 2.0
"""Difference up to which a form has substantial support, as a form of more parameters needs.

With `PLAUSIBLE` instead, noise chose it before the simpler form that made the curve in 5 cases of
100, rather than 3."""

CLEARLY = 0.8
"""Leave-one-out error, relative to that of a form of less AICc, up to which another is preferred.
"""

Progress = Callable[[str, float], None]
"""Called with what is being done, and its share of the work."""

FAR = 0.2
"""Ratio of errors up to which a form is preferred that has too many parameters for AICc.

Sums of squares in the ratio 1:25 are F = 48 with 1 and 2 degrees of freedom, which chance makes 2
times of 100. For five points: ``python -m tests.campaigns.few_points``.
"""

KEPT = 256
"""Draws of each plausible form that a model file keeps."""

_DIGITS = 2  # decimals of AICc by which forms are compared
_FITTING = 0.5  # share of the work that is fitting; the rest is intervals and left-out points


def no_progress(_doing: str, _share: float) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class ServerFit(Answer):
    """The forms that fit a server's curve, best first.

    Parameters
    ----------
    candidates
        Forms and their fits, the chosen one first.
    untried
        Forms that this number of points could support at as many different loads, but not at so
        few.
    left_out
        Forms without a law of the measured percentiles, each with the reason.
    """

    candidates: tuple[tuple[Form, Fit], ...]
    untried: tuple[Form, ...] = ()
    left_out: tuple[tuple[Form, str], ...] = ()

    @property
    def form(self) -> Form:
        """The chosen form."""
        return self.candidates[0][0]

    @property
    def describes(self) -> bool:
        """Whether the chosen form describes the data; see `Fit.describes`."""
        return self.best.describes

    @property
    def best(self) -> Fit:
        """The chosen fit."""
        return self.candidates[0][1]

    def __repr__(self) -> str:
        error = self.best.comparison.summary["rms_relative_error"]
        return f"ServerFit({self.best.measurements.source}: {self.form.name}, RMS {error:.1%})"

    @cached_property
    def quantities(self) -> tuple[ServerQuantity, ...]:
        """Base, slope, time per operation, cache and saturation of the chosen form.

        The saturation throughput is that of all forms that fit not significantly worse; that of the
        chosen form alone is listed as well.
        """
        return server_quantities(self.best, self.saturation, others=len(self.draws) > 1)

    @cached_property
    def plausible(self) -> tuple[tuple[Form, Fit], ...]:
        """The chosen form, and those that fit about as well as the best."""
        fits = [(fit.problem, fit.optimum) for _, fit in self.candidates]
        pairs = zip(self.candidates, plausible(fits), strict=True)
        return tuple(pair for pair, fits_well in pairs if fits_well or pair is self.candidates[0])

    @cached_property
    def draws(self) -> tuple[Draws, ...]:
        """Plausible values of each plausible form, equally weighted."""
        return tuple(each for each in self._each_drawn if len(each.free))

    @cached_property
    def _each_drawn(self) -> tuple[Draws, ...]:
        """Plausible values of each plausible form, in order; none for one without a limit."""
        return tuple(
            drawn(fit.problem, fit.optimum, fit.uncertainty, fit.model.form.saturation)
            if fit.model.form is not None and fit.model.form.saturation is not None
            else Draws(fit.problem, np.empty((0, len(fit.free))), np.empty(0))
            for _, fit in self.plausible
        )

    @cached_property
    def saturation(self) -> ServerQuantity | None:
        """Saturation throughput from all plausible forms; None if none determines it."""
        if not self.draws:
            return None
        best, table = self.best, self.best.model.form
        read = table.saturation if table is not None else None
        limit = saturations(best.problem, read, best.optimum.free[None])
        return saturation_of(self.draws, float(limit[0]))

    def predict(
        self, loads: FloatArray | Sequence[float], percentiles: Sequence[float] | None = None
    ) -> Predictions:
        r"""Predictions at other loads, from all plausible forms together.

        Parameters
        ----------
        loads
            Throughputs [1/s], or populations if these are the load.
        percentiles
            Percentages such as 99 whose percentiles are wanted too; by default those that were
            fitted, or measured as well (95 and 99).

        Returns
        -------
        Throughput and response time, each with the 95% band of one further measurement, and the
        share of plausible values that sustain each load.

        Raises
        ------
        InvalidParameter
            For loads that are not above 0, and populations that are not whole numbers.
        GraphError
            For percentiles that the chosen form lacks, with the reason; other plausible forms that
            lack them are named in the answer.

        Examples
        --------
        >>> points = [(x, 2 + 1 / (1 - x / 1000)) for x in range(100, 1000, 100)]
        >>> text = "throughput_ops_s,response_ms\n" + "\n".join(f"{x},{y:.4f}" for x, y in points)
        >>> server = fit_server(Measurements.parse(text, "curve"))
        >>> low, middle, high = server.predict([950.0]).response_time[:, 0]
        >>> bool(low < 22e-3 < high)
        True
        """
        best, unit = self.best, self.best.comparison.load.unit
        table = best.comparison.table
        usual = usual_percents(best.problem, table)
        percents = usual if percentiles is None else percentiles
        measured = tails_of([best.draws], table, percents)[0]
        self._check_law([p for p in percents if p not in measured], loads)
        family, draws = self.form.family, self.draws
        asked = family, best.load, unit, loads, draws
        is_known = len({form.model for form, _ in self.candidates}) == 1
        return predicted(*asked, percents=percents, table=table, is_known=is_known)

    @property
    def params(self) -> dict[str, float]:
        """Fitted values of the chosen form [SI]."""
        return self.best.params

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the fitted values [SI], in the same order."""
        return self.best.covariance

    def summary(self) -> str:
        """The fit as text: that of ``print(fit)``."""
        return str(self)

    def _check_law(self, percents: Sequence[float], loads: FloatArray | Sequence[float]) -> None:
        """Refuse percentiles that the chosen form does not have."""
        there = Elsewhere(self.best.problem, np.atleast_1d(np.asarray(loads, float)))
        refused = next(filter(None, map(there.refusal, percents)), None)
        if refused is not None:
            msg = f"{refused}, which is the chosen form; name others with --forms"
            raise GraphError(msg)

    @cached_property
    def weights(self) -> FloatArray:
        """Share of the support that each candidate has, by its AICc; all sum to 1."""
        return akaike_weights([fit.aicc for _, fit in self.candidates])

    @cached_property
    def passed_over(self) -> tuple[tuple[Form, Fit], ...]:
        """Forms that fit well enough to be chosen, but have parameters out of reach of the data."""
        if self.best.out_of_reach:
            return ()
        return tuple(pair for pair in supported(self.candidates) if pair[1].out_of_reach)

    def examined(self) -> "ServerFit":
        """The fit with everything computed that its tables need, including further fits."""
        return self.examining(no_progress, 1.0)

    def examining(self, progress: Progress, share: float) -> "ServerFit":
        """As `examined`, with progress reports."""
        part = share / (len(self.candidates) + 1)
        progress(f"{self.form.name}: intervals", part)
        _ = self.quantities, self.best.examined()
        for form, fit in self.candidates:
            progress(f"{form.name}: points left out", part)
            _ = fit.leave_one_out
        return self

    def to_toml(self, command: str = "") -> str:
        """The chosen form as a model file, with the other plausible forms as alternatives."""
        return self.uncertain_model(command).to_toml()

    def uncertain_model(self, command: str = "") -> Model:
        """The chosen form and the other plausible ones, with their weights and draws.

        Parameters
        ----------
        command
            The command that made the fit, for the record.
        """
        each, weights = self._each_drawn, form_weights(self._each_drawn).tolist()
        members = [
            Alternative(_kept(fit.uncertain_model(command), draws), weight)
            for (_, fit), draws, weight in zip(self.plausible, each, weights, strict=True)
        ]
        return together(members)

    def next_loads(self, quantity: str = SATURATION_THROUGHPUT) -> NextLoads:
        """The loads to measure next; see `Fit.next_loads`.

        Parameters
        ----------
        quantity
            ``saturation_throughput``, or ``response_time@LOAD`` with a load in SI or with a unit.
        """
        return advised(self.best, quantity, self.draws)

    def highest_load(
        self, target: str | Goal, budget: int | None = None, precision: float = PRECISION
    ) -> HighestLoad:
        """The highest load under a limit by all plausible forms; see `Fit.highest_load`."""
        return highest_load(self.best, target, self.draws, budget, precision)


def _kept(model: Model, draws: Draws) -> Model:
    """A fitted form with some of its draws, and the highest load to which it was fitted."""
    there = load_of(draws.problem)
    highest = {there: highest_measured(draws.problem)} if there in model.parameters else {}
    return replace(model, drawn=draws.sets(KEPT), measured_to=highest)


def fit_server(
    measurements: Measured,
    x: str | None = None,
    y: str | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    loss: str = Loss.LINEAR,
    family: str | None = None,
    progress: Progress = no_progress,
    forms: str | Sequence[str | Model] | None = None,
) -> ServerFit:
    r"""Fit every form that the number of points supports, and choose among them.

    Parameters
    ----------
    measurements
        A curve of response time, its percentiles or both against throughput; or of these or
        throughput against a population.
    x, y, low, high, loss
        As for `headway.models.inference.fitting.fit_model`.
    family
        The family of the forms that are tried; by default all.
    progress
        Called before each step with its name and its share of the work; the shares add up to 1.
    forms
        Models that compete: names, paths of model files, models, or ``all`` for those of the
        catalogue; by default these.

    Raises
    ------
    MeasurementError
        For curves with too few points, or that no form fits.
    UnknownModel, ModelFileError, InvalidParameter
        For a family without forms, and for listed models that are not forms.

    Examples
    --------
    >>> points = [(x, 2 + 1 / (1 - x / 1000)) for x in range(100, 1000, 100)]
    >>> text = "throughput_ops_s,response_ms\n" + "\n".join(f"{x},{y:.4f}" for x, y in points)
    >>> server = fit_server(Measurements.parse(text, "curve"))
    >>> server.form.model, round(server.best.values["service_time"], 6)
    ('server-single', 0.001)
    """
    chosen = choose_form(measurements, x, y, low, high, loss, family, progress, forms)
    return chosen.examining(progress, 1 - _FITTING)


def choose_form(
    measurements: Measured,
    x: str | None = None,
    y: str | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    loss: str = Loss.LINEAR,
    family: str | None = None,
    progress: Progress = no_progress,
    forms: str | Sequence[str | Model] | None = None,
    spare: int | None = None,
) -> ServerFit:
    """Fit and choose as `fit_server` does; compute intervals and left-out points on demand.

    ``spare`` is how many more loads than free parameters a form needs; see `forms_for`.
    """
    measurements = measurements_in(measurements)
    listed = names_in(forms) if isinstance(forms, str) else forms
    curve = curve_for_forms(measurements, x, y, listed_forms(listed, family))
    inside = Range(low, high).holds(curve.load)
    points, loads = int(inside.sum()), curve.different(inside)
    tried = forms_for(loads, curve.forms, spare)
    fits: list[tuple[Form, Fit]] = []
    refused: list[tuple[Form, HeadwayError]] = []
    for form in tried:
        progress(form.name, _FITTING / len(tried))
        try:
            ends = curve.rate[inside], curve.time[inside]
            model = started(form, *ends, measurements.facts)
            model = model if curve.think_time is None else model.closed(1, curve.think_time)
            limits = curve.limits(form, inside)
            asked = form.free, *curve.columns, low, high, limits, loss
            result = fit_model(model, measurements, *asked)
            fits.append((form, result))
        except HeadwayError as error:
            refused.append((form, error))
    if not fits:
        raise refused[0][1] if refused else _too_few(measurements, points, loads, curve.forms)
    best = chosen_first(fits)
    _check_falling(measurements, curve.load[inside], curve.time[inside], [fit for _, fit in best])
    untried = (form for form in forms_for(points, curve.forms) if form not in tried)
    return ServerFit(tuple(best), tuple(untried), _without_law(best[0][1], refused))


def _without_law(
    best: Fit, refused: Sequence[tuple[Form, HeadwayError]]
) -> tuple[tuple[Form, str], ...]:
    """Forms that a fit to percentiles had to leave out, and why."""
    if not percents_of(best.problem):
        return ()
    return tuple((form, str(error)) for form, error in refused if isinstance(error, GraphError))


def _check_falling(
    measurements: Measurements, load: FloatArray, time: FloatArray, fits: Sequence[Fit]
) -> None:
    """Refuse a curve that falls in a way that no form explains."""
    falls = float(np.sum((load - load.mean()) * (time - time.mean()))) < 0
    if falls and all(is_worse_than_constant(fit) for fit in fits):
        msg = (
            f"{measurements.source}: response time falls with the load, which no form that the "
            "number of points supports can explain; check the columns (--x, --y), or measure more "
            "loads"
        )
        raise MeasurementError(msg)


def _too_few(
    measurements: Measurements, points: int, loads: int, forms: Sequence[Form]
) -> MeasurementError:
    if loads == 1 < points:
        msg = f"{measurements.source}: all points are at one load; a fit needs several loads"
        return MeasurementError(msg)
    fewest = min(len(form.free) for form in forms)
    at = f" at {loads} loads" if loads < points else ""
    known = fewest + KNOWN_SPARE <= loads < fewest + spare_for(forms)
    return MeasurementError(
        f"{measurements.source}: {counted(points, 'point')}{at}; "
        f"the simplest server needs at least {fewest + spare_for(forms)} different loads"
        + (", or --forms with the one form that it is known to be" if known else "")
    )


def compared(candidate: tuple[Form, Fit]) -> float:
    """AICc as far as it compares forms: those that differ in later digits fit equally well."""
    return round(candidate[1].aicc, _DIGITS)


def supported(fits: Sequence[tuple[Form, Fit]]) -> list[tuple[Form, Fit]]:
    """The forms whose AICc is within `PLAUSIBLE` of the least."""
    least = min(fit.aicc for _, fit in fits)
    return [pair for pair in fits if pair[1].aicc <= least + PLAUSIBLE]


def chosen_first(fits: Sequence[tuple[Form, Fit]]) -> list[tuple[Form, Fit]]:
    """Like `ranked`, but forms with parameters out of reach come first only if all have some."""
    order = ranked(fits)
    within = [pair for pair in supported(order) if not pair[1].out_of_reach]
    if not within or not order[0][1].out_of_reach:
        return order
    chosen = ranked(within)[0]
    return [chosen, *(pair for pair in sorted(fits, key=compared) if pair is not chosen)]


def _error(candidate: tuple[Form, Fit]) -> float:
    return candidate[1].comparison.summary["rms_relative_error"]


def _of_population(candidate: tuple[Form, Fit]) -> bool:
    return candidate[0].variant.load is Load.POPULATION


def ranked(fits: Sequence[tuple[Form, Fit]], far: float = FAR) -> list[tuple[Form, Fit]]:
    """The chosen form first, the others by AICc; among equal ones, the simpler first.

    Parameters
    ----------
    fits
        Forms and their fits, the simplest first.
    far
        The ratio of errors that `FAR` describes.
    """
    by_aicc = sorted(fits, key=compared)
    chosen = by_aicc[0]
    for pair in by_aicc[1:]:
        richer = len(pair[1].free) > len(chosen[1].free)
        most = by_aicc[0][1].aicc + (SUBSTANTIAL if richer else PLAUSIBLE)
        plausible = pair[1].aicc <= most
        if plausible and pair[1].leave_one_out_rms < CLEARLY * chosen[1].leave_one_out_rms:
            chosen = pair
    unjudged = [pair for pair in by_aicc if math.isinf(pair[1].aicc) > math.isinf(chosen[1].aicc)]
    for pair in sorted((pair for pair in unjudged if _of_population(pair)), key=_error)[:1]:
        is_better = pair[1].leave_one_out_rms < CLEARLY * chosen[1].leave_one_out_rms
        if is_better and _error(pair) < far * _error(chosen):
            chosen = pair
    return [chosen, *(pair for pair in by_aicc if pair is not chosen)]
