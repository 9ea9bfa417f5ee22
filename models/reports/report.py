"""A report: what one page shows of a model and of the measurements it is compared with."""

import math
import os.path
from collections.abc import Collection
from functools import cached_property
from pathlib import Path

import numpy as np

from headway.errors import InvalidParameter, OutputError
from headway.kinds import Number
from headway.models.analysis.comparison import Comparison, compare
from headway.models.analysis.goals import Goal
from headway.models.analysis.kept import Kept, kept_by_model
from headway.models.analysis.sensitivity import Sensitivity, sensitivity
from headway.models.inference.fit import Fit
from headway.models.inference.fitting import fit_model
from headway.models.inference.forecasting.highest_load import read_limit
from headway.models.inference.quantities import ServerQuantity, saturation_of_fit
from headway.models.inference.server import ServerFit
from headway.models.language.names import Names
from headway.models.language.scales import units_of
from headway.models.measured.measurements import Measurements
from headway.models.reading.loadtest import Measured, measurements_in
from headway.models.reports.ground import Ground, measured_ground
from headway.models.reports.paged import Paged
from headway.models.structure.model import Model
from headway.records import dataclass


@dataclass(frozen=True)
class Report(Paged):
    r"""All that a report shows; its parts are answers in their own right.

    Parameters
    ----------
    measurements
        The measurements with which the model is compared.
    comparison
        The model at the measured points, fitted if it was.
    fit
        The fit of its free parameters; None if none were free.
    sensitivity
        Sensitivities of the measured output and of the saturation throughput at the operating
        point; None if the model sustains no measured load.
    fixed
        Names of parameters whose values were set by hand.
    command
        The command that made the report.
    forms
        The forms of a family that were tried, if the model was chosen among them.
    kept
        The highest load that keeps a limit, if a limit was given.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> curve = Measurements.parse("load_ops_s,response_ms\n1,111\n5,200\n", "curve.csv")
    >>> report = measured_report(ModelGraph("one").station("cpu", MM1(0.1)).at(), curve)
    >>> report
    Report(one against curve.csv, 2 points)
    >>> "</html>" in report.to_html()
    True
    """

    measurements: Measurements
    comparison: Comparison
    fit: Fit | None
    sensitivity: Sensitivity | None
    fixed: frozenset[str] = frozenset()
    command: str = ""
    forms: ServerFit | None = None
    kept: Kept | None = None

    def __repr__(self) -> str:
        points = len(self.comparison.measured.values)
        return f"Report({self.model.name} against {self.measurements.source}, {points} points)"

    @property
    def model(self) -> Model:
        r"""The model at the measured points.

        Examples
        --------
        >>> from headway.models import ModelGraph
        >>> from headway.queueing import MM1
        >>> curve = Measurements.parse("load_ops_s,response_ms\n1,111\n5,200\n", "curve.csv")
        >>> report = measured_report(ModelGraph("one").station("cpu", MM1(0.1)).at(), curve)
        >>> report.model.solve().response_time.round(3).tolist()
        [0.111, 0.2]
        """
        return self.comparison.model

    @property
    def title(self) -> str:
        r"""The model's name with its preset.

        Examples
        --------
        >>> from headway.models import catalogue_model
        >>> curve = Measurements.parse("load_ops_s,response_ms\n300,4.2\n600,6.1\n", "curve.csv")
        >>> measured_report(catalogue_model("nfs-server").with_preset("raid"), curve).title
        'nfs-server (raid)'
        """
        return self.model.title

    @cached_property
    def saturation(self) -> ServerQuantity | None:
        """The saturation throughput with its interval; None if no fit determines it."""
        if self.forms is not None:
            return self.forms.saturation
        return None if self.fit is None else saturation_of_fit(self.fit)

    @property
    def ground(self) -> Ground:
        """The data of a panel."""
        point = self.sensitivity.model if self.sensitivity else None
        return measured_ground(self.comparison, point, units_of(self))


def measured_report(
    model: Model,
    measurements: Measured,
    free: Names = (),
    x: str | None = None,
    y: str | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    fixed: Collection[str] = (),
    command: str = "",
    target: str | Goal | None = None,
) -> Report:
    r"""Compare a model with measurements, fit it if asked to, and differentiate it.

    The operating point of the sensitivities is the measured one of median load among those
    that the model sustains.

    Parameters
    ----------
    model, measurements, x, y, low, high
        As for `headway.models.analysis.comparison.compare`.
    free
        Names of parameters to fit; none to take the model as it is.
    fixed
        Names of parameters whose values were set by hand: where the data set one too, the value
        set by hand makes the operating point.
    command
        The command that made the report, for the record.
    target
        A limit on the response time or a percentile, such as ``response_time_p99<=50ms``: the page
        gives the highest load that keeps it.

    Raises
    ------
    HeadwayError
        As `compare`, `fit_model` and `sensitivity` do; the latter where `fixed` asks for a
        point that the model cannot sustain.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> text = "throughput_ops_s,response_ms\n300,4.2\n600,6.1\n900,10.0\n"
    >>> raid = catalogue_model("nfs-server").with_preset("raid")
    >>> page = measured_report(raid, Measurements.parse(text, "own.csv"))
    >>> page.sensitivity.model.inputs["arrival_rate"], page.sensitivity.bottleneck
    (600.0, 'cpu')
    """
    measurements = measurements_in(measurements)
    columns = x, y, low, high
    fit = fit_model(model, measurements, free, *columns) if free else None
    comparison = fit.comparison if fit else compare(model, measurements, *columns)
    sensitivities = _at_operating_point(model, comparison, fit, fixed)
    kept = None
    if target is not None:
        goal, point = read_limit(target), sensitivities.model if sensitivities else None
        kept = kept_by_fit(fit, goal) if fit else _kept_as_given(comparison, point, goal)
    return Report(
        measurements, comparison, fit, sensitivities, frozenset(fixed), command, kept=kept
    )


