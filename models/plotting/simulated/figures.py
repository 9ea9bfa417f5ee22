"""Simulated times with their intervals, and analytic answers compared with such intervals."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.kinds import FloatArray
from headway.models.language.scales import units_of
from headway.models.language.units import unit
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.looks.page import sheet
from headway.models.plotting.pieces import MEASURED, MODELLED, QUIET, SECOND, light_grid, literal
from headway.models.simulating.check import Check
from headway.models.simulating.several import Simulations
from headway.models.simulating.simulation import Simulation, is_judged

_ROW = 0.32  # inches per row


def simulation_figure(simulation: Simulation) -> Figure:
    """Draw mean and percentiles of the response time, of all jobs and by class, with intervals."""
    names = [name for name in simulation.estimates if is_judged(name) and "response_time" in name]
    each = [simulation[name] for name in names]
    shown = units_of(simulation).unit(unit("s"))
    figure, axes = _rows(names)
    means = np.array([one.mean for one in each]) / shown.scale
    halves = np.array([one.half_width() for one in each]) / shown.scale
    _intervals(axes, means, halves)
    axes.set_xlim(left=0)
    axes.set_xlabel(f"simulated, with 95% intervals [{shown}]")
    axes.set_title(literal(simulation.model.title))
    return figure


def simulations_figure(simulations: Simulations) -> Figure:
    """Draw mean and percentiles of the response time of each point, with intervals."""
    points, name = simulations.points, simulations.varied[0]
    own = simulations.model.parameters[name].unit
    loads = np.array([float(np.ravel(point.model.inputs[name])[0]) for point in points])
    along, times = units_of(simulations).unit(own), units_of(simulations).unit(unit("s"))
    figure = sheet(3.5)
    axes = figure.subplots()
    for output in (one for one in points[0].outputs if "response_time" in one):
        means = np.array([point[output].mean for point in points]) / times.scale
        halves = np.array([point[output].half_width() for point in points]) / times.scale
        axes.errorbar(loads / along.scale, means, yerr=halves, fmt="o", capsize=3, label=output)
    axes.set_xlabel(f"{literal(name)} [{along}]")
    axes.set_ylabel(f"simulated, with 95% intervals [{times}]")
    axes.set_ylim(bottom=0)
    axes.set_title(literal(simulations.model.title))
    legend(axes)
    return figure


def check_figure(check: Check) -> Figure:
    """Draw each interval relative to the simulated mean, with the analytic answer."""
    rows = [row for row in check.rows_checked if row.difference is not None]
    figure, axes = _rows([row.name for row in rows])
    halves = [100 * row.simulated.half_width(row.confidence) / row.simulated.mean for row in rows]
    _intervals(axes, np.zeros(len(rows)), np.array(halves))
    places = np.arange(len(rows))
    differences = np.array([100 * (row.difference or 0.0) for row in rows])
    outside = np.array([row.inside is False for row in rows])
    for mask, colour, label in (
        (~outside, MODELLED, "analytic"),
        (outside, SECOND, "analytic, outside"),
    ):
        if mask.any():
            marker = "x" if label == "analytic" else "D"
            axes.plot(differences[mask], places[mask], marker, color=colour, label=label)
    axes.axvline(0, color=QUIET, linewidth=0.8)
    axes.set_xlabel("difference from the simulated mean [%]")
    axes.set_title(literal(check.solution.model.title))
    legend(axes)
    return figure


def _rows(names: Sequence[str]) -> tuple[Figure, Axes]:
    figure = sheet(1.4 + _ROW * len(names))
    axes = figure.subplots()
    axes.set_yticks(np.arange(len(names)), [literal(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    light_grid(axes)
    return figure, axes


def _intervals(axes: Axes, means: FloatArray, halves: FloatArray) -> None:
    """Draw means with their intervals, one per row."""
    finite = np.where(np.isfinite(halves), halves, 0.0)
    places = np.arange(len(means))
    axes.errorbar(means, places, xerr=finite, fmt="o", color=MEASURED, capsize=3, label="simulated")
