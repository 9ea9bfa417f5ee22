"""Slowdown of programs over a machine parameter: measurements as dots, models as lines."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import draw_points, light_grid, style
from headway.records import dataclass

_PANEL = 2.2  # inches, height
_HEADROOM = 1.05  # keeps dots at the top whole


@dataclass(frozen=True)
class SlowdownPanel:
    """One program: its slowdown at some levels of a parameter.

    Parameters
    ----------
    title
        The program.
    levels
        Values of the parameter, in the unit of the axis, shape (n,).
    measured
        Slowdown at each level, NaN where there is none, shape (n,).
    predicted
        Slowdown by each model at each level, by the model's name, shape (n,) each.

    Examples
    --------
    >>> levels = np.array([0.0, 10.0])
    >>> SlowdownPanel("sort", levels, np.array([1.0, 1.5]), {"law": 1 + levels / 20}).title
    'sort'
    """

    title: str
    levels: FloatArray
    measured: FloatArray
    predicted: Mapping[str, FloatArray]

    def __post_init__(self) -> None:
        shapes = {np.shape(values) for values in (self.measured, *self.predicted.values())}
        if shapes != {np.shape(self.levels)}:
            msg = f"{self.title}: levels {np.shape(self.levels)} and slowdowns {shapes} differ"
            raise InvalidParameter(msg)


def slowdown_figure(panels: Sequence[SlowdownPanel], axis: str, columns: int = 3) -> Figure:
    """Draw a panel for each program, each with its own scale.

    Parameters
    ----------
    panels
        One or more.
    axis
        Label of the levels with unit, such as ``added overhead [us]``.
    columns
        Panels in a row, 1 or more.

    Examples
    --------
    >>> import numpy as np
    >>> levels = np.array([0.0, 10.0])
    >>> panel = SlowdownPanel("one", levels, 1 + levels, {"law": 1 + levels / 2})
    >>> len(slowdown_figure([panel], "added overhead [us]").axes)
    1
    """
    if not panels:
        raise InvalidParameter("there is no program to draw; give at least one panel")
    columns = min(columns, len(panels))
    count = -(-len(panels) // columns)
    figure = sheet(_PANEL * count + 0.5)
    grid = figure.subplots(count, columns, squeeze=False).ravel()
    for axes in grid[len(panels) :]:
        axes.remove()
    for axes, panel in zip(grid, panels, strict=False):
        _draw(axes, panel)
    figure.supxlabel(axis)
    figure.supylabel("slowdown [run time over base run time]")
    handles, labels = grid[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)
    return figure


def _draw(axes: Axes, panel: SlowdownPanel) -> None:
    order = np.argsort(panel.levels)
    levels = panel.levels[order]
    draw_points(axes, levels, panel.measured[order])
    for place, (name, slowdown) in enumerate(panel.predicted.items()):
        look = style(place)
        axes.plot(levels, slowdown[order], color=look.colour, linestyle=look.line, label=name)
    axes.set_title(panel.title)
    axes.set_ylim(0, _HEADROOM * axes.get_ylim()[1])
    light_grid(axes)
