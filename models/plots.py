"""Plots, as matplotlib Figures without global state; measured is dots, modelled is lines."""

import io
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.answers import swept
from headway.models.comparison import Comparison
from headway.models.model import Model
from headway.models.signature import MeasuredSignature
from headway.models.solution import Solution
from headway.models.tables import scale_of
from headway.models.units import Unit, unit

MEASURED, MODELLED, SECOND = "#000000", "#0072b2", "#d55e00"
"""Black, blue and vermilion of Okabe and Ito: distinct for the colour-blind, and in grey."""

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours in the order of use."""

_CURVE_POINTS = 400


def axis_label(name: str, shown: Unit) -> str:
    """Words and unit for an axis."""
    words = name.replace("_", " ")
    return f"{words} [{shown}]" if shown.text else words


def light_grid(axes: Any) -> None:
    """A light grid and an open frame."""
    axes.set_axisbelow(True)
    axes.grid(visible=True, color="0.9")
    axes.spines[["top", "right"]].set_visible(False)


def comparison_figure(comparison: Comparison) -> Figure:
    """Draw measured points, the model, both regression lines, and relative residuals below."""
    figure = Figure(figsize=(7, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    model, load = comparison.model, comparison.load
    shown = scale_of(comparison.measured.values, model.meaning(comparison.output).unit)
    x = load.values / load.unit.scale
    _draw_curve(upper, comparison, shown)
    upper.plot(x, comparison.measured.values / shown.scale, "o", color=MEASURED, label="measured")
    top = 1.15 * float(max(comparison.measured.values.max(), _finite_top(comparison))) / shown.scale
    upper.set_ylim(0, top)
    _draw_lines(upper, comparison, shown)
    upper.set_ylabel(axis_label(comparison.output, shown))
    preset = f" ({model.preset})" if model.preset else ""
    upper.set_title(f"{model.name}{preset}: predicted against measured")
    upper.legend(frameon=False)
    lower.axhline(0, color="0.5", linewidth=0.8)
    lower.vlines(x, 0, 100 * comparison.relative_error, color=MODELLED)
    lower.plot(x, 100 * comparison.relative_error, "o", color=MODELLED)
    lower.set_ylabel("error [%]")
    lower.set_xlabel(axis_label(load.name, load.unit))
    for axes in (upper, lower):
        light_grid(axes)
    return figure


def _finite_top(comparison: Comparison) -> float:
    return float(comparison.predicted[np.isfinite(comparison.predicted)].max(initial=0.0))


def _draw_curve(axes: Any, comparison: Comparison, shown: Unit) -> None:
    """Draw the model between the measured loads, where nothing but the load varies."""
    name, load = _load_parameter(comparison), comparison.load
    others = [n for n, v in comparison.model.inputs.items() if n != name and np.ndim(v)]
    if others or name is None:
        x = load.values / load.unit.scale
        axes.plot(x, comparison.predicted / shown.scale, "x", color=MODELLED, label="model")
        return
    dense = np.linspace(load.values.min(), load.values.max(), _CURVE_POINTS)
    if name in ("population", "servers", "disks"):  # there are only whole ones
        dense = np.unique(np.round(dense))
    values = np.asarray(comparison.model.at({name: dense}).solve()[comparison.output])
    visible = np.where(np.isfinite(values), values, np.nan)
    axes.plot(dense / load.unit.scale, visible / shown.scale, color=MODELLED, label="model")
    if name == "arrival_rate":
        _mark_saturation(axes, comparison.model, load.unit, dense.max())


def _load_parameter(comparison: Comparison) -> str | None:
    arrays = {n: v for n, v in comparison.model.inputs.items() if np.ndim(v)}
    return next((n for n, v in arrays.items() if np.array_equal(v, comparison.load.values)), None)


def _mark_saturation(axes: Any, model: Model, shown: Unit, most: float) -> None:
    limit = float(np.min(np.asarray(model.at(arrival_rate=most).solve().saturation_throughput)))
    if np.isfinite(limit) and limit < 1.3 * most:
        axes.axvline(limit / shown.scale, color="0.5", linestyle=":", label="model saturates")


def _draw_lines(axes: Any, comparison: Comparison, shown: Unit) -> None:
    """Draw the regression lines of both signatures over their range."""
    load = comparison.load
    inside = load.values[comparison.counted]
    for name, signature in comparison.signatures.items():
        ends = np.array([inside.min(), inside.max()])
        height = (signature.intercept + signature.slope * ends) / shown.scale
        colour = MEASURED if name == "measured" else MODELLED
        label = f"line through {name}: {signature.slope * 1e6:.1f} us per op/s"
        axes.plot(ends / load.unit.scale, height, "--", color=colour, linewidth=1, label=label)


def solution_figure(solution: Solution) -> Figure:
    """Draw outputs, and utilisations below, over the first swept input.

    An open network shows its response time, a closed one throughput and response time, a
    program its first output.
    A pipeline at one operating point is drawn as a timeline of its packets.
    """
    names = swept(solution)
    pipelines = solution.model.graph.algorithms.get("pipelines", {})
    if pipelines and int(np.prod(solution.shape)) == 1:
        from headway.models.timelines import timeline_figure

        return timeline_figure(solution, next(iter(pipelines)))
    if not names or len(solution.shape) != 1:
        msg = f"a plot needs a swept input, such as {_sweep_example(solution.model)}"
        raise InvalidParameter(msg)
    model, name = solution.model, names[0]
    outputs = _drawn_outputs(solution)
    count = len(outputs) + bool(solution.stations)
    figure = Figure(figsize=(7, 2 + 2 * count), layout="constrained")
    panels = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    across = np.asarray(model.inputs[name], float)
    x_unit = scale_of(across, model.parameters[name].unit)
    for axes, output in zip(panels, outputs, strict=False):
        _draw_output(axes, across / x_unit.scale, solution, output)
    if solution.stations:
        _draw_utilisations(panels[-1], across / x_unit.scale, solution)
    panels[0].set_title(model.name + (f" ({model.preset})" if model.preset else ""))
    panels[-1].set_xlabel(axis_label(name, x_unit))
    for axes in panels:
        light_grid(axes)
    return figure


def _drawn_outputs(solution: Solution) -> list[str]:
    if not solution.stations:
        return [solution.outputs[0]]
    return ["response_time"] if solution.is_open else ["throughput", "response_time"]


def _draw_output(axes: Any, x: FloatArray, solution: Solution, output: str) -> None:
    values = np.asarray(solution[output], float)
    shown = scale_of(values, solution.model.meaning(output).unit)
    _draw_groups(axes, x, np.where(np.isfinite(values), values, np.nan) / shown.scale, solution)
    axes.set_ylabel(axis_label(output, shown))
    axes.set_ylim(bottom=0)


def _sweep_example(model: Model) -> str:
    """A sweep that this model could be given: over its load, or of what slows it down."""
    if "arrival_rate" in model.parameters:
        return "arrival_rate=100:1000:100"
    if "population" in model.parameters:
        return "population=1:100"
    names = list(model.parameters)
    name = next((n for n in names if n.startswith("added_")), names[0] if names else "NAME")
    shown = model.parameters[name].unit if names else ""
    return f"{name}=0:100:10{shown}"


def _draw_groups(axes: Any, x: FloatArray, y: FloatArray, solution: Solution) -> None:
    """One line for each combination of the other swept inputs."""
    others = swept(solution)[1:]
    inputs = solution.model.inputs
    columns = [np.asarray(inputs[n]).tolist() for n in others]
    keys = list(zip(*columns, strict=True)) or [()] * len(x)
    for colour, key in zip(cycle(PALETTE), dict.fromkeys(keys), strict=False):
        mine = np.array([k == key for k in keys])
        pairs = zip(others, key, strict=True)
        label = ", ".join(f"{n} = {solution.model.parameters[n].shown(v)}" for n, v in pairs)
        axes.plot(x[mine], y[mine], marker=".", color=colour, label=label or "model")
    if others:
        axes.legend(frameon=False)


def _draw_utilisations(axes: Any, x: FloatArray, solution: Solution) -> None:
    styles = ["-", "--", "-.", ":"]
    single = len(swept(solution)) == 1
    for index, name in enumerate(solution.stations):
        busy = np.asarray(solution[f"{name}.utilisation"], float)
        if (busy > 0).any():
            style = styles[index % 4] if single else "."
            axes.plot(x, 100 * busy, style, color=PALETTE[index % len(PALETTE)], label=name)
    axes.axhline(100, color="0.5", linestyle=":")
    axes.set_ylabel("utilisation [%]")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False)


def signature_figure(found: MeasuredSignature) -> Figure:
    """Draw a measured curve with its regression line."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    shown = scale_of(found.curve.response_time.values, unit("s"))
    load, signature = found.curve.load.values, found.signature
    response = found.curve.response_time.values / shown.scale
    axes.plot(load, response, "o", color=MEASURED, label="measured")
    inside = load[found.within.holds(load)]
    ends = np.array([inside.min(), inside.max()])
    height = (signature.intercept + signature.slope * ends) / shown.scale
    label = f"{signature.slope * 1e6:.2f} us per op/s, r² {signature.r_squared:.3f}"
    axes.plot(ends, height, "--", color=MODELLED, label=label)
    axes.set_ylim(0)
    axes.set_xlabel(axis_label(found.curve.load.name, unit("op/s")))
    axes.set_ylabel(axis_label("response_time", shown))
    axes.set_title(found.curve.source)
    axes.legend(frameon=False)
    light_grid(axes)
    return figure


FORMATS = ("svg", "png", "pdf")


def picture_format(path: str | Path) -> str:
    """The format that a picture's name asks for.

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
    """Render a figure; the same figure gives the same bytes, without date or chance."""
    stream = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    with matplotlib.rc_context({"svg.hashsalt": "headway"}):
        figure.savefig(stream, format=kind, dpi=150, metadata=undated[kind])
    return stream.getvalue()
