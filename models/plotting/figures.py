"""Figures of answers, as matplotlib Figures without global state: dots measured, lines modelled."""

import io
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.between import between_rows
from headway.models.analysis.comparison import Comparison
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import Unit, unit
from headway.models.plotting.dense import Curves, curves_of
from headway.models.plotting.looks.legends import legend, outside_legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import (
    MEASURED,
    MODELLED,
    QUIET,
    axis_label,
    column_label,
    draw_curve,
    draw_points,
    draw_residuals,
    draw_saturation,
    light_grid,
    literal,
    style,
    visible,
)
from headway.models.showing.solutions import swept
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.outputs import PERCENTILE, read_output
from headway.models.structure.parts.counts import counts
from headway.models.tables.table import scale_of

_SLOPE = unit("ms*s/op")
_CURVE_POINTS = 400
_NEAR = 1.15  # ratio to the largest measured load up to which a saturation point is drawn
_RATE = ("throughput",)  # outputs with a panel of their own
_MOST_MARKED = 60
_ABOVE = 1.08  # top of a panel, relative to the highest of the sweep's own points
_MOST_INSIDE = 6  # most series of a legend inside the axes


def comparison_figure(comparison: Comparison) -> Figure:
    """Draw measured points, the model, both regression lines, and relative residuals below."""
    scale = units_of(comparison)
    figure, columns = panels(comparison, scale)
    for (upper, lower), one in zip(columns, comparison.each, strict=True):
        _draw_comparison(upper, lower, one, scale)
    heading(figure, columns, f"{title_of(comparison.model)}: predicted against measured")
    return figure


def _draw_comparison(upper: Axes, lower: Axes, comparison: Comparison, scale: Scale) -> None:
    """Draw one output: the curve above, relative errors below."""
    compared_curve(upper, comparison, scale)
    _draw_lines(upper, comparison, drawn_unit(comparison, scale), scale)
    legend(upper)
    x = comparison.load.values / comparison.load.unit.scale
    draw_residuals(lower, x, comparison.relative_error)


def compared_curve(axes: Axes, comparison: Comparison, scale: Scale) -> None:
    """Draw measured points and the model, without errors below.

    Parameters
    ----------
    axes
        The panel.
    comparison
        The model and its measurements.
    scale
        The units of the page.
    """
    shown = drawn_unit(comparison, scale)
    x = comparison.load.values / comparison.load.unit.scale
    draw_model(axes, comparison, shown)
    draw_points(axes, x, comparison.measured.values / shown.scale)
    top = max(comparison.measured.values.max(), _finite_top(comparison)) / shown.scale
    axes.set_ylim(0, 1.15 * float(top))
    legend(axes)


def title_of(model: Model) -> str:
    """A model's name and preset."""
    return literal(model.title)


def drawn_unit(comparison: Comparison, scale: Scale) -> Unit:
    """The unit in which measurements are drawn: that of the answer."""
    return scale.unit(comparison.model.meaning(comparison.output).unit)


def panels(comparison: Comparison, scale: Scale) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """A figure with two panels per output, one below the other: the curve, and its errors."""
    each = comparison.each
    figure = sheet(5.5 * len(each))
    grid = figure.add_gridspec(2 * len(each), 1, height_ratios=[3, 1] * len(each))
    columns = []
    for place, one in enumerate(each):
        upper = figure.add_subplot(grid[2 * place])
        lower = figure.add_subplot(grid[2 * place + 1], sharex=upper)
        upper.tick_params(labelbottom=False)
        _label(upper, lower, one, scale)
        columns.append((upper, lower))
    return figure, columns


def heading(figure: Figure, columns: Any, text: str, size: str = "large") -> None:
    """A title over all panels."""
    if len(columns) > 1:
        figure.suptitle(text, fontsize=size)
    else:
        columns[0][0].set_title(text, fontsize=size, wrap=size != "large")


def _label(upper: Axes, lower: Axes, comparison: Comparison, scale: Scale) -> None:
    label_curve(upper, lower, comparison, scale)
    for axes in (upper, lower):
        light_grid(axes)


