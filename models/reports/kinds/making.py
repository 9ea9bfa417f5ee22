"""The page that answers a request about a model, measurements, or both."""

import math
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from headway.errors import InvalidParameter
from headway.models.analysis.goals import Goal
from headway.models.files.whole import write_whole
from headway.models.inference.fit import Fit
from headway.models.inference.forecasting.elsewhere import RESPONSE_TIME
from headway.models.inference.forecasting.highest_load import percentile_column, read_limit
from headway.models.inference.server import ServerFit
from headway.models.language.names import Names
from headway.models.reading.loadtest import LoadTest, Measured, measurements_in, read
from headway.models.reading.traces import are_traces
from headway.models.reports.alone import ModelReport, report_model
from headway.models.reports.report import Report, fitted_report, measured_report, page_place
from headway.models.structure.model import Model
from headway.queueing.methods.registry import AUTO

if TYPE_CHECKING:
    from headway.models.over.days import Day
    from headway.models.reports.kinds.audited import AuditReport
    from headway.models.reports.kinds.builds import BuildsReport
    from headway.models.reports.kinds.days import DayReport
    from headway.models.reports.kinds.traced import TracesReport

    AnyReport: TypeAlias = (
        Report | ModelReport | AuditReport | BuildsReport | DayReport | TracesReport
    )


def make_report(
    model: Model | Fit | ServerFit | None = None,
    measurements: Measured | None = None,
    free: Names = (),
    x: str | None = None,
    y: str | None = None,
    low: float = -math.inf,
    high: float = math.inf,
    fixed: Collection[str] = (),
    command: str = "",
    out: str | Path | None = None,
    target: str | Goal | None = None,
    over: "Day | Path | str | float | None" = None,
    baseline: Measured | None = None,
    method: str | None = None,
) -> "AnyReport":
    r"""Report on a model, on measurements, or on both compared, as ``headway report`` does.

    Parameters
    ----------
    model
        The model that predicts, or a fit with its measurements; None for a page on measurements
        alone.
    measurements, x, y, low, high
        As for `headway.models.analysis.comparison.compare`. Without measurements, `y` is the output
        of the curve.
    free
        Names of parameters to fit; none to take the model as it is.
    fixed
        Names of parameters whose values were set by hand: where the data set one too, the value
        set by hand makes the operating point.
    command
        The command that made the page, for the record.
    out
        The page to write, ``.html``; by default none.
    target
        A limit on the response time or a percentile, such as ``response_time_p99<=50ms``: the page
        gives the highest load that keeps it.
    over
        A load over time, as for `Model.over`: a page of the day.
    baseline
        The load test of the previous build, for a page on two builds without a model.
    method
        The method that solves the day; by default chosen.

    Returns
    -------
    The contents of the page, whose ``to_html()`` is the page.

    Raises
    ------
    InvalidParameter
        For arguments that the page has no use for, such as `free` without measurements.
    HeadwayError
        As for `compare`, `fit_model`, `audit` and `sensitivity`.

    Examples
    --------
    >>> from headway.models import Measurements, catalogue_model
    >>> text = "throughput_ops_s,response_ms\n300,4.2\n600,6.1\n900,10.0\n"
    >>> raid = catalogue_model("nfs-server").with_preset("raid")
    >>> make_report(raid)
    ModelReport(nfs-server)
    >>> make_report(raid, Measurements.parse(text, "curve.csv"))
    Report(nfs-server against curve.csv, 3 points)
    >>> make_report(raid, free="delay")
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: free needs measurements
    """
    place = None if out is None else page_place(out)
    goal = None if target is None else read_limit(target)
    limits = {
        "low": None if low == -math.inf else low,
        "high": None if high == math.inf else high,
    }
    fitted = {"free": free or None, "x": x, **limits}
    if over is None:
        refuse({"method": method}, "a load over time; give over")
    report: AnyReport
    if model is None:
        of_model = {"y": y, "target": target, "over": over, "fixed": fixed or None}
        refuse({**fitted, **of_model}, "a model")
        report = _of_tests(measurements, baseline, command)
    elif isinstance(model, Fit | ServerFit):
        others = {"measurements": measurements, "y": y, "over": over, "baseline": baseline}
        refuse({**fitted, **others, "fixed": fixed or None}, "a model that is not fitted yet")
        report = fitted_report(model, command, goal)
    elif over is not None:
        others = {"measurements": measurements, "y": y, "baseline": baseline}
        refuse({**fitted, **others}, "a page without over")
        report = _of_day(model, over, goal, command, method or AUTO)
    elif measurements is None:
        refuse({**fitted, "baseline": baseline}, "measurements")
        report = report_model(model, y, fixed, command, goal)
    else:
        refuse({"baseline": baseline}, "a page without a model")
        if isinstance(measurements, str | Path) and are_traces([str(measurements)]):
            only = "measurements in a table; traces are one point a load"
            refuse({**fitted, "y": y, "target": target}, only)
            return _written(traces_report(model, [(str(measurements), {})], command), place)
        curve = measurements_in(measurements)
        column = percentile_column(curve, goal) if free and goal is not None else None
        report = measured_report(
            model, curve, free, x, y or column, low, high, fixed, command, goal
        )
    return _written(report, place)


