"""Sensitivities drawn: a tornado of elasticities for each output, and what a target takes."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.points import method_of, outputs_at
from headway.models.analysis.sensitivity import Effect, Sensitivity
from headway.models.analysis.target import Target, value_now
from headway.models.plotting.figures import title_of
from headway.models.plotting.pieces import (
    HATCHES,
    MODELLED,
    QUIET,
    SECOND,
    axis_label,
    draw_curve,
    legend,
    light_grid,
)
from headway.models.tables.table import scale_of

_LEAST = 1e-3  # elasticity worth a bar
_POINTS = 201
_BEYOND = 0.25  # of the way from value to answer, drawn on either side


def tornado(found: Sensitivity) -> Figure:
    """Draw what 1 % of each parameter does to each output, the largest on top."""
    panels = {output: bars for output in found.effects if (bars := _bars(found, output))}
    if not panels:
        raise InvalidParameter("no parameter has an effect; there is nothing to plot")
    ratios = [1.5 + len(bars) for bars in panels.values()]
    figure = Figure(figsize=(7, 1.2 + 0.35 * sum(ratios)), layout="constrained")
    all_axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=ratios)[
        :, 0
    ]
    for axes, (output, bars) in zip(all_axes, panels.items(), strict=True):
        _draw_bars(axes, bars)
        axes.set_title(output.replace("_", " "), fontsize="medium")
    all_axes[-1].set_xlabel("elasticity [% per 1 % of the parameter]")
    figure.suptitle(title_of(found.model))
    return figure


def _bars(found: Sensitivity, output: str) -> list[tuple[str, Effect]]:
    """Parameters and effects worth a bar, the smallest first."""
    worth = ((n, e) for n, e in found.effects[output].items() if abs(e.elasticity) > _LEAST)
    return sorted(worth, key=lambda bar: round(abs(bar[1].elasticity), 6))


def _draw_bars(axes: Axes, bars: list[tuple[str, Effect]]) -> None:
    """Draw growth and fall in two colours, told apart in grey by their side and hatch."""
    sizes = [effect.elasticity for _, effect in bars]
    colours = [MODELLED if size > 0 else SECOND for size in sizes]
    half = [effect.half_width or 0.0 for _, effect in bars]
    whiskers = half if any(half) else None
    drawn = axes.barh([name for name, _ in bars], sizes, color=colours, xerr=whiskers, capsize=3)
    for bar, size in zip(drawn, sizes, strict=True):
        bar.set_hatch(HATCHES[0] if size > 0 else HATCHES[1])
        bar.set_edgecolor("white")
    axes.bar_label(drawn, [f"{size:+.2f}" for size in sizes], padding=3, fontsize="small")
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.margins(x=0.15)
    light_grid(axes)


def target_figure(found: Target) -> Figure:
    """Draw an output over the parameter that is to bring it to a target, around both values."""
    model = found.model
    now = value_now(model, found.parameter)
    across = _across(now, found.value)
    outputs = _outputs(found, across)
    drawn = np.isfinite(outputs)
    x_unit = scale_of(np.array([now, found.value]), model.parameters[found.parameter].unit)
    y_unit = scale_of(np.array([found.wanted]), model.meaning(found.output).unit)
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    draw_curve(axes, across[drawn] / x_unit.scale, outputs[drawn] / y_unit.scale)
    ends = np.array([now, found.value])
    start, reached = _outputs(found, ends) / y_unit.scale
    wanted = found.wanted / y_unit.scale
    axes.axhline(wanted, color=QUIET, linestyle=":", label="target")
    axes.plot(now / x_unit.scale, start, "s", color=MODELLED, label="now")
    axes.plot(found.value / x_unit.scale, reached, "D", color=SECOND, label="what it takes")
    axes.set_ylim(0, 1.3 * np.nanmax([wanted, start]))
    axes.set_xlabel(axis_label(found.parameter, x_unit))
    axes.set_ylabel(axis_label(found.output, y_unit))
    axes.set_title(title_of(model))
    legend(axes)
    light_grid(axes)
    return figure


def _across(now: float, value: float) -> FloatArray:
    """Values around two, whole ones among them for parameters that are counted."""
    low, high = sorted((now, value))
    beyond = _BEYOND * (high - low or high)
    ends = max(low - beyond, 0.0), high + beyond
    even = np.linspace(*ends, _POINTS)
    whole = np.arange(np.ceil(ends[0]), ends[1]) if ends[1] < _POINTS else even[:0]
    return np.union1d(even, whole)


def _outputs(found: Target, values: FloatArray) -> FloatArray:
    """The output at values of the parameter; NaN where the model has none."""
    changes = [{found.parameter: value} for value in values.tolist()]
    return outputs_at(found.model, changes, [found.output], method_of(found.solution))[:, 0]
