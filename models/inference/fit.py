"""From a measured curve to parameters: the best values, how certain they are, and what is wrong.

Source for the statistics: Seber and Wild, *Nonlinear Regression*, 1989; Burnham and
Anderson, *Model Selection and Multimodel Inference*, 2002, for AICc.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from headway.kinds import FloatArray
from headway.models.analysis.between import between_rows
from headway.models.analysis.comparison import Comparison
from headway.models.analysis.goals import Goal
from headway.models.analysis.sensitivity import Sensitivity
from headway.models.inference.certainty.draws import Draws, drawn_about
from headway.models.inference.certainty.identify import (
    Identified,
    candidate_loads,
    out_of_reach,
    precision,
    structure,
)
from headway.models.inference.certainty.pure_error import PureError, pure_error
from headway.models.inference.certainty.resampling import (
    Refits,
    left_out_errors,
    studentised,
)
from headway.models.inference.certainty.shifts import student
from headway.models.inference.certainty.uncertainty import (
    Uncertainty,
    uncertainty,
    unequal_errors,
)
from headway.models.inference.certainty.valleys import Minimum, answers, hull
from headway.models.inference.forecasting.elsewhere import load_of
from headway.models.inference.forecasting.highest_load import PRECISION, HighestLoad
from headway.models.inference.forecasting.next_load import NextLoads
from headway.models.inference.forecasting.predictions import (
    Predictions,
    predicted,
    usual_percents,
)
from headway.models.inference.searching.problem import Problem
from headway.models.inference.searching.search import Optimum
from headway.models.language.scales import Scale, units_of
from headway.models.language.verbs import perform
from headway.models.measured.measurements import Measurements
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.model import Model
from headway.models.tables.shown import Answer
from headway.records import dataclass

SATURATION_THROUGHPUT = "saturation_throughput"
"""Name of the throughput at which a model's bottleneck is always busy."""

_CLIENTS = 60  # most numbers of clients over which a curve is drawn
# share of the variance of rounding below which errors are smaller than chance allows
_TOO_GOOD = 0.1
_EXACT = 1e-20  # variance that floating-point rounding alone leaves

DESCRIBES = 0.3
"""RMS relative error up to which a model describes its data.

The most jagged of the 24 curves that ship is 21% off its best form (`headway fit server --data
models/data/sfs_results/curves`); closed tests fitted as open ones were 51% off and more.
"""


