"""The page that answers a request about a model, measurements, or both."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from headway.errors import InvalidParameter
from headway.models.analysis.goals import Goal
from headway.models.files.whole import write_whole
from headway.models.inference.fit import Fit
from headway.models.inference.forecasting.elsewhere import RESPONSE_TIME
from headway.models.inference.forecasting.highest_load import percentile_column, read_limit
from headway.models.inference.server import ServerFit
from headway.models.language.names import Names
from headway.models.measured.measurements import Measurements
from headway.models.reading.loadtest import LoadTest, Measured, read, what_was_measured
from headway.models.reading.traces import ONE_POINT, Traces
from headway.models.reports.alone import ModelReport, report_model
from headway.models.reports.report import Report, fitted_report, measured_report, page_place
from headway.models.structure.model import Model
from headway.queueing.methods.registry import AUTO
from headway.records import dataclass

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
    asked = Asked(
        model, measurements, baseline, free, x, y, low, high, fixed, goal, over, method, command
    )
    report = page_of(asked).make(asked)
    if place is not None:
        write_whole(place, report.to_html().encode())
    return report


@dataclass(frozen=True)
class Asked:
    """What a page is asked for with.

    Parameters
    ----------
    model, measurements, baseline, free, x, y, low, high, fixed, target, over, method, command
        As for `make_report`, with the target read.
    forms, preset, settings
        Texts of options that commands have besides.
    """

    model: Any = None
    measurements: Measured | None = None
    baseline: Measured | None = None
    free: Names = ()
    x: str | None = None
    y: str | None = None
    low: float = -math.inf
    high: float = math.inf
    fixed: Collection[str] = ()
    target: Goal | None = None
    over: Any = None
    method: str | None = None
    command: str = ""
    forms: str | None = None
    preset: str | None = None
    settings: Sequence[str] = ()

    @cached_property
    def measured(self) -> Measurements | Traces:
        """The measurements as they are compared with a model."""
        return what_was_measured(self.measurements)

    def given(self, name: str) -> object:
        """An argument; None if it is not given, empty, or an end of all loads."""
        value = getattr(self, name)
        is_empty = isinstance(value, str | Sequence | Set) and not value
        is_endless = isinstance(value, float) and math.isinf(value)
        return None if is_empty or is_endless else value


class Spelling(NamedTuple):
    """How arguments are named where they are given, and what to say of those that lack.

    Parameters
    ----------
    name
        What an argument is called.
    model, measurements, day
        What to give.
    over
        What not to give.
    """

    name: Callable[[str], str]
    model: str
    measurements: str
    day: str
    over: str


_PYTHON = Spelling(str, "a model", "measurements", "a load over time; give over", "over")


class Page(NamedTuple):
    """A kind of page: when it is made, which arguments it has no use for, and what those need."""

    is_asked: Callable[[Asked], bool]
    useless: tuple[str, ...]
    needs: str
    make: Callable[[Asked], "AnyReport"]


def page_of(asked: Asked, spelling: Spelling = _PYTHON) -> Page:
    """The page that is asked for; arguments that it has no use for are refused."""
    if asked.over is None:
        refuse({spelling.name("method"): asked.method}, spelling.day)
    page = next(each for each in _PAGES if each.is_asked(asked))
    given = {spelling.name(name): asked.given(name) for name in page.useless}
    refuse(given, page.needs.format(**spelling._asdict()))
    return page


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


def _of_tests(asked: Asked) -> "AuditReport | BuildsReport":
    """A load test alone: whether it can be trusted, or differs from an earlier one."""
    from headway.models.analysis.audit import audit

    if asked.measurements is None:
        msg = "a report needs a model, measurements or both; give MODEL, --data FILE or both"
        raise InvalidParameter(msg)
    test = _load_test(asked.measurements)
    if asked.baseline is not None:
        from headway.models.inference.builds import compare_builds
        from headway.models.reports.kinds.builds import BuildsReport

        return BuildsReport(compare_builds(_load_test(asked.baseline), test), test, asked.command)
    from headway.models.reports.kinds.audited import AuditReport

    return AuditReport(audit(test), asked.command)


def _load_test(measured: Measured) -> LoadTest:
    """A load test of the measurements, whatever their form."""
    if isinstance(measured, LoadTest):
        return measured
    if isinstance(measured, str | Path):
        return read(measured)
    from headway.models.analysis.audit import audit

    return audit(measured).test


def _of_day(asked: Asked) -> "DayReport":
    """A model over a day."""
    from headway.models.reports.kinds.days import DayReport

    goal = asked.target
    if goal is not None and goal.output != RESPONSE_TIME:
        msg = f"target {goal.output}: over a day, limit response_time: response_time<=50ms"
        raise InvalidParameter(msg)
    limit = None if goal is None else goal.limit
    day = asked.model.over(asked.over, limit, method=asked.method or AUTO)
    return DayReport(day, asked.command)


def _of_traces(asked: Asked) -> "TracesReport":
    """A model of services beside traces."""
    from headway.models.analysis.traces import compare_traces
    from headway.models.reports.kinds.traced import TracesReport

    beside = compare_traces(asked.model, cast(Traces, asked.measured))
    return TracesReport(beside, asked.command)


def _of_table(asked: Asked) -> Report:
    """A model beside measurements, or fitted to them."""
    curve, goal = cast(Measurements, asked.measured), asked.target
    column = percentile_column(curve, goal) if asked.free and goal is not None else None
    return measured_report(
        asked.model,
        curve,
        asked.free,
        asked.x,
        asked.y or column,
        asked.low,
        asked.high,
        asked.fixed,
        asked.command,
        goal,
    )


_FITTED = "free", "forms", "x", "low", "high"
_PAGES = (
    Page(
        lambda asked: asked.model is None,
        (*_FITTED, "preset", "settings", "y", "target", "over", "fixed"),
        "{model}",
        _of_tests,
    ),
    Page(
        lambda asked: isinstance(asked.model, Fit | ServerFit),
        (*_FITTED, "measurements", "y", "over", "baseline", "fixed"),
        "a model that is not fitted yet",
        lambda asked: fitted_report(asked.model, asked.command, asked.target),
    ),
    Page(
        lambda asked: asked.over is not None,
        (*_FITTED, "measurements", "y", "baseline"),
        "a page without {over}",
        _of_day,
    ),
    Page(
        lambda asked: asked.measurements is None,
        (*_FITTED, "baseline"),
        "{measurements}",
        lambda asked: report_model(asked.model, asked.y, asked.fixed, asked.command, asked.target),
    ),
    Page(
        lambda asked: isinstance(asked.measured, Traces),
        (*_FITTED, "y", "target", "baseline"),
        f"measurements in a table; {ONE_POINT}",
        _of_traces,
    ),
    Page(lambda _: True, ("baseline",), "a page without a model", _of_table),
)
"""The first that is asked for is made."""
