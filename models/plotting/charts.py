"""The chart of a page's first screen: one panel with measurements, a model, and its limits."""

import math
from contextlib import suppress

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.analysis.between import beside
from headway.models.analysis.comparison import Comparison
from headway.models.analysis.kept import Kept
from headway.models.analysis.saturating import saturating_load
from headway.models.inference.fit import Fit
from headway.models.inference.forecasting.highest_load import column_of_percent
from headway.models.inference.server import ServerFit
from headway.models.language.scales import Scale
from headway.models.plotting.dense import is_quick
from headway.models.plotting.figures import compared_curve, drawn_unit, label_curve, unit_of_input
from headway.models.plotting.fits import fitted_curve
from headway.models.plotting.looks.finish import finished
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import (
    SECOND,
    axis_label,
    draw_curve,
    draw_residuals,
    draw_saturation,
    light_grid,
    style,
    visible,
)
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.outputs import percent_of
from headway.numerals import digits

_HEIGHT, _LOW = 3.9, 2.2  # inches: height of a chart, and of a chart of errors
_TAIL = "response_time_p99"
_TAIL_POINTS = 60
_ABOVE = 3.0  # how high measured percentiles may raise the picture, in multiples of the means
_ABOVE_MODELLED = 2.0  # how high the model's percentiles may; they may also leave the picture
_STEEP = 0.9  # share of the loads beyond which a curve may leave the picture
_ROOM = 1.15  # top of the picture, relative to the highest value


def measured_chart(
    answer: ServerFit | Fit | Comparison, scale: Scale, kept: Kept | None = None
) -> Figure:
    """Draw measured points and the model with its band, and the 99th percentile if it has a law.

    Parameters
    ----------
    answer
        A fit, the forms of a server, or a comparison.
    scale
        The units of the page.
    kept
        The highest load that keeps a limit.
    """
    figure = sheet(_HEIGHT)
    axes = figure.subplots()
    if isinstance(answer, Comparison):
        comparison = answer
        compared_curve(axes, comparison, scale)
    else:
        comparison = (answer.best if isinstance(answer, ServerFit) else answer).comparison
        fitted_curve(axes, answer, scale)
    label_curve(axes, axes, comparison, scale)
    name, load = comparison.load_parameter, comparison.load
    scales = load.unit.scale, drawn_unit(comparison, scale).scale
    if (
        name is not None
        and not beside(comparison.model, name)
        and comparison.output == "response_time"
    ):
        ends = float(load.values.min()), float(load.values.max())
        _draw_tail(axes, comparison.solution, name, ends, scales, tail_of(kept))
    _draw_measured_tail(axes, comparison, scales, tail_of(kept))
    if kept is not None:
        _draw_kept(axes, kept, comparison.output, scales)
    return _done(figure, axes)


def predicted_chart(
    solution: Solution, output: str, load: str, scale: Scale, kept: Kept | None = None
) -> Figure:
    """Draw what a model predicts over its load.

    Parameters
    ----------
    solution
        The model over its load.
    output
        The output that is drawn.
    load
        The parameter that is the load.
    scale
        The units of the page.
    kept
        The highest load that keeps a limit.
    """
    figure = sheet(_HEIGHT)
    axes = figure.subplots()
    loads = np.asarray(solution.model.inputs[load], float)
    across, shown = unit_of_input(solution, load), scale.unit(solution.model.meaning(output).unit)
    values = visible(np.broadcast_to(np.asarray(solution[output], float), loads.shape))
    draw_curve(axes, loads / across.scale, values / shown.scale)
    steep = float(np.nanmax(values[: max(2, int(_STEEP * loads.size))])) / shown.scale
    axes.set_ylim(0, _ROOM * steep if np.isfinite(steep) and steep > 0 else None)
    axes.set_xlabel(axis_label(load, across))
    axes.set_ylabel(axis_label(output, shown))
    if output == "response_time":
        ends = float(loads.min()), float(loads.max())
        scales = across.scale, shown.scale
        _draw_tail(axes, solution, load, ends, scales, tail_of(kept))
    _draw_limit(axes, solution, load, across.scale)
    if kept is not None:
        _draw_kept(axes, kept, output, (across.scale, shown.scale))
    return _done(figure, axes)


def errors_figure(comparison: Comparison, scale: Scale) -> Figure:
    """Draw the relative errors of a model at the measured points."""
    figure = sheet(_LOW)
    axes = figure.subplots()
    label_curve(axes, axes, comparison, scale)
    x = comparison.load.values / comparison.load.unit.scale
    draw_residuals(axes, x, comparison.relative_error)
    light_grid(axes)
    return finished(figure)


