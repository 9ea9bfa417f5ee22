"""Sobol indices drawn: the parameters that cause an output's variance."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.models.plotting.figures import title_of
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import LETTER, sheet
from headway.models.plotting.pieces import HATCHES, MEASURED, MODELLED, SECOND, light_grid
from headway.models.sweeping.reductions.reduction import Row
from headway.models.sweeping.sweep import Sweep
from headway.numerals import ranked

_KINDS = (("first", MODELLED, HATCHES[0]), ("total", SECOND, HATCHES[1]))


def index_figure(swept: Sweep) -> Figure:
    """Draw first and total indices of each output's parameters, the largest on top.

    Raises
    ------
    InvalidParameter
        If no output has any, with what its table says.
    """
    rows = [row for row in swept.results if row["value"] == row["value"]]
    outputs = list(dict.fromkeys(row["output"] for row in rows))
    if not outputs:
        msg = "no output has Sobol indices to draw; the table says why"
        raise InvalidParameter(msg)
    names = swept.space.names
    figure = sheet(1 + (0.6 + 0.45 * len(names)) * len(outputs))
    panels = figure.subplots(len(outputs), squeeze=False, sharex=True).ravel()
    for axes, output in zip(panels, outputs, strict=True):
        _draw(axes, [row for row in rows if row["output"] == output])
        axes.set_title(output.replace("_", " "), fontsize=LETTER)
    panels[-1].set_xlabel("share of the variance [%]")
    legend(panels[0])
    figure.suptitle(title_of(swept.model))
    return figure


def _draw(axes: Axes, rows: Sequence[Row]) -> None:
    """Two bars per parameter, with the ends of their intervals."""
    totals = {row["parameter"]: row["value"] for row in rows if row["index"] == "total"}
    order = ranked(list(totals), totals)
    for shift, (kind, colour, hatch) in zip((0.2, -0.2), _KINDS, strict=True):
        own = {row["parameter"]: row for row in rows if row["index"] == kind}
        values = np.array([100 * own[name]["value"] for name in order])
        ends = 100 * np.array([own[name]["interval"] for name in order])
        beside = np.abs(ends.T - values)
        axes.barh(
            np.arange(len(order)) + shift,
            values,
            0.38,
            xerr=beside,
            color=colour,
            hatch=hatch,
            edgecolor="white",
            ecolor=MEASURED,
            label=f"{kind} index",
        )
    axes.set_yticks(np.arange(len(order)), order)
    axes.set_xlim(0, 105)
    light_grid(axes)
