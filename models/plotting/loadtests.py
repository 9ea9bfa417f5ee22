"""Load tests drawn: response time and percentiles over throughput."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import MeasurementError
from headway.models.analysis.audit import Audit
from headway.models.language.scales import units_of
from headway.models.language.units import Unit, unit
from headway.models.measured.points import Point
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import axis_label, draw_points, light_grid, literal, style
from headway.models.reading.loadtest import LoadTest
from headway.numerals import digits

_FAINT = 0.6
_SHOWN = (50.0, 95.0, 99.0)  # percentiles that are drawn if tools printed them


def load_test_figure(test: LoadTest) -> Figure:
    """Draw response time, and percentiles if there are any, over throughput.

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
