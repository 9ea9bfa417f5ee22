"""Load tests drawn: times over throughput, and those of services beside a model."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import MeasurementError
from headway.models.analysis.audit import Audit
from headway.models.analysis.traces import Beside
from headway.models.language.scales import Scale, units_of
from headway.models.language.titles import axis_title
from headway.models.language.units import Unit, unit
from headway.models.measured.points import Point
from headway.models.plotting.looks.finish import finished
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import (
    MODELLED,
    axis_label,
    draw_points,
    light_grid,
    literal,
    style,
)
from headway.models.reading.loadtest import LoadTest
from headway.numerals import digits

_FAINT = 0.6
_SURE = 1.96  # standard errors of a 95% interval
_MOST_ROWS = 20
_ROW, _AROUND = 0.3, 1.0  # inches: height of a row of services, and of the axis with the legend
_SHOWN = (50.0, 95.0, 99.0)  # percentiles that are drawn if tools printed them


def load_test_figure(test: LoadTest) -> Figure:
    """Draw response time, and percentiles if there are any, over throughput.

    Points of different names at one load, such as services, have a row each instead.

    Raises
    ------
    MeasurementError
        If no point has both a throughput and a response time.
    """
    both = [p for p in test.points if p.throughput is not None and p.response_time is not None]
    if not both:
        msg = f"{test.source}: no point has both a throughput and a response time to draw"
        raise MeasurementError(msg)
    times = np.array([p.response_time for p in both])
    shown = units_of(test).unit(unit("s"))
    if are_parts(both):
        return _rows_figure(both, shown, test.source)
    figure = sheet(5)
    axes = figure.subplots()
    for place, percent in enumerate(_SHOWN):
        _draw_percentile(axes, both, percent, place, shown)
    draw_points(axes, np.array([p.throughput for p in both]), times / shown.scale, "mean")
    axes.set_xlabel("throughput [op/s]")
    axes.set_ylabel(axis_label("response time", shown))
    axes.set_title(literal(test.source))
    axes.set_ylim(bottom=0)
    light_grid(axes)
    legend(axes)
    return figure


def are_parts(points: Sequence[Point]) -> bool:
    """Whether points are parts of one run, such as the services of traces, and not loads.

    Parameters
    ----------
    points
        The points of a test.

    Examples
    --------
    >>> are_parts([Point("Zipkin", name="web"), Point("Zipkin", name="db")])
    True
    >>> are_parts([Point("wrk", population=1), Point("wrk", population=2)])
    False
    """
    names = {point.name for point in points}
    is_loaded = any(point.population or point.offered_rate for point in points)
    return 1 < len(names) == len(points) <= _MOST_ROWS and "" not in names and not is_loaded


def _rows_figure(points: Sequence[Point], shown: Unit, title: str) -> Figure:
    """A row of response times for each part."""
    figure = sheet(_AROUND + _ROW * len(points))
    axes = figure.subplots()
    for place, percent in enumerate(_SHOWN):
        each = [(p.percentiles[percent] / shown.scale, row)
                for row, p in enumerate(points) if percent in p.percentiles]  # fmt: skip
        if each:
            own = style(place)
            axes.plot(*zip(*each, strict=True), own.marker, color=own.colour, alpha=_FAINT,
                      markersize=5, label=f"p{digits(percent)}")  # fmt: skip
    means = np.array([p.response_time for p in points], float) / shown.scale
    draw_points(axes, means, np.arange(len(points), dtype=float), "mean")
    axes.set_yticks(range(len(points)), [literal(p.name) for p in points])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(axis_label("response time", shown))
    axes.set_title(literal(title))
    light_grid(axes)
    legend(axes)
    return figure


def _draw_percentile(
    axes: Axes, points: list[Point], percent: float, place: int, shown: Unit
) -> None:
    """Draw a percentile of the points that have it."""
    times = [(p.throughput, p.percentiles[percent] / shown.scale)
            for p in points if percent in p.percentiles]  # fmt: skip
    if times:
        own = style(place)
        axes.plot(*zip(*times, strict=True), own.marker, color=own.colour, alpha=_FAINT,
                  markersize=4, label=f"p{digits(percent)}")  # fmt: skip


def audit_figure(audit: Audit) -> Figure:
    """Draw the test that was audited."""
    return load_test_figure(audit.test)


def beside_chart(rows: tuple[Beside, ...], scale: Scale) -> Figure:
    """Draw each part in a row: its measured mean with its 95% interval, and the model's.

    Parameters
    ----------
    rows
        Parts of one load, the first on top.
    scale
        The units of the page.
    """
    figure = sheet(_AROUND + _ROW * len(rows))
    axes = figure.subplots()
    shown = scale.unit(unit("s"))
    places = range(len(rows))
    axes.errorbar(
        [row.measured / shown.scale for row in rows],
        places,
        xerr=[_SURE * row.error / shown.scale for row in rows],
        fmt="o",
        color="black",
        capsize=3,
        label="traced, with its 95% interval",
    )
    known = [math.nan if row.predicted is None else row.predicted for row in rows]
    axes.plot(
        [value / shown.scale if math.isfinite(value) else math.nan for value in known],
        places,
        "D",
        color=MODELLED,
        markersize=5,
        label="model",
    )
    axes.set_yticks(places, [literal(row.name or "all requests") for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(literal(axis_title("response_time", shown)))
    light_grid(axes)
    legend(axes)
    return finished(figure)
