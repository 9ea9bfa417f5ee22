"""Pictures of measurements alone: SFS curves, LogP bursts, times by message size."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.kinds import FloatArray
from headway.loggp.measuring.signature import issue_cost
from headway.loggp.measuring.sizefit import SizeLine
from headway.loggp.measuring.sizes import SizeSeries
from headway.models.language.scales import units_of
from headway.models.language.units import Unit, unit
from headway.models.plotting.figures import short_source
from headway.models.plotting.looks.axes import write_binary_ticks
from headway.models.plotting.looks.legends import legend, outside_legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import (
    MEASURED,
    MODELLED,
    axis_label,
    column_label,
    draw_points,
    draw_saturation,
    light_grid,
    plain_log_axis,
    style,
)
from headway.models.signatures.loggp import MeasuredSizes
from headway.models.signatures.logp import MeasuredLogp
from headway.models.signatures.sfs import MeasuredSignature

_MOST_DELAYS = 7
_TIME, _SLOPE = unit("s"), unit("ms*s/op")


def measured_signature_figure(measured: MeasuredSignature) -> Figure:
    """Draw a measured curve with its regression line."""
    figure = sheet(4.5)
    axes = figure.subplots()
    scale = units_of(measured)
    shown = scale.unit(_TIME)
    load, signature = measured.curve.load.values, measured.signature
    response = measured.curve.response_time.values / shown.scale
    draw_points(axes, load, response)
    inside = load[measured.within.holds(load)]
    ends = np.array([inside.min(), inside.max()])
    height = (signature.intercept + signature.slope * ends) / shown.scale
    label = f"line: {scale.text(signature.slope, _SLOPE)}, r² {signature.r_squared:.3f}"
    axes.plot(ends, height, "--", color=MODELLED, label=label)
    draw_saturation(axes, signature.saturation_throughput, "highest measured throughput")
    axes.set_ylim(0)
    axes.set_xlabel(column_label(measured.curve.load.name, unit("op/s"), measured.curve.load))
    axes.set_ylabel(column_label("response_time", shown, measured.curve.response_time))
    axes.set_title(short_source(measured.curve.source))
    legend(axes)
    light_grid(axes)
    return figure


def measured_logp_figure(logp: MeasuredLogp) -> Figure:
    """Draw the mean cost of a request over the burst size, with a colour for each delay."""
    figure = sheet(4.5)
    axes = figure.subplots()
    dense = _dense(logp.burst_size)
    machine, scale = logp.estimate.machine(), units_of(logp)
    shown = scale.unit(_TIME)
    for place, delay in enumerate(np.unique(logp.delay)[:_MOST_DELAYS]):
        mine, look = logp.delay == delay, style(place)
        axes.plot(
            logp.burst_size[mine], logp.cost[mine] / shown.scale, look.marker, color=look.colour,
            markersize=4, label=f"delay {scale.text(float(delay), _TIME)}",
        )  # fmt: skip
        modelled = issue_cost(machine, dense, float(delay), logp.window)
        axes.plot(
            dense, modelled / shown.scale, color=look.colour, linestyle=look.line, linewidth=1
        )
    write_binary_ticks(axes)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("burst size [requests]")
    axes.set_ylabel(f"cost of a request [{shown}]")
    axes.set_title(f"{short_source(logp.source)}: marks measured, lines by the estimates")
    outside_legend(axes)
    light_grid(axes)
    return figure


def _dense(bursts: FloatArray) -> Any:
    """Whole numbers from one to the largest burst, evenly spaced by ratio."""
    return np.unique(np.geomspace(1, bursts.max(), 80).round().astype(int))


def measured_sizes_figure(sizes: MeasuredSizes) -> Figure:
    """Draw each series over message size, with its lines and breaks."""
    count = len(sizes.series)
    figure = sheet(1.5 + 2.5 * count)
    panels = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for axes, one in zip(panels, sizes.series, strict=True):
        _draw_series(axes, one, sizes.fit.lines[one.name], units_of(sizes).unit(_TIME))
        for place, brink in enumerate(sizes.fit.breaks):
            low, high = brink.interval or (brink.below, brink.above)
            label = "break" if place == 0 else None
            axes.axvspan(low, high, color="0.85", zorder=0, label=label)
    legend(panels[0])
    panels[-1].set_xlabel("message size [B]")
    panels[0].set_title(short_source(sizes.source))
    return figure


def _draw_series(axes: Axes, one: SizeSeries, lines: tuple[SizeLine, ...], shown: Unit) -> None:
    sizes = np.repeat(one.size, one.time.shape[1])
    axes.plot(
        sizes, one.time.ravel() / shown.scale, ".", color="0.6", markersize=3, label="measured"
    )
    axes.plot(one.size, one.median / shown.scale, "o", color=MEASURED, markersize=4, label="median")
    for place, line in enumerate(lines):
        across = np.geomspace(line.first_size, line.last_size, 50)
        label = "fitted line" if place == 0 else None
        axes.plot(across, line.time(across) / shown.scale, color=MODELLED, label=label)
    write_binary_ticks(axes, sizes=True)
    plain_log_axis(axes)
    axes.set_ylabel(axis_label(one.name, shown))
    light_grid(axes)