def _written(report: "AnyReport", place: Path | None) -> "AnyReport":
    """The report, written if it has a place."""
    if place is not None:
        write_whole(place, report.to_html().encode())
    return report


def traces_report(
    model: Model, places: Sequence[tuple[str, Mapping[str, str]]], command: str = ""
) -> "TracesReport":
    """A page on a model of services beside traces.

    Parameters
    ----------
    model
        The model.
    places
        Files of traces, with the parameters that differed in each.
    command
        The command that made the page.
    """
    from headway.models.analysis.traces import compare_traces
    from headway.models.reports.kinds.traced import TracesReport

    return TracesReport(compare_traces(model, places), command)


def refuse(given: Mapping[str, Any], needs: str) -> None:
    """Refuse arguments that lack what they need.

    Parameters
    ----------
    given
        Arguments by name; None for those not given.
    needs
        What they would need.

    Examples
    --------
    >>> refuse({"x": None, "free": "delay"}, "measurements; give --data FILE")
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: free needs measurements; give --data FILE
    """
    for name, value in given.items():
        if value is not None:
            msg = f"{name} needs {needs}"
            raise InvalidParameter(msg)


def _of_tests(
    measured: Measured | None, baseline: Measured | None, command: str
) -> "AuditReport | BuildsReport":
    """A load test alone: whether it can be trusted, or differs from an earlier one."""
    from headway.models.analysis.audit import audit

    if measured is None:
        msg = "a report needs a model, measurements or both; give MODEL, --data FILE or both"
        raise InvalidParameter(msg)
    if baseline is not None:
        from headway.models.inference.builds import compare_builds
        from headway.models.reports.kinds.builds import BuildsReport

        test = _load_test(measured)
        return BuildsReport(compare_builds(_load_test(baseline), test), test, command)
    from headway.models.reports.kinds.audited import AuditReport

    return AuditReport(audit(_load_test(measured)), command)


def _load_test(measured: Measured) -> LoadTest:
    """A load test of the measurements, whatever their form."""
    if isinstance(measured, LoadTest):
        return measured
    if isinstance(measured, str | Path):
        return read(measured)
    from headway.models.analysis.audit import audit

    return audit(measured).test


def _of_day(
    model: Model, over: "Day | Path | str | float", goal: Goal | None, command: str, method: str
) -> "DayReport":
    """A model over a day."""
    from headway.models.reports.kinds.days import DayReport

    if goal is not None and goal.output != RESPONSE_TIME:
        msg = f"target {goal.output}: over a day, limit response_time: response_time<=50ms"
        raise InvalidParameter(msg)
    limit = None if goal is None else goal.limit
    return DayReport(model.over(over, limit, method=method), command)
