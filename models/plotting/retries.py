"""A figure of states: attempts over load, with loads at which a bad state lasts shaded."""

import numpy as np
from matplotlib.figure import Figure

from headway.models.analysis.retries import Retries
from headway.models.language.scales import units_of
from headway.models.plotting.looks.axes import write_log_ticks
from headway.models.plotting.looks.legends import outside_legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import light_grid, literal, style
from headway.queueing.retries.attempts import Stability
from headway.queueing.retries.lives import LASTING
from headway.queueing.retries.tipping import curve

_MARKS = {Stability.STABLE: "o", Stability.UNSTABLE: "x", Stability.TOUCHES: "s"}


def retries_figure(retries: Retries) -> Figure:
    """Draw the attempts of each state over the load, and the states at the model's load."""
    figure = sheet(4.2)
    axes = figure.subplots()
    found, own = retries.tipping, units_of(retries).unit(retries.unit)
    rates, loads = curve(retries.queue, retries.clients)
    rising = np.r_[np.diff(loads) >= 0, True]
    most = 1.25 * max(found.load, found.folds.tips if found.folds else found.load)
    kept = loads <= most
    stable = np.where(rising & kept, rates, np.nan) / own.scale
    between = np.where(~rising & kept, rates, np.nan) / own.scale
    axes.plot(loads / own.scale, stable, color=style(0).colour, label="stable")
    axes.plot(loads / own.scale, between, "--", color=style(1).colour, label="threshold")
    if found.folds is not None:
        ends = found.folds.vanishes / own.scale, found.folds.tips / own.scale
        axes.axvspan(*ends, alpha=0.15, color=style(1).colour, label="can stay down")
        for load, name, dashes in (
            (found.stays, "bad state", "-."),
            (found.lasts, "good state", ":"),
        ):
            if load is not None:
                words = f"{name} lasts {LASTING:,} requests"
                axes.axvline(load / own.scale, linestyle=dashes, color="grey", label=words)
    for place, one in enumerate(found.states):
        label = f"states at {units_of(retries).text(found.load, retries.unit)}"
        at = found.load / own.scale, one.rate / own.scale
        axes.plot(*at, _MARKS[one.stability], color="black", label="" if place else label)
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    write_log_ticks(axes.yaxis, high / low)
    axes.set_xlim(0, most / own.scale)
    axes.set_xlabel(f"load [{own}]")
    axes.set_ylabel(f"attempts [{own}]")
    axes.set_title(literal(retries.model))
    outside_legend(axes)
    light_grid(axes)
    return figure
