"""Distributions of outputs over the points of a sweep, drawn."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.models.language.scales import units_of
from headway.models.plotting.distributions.indices import index_figure
from headway.models.plotting.figures import title_of
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import MODELLED, SECOND, axis_label, light_grid, plain_log_axis
from headway.models.sweeping.reductions.beyond import Beyond
from headway.models.sweeping.reductions.sketch import Distribution
from headway.models.sweeping.sweep import Sweep
from headway.models.tables.table import scale_of

_DECADES = 30.0
"""Ratio of the largest value to the least above which an axis is logarithmic."""


def sweep_figure(swept: Sweep) -> Figure:
    """Draw the distribution of each output over the points; or Sobol indices.

    Raises
    ------
    InvalidParameter
        If no reduction kept a distribution.
    """
    if swept.has_indices:
        return index_figure(swept)
    distributions = swept.distributions
    if not distributions:
        msg = "no distribution was kept to draw; reduce to quantiles=p50,p99 too"
        raise InvalidParameter(msg)
    figure = sheet(1 + 3 * len(distributions))
    panels = figure.subplots(len(distributions), squeeze=False).ravel()
    for axes, (output, distribution) in zip(panels, distributions.items(), strict=True):
        _draw(axes, swept, output, distribution)
    panels[0].set_title(f"{title_of(swept.model)}: {swept.effort.points:,} points")
    return figure


def _draw(axes: Axes, swept: Sweep, output: str, distribution: Distribution) -> None:
    there = np.isfinite(distribution.high)
    high, counts = distribution.high[there], distribution.counts
    shares = 100 * np.cumsum(counts)[there] / distribution.size
    (unit,) = {each.unit for each in swept.reductions if each.output == output}
    unit = scale_of(high, unit, units_of(swept))
    axes.step(high / unit.scale, shares, where="post", color=MODELLED)
    for each in swept.reductions:
        if isinstance(each, Beyond) and each.output == output:
            axes.axvline(each.limit / unit.scale, color=SECOND, linestyle=":", label="limit")
    if high.size and high[0] > 0 and high[-1] > _DECADES * high[0]:
        plain_log_axis(axes, "x")
    axes.set_ylim(0, 102)
    axes.set_xlabel(axis_label(output, unit))
    axes.set_ylabel("points with no more [%]")
    legend(axes)
    light_grid(axes)