def page_place(out: str | Path) -> Path:
    """The place of a page; refused before any work if a page cannot be written there.

    Raises
    ------
    OutputError
        For a name that does not end in .html, a folder, and a folder that is not there.

    Examples
    --------
    >>> page_place("raid.svg")
    Traceback (most recent call last):
        ...
    headway.errors.OutputError: raid.svg: the name of a page must end in .html
    """
    place = Path(out)
    is_page = place.suffix.lower() in (".html", ".htm")
    is_folder, has_place = map(os.path.isdir, (place, place.parent))
    why = "it is a folder" if is_folder else "" if has_place else "there is no such folder"
    if why or not is_page:
        cannot = f"cannot be written ({why})" if is_page else "the name of a page must end in .html"
        msg = f"{place}: {cannot}"
        raise OutputError(msg)
    return place


def fitted_report(
    fitted: ServerFit | Fit, command: str = "", target: str | Goal | None = None
) -> Report:
    r"""Report on a fit, or on the form chosen for a server of unknown inside and the other forms.

    Parameters
    ----------
    fitted
        A fitted model, or the fitted forms of a family.
    command
        The command that made the report, for the record.
    target
        As for `measured_report`.

    Examples
    --------
    >>> from headway.models.inference.server import fit_server
    >>> points = [(x, 2 + 1 / (1 - x / 1000)) for x in range(100, 1000, 100)]
    >>> text = "throughput_ops_s,response_ms\n" + "\n".join(f"{x},{y:.4f}" for x, y in points)
    >>> fitted_report(fit_server(Measurements.parse(text, "curve")))
    Report(server-single against curve, 9 points)
    """
    fit = fitted.best if isinstance(fitted, ServerFit) else fitted
    sensitivities = _at_operating_point(fit.model, fit.comparison, fit)
    return Report(
        fit.measurements,
        fit.comparison,
        fit,
        sensitivities,
        command=command,
        forms=fitted if isinstance(fitted, ServerFit) else None,
        kept=None if target is None else kept_by_fit(fitted, read_limit(target)),
    )


def kept_by_fit(fit: ServerFit | Fit, goal: Goal) -> Kept:
    """The highest load under a limit, by a fit, with its interval.

    Parameters
    ----------
    fit
        A fitted model, or the fitted forms of a server.
    goal
        An upper limit.

    Raises
    ------
    HeadwayError
        As `headway.models.inference.fit.Fit.highest_load` does.
    """
    found = fit.highest_load(goal, budget=0)
    low, value, high = found.highest.tolist()
    is_count = found.load == "population"
    return Kept(goal, found.load, value, low, high, found.unit, is_count)


def _kept_as_given(comparison: Comparison, point: Model | None, goal: Goal) -> Kept:
    """The highest load under a limit, for a model without a fit: it has no interval."""
    if point is None or comparison.load_parameter is None:
        msg = (
            f"target {goal.output}: no load keeps it, as the model sustains none of the measured "
            "loads, or none of its parameters is the load; leave the target out"
        )
        raise InvalidParameter(msg)
    return kept_by_model(point, comparison.load_parameter, goal)


def _at_operating_point(
    model: Model, comparison: Comparison, fit: Fit | None, fixed: Collection[str] = ()
) -> Sensitivity | None:
    """Sensitivities at the operating point; None if no measured load is sustained."""
    swept = [name for name, value in comparison.model.inputs.items() if np.ndim(value)]
    values = {name: model.parameters[name].value for name in swept if name in fixed}
    point = operating_point(comparison, {n: v for n, v in values.items() if v is not None})
    has_limit = "saturation_throughput" in comparison.solution.outputs
    outputs = [comparison.output, *(["saturation_throughput"] if has_limit else [])]
    return None if point is None else _sensitivity(point, fit, outputs)


def _sensitivity(point: Model, fit: Fit | None, outputs: Collection[str]) -> Sensitivity:
    """Sensitivities at a point, with intervals where a fit gives them."""
    if fit is None:
        return sensitivity(point, outputs)
    from headway.models.inference.elasticities import elasticities

    return elasticities(fit, point, outputs)


def operating_point(comparison: Comparison, own: dict[str, Number]) -> Model | None:
    """The model at the median of those measured loads that it sustains.

    Parameters
    ----------
    comparison
        The model and its measurements.
    own
        Values for parameters that the data set, to use in place of the data's.

    Returns
    -------
    The model with a single value for each parameter; None if it sustains no measured load and `own`
    gives no other.
    """
    for name, value in own.items():
        if np.ndim(value):
            msg = f"a report is made at one operating point; {name} has several values"
            raise InvalidParameter(msg)
    sustained = np.flatnonzero(np.isfinite(comparison.predicted) & comparison.in_range)
    if not sustained.size and comparison.load_parameter not in own:
        return None
    rows = sustained if sustained.size else np.arange(comparison.load.values.size)
    order = rows[np.argsort(comparison.load.values[rows], kind="stable")]
    row = int(order[len(order) // 2])
    shape = comparison.solution.shape
    inputs = {
        name: float(np.ravel(np.broadcast_to(value, shape))[row])
        for name, value in comparison.model.inputs.items()
    }
    if comparison.model.is_closed:  # only whole numbers of jobs can circulate
        inputs["population"] = float(max(1, round(inputs["population"])))
    return comparison.model.at(inputs).at(own)