def label_curve(upper: Axes, lower: Axes, comparison: Comparison, scale: Scale) -> None:
    """Label the axes of a curve; the load is below `lower`, which may be the same panel."""
    load, measured = comparison.load, comparison.measured
    upper.set_ylabel(column_label(comparison.output, drawn_unit(comparison, scale), measured))
    lower.set_xlabel(column_label(load.name, load.unit, load))


def _finite_top(comparison: Comparison) -> float:
    return float(comparison.predicted[np.isfinite(comparison.predicted)].max(initial=0.0))


def draw_model(axes: Axes, comparison: Comparison, shown: Unit, label: str = "model") -> None:
    """Draw the model between the measured loads, if nothing but the load varies."""
    name, load = comparison.load_parameter, comparison.load
    dense = np.linspace(load.values.min(), load.values.max(), _CURVE_POINTS)
    if name in counts(comparison.model.graph):  # only whole numbers exist
        dense = np.unique(np.round(dense))
    others = between_rows(comparison.model, name, dense)
    if others is None or name is None:
        x = load.values / load.unit.scale
        axes.plot(x, comparison.predicted / shown.scale, "x", color=MODELLED, label=label)
        return
    at_loads = comparison.model.at({name: dense, **others})
    values = np.asarray(comparison.solved(at_loads)[comparison.output])
    draw_curve(axes, dense / load.unit.scale, values / shown.scale, label)
    mark_saturation(axes, comparison.model, load.unit, dense.max())


def mark_saturation(axes: Axes, model: Model, shown: Unit, most: float) -> None:
    """Draw the load that saturates an open model, unless it is far above those in the data."""
    if "arrival_rate" not in model.parameters:
        return
    limit = float(np.min(np.asarray(model.at(arrival_rate=most).solve().saturation_throughput)))
    if limit < _NEAR * most:
        draw_saturation(axes, limit / shown.scale)


def _draw_lines(axes: Axes, comparison: Comparison, shown: Unit, scale: Scale) -> None:
    """Draw the regression lines of both signatures over their range."""
    load = comparison.load
    inside = load.values[comparison.counted]
    for name, signature in comparison.signatures.items():
        ends = np.array([inside.min(), inside.max()])
        height = (signature.intercept + signature.slope * ends) / shown.scale
        colour, line = (MEASURED, "--") if name == "measured" else (MODELLED, "-.")
        label = f"line through {name}: {scale.text(signature.slope, _SLOPE)}"
        axes.plot(ends / load.unit.scale, height, line, color=colour, linewidth=1, label=label)


def solution_figure(solution: Solution) -> Figure:
    """Draw outputs, and utilisations below, over the first swept input.

    For a network these are its response time, and its throughput if that was not swept; for a
    program, its first output. A pipeline at one operating point is drawn as a timeline of its
    packets.
    """
    names = swept(solution)
    pipelines = solution.model.graph.algorithms.get("pipelines", {})
    if pipelines and int(np.prod(solution.shape)) == 1:
        from headway.models.plotting.timelines import timeline_figure

        return timeline_figure(solution, next(iter(pipelines)))
    if not names or len(solution.shape) != 1:
        msg = f"a plot needs a swept input, such as {_sweep_example(solution.model)}"
        raise InvalidParameter(msg)
    return _over_sweep(solution, curves_of(solution))


def straight_figure(solution: Solution) -> Figure:
    """Draw a sweep with straight lines between its points, for instance those of bands."""
    return _over_sweep(
        solution, Curves(solution, solution, np.ones(solution.shape, bool), is_fine=False)
    )


def _over_sweep(solution: Solution, curves: Curves) -> Figure:
    names, outputs = swept(solution), drawn_outputs(solution)
    count = len(outputs) + bool(solution.stations)
    figure = sheet(2 + 2 * count)
    panels = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    x_unit = unit_of_input(solution, names[0])
    for axes, together in zip(panels, outputs, strict=False):
        _draw_outputs(axes, x_unit, curves, together)
    if solution.stations:
        _draw_utilisations(panels[-1], x_unit, curves)
        _draw_limits(panels, outputs, solution, x_unit)
    _draw_legends(panels, solution)
    panels[0].set_title(title_of(solution.model))
    panels[-1].set_xlabel(axis_label(names[0], x_unit))
    for axes in panels:
        light_grid(axes)
    return figure