def _draw_limit(axes: Axes, solution: Solution, load: str, across: float) -> None:
    """Draw where an open network saturates."""
    if load != "arrival_rate" or not solution.stations or solution.classes:
        return
    limit = saturating_load(solution, load)
    if np.isfinite(limit):
        draw_saturation(axes, limit / across, "saturates")


def tail_of(kept: Kept | None) -> str:
    """The percentile that is drawn: the limited one, or else the 99th.

    Parameters
    ----------
    kept
        The highest load that keeps a limit, if there is one.
    """
    is_limited = kept is not None and percent_of(kept.goal.output) is not None
    return kept.goal.output if kept is not None and is_limited else _TAIL


def _draw_kept(axes: Axes, kept: Kept, output: str, scales: tuple[float, float]) -> None:
    """Draw the limit, if its output is drawn, and the highest load that keeps it."""
    drawn = {str(line.get_label()).partition(" ")[0] for line in axes.lines}
    if kept.goal.output == output or kept.what in drawn:
        limit = kept.goal.limit / scales[1]
        axes.axhline(limit, color=SECOND, linestyle=(0, (4, 2)), linewidth=1.2,
                     label="target")  # fmt: skip
        axes.set_ylim(top=max(axes.get_ylim()[1], _ROOM * limit))
    if kept.is_none:
        return
    axes.axvline(kept.value / scales[0], color=SECOND, linewidth=1.2, label="highest load")
    if kept.low < kept.high < math.inf:
        axes.axvspan(kept.low / scales[0], kept.high / scales[0], color=SECOND, alpha=0.12, lw=0)


def _draw_measured_tail(
    axes: Axes, comparison: Comparison, scales: tuple[float, float], tail: str
) -> None:
    """Draw measured percentiles, if the data have them at the loads shown."""
    percent, loads = percent_of(tail), comparison.load.values
    if percent is None or comparison.output != "response_time":
        return
    column = column_of_percent(comparison.table, percent)
    if column is None:
        return
    look = style(2)
    y = visible(column.values) / scales[1]
    axes.plot(loads / scales[0], y, look.marker, color=look.colour, markersize=4,
              label=f"p{digits(percent)} measured")  # fmt: skip
    _lift(axes, y, _ABOVE)


def _draw_tail(
    axes: Axes,
    solution: Solution,
    load: str,
    ends: tuple[float, float],
    scales: tuple[float, float],
    name: str,
) -> None:
    """Draw a percentile of the response time, if the model has a quick law of it."""
    tail = modelled_tail(solution, load, np.linspace(*ends, _TAIL_POINTS), name)
    if tail is None:
        return
    loads, values = tail
    x, y = loads / scales[0], values / scales[1]
    look = style(2)
    (line,) = axes.plot(
        x,
        y,
        "-.",
        color=look.colour,
        linewidth=1.3,
        label=f"{name.rpartition('_')[2]} by the model",
    )
    _lift(axes, y, _ABOVE_MODELLED)
    if not (y < axes.get_ylim()[1]).any():
        line.remove()  # nothing of it is in the picture


def _lift(axes: Axes, percentile: FloatArray, most: float) -> None:
    """Make room for a percentile, as far as the means stay legible."""
    low, high = axes.get_ylim()
    axes.set_ylim(low, min(max(high, _ROOM * float(np.nanmax(percentile))), most * high))


def modelled_tail(
    solved: Solution, load: str, loads: FloatArray, name: str
) -> tuple[FloatArray, FloatArray] | None:
    """Loads, and a percentile of the response time there [s]; None without a quick law.

    Parameters
    ----------
    solved
        The model, solved at any loads.
    load
        The parameter that is the load.
    loads
        Values of it [SI].
    name
        The percentile, such as `response_time_p99`.
    """
    is_one_class = solved.stations and not solved.model.graph.classes
    if not (is_one_class and solved.is_open and is_quick(solved)):
        return None
    with suppress(HeadwayError):
        solution = solved.model.at({load: loads}).solve()
        values = visible(np.asarray(solution.answering(name)[name], float))
        return (loads, values) if np.isfinite(values).any() else None
    return None


def _done(figure: Figure, axes: Axes) -> Figure:
    light_grid(axes)
    legend(axes)
    return finished(figure)
