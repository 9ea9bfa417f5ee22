"""Fits drawn: points, curve, band, and relative errors below; several servers side by side."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.comparison import Comparison
from headway.models.inference.fit import Fit
from headway.models.inference.forecasting.elsewhere import Elsewhere
from headway.models.inference.server import ServerFit
from headway.models.inference.side_by_side import SideBySide
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import Unit
from headway.models.plotting.figures import (
    draw_model,
    drawn_unit,
    heading,
    mark_saturation,
    panels,
    short_source,
    title_of,
)
from headway.models.plotting.looks.legends import legend, outside_legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import (
    QUIET,
    SECOND,
    Style,
    axis_label,
    draw_band,
    draw_curve,
    draw_points,
    draw_residuals,
    light_grid,
    plain_log_axis,
    style,
    visible,
)
from headway.models.structure.outputs import percent_of

_RUNNERS_UP = 4  # most runners-up drawn
_LEAST_WEIGHT = 0.005  # least weight that is not written as 0%
_TOGETHER = Style(QUIET, "-", "")  # of runners-up whose names hardly matter
_BELOW = 1.9  # other lines
_ROW = 0.21  # inches per entry of a legend


def fit_figure(fit: Fit) -> Figure:
    """Draw measured points, the fitted curve with its 95% band, and relative errors."""
    return _figure(fit, (), fit, units_of(fit))


def server_fit_figure(server_fit: ServerFit) -> Figure:
    """Draw the chosen form of a server like a fit, and thin lines of others that may be right."""
    scale = units_of(server_fit)
    return _figure(server_fit.best, _others(server_fit), _expecting(server_fit), scale)


def fitted_curve(axes: Axes, fit: Fit | ServerFit, scale: Scale) -> None:
    """Draw a fit's first output with its band and measured points, without errors below.

    Parameters
    ----------
    axes
        Where to draw.
    fit
        The fit of one model, or of the forms of a server.
    scale
        The units of the page.
    """
    best = fit.best if isinstance(fit, ServerFit) else fit
    expecting = _expecting(fit) if isinstance(fit, ServerFit) else fit
    shown = drawn_unit(best.comparison, scale)
    _draw_first(axes, best, (), expecting, shown)
    if isinstance(fit, ServerFit):
        for place, (_, other) in enumerate(_others(fit)):
            _draw_other(axes, other, "" if place else "other forms", _TOGETHER, shown.scale)


def _expecting(server_fit: ServerFit) -> Fit | ServerFit:
    """The answer whose band is drawn: all plausible forms, if they have draws."""
    return server_fit if server_fit.draws else server_fit.best


def _others(server_fit: ServerFit) -> list[tuple[str, Fit]]:
    """Other forms that may be right, with their weights."""
    plausible = {id(fit) for _, fit in server_fit.plausible if fit is not server_fit.best}
    weighed = list(zip(server_fit.candidates, server_fit.weights.tolist(), strict=True))[1:]
    weighed.sort(key=lambda entry: id(entry[0][1]) not in plausible)  # stable: otherwise by AICc
    return [
        (f"{form.name}, weight {weight:.0%}", fit)
        for (form, fit), weight in weighed
        if weight >= _LEAST_WEIGHT
    ][:_RUNNERS_UP]


def _figure(
    fit: Fit, others: Sequence[tuple[str, Fit]], expecting: Fit | ServerFit, scale: Scale
) -> Figure:
    figure, columns = panels(fit.comparison, scale)
    units = [drawn_unit(one, scale) for one in fit.comparison.each]
    upper, lower = columns[0]
    _draw_first(upper, fit, others, expecting, units[0])
    comparison = fit.comparison
    draw_residuals(
        lower, comparison.load.values / comparison.load.unit.scale, comparison.relative_error
    )
    for place, (upper, lower) in enumerate(columns[1:], 1):
        _draw_beside(upper, lower, fit.comparison.each[place], units[place])
    source = short_source(fit.measurements.source)
    text = f"{title_of(fit.model)}: fitted to {source}"
    heading(figure, columns, text, "medium")
    return figure


def _draw_beside(upper: Axes, lower: Axes, one: Comparison, shown: Unit) -> None:
    """Draw a further output to which the fit was made."""
    x = one.load.values / one.load.unit.scale
    draw_model(upper, one, shown, "fit")
    draw_points(upper, x, one.measured.values / shown.scale)
    upper.set_ylim(0, 1.3 * float(one.measured.values.max()) / shown.scale)
    legend(upper)
    draw_residuals(lower, x, one.relative_error)


def _draw_first(
    upper: Axes,
    fit: Fit,
    others: Sequence[tuple[str, Fit]],
    expecting: Fit | ServerFit,
    shown: Unit,
) -> None:
    """Draw the first output with the band and the runners-up."""
    comparison = fit.comparison
    load = comparison.load.unit
    scale, x = shown.scale, comparison.load.values / load.scale
    _draw_fit(upper, fit, shown, expecting)
    for place, (name, other) in enumerate(others, 1):
        _draw_other(upper, other, name, style(place), scale)
    _draw_published(upper, fit, shown)
    if fit.loads().size:
        mark_saturation(upper, fit.model, load, float(fit.loads().max()))
    draw_points(upper, x, comparison.measured.values / scale)
    upper.set_ylim(0, 1.3 * float(comparison.measured.values.max()) / scale)
    legend(upper)


def _draw_fit(axes: Axes, fit: Fit, shown: Unit, expecting: Fit | ServerFit) -> None:
    """Draw the curve with its band over a load; without a load, the model as it is."""
    loads, unit = fit.loads(), fit.comparison.load.unit.scale
    if loads.size == 0:
        draw_model(axes, fit.comparison, shown, "fit")
        return
    low, _, high = _expected(expecting, fit.comparison.output, loads)
    draw_band(axes, loads / unit, low / shown.scale, high / shown.scale)
    draw_curve(axes, loads / unit, _curve(fit, loads) / shown.scale, "fit")


def _curve(fit: Fit, loads: FloatArray) -> FloatArray:
    """The fit's prediction of its first output: throughput, mean response time, or a percentile."""
    if fit.comparison.output == "throughput":
        return Elsewhere(fit.problem, loads).throughput(fit.optimum.free)
    if percent_of(fit.comparison.output) is None:
        return Elsewhere(fit.problem, loads).response_time(fit.optimum.free)
    middle: FloatArray = _expected(fit, fit.comparison.output, loads)[1]
    return middle


