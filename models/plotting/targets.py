"""What targets take, drawn: outputs over the parameter that is to reach them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.kinds import FloatArray
from headway.models.analysis.joint import JointTarget
from headway.models.analysis.points import method_of, outputs_at
from headway.models.analysis.target import Target, value_now
from headway.models.language.scales import units_of
from headway.models.plotting.figures import title_of
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import (
    MODELLED,
    QUIET,
    SECOND,
    axis_label,
    draw_curve,
    light_grid,
)
from headway.models.tables.table import scale_of

_POINTS = 201
_BEYOND = 0.25  # space on either side, relative to the distance from value to answer


def target_figure(target: Target) -> Figure:
    """Draw an output over the parameter that is to bring it to a target, around both values."""
    return _figure(target, [(target.output, target.wanted)])


def joint_target_figure(target: JointTarget) -> Figure:
    """Draw the output of each goal over the parameter, one panel per goal."""
    return _figure(target, [(goal.output, goal.limit) for goal in target.goals])


def _figure(target: Target | JointTarget, wanted: Sequence[tuple[str, float]]) -> Figure:
    figure = sheet(1.5 + 3.0 * len(wanted))
    panels = figure.subplots(len(wanted), 1, sharex=True, squeeze=False)[:, 0]
    for axes, (output, limit) in zip(panels, wanted, strict=True):
        _draw(axes, target, output, limit)
    now = value_now(target.model, target.parameter)
    unit = target.model.parameters[target.parameter].unit
    panels[-1].set_xlabel(
        axis_label(
            target.parameter, scale_of(np.array([now, target.value]), unit, units_of(target))
        )
    )
    panels[0].set_title(title_of(target.model))
    legend(panels[0])
    return figure


def _draw(axes: Axes, target: Target | JointTarget, output: str, limit: float) -> None:
    """Draw an output around the present value and the value needed."""
    model = target.model
    ends = np.array([value_now(model, target.parameter), target.value])
    across = _across(*ends.tolist())
    outputs = _outputs(target, output, across)
    drawn = np.isfinite(outputs)
    scale = units_of(target)
    x_scale = scale_of(ends, model.parameters[target.parameter].unit, scale).scale
    unit = scale_of(np.array([limit]), model.meaning(output).unit, scale)
    draw_curve(axes, across[drawn] / x_scale, outputs[drawn] / unit.scale)
    start, reached = _outputs(target, output, ends) / unit.scale
    wanted = limit / unit.scale
    axes.axhline(wanted, color=QUIET, linestyle=":", label="target")
    axes.plot(ends[0] / x_scale, start, "s", color=MODELLED, label="now")
    axes.plot(ends[1] / x_scale, reached, "D", color=SECOND, label="needed")
    axes.set_ylim(0, 1.3 * np.nanmax([wanted, start]))
    axes.set_ylabel(axis_label(output, unit))
    light_grid(axes)


def _across(now: float, value: float) -> FloatArray:
    """Values around two others; for parameters that count something, whole numbers."""
    low, high = sorted((now, value))
    beyond = _BEYOND * (high - low or high)
    ends = max(low - beyond, 0.0), high + beyond
    even = np.linspace(*ends, _POINTS)
    whole = np.arange(np.ceil(ends[0]), ends[1]) if ends[1] < _POINTS else even[:0]
    return np.union1d(even, whole)


def _outputs(target: Target | JointTarget, output: str, values: FloatArray) -> FloatArray:
    """The output at values of the parameter; NaN where the model has none."""
    changes = [{target.parameter: value} for value in values.tolist()]
    method = method_of(target.solution)
    return outputs_at(target.model, changes, [output], method)[:, 0]
