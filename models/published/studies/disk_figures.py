"""Printed disk rates compared with a model's, fitted and left out of the fit."""

import numpy as np
from matplotlib.figure import Figure

from headway.kinds import FloatArray
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import MODELLED, QUIET, SECOND, light_grid
from headway.models.published.studies.disk_rates import RateTable
from headway.numerals import digits

_RANGE = (0.5, 35.0)  # MB/s: the range of all printed rates
_TICKS = (0.5, 1, 2, 5, 10, 20)
_BAND = 0.1


def left_out_figure(table: RateTable, left_out: FloatArray) -> Figure:
    """Draw each rate as fitted to all, and as predicted by a fit to all the others.

    Parameters
    ----------
    table
        A model and its printed rates.
    left_out
        Relative error of each rate when it is left out, from `disk_rates.leave_one_out`.

    Examples
    --------
    >>> import numpy as np
    >>> from headway.models.published.studies.disk_rates import parallel_file
    >>> table = parallel_file()
    >>> left_out_figure(table, np.zeros(len(table.points))).axes[0].get_xlabel()
    'printed rate [MB/s]'
    """
    figure = sheet(5.2)
    axes = figure.subplots()
    printed = np.array([point.rate for point in table.points]) / 1e6
    ends = np.array(_RANGE)
    axes.plot(ends, ends, color=QUIET, linewidth=1)
    axes.fill_between(ends, (1 - _BAND) * ends, (1 + _BAND) * ends, color="0.92")
    axes.plot(printed, table.predict() / 1e6, "o", color=MODELLED, label="fitted to all")
    axes.plot(printed, printed * (1 + left_out), "x", color=SECOND, label="left out of the fit")
    for scale, limit in ((axes.set_xscale, axes.set_xlim), (axes.set_yscale, axes.set_ylim)):
        scale("log")
        limit(*_RANGE)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(_TICKS, [f"{digits(tick)}" for tick in _TICKS])
    axes.set_xlabel("printed rate [MB/s]")
    axes.set_ylabel("model [MB/s]")
    axes.set_title(f"{table.model} (band: {_BAND:.0%})")
    light_grid(axes)
    legend(axes)
    return figure
