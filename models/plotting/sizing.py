"""What more money buys: cost against response time, drawn."""

import numpy as np
from matplotlib.figure import Figure

from headway.models.language.scales import units_of
from headway.models.plotting.figures import title_of
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import MODELLED, QUIET, SECOND, axis_label, light_grid
from headway.models.sizing.size import Size
from headway.models.tables.table import scale_of


def size_figure(size: Size) -> Figure:
    """Draw the front of cost and response time, with the chosen configuration."""
    measure = size.ranking.output
    costs = np.array([one.cost for one in size.front])
    values = np.array([one.measure for one in size.front])
    unit = scale_of(values, size.model.meaning(measure).unit, units_of(size))
    meets = np.array([one.meets for one in size.front], bool)
    figure = sheet(4.5)
    axes = figure.subplots()
    axes.step(costs, values / unit.scale, where="post", color=QUIET, linewidth=1, zorder=1)
    for chosen, mark, colour, label in (
        (~meets, "x", QUIET, "misses a target"),
        (meets, "o", MODELLED, "meets all targets"),
    ):
        if chosen.any():
            axes.plot(costs[chosen], values[chosen] / unit.scale, mark, color=colour, label=label)
    best = size.best
    axes.plot(best.cost, best.measure / unit.scale, "D", color=SECOND, label="cheapest that does")
    for goal in size.goals:
        if goal.output == measure:
            axes.axhline(goal.limit / unit.scale, color=QUIET, linestyle=":", label="target")
    axes.set_xlabel("cost [currency]")
    axes.set_ylabel(axis_label(measure, unit))
    axes.set_title(title_of(size.model))
    axes.set_ylim(bottom=0)
    legend(axes)
    light_grid(axes)
    return figure
