"""Comparison of a model with measurements: errors by point, and their summary."""

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.errors import MeasurementError
from headway.kinds import FloatArray
from headway.models.analysis.audit import points_in, touching
from headway.models.auditing.finding import Finding
from headway.models.language.units import Unit
from headway.models.measured.cells import Observed
from headway.models.measured.columns import Axes, is_rate
from headway.models.measured.matching import Match, Named, match
from headway.models.measured.measurements import Measurements
from headway.models.measured.regression import FEWEST_POINTS, r_squared
from headway.models.reading.loadtest import Measured, measurements_beside
from headway.models.signatures.sfs import Range, SfsSignature, sfs_signature
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.inputs import points_shape
from headway.models.structure.model import Model, check_model
from headway.models.tables.shown import Answer
from headway.records import dataclass


@dataclass(frozen=True)
class Comparison(Answer):
    r"""Predicted against measured.

    Parameters
    ----------
    solution
        The model solved at the measured points.
    output
        The output that was measured.
    load, measured
        The columns of the data.
    low, high
        Range of load for the summary of errors, lines and signatures.
    table
        The rows of the measurements used.
    percent
        The percentage, if percentiles of the response time were measured.
    beside
        Comparisons of the same points with other measured outputs.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
    >>> compare(catalogue_model("server-single").at(delay="1 ms", service_time="1 ms"), curve)
    Comparison(server-single, 2 points, worst 25.0%)
    """

    solution: Solution
    output: str
    load: Observed
    measured: Observed
    within: Range
    table: Measurements
    percent: float | None = None
    beside: "tuple[Comparison, ...]" = ()

    def __repr__(self) -> str:
        worst = self.summary["max_relative_error"]
        return (
            f"Comparison({self.model.name}, {len(self.measured.values)} points, worst {worst:.1%})"
        )

    @property
    def each(self) -> "tuple[Comparison, ...]":
        """One comparison for each output, this one first."""
        return (replace(self, beside=()) if self.beside else self, *self.beside)

    @property
    def model(self) -> Model:
        r"""The model at the measured points.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> compare(model, curve).model.inputs["arrival_rate"].tolist()
        [500.0, 800.0]
        """
        return self.solution.model

    @property
    def axes(self) -> Axes:
        r"""Which columns were compared: ``response_ms over throughput_ops_s``.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> str(compare(model, curve).axes)
        'response_ms over throughput_ops_s'
        """
        return Axes.of(self.load, self.measured, *(one.measured for one in self.beside))

    @property
    def rate_unit(self) -> Unit:
        r"""The unit in which throughput was measured, or else that of the model.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_kops_s,response_ms\n0.5,4\n0.8,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> str(compare(model, curve).rate_unit)
        'kop/s'
        """
        for column in (self.load, *(one.measured for one in self.each)):
            if is_rate(column):
                return column.unit
        return self.model.meaning("throughput").unit

    @cached_property
    def load_parameter(self) -> str | None:
        r"""The parameter set by the load; None if a closed network is set to match it.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> compare(model, curve).load_parameter
        'arrival_rate'
        """
        loads, inputs = self.load.values, self.model.inputs
        swept = (name for name, value in inputs.items() if np.ndim(value))
        return next((name for name in swept if np.array_equal(inputs[name], loads)), None)

    def solved(self, model: Model) -> Solution:
        r"""Solve a model in the same way at other points.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> round(compare(model, curve).solved(model.at(arrival_rate=900)).response_time, 9)
        0.011
        """
        return _with_percentile(model.solve(), self.percent)

    @cached_property
    def predicted(self) -> FloatArray:
        r"""The model's predictions [SI]; infinite at loads that it cannot sustain.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> compare(model, curve).predicted.round(9).tolist()
        [0.003, 0.006]
        """
        return np.atleast_1d(np.asarray(self.solution[self.output], float))

    @cached_property
    def relative_error(self) -> FloatArray:
        r"""(predicted - measured) / measured, by point.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> compare(model, curve).relative_error.round(9).tolist()  # 3 for 4, 6 for 5
        [-0.25, 0.2]
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return (self.predicted - self.measured.values) / self.measured.values

    @cached_property
    def in_range(self) -> NDArray[np.bool_]:
        r"""Which points lie in the range of load.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> compare(model, curve, high=600).in_range.tolist()
        [True, False]
        """
        return self.within.holds(self.load.values)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        r"""Errors and warnings of an audit that concern the points in range.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> text = "requested_ops_s,throughput_ops_s,response_ms\n40,40,25\n100,80,50\n150,80,50\n"
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="10 ms")
        >>> answer = compare(model, Measurements.parse(text, "curve.csv"))
        >>> [each.kind for each in answer.findings]
        ['hidden_closed_loop']
        """
        used = np.flatnonzero(self.in_range).tolist()
        return touching(points_in(self.table), used, self.percent is not None)

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        r"""Points that the summary counts: in range, and sustained by the model.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("load_ops_s,response_ms\n500,4\n1200,90\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> compare(model, curve).counted.tolist()  # it saturates at 1000 op/s
        [True, False]
        """
        return self.in_range & np.isfinite(self.relative_error)

    @cached_property
    def summary(self) -> dict[str, float]:
        r"""RMS, largest and median size of the relative errors, and r squared, in range.

        For several outputs: over all their errors together, with the least r squared.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,4\n800,5\n", "curve.csv")
        >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
        >>> round(compare(model, curve).summary["max_relative_error"], 9)
        0.25
        """
        errors = np.concatenate([one.relative_error[one.counted] for one in self.each])
        if errors.size == 0:
            return dict.fromkeys(SUMMARY, float("nan"))
        sizes = np.abs(errors)
        explained = min(one._explained for one in self.each if one.counted.any())
        values = (np.sqrt(np.mean(errors**2)), sizes.max(), np.median(sizes), explained)
        return dict(zip(SUMMARY, map(float, values), strict=True))

    @property
    def _explained(self) -> float:
        """Share of this output's measured variance that is predicted."""
        return r_squared(self.measured.values[self.counted], self.predicted[self.counted])

    @cached_property
    def signatures(self) -> dict[str, SfsSignature]:
        """SFS signatures of both, if response time was measured at enough loads."""
        inside = self.in_range & np.isfinite(self.predicted)
        loads = self.load.values
        curved = self.output == "response_time" and is_rate(self.load)
        if not curved or np.unique(loads[inside]).size < FEWEST_POINTS:
            return {}
        sustained = np.isfinite(self.predicted)
        return {
            "measured": sfs_signature(loads, self.measured.values, self.within),
            "predicted": sfs_signature(loads[sustained], self.predicted[sustained], self.within),
        }


SUMMARY = ("rms_relative_error", "max_relative_error", "median_relative_error", "r_squared")


def compare(
    model: Model,
    measurements: Measured,
    x: str | None = None,
    y: Named = None,
    low: float = -math.inf,
    high: float = math.inf,
) -> Comparison:
    r"""Solve a model at measured points and compare the results.

    Parameters
    ----------
    model
        A model with values for all other parameters.
    measurements
        A column for an output (``response_ms``), one for the load (``throughput_ops_s``),
        and optionally columns named like parameters. A population as the load
        (``clients``) closes an open model.
    x, y
        Columns for load and output, if not clear from the titles or different. A column of
        percentiles is compared with that percentile. Separate several outputs with commas; a closed
        test of throughput and response time is compared with both.
    low, high
        Range of load for the summary.

    Raises
    ------
    MeasurementError
        For missing columns, units of another dimension, statistics that no model predicts, and if
        no row is complete or in the range.
    GraphError
        For percentiles that the model does not have, and for a population if the model cannot be
        closed.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> curve = Measurements.parse("throughput_ops_s,response_ms\n500,3\n800,6\n", "curve.csv")
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> bool(abs(compare(model, curve).relative_error).max() < 1e-12)
    True
    """
    check_model(model)
    measurements = measurements_beside(model, measurements)
    matched = match(model, measurements, x, y)
    within = Range(low, high)
    if not within.holds(matched.load.values).any():
        loads = within.words(matched.load.unit)
        msg = f"{measurements.source}: there is no load {loads}; change --from or --to"
        raise MeasurementError(msg)
    solution = _solved(matched)
    every = [
        Comparison(
            _with_percentile(solution, one.percent),
            one.output, one.load, one.measured, within, one.table, one.percent,
        )
        for one in matched.each
    ]  # fmt: skip
    return replace(every[0], beside=tuple(every[1:]))


def _solved(match: Match) -> Solution:
    """Solve at the measured points; a closed model is set to the measured throughput.

    Where throughput falls again, think times do not exceed the model's.
    """
    if "throughput" in match.inputs:
        from headway.models.solving.throughput_driven import driven_solution

        rate = match.load.values
        points_shape({**match.model.inputs, **match.inputs})
        settings = {n: v for n, v in match.inputs.items() if n != "throughput"}
        return driven_solution(match.model.at(settings), rate, match.full)
    return match.model.at(match.inputs).solve()


def _with_percentile(solution: Solution, percent: float | None) -> Solution:
    return solution if percent is None else solution.with_percentile(percent)