def unit_of_input(solution: Solution, name: str) -> Unit:
    """The unit in which a swept input is drawn."""
    across = np.asarray(solution.model.inputs[name], float)
    return scale_of(across, solution.model.parameters[name].unit, units_of(solution))


def drawn_outputs(solution: Solution) -> list[tuple[str, ...]]:
    """Outputs that a figure of a solution shows, by panel; in a single sweep, times share one."""
    if not solution.stations:
        return [(solution.outputs[0],)]
    is_plain = swept(solution) == ["arrival_rate"] and not solution.saturated.any()
    rate = [] if is_plain else [_RATE]
    each_class = solution.classes if _is_single(solution) else ()
    names = [f"class {name}." for name in each_class] or [""]
    times = [f"{name}response_time" for name in names]
    times += [one.name for one in solution.requested if one.output.unit == "s" and not one.owner]
    each = [tuple(f"{name}throughput" for name in names)] if rate else []
    return [*each, *([tuple(times)] if _is_single(solution) else [(name,) for name in times])]


def _is_single(solution: Solution) -> bool:
    """Whether a single input was swept, so that a panel can hold several outputs."""
    return len(swept(solution)) == 1


def unit_of(solution: Solution, together: Sequence[str]) -> Unit:
    """The unit in which outputs of one panel are drawn."""
    values = np.concatenate([np.ravel(np.asarray(solution[name], float)) for name in together])
    return scale_of(values, solution.model.meaning(together[0]).unit, units_of(solution))


def _across(curves: Curves, x_unit: Unit) -> FloatArray:
    values = np.asarray(curves.solution.model.inputs[swept(curves.solution)[0]], float)
    return values.ravel() / x_unit.scale


def _draw_outputs(axes: Axes, x_unit: Unit, curves: Curves, together: Sequence[str]) -> None:
    solution, x = curves.solution, _across(curves, x_unit)
    shown = unit_of(curves.given, together)
    heights = [visible(np.asarray(solution[name], float)) / shown.scale for name in together]
    if len(together) == 1:
        _draw_groups(axes, x, heights[0], curves)
    else:
        for place, (name, y) in enumerate(zip(together, heights, strict=True)):
            _draw_line(axes, x, y, curves.own, place, _series(name))
    axes.set_ylabel(axis_label(_parts(together[0])[1], shown))
    top = np.nanmax([y[curves.own] for y in heights], initial=0.0)
    axes.set_ylim(0, _ABOVE * top if curves.is_fine and top > 0 else None)


def _parts(name: str) -> tuple[str, str]:
    """The class of jobs that an output belongs to, if any, and its own name."""
    head, _, rest = name.partition(".")
    return (head.removeprefix("class "), rest) if head.startswith("class ") else ("", name)


def _series(name: str) -> str:
    """The name of an output in a legend: its class, its percentile, or both."""
    whose, what = _parts(name)
    request = read_output(what)
    is_percentile = request is not None and request.output is PERCENTILE
    percentile = what.rpartition("_")[2] if is_percentile else ""
    return " ".join(filter(None, (whose, percentile))) or "mean"


def _draw_line(
    axes: Axes, x: FloatArray, y: FloatArray, own: NDArray[np.bool_], place: int, label: str
) -> None:
    """Draw a curve; the points of the sweep are marked unless they are all of the curve's."""
    look, marked = style(place), np.flatnonzero(own)
    axes.plot(
        x, y, marker=look.marker if marked.size <= _MOST_MARKED else "", linestyle=look.line,
        color=look.colour, label=label, markersize=4, markevery=marked.tolist(),
    )  # fmt: skip


def _draw_limits(
    panels: Any, outputs: Sequence[tuple[str, ...]], solution: Solution, x_unit: Unit
) -> None:
    """Draw the saturation throughput if it is a single number within the axes."""
    if solution.shared:
        return
    limits = np.unique(np.ravel(np.asarray(solution.saturation_throughput, float)))
    if limits.size != 1 or not np.isfinite(limits[0]):
        return
    reached = float(np.max(np.asarray(solution["throughput"], float)))
    if _RATE in outputs and reached > 0.7 * limits[0]:
        values = np.asarray(solution["throughput"], float)
        shown = scale_of(values, solution.model.meaning("throughput").unit, units_of(solution))
        place = limits[0] / shown.scale
        panels[outputs.index(_RATE)].axhline(place, color=QUIET, linestyle=":", label="saturation")
    if swept(solution)[0] == "arrival_rate" and solution.saturated.any():
        for axes in panels[_RATE in outputs :]:
            axes.axvline(limits[0] / x_unit.scale, color=QUIET, linestyle=":", label="saturation")


