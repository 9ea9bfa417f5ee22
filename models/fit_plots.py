"""Fits drawn: points, curve, band, and relative errors below."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from headway.models.fit import Fit
from headway.models.plots import MEASURED, MODELLED, axis_label, light_grid
from headway.models.tables import scale_of


def fit_figure(fit: Fit) -> Figure:
    """Draw measured points, the fitted curve with its 95 % band, and relative errors."""
    figure = Figure(figsize=(7, 6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    comparison = fit.comparison
    shown = scale_of(comparison.measured.values, fit.model.meaning(comparison.output).unit)
    x = comparison.load.values / comparison.load.unit.scale
    _draw_model(upper, fit, shown.scale)
    upper.plot(x, comparison.measured.values / shown.scale, "o", color=MEASURED, label="measured")
    upper.set_ylim(0, 1.3 * float(comparison.measured.values.max()) / shown.scale)
    upper.set_ylabel(axis_label(comparison.output, shown))
    upper.set_title(f"{fit.model.name}: fitted to {fit.measurements.source}", fontsize="medium")
    upper.legend(frameon=False)
    errors = 100 * comparison.relative_error
    lower.axhline(0, color="0.5", linewidth=0.8)
    lower.vlines(x, 0, errors, color=MODELLED)
    lower.plot(x, errors, "o", color=MODELLED)
    lower.set_ylabel("error [%]")
    lower.set_xlabel(axis_label(comparison.load.name, comparison.load.unit))
    for axes in (upper, lower):
        light_grid(axes)
    return figure


def _draw_model(axes: Any, fit: Fit, scale: float) -> None:
    unit = fit.comparison.load.unit.scale
    loads = fit.loads()
    if loads.size == 0:
        x = fit.comparison.load.values / unit
        axes.plot(x, fit.comparison.predicted / scale, "x", color=MODELLED, label="fit")
        return
    predicted, low, high = (np.where(np.isfinite(v), v, np.nan) for v in fit.predict(loads))
    axes.fill_between(
        loads / unit, low / scale, high / scale, color=MODELLED, alpha=0.2, label="95 % band"
    )
    axes.plot(loads / unit, predicted / scale, color=MODELLED, label="fit")


def servers_figure(fits: list[Fit]) -> Figure:
    """Draw several servers' points and fitted curves, load as a share of each one's peak."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for fit in fits:
        loads, measured = fit.comparison.load.values, fit.comparison.measured.values
        top = float(loads.max())
        name = fit.measurements.source.rpartition("/")[2].removesuffix(".csv")
        (points,) = axes.plot(loads / top, 1e3 * measured, "o", label=name)
        order = np.argsort(loads)
        predicted = fit.comparison.predicted[order]
        axes.plot(loads[order] / top, 1e3 * predicted, color=points.get_color())
    axes.set_xlabel("throughput over its peak")
    axes.set_ylabel("response time [ms]")
    axes.set_ylim(0)
    axes.legend(frameon=False)
    light_grid(axes)
    return figure
