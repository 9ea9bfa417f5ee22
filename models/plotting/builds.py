"""Two builds drawn: the measurements of each over the load, joined by lines."""

import numpy as np
from matplotlib.figure import Figure

from headway.models.inference.builds import Builds
from headway.models.language.scales import Scale
from headway.models.language.titles import axis_title
from headway.models.plotting.looks.finish import finished
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import light_grid, literal, style

_HEIGHT = 3.9


def builds_chart(builds: Builds, scale: Scale) -> Figure | None:
    """Draw the mean response time of both builds; None if no load has it for both.

    Parameters
    ----------
    builds
        The comparison.
    scale
        The units of the page.
    """
    each = [one for one in builds.by_load if one.quantity == "response_time"]
    if not each:
        return None
    each.sort(key=lambda one: one.load or 0.0)
    figure = sheet(_HEIGHT)
    axes = figure.subplots()
    shown = scale.unit(each[0].unit)
    loads = np.array([one.load for one in each], float) / builds.load_unit.scale
    times = {"before": [one.first for one in each], "after": [one.second for one in each]}
    for place, (name, values) in enumerate(times.items()):
        look, y = style(place), np.array(values) / shown.scale
        axes.plot(loads, y, look.line, marker=look.marker, color=look.colour, label=name)
    what = "offered_rate" if builds.load_unit.text else "population"
    axes.set_xlabel(literal(axis_title(what, builds.load_unit)))
    axes.set_ylabel(literal(axis_title("response_time", shown)))
    axes.set_ylim(bottom=0)
    light_grid(axes)
    legend(axes)
    return finished(figure)