def _draw_legends(panels: Any, solution: Solution) -> None:
    """Draw legends for several series; one for all panels if they have the same series."""
    shared = len(swept(solution)) > 1
    for axes in panels[:1] if shared else panels:
        labels = axes.get_legend_handles_labels()[1]
        if len(labels) > _MOST_INSIDE:
            outside_legend(axes)
        elif len(labels) > 1 or shared:
            legend(axes)


def _sweep_example(model: Model) -> str:
    """An example of a sweep for this model: over its load, or over what slows it down."""
    if "arrival_rate" in model.parameters:
        return "arrival_rate=100:1000:100"
    if "population" in model.parameters:
        return "population=1:100"
    names = list(model.parameters)
    name = next((n for n in names if n.startswith("added_")), names[0] if names else "NAME")
    shown = model.parameters[name].unit if names else ""
    return f"{name}=0:100:10{shown}"


def groups_of(solution: Solution, points: int) -> dict[tuple[float, ...], Any]:
    """Indices of the points for each combination of the swept inputs other than the first."""
    columns = [np.asarray(solution.model.inputs[n]).tolist() for n in swept(solution)[1:]]
    keys = list(zip(*columns, strict=True)) or [()] * points
    return {key: np.array([k == key for k in keys]) for key in dict.fromkeys(keys)}


def _draw_groups(axes: Axes, x: FloatArray, y: FloatArray, curves: Curves) -> None:
    """One line for each combination of the other swept inputs."""
    solution = curves.solution
    others, scale = swept(solution)[1:], units_of(curves.given)
    for place, (key, mine) in enumerate(groups_of(solution, len(x)).items()):
        pairs = zip(others, key, strict=True)
        label = ", ".join(f"{n} = {solution.model.parameters[n].shown(v, scale)}" for n, v in pairs)
        _draw_line(axes, x[mine], y[mine], curves.own[mine], place, label or "model")


def _draw_utilisations(axes: Axes, x_unit: Unit, curves: Curves) -> None:
    """One line per station; for several sweeps, the busiest station of each."""
    solution, x = curves.solution, _across(curves, x_unit)
    busy = {n: np.asarray(solution[f"{n}.utilisation"], float) for n in solution.stations}
    axes.axhline(100, color=QUIET, linestyle=":")
    if len(swept(solution)) > 1:
        _draw_groups(axes, x, 100 * np.max(list(busy.values()), axis=0), curves)
        axes.set_ylabel("utilisation, busiest [%]")
    else:
        used = {name: share for name, share in busy.items() if (share > 0).any()}
        for place, (name, share) in enumerate(used.items()):
            _draw_line(axes, x, 100 * share, curves.own, place, name)
        axes.set_ylabel("utilisation [%]")
    axes.set_ylim(bottom=0)


def short_source(source: str) -> str:
    """The name of a file without its folders and the ending of a table."""
    return literal(source.rpartition("/")[2].removesuffix(".csv"))


FORMATS = ("svg", "png", "pdf")


def picture_format(path: str | Path) -> str:
    """The format that the ending of a picture's name asks for.

    Raises
    ------
    InvalidParameter
        For an ending that is not svg, png or pdf.
    """
    ending = Path(path).suffix.lstrip(".").lower()
    if ending not in FORMATS:
        msg = f"{path}: pictures end in .{', .'.join(FORMATS)}, not {ending or 'nothing'!r}"
        raise InvalidParameter(msg)
    return ending


def picture(figure: Figure, kind: str) -> bytes:
    """Render a figure; the same figure always gives the same bytes, without date or randomness."""
    stream = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with matplotlib.rc_context({"svg.hashsalt": "headway"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        figure.savefig(stream, format=kind, dpi=150, metadata=undated[kind])
    return stream.getvalue()