def _expected(expecting: Fit | ServerFit, output: str, loads: FloatArray) -> FloatArray:
    """Band and middle of throughput, response time, or a percentile of it, shape (3, loads)."""
    percent = percent_of(output)
    if percent is None:
        means = expecting.predict(loads, [])
        return means.throughput if output == "throughput" else means.response_time
    return expecting.predict(loads, [percent]).percentiles[output]


def _draw_published(axes: Axes, fit: Fit, shown: Unit) -> None:
    """Draw the preset from which the search started, if nothing but the load varies."""
    name, loads, initial = fit.comparison.load_parameter, fit.loads(), fit.initial
    swept = [n for n, value in fit.problem.model.inputs.items() if np.ndim(value)]
    if initial.preset is None or name is None or swept != [name] or not loads.size:
        return
    values = np.asarray(initial.at({name: loads}).solve()[fit.comparison.output], float)
    x = loads / fit.comparison.load.unit.scale
    label = f"preset {initial.preset}, not fitted"
    axes.plot(x, visible(values) / shown.scale, "--", color=SECOND, label=label)


def _draw_other(axes: Axes, fit: Fit, name: str, look: Style, scale: float) -> None:
    """Draw a runner-up, if it has a curve over the load; without a name it is in no legend."""
    loads = fit.loads()
    if loads.size:
        x = loads / fit.comparison.load.unit.scale
        axes.plot(
            x,
            _curve(fit, loads) / scale,
            color=look.colour,
            linestyle=look.line,
            linewidth=1,
            label=name or "_nolegend_",
            zorder=_BELOW,
        )


def side_by_side_figure(side: SideBySide) -> Figure:
    """Draw all curves and fits of servers side by side in one picture."""
    return servers_figure([server.best for server in side.servers], units_of(side))


def servers_figure(fits: Sequence[Fit], scale: Scale) -> Figure:
    """Draw several servers' points and fitted curves, with load as a share of each one's peak."""
    figure = sheet(4.5 + _ROW * len(fits))
    axes, shown = figure.subplots(), scale.unit(_shared_unit(fits))
    for place, fit in enumerate(fits):
        loads, measured = fit.comparison.load.values, fit.comparison.measured.values
        share = 100 * loads / float(loads.max())
        name, look = short_source(fit.measurements.source), style(place)
        axes.plot(share, measured / shown.scale, look.marker, color=look.colour, label=name)
        order = np.argsort(loads)
        predicted = fit.comparison.predicted[order] / shown.scale
        axes.plot(share[order], predicted, color=look.colour, linestyle=look.line, linewidth=1)
    axes.set_title("marks measured, lines fitted")
    axes.set_xlabel("share of the highest measured load [%]")
    axes.set_ylabel(axis_label(fits[0].comparison.output, shown))
    plain_log_axis(axes)
    outside_legend(axes)
    light_grid(axes)
    return figure


def _shared_unit(fits: Sequence[Fit]) -> Unit:
    """The unit in which all servers were measured; a picture cannot hold different quantities."""
    outputs = {fit.comparison.output for fit in fits}
    if len(outputs) > 1:
        msg = f"one plot holds one output, not {' and '.join(sorted(outputs))}; name one with --y"
        raise InvalidParameter(msg)
    return fits[0].comparison.model.meaning(outputs.pop()).unit
