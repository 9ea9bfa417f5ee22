"""Pictures of measured collective operations: time and bus bandwidth by size, for each n."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.kinds import FloatArray
from headway.loggp.programs.algorithms import bus_factor
from headway.models.language.scales import units_of
from headway.models.language.units import unit
from headway.models.plotting.figures import short_source
from headway.models.plotting.looks.axes import write_binary_ticks
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import axis_label, light_grid, plain_log_axis, style
from headway.models.signatures.collective import MeasuredCollective

_ACROSS = 200  # sizes along a line
_TIME, _RATE = unit("us"), unit("GB/s")


def measured_collective_figure(measured: MeasuredCollective) -> Figure:
    """Draw times above and bus bandwidths below: measurements as marks, the law as lines."""
    figure = sheet(6.5)
    above, below = figure.subplots(2, 1, sharex=True)
    counts = [int(n) for n in np.unique(measured.times.processors)]
    for place, count in enumerate(counts):
        _draw(above, below, measured, count, place)
    _draw_predictions(above, below, measured)
    for axes in (above, below):
        write_binary_ticks(axes, sizes=True)
        light_grid(axes)
    plain_log_axis(above)
    below.set_ylim(bottom=0)
    above.set_ylabel(axis_label("time", units_of(measured).unit(_TIME)))
    below.set_ylabel(f"bus bandwidth [{_RATE}]")
    below.set_xlabel("size of the whole buffer [B]")
    kind = f"{measured.times.collective} {measured.datatype}".strip()
    above.set_title(f"{short_source(measured.sources[0])}: {kind}, lines by the law")
    legend(above)
    return figure


def _draw(above: Axes, below: Axes, measured: MeasuredCollective, count: int, place: int) -> None:
    times, look = measured.times, style(place)
    mine = times.processors == count
    level = next(one for one in measured.fit.levels if count in one.counts)
    size, time = times.size[mine], times.time[mine]
    factor = float(bus_factor(times.collective, count))
    across = np.geomspace(size.min(), size.max(), _ACROSS)
    law = np.array([level.time(count, one) for one in across])
    label = f"n = {count}"
    above.plot(size, time / _TIME.scale, look.marker, color=look.colour, markersize=4, label=label)
    above.plot(across, law / _TIME.scale, color=look.colour, linestyle=look.line, linewidth=1)
    below.plot(size, _rate(factor, size, time), look.marker, color=look.colour, markersize=4)
    below.plot(
        across, _rate(factor, across, law), color=look.colour, linestyle=look.line, linewidth=1
    )


def _rate(factor: float, size: FloatArray, time: FloatArray) -> FloatArray:
    return np.asarray(factor * size / time / _RATE.scale)


def _draw_predictions(above: Axes, below: Axes, measured: MeasuredCollective) -> None:
    for place, one in enumerate(measured.predictions):
        label = "predicted, 95%" if place == 0 else None
        factor = one.bus_bandwidth * one.time / one.size
        ends = np.array([one.low, one.high])
        for axes, middle, sides in (
            (above, one.time / _TIME.scale, ends / _TIME.scale),
            (below, one.bus_bandwidth / _RATE.scale, factor * one.size / ends[::-1] / _RATE.scale),
        ):
            spread = np.abs(sides - middle)[:, None]
            axes.errorbar(
                one.size, middle, spread, fmt="D", color="black", markersize=5, capsize=3,
                label=label,
            )  # fmt: skip
