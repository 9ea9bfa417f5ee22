"""A load over time drawn: load and capacity above, response time below, on one axis of time."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.kinds import FloatArray
from headway.models.language.scales import units_of
from headway.models.language.units import unit
from headway.models.over.timeline import Periods, Timeline
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import QUIET, axis_label, light_grid, style
from headway.models.showing.solved.timelines import is_clock, moment
from headway.numerals import digits

SECOND, RATE = unit("s"), unit("op/s")

_TICKS = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
    1800, 3600, 7200, 10800, 14400, 21600, 43200, 86400, 172800, 604800,
)  # fmt: skip
"""Steps between labelled times on a clock [s]."""


def timeline_figure(timeline: Timeline) -> Figure:
    """Draw arrivals, completions and capacity above, and response times below."""
    periods = timeline.periods
    scale = units_of(timeline)
    figure = sheet(5.6)
    above, below = figure.subplots(2, 1, sharex=True)
    rates, times = scale.unit(RATE), scale.unit(SECOND)
    _steps(above, periods, periods.arrival_rate / rates.scale, 0, "arrivals")
    _steps(above, periods, periods.throughput / rates.scale, 1, "throughput")
    if "goodput" in periods.clients:
        _steps(above, periods, periods.clients["goodput"] / rates.scale, 3, "goodput")
    capacity = periods.throughput / np.where(periods.utilisation > 0, periods.utilisation, np.nan)
    shown = capacity / rates.scale
    kept = np.nanmax(shown, initial=0.0) < 10 * np.max(periods.arrival_rate / rates.scale)
    if kept and np.isfinite(shown).any():
        _steps(above, periods, shown, 2, "capacity")
    above.set_ylabel(axis_label("rate", rates))
    above.set_ylim(bottom=0)
    _steps(below, periods, periods.response_time / times.scale, 0, "mean")
    for place, (percent, values) in enumerate(periods.percentiles.items(), 1):
        _steps(below, periods, values / times.scale, place, f"p{digits(percent)}")
    if timeline.target is not None:
        below.axhline(timeline.target / times.scale, color=QUIET, linestyle=":", label="target")
    below.set_ylabel(axis_label("response time", times))
    for axes in (above, below):
        light_grid(axes)
        legend(axes)
    _name_times(below, periods)
    above.set_title(timeline.model.title)
    return figure


def _steps(axes: Axes, periods: Periods, values: FloatArray, place: int, label: str) -> None:
    look = style(place)
    edges = np.append(periods.starts, periods.ends[-1:])
    whole = np.append(values, values[-1:])
    axes.plot(
        edges, whole, drawstyle="steps-post", color=look.colour, linestyle=look.line, label=label
    )


def _name_times(axes: Axes, periods: Periods) -> None:
    first, last = float(periods.starts[0]), float(periods.ends[-1])
    axes.set_xlim(first, last)
    if not is_clock(first, last - first):
        axes.set_xlabel("time [s]")
        return
    step = next((s for s in _TICKS if (last - first) / s <= 9), _TICKS[-1])
    ticks = np.arange(np.ceil(first / step) * step, last + 1, step)
    axes.set_xticks(ticks, [moment(float(at), last - first) for at in ticks])
    axes.set_xlabel("time")