@dataclass(frozen=True)
class Fit(Answer):
    r"""A model fitted to measurements.

    Parameters
    ----------
    initial
        The model before the fit.
    model
        The fitted model, with single values.
    measurements
        The measurements to which it was fitted.
    comparison
        The fitted model compared with the measurements.
    problem, optimum
        The problem that was solved, and the end of the search.
    refits
        Fits to resampled errors, if a bootstrap was asked for.

    Notes
    -----
    Intervals, other answers, left-out errors and the warnings that need them take further fits.
    They are computed when asked for by name, or all by `examined`; printing shows those already
    computed.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> text = "throughput_ops_s,response_ms\n200,2.3\n500,2.9\n800,6.1\n"
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="0.5 ms")
    >>> model.fit(Measurements.parse(text, "curve.csv"), ["service_time"])
    Fit(server-single: service_time from 3 points, RMS error 2.5%)
    """

    initial: Model
    model: Model
    measurements: Measurements
    comparison: Comparison
    problem: Problem
    optimum: Optimum
    refits: Refits | None

    def __repr__(self) -> str:
        error = self.comparison.summary["rms_relative_error"]
        free = ", ".join(self.free)
        return f"Fit({self.model.name}: {free} from {self.points} points, RMS error {error:.1%})"

    @property
    def describes(self) -> bool:
        """Whether the model describes its data: an RMS error of at most 30%."""
        return self.comparison.summary["rms_relative_error"] <= DESCRIBES

    @property
    def free(self) -> tuple[str, ...]:
        """Names of the fitted parameters."""
        return self.problem.names

    @property
    def points(self) -> int:
        """Number of measurements; two outputs that determine each other count once per point."""
        return self.problem.counted

    @property
    def values(self) -> dict[str, float]:
        """Fitted values by name, in SI."""
        return dict(zip(self.free, map(float, self.optimum.free), strict=True))

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """Covariance, standard errors and correlations."""
        return uncertainty(self.problem, self.optimum)

    @property
    def params(self) -> dict[str, float]:
        """The fitted values, under the name that lmfit and statsmodels give them."""
        return self.values

    @property
    def covariance(self) -> FloatArray:
        """Covariance of the fitted values [SI], in the order of `free`; infinite where unknown."""
        deviations = self.uncertainty.standard_errors
        with np.errstate(invalid="ignore"):
            matrix = self.uncertainty.correlations * np.outer(deviations, deviations)
        return np.asarray(matrix, float)

    def summary(self) -> str:
        """The fit as text: that of ``print(fit.examined())``."""
        return str(self.examined())

    @property
    def standard_errors(self) -> dict[str, float]:
        """Standard errors by name, in SI; infinite where nothing is known."""
        return dict(zip(self.free, map(float, self.uncertainty.standard_errors), strict=True))

    @cached_property
    def answers(self) -> tuple[Minimum, ...]:
        """The best values, and others far from them that fit about as well."""
        minima = answers(self.problem, self.optimum, self.uncertainty)
        if self.refits is None:
            return minima
        ends = studentised(self.problem, self.optimum, self.uncertainty, self.refits)
        return (replace(minima[0], ends=tuple(ends)), *minima[1:])

    @cached_property
    def ci95(self) -> dict[str, tuple[float, float]]:
        """95% interval of each fitted parameter, which covers every answer."""
        return dict(zip(self.free, hull(self.answers), strict=True))

    @cached_property
    def robust_ci95(self) -> dict[str, tuple[float, float]]:
        """Intervals that allow for relative errors that vary along the curve; never narrower."""
        factor = student(self.uncertainty.degrees)
        errors = unequal_errors(self.problem, self.optimum)
        intervals = {}
        for k, (name, (low, high)) in enumerate(self.ci95.items()):
            value, half = self.values[name], factor * float(errors[k])
            if name not in self.problem.whole:
                low, high = min(low, value - half), max(high, value + half)
            intervals[name] = self.problem.scales[k].within(low, high)
        return intervals

    def examined(self) -> "Fit":
        """The fit with everything computed that needs further fits, ready to print in full."""
        _ = self.answers, self.leave_one_out, self.leave_last_load_out
        return self

    @property
    def is_examined(self) -> bool:
        """Whether intervals, other answers and left-out errors have been computed."""
        return {"answers", "leave_one_out", "leave_last_load_out"} <= set(vars(self))

    @cached_property
    def identified(self) -> Identified:
        """What the data do not determine, and which measurements would help."""
        before = structure(self.problem, self.optimum.free)
        if before.sentences:
            return before
        return precision(self.problem, self.optimum.free, self.uncertainty, self._rate_text)

    @cached_property
    def out_of_reach(self) -> tuple[str, ...]:
        """Parameters that are not determined and lie out of reach of the data."""
        at_bound = self.optimum.at_bound
        return out_of_reach(self.problem, self.optimum.free, at_bound, self.uncertainty)

    def _rate_text(self, rate: float) -> str:
        """An arrival rate in the unit of the measured load, if that is a rate."""
        is_load = self.comparison.load_parameter == ARRIVAL_RATE
        stated = self.comparison.load if is_load else self.model.parameters[ARRIVAL_RATE]
        return units_of(self).text(rate, stated.unit)

    @cached_property
    def leave_one_out(self) -> FloatArray:
        """Relative error at each point when only the others determine the parameters."""
        points = np.flatnonzero(self.problem.first(self.problem.used))
        groups = self.problem.of_points(np.arange(self.problem.loads) == points[:, None])
        return left_out_errors(self.problem, self.optimum, list(groups))

    @cached_property
    def leave_last_load_out(self) -> float:
        """Largest relative error at the highest load when it is left out."""
        used = self.problem.first(self.problem.used)
        loads = np.where(used, self.comparison.load.values, -np.inf)
        group = self.problem.of_points(loads >= loads.max())
        errors = left_out_errors(self.problem, self.optimum, [group])
        return float(np.abs(errors).max())

    @cached_property
    def pure_error(self) -> PureError | None:
        """Scatter of repeated loads, and whether the fit misses by more; None without repeats."""
        return pure_error(self.problem, self.optimum.free)

    @property
    def leave_one_out_rms(self) -> float:
        """Root mean square of the leave-one-out errors."""
        return float(np.sqrt(np.mean(self.leave_one_out**2)))

    @property
    def aicc(self) -> float:
        """Akaike's criterion, corrected for few points; infinite if there are too few.

        Errors a third as large as rounding to the printed digits causes favour no model.
        """
        n, k = self.points, len(self.free) + self.problem.estimated
        if n - k - 1 <= 0:
            return math.inf
        scatter = max(2 * self.optimum.cost / n, _TOO_GOOD * self.problem.rounding, _EXACT)
        return n * math.log(scatter) + 2 * k + 2 * k * (k + 1) / (n - k - 1)

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Warnings about the fit, one sentence each; empty if there are none."""
        return self.warnings_in(units_of(self))

    def warnings_in(self, scale: Scale, *, are_quick: bool = False) -> tuple[str, ...]:
        """The same warnings in the units of another answer that shows the fit.

        Parameters
        ----------
        scale
            The units of that answer.
        are_quick
            Whether to leave out those that need further fits.
        """
        quick = (*self.identified.sentences, *perform(self, "quick_warnings", scale))
        return quick if are_quick else (*quick, *perform(self, "costly_warnings", scale))

    @property
    def errors(self) -> dict[str, float]:
        """Errors as in a comparison, and measures of how well the model generalises."""
        return {
            **self.comparison.summary,
            "aicc": self.aicc,
            "points": self.points,
            "free_parameters": len(self.free),
            "leave_one_out_rms_relative_error": self.leave_one_out_rms,
            "leave_last_load_out_relative_error": self.leave_last_load_out,
        }

    @property
    def load(self) -> str:
        """The load: ``arrival_rate``, ``population`` or ``throughput``; empty for a program."""
        return load_of(self.problem)

    @cached_property
    def draws(self) -> Draws:
        """Values of the free parameters that are plausible given the data."""
        return drawn_about(self.problem, self.optimum, self.uncertainty)

    def predict(
        self, loads: FloatArray | Sequence[float], percentiles: Sequence[float] | None = None
    ) -> Predictions:
        r"""Prediction and 95% band of a further measurement, inside or outside the measured loads.

        Parameters
        ----------
        loads
            Arrival rates or throughputs [1/s], or populations, like the load of the data.
        percentiles
            Percentages such as 99 whose percentiles are wanted too; by default those that were
            fitted, or measured as well (95 and 99).

        Returns
        -------
        Throughput and response time, each with its band; infinite from saturation on.

        Raises
        ------
        InvalidParameter
            For a program, loads that are not above 0, and populations that are not whole numbers.
        GraphError
            For percentiles that cannot be known, with the reason.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> text = "throughput_ops_s,response_ms\n200,2.25\n500,3\n800,6\n"
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="0.5 ms")
        >>> fit = model.fit(Measurements.parse(text, "exact.csv"), ["service_time"])
        >>> low, middle, high = fit.predict([750.0]).response_time[:, 0]
        >>> round(float(middle), 9)  # 1 ms and 1 ms / (1 - 0.75)
        0.005
        """
        unit, free = self.comparison.load.unit, self.optimum.free
        table = self.comparison.table
        usual = usual_percents(self.problem, table)
        percents = usual if percentiles is None else percentiles
        name, draws = self.model.name, [self.draws]
        return predicted(name, self.load, unit, loads, draws, free, percents, table)

    def next_loads(self, quantity: str = SATURATION_THROUGHPUT) -> NextLoads:
        r"""The loads to measure next, each the one that narrows a quantity's interval most.

        Parameters
        ----------
        quantity
            ``saturation_throughput``, a free parameter, or ``response_time@LOAD`` with a load in
            SI or with a unit.

        Raises
        ------
        InvalidParameter, UnitError
            For any other quantity, and for one that no plausible value determines.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> text = "throughput_ops_s,response_ms\n200,2.3\n300,2.4\n400,2.8\n500,2.9\n"
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="0.5 ms")
        >>> fit = model.fit(Measurements.parse(text, "c.csv"), ["delay", "service_time"])
        >>> ahead = fit.next_loads()
        >>> bool(ahead.loads[0] > 500), bool(ahead.factors[1] < ahead.factors[0])
        (True, True)
        """
        loads: NextLoads = perform(self, "next_loads", quantity)
        return loads

    def highest_load(
        self, target: str | Goal, budget: int | None = None, precision: float = PRECISION
    ) -> HighestLoad:
        r"""The highest load under a limit with its interval, and the runs that narrow it most.

        Parameters
        ----------
        target
            A limit on the response time or a percentile, such as ``response_time_p99<=300ms``.
        budget
            Most further runs; None for any number.
        precision
            Width that the interval may have, as a share of its lower end, for no further run to be
            needed.

        Raises
        ------
        InvalidParameter, UnknownParameter, UnitError
            For any other target, and for one that nothing plausible meets.
        GraphError
            For a percentile without a known law, with the reason.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> text = "throughput_ops_s,response_ms\n200,2.25\n500,3\n700,4.3\n800,6\n"
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="0.5 ms")
        >>> fit = model.fit(Measurements.parse(text, "c.csv"), ["delay", "service_time"])
        >>> low, middle, high = fit.highest_load("response_time<=11ms").highest
        >>> bool(low <= 900 <= high)  # 1 ms and 1 ms / (1 - 0.9)
        True
        """
        highest: HighestLoad = perform(self, "highest_load", target, budget, precision)
        return highest

    def sensitivity(self, arrival_rate: float | None = None) -> Sensitivity:
        """Elasticities at a load, with intervals; see `headway.models.inference.elasticities`."""
        at_load = None if arrival_rate is None else self.model.at(arrival_rate=arrival_rate)
        elasticities: Sensitivity = perform(self, "sensitivity", at_load)
        return elasticities

    def loads(self) -> FloatArray:
        """Loads to draw the curve over, whole numbers of clients; none without a curve."""
        top = float(self.comparison.load.values.max())
        if self._is_over_clients:
            return np.unique(np.round(np.linspace(1.0, top, _CLIENTS)))
        if candidate_loads(self.problem.model).size == 0 or "throughput" in self.problem.fixed:
            return np.array([])
        return np.linspace(0.02 * top, 1.05 * top, 150)

    @property
    def _is_over_clients(self) -> bool:
        """Whether the curve is of means over clients, quickly solved for all plausible values."""
        model, load = self.problem.model, self.comparison.load_parameter
        is_one = load == "population" and between_rows(model, load, np.array([1.0])) is not None
        is_quick = not model.graph.layers and not model.graph.classes
        return is_one and is_quick and self.comparison.output in ("response_time", "throughput")

    def to_toml(self, command: str = "") -> str:
        """The fitted model as a model file that names the source of each value.

        Parameters
        ----------
        command
            The command that made the fit, for the record.
        """
        return self.uncertain_model(command).to_toml()

    def uncertain_model(self, command: str = "") -> Model:
        """The fitted model with sources, 95% intervals and correlations of its values.

        Parameters
        ----------
        command
            The command that made the fit, for the record.
        """
        uncertain: Model = perform(self, "provenance", command)
        return uncertain
