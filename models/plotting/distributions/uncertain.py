"""Figures of answers with 95% bands: a solution's curves, with their uncertainty."""

from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from headway.kinds import FloatArray
from headway.models.plotting.figures import (
    drawn_outputs,
    groups_of,
    straight_figure,
    unit_of,
    unit_of_input,
)
from headway.models.plotting.looks.legends import legend
from headway.models.plotting.pieces import style
from headway.models.showing.solutions import swept
from headway.models.uncertain.propagation import Propagation

_FAINT = 0.2
# top of a panel that shows a band without upper end, relative to the highest finite end
_ABOVE = 1.1


def propagation_figure(propagation: Propagation) -> Figure:
    """Draw a solution over its first swept input, each curve with its 95% band.

    A band without upper end, because draws saturate, goes on to the top of its panel.
    """
    figure, solution = straight_figure(propagation.solution), propagation.solution
    name = swept(solution)[0]
    across = np.asarray(solution.model.inputs[name], float)
    x = across / unit_of_input(solution, name).scale
    panels, outputs = figure.axes, drawn_outputs(solution)
    for axes, together in zip(panels, outputs, strict=False):
        scale = unit_of(solution, together).scale
        groups = groups_of(solution, len(x)).values()
        for place, (output, mine) in enumerate(product(together, groups)):
            low, high = (end[mine] / scale for end in _ends(propagation, output))
            _draw_band(axes, x[mine], low, high, place)
        ends = [
            end for output in together for end in (solution[output], *_ends(propagation, output))
        ]
        _set_top(axes, [np.asarray(end, float) / scale for end in ends])
    if solution.stations and len(swept(solution)) == 1:
        _draw_stations(panels[-1], x, propagation)
    if len(swept(solution)) == 1:
        for axes in panels:
            legend(axes)
    return figure


def _ends(propagation: Propagation, name: str) -> list[FloatArray]:
    """Both ends of a band, with an entry for each operating point."""
    return [np.asarray(end, float) for end in propagation.band(name)]


def _draw_stations(axes: Axes, x: FloatArray, propagation: Propagation) -> None:
    """Bands of the utilisations that are drawn."""
    solution = propagation.solution
    used = [n for n in solution.stations if np.any(np.asarray(solution[f"{n}.utilisation"]) > 0)]
    for place, name in enumerate(used):
        low, high = (100 * end for end in _ends(propagation, f"{name}.utilisation"))
        _draw_band(axes, x, low, high, place, "_" if place else "95% band")


def _draw_band(
    axes: Axes, x: FloatArray, low: FloatArray, high: FloatArray, place: int, label: str = ""
) -> None:
    top = np.where(np.isposinf(high), _far_above(low, high), high)
    axes.fill_between(
        x, low, top, where=np.isfinite(low).tolist(), color=style(place).colour, alpha=_FAINT,
        linewidth=0, label=label or ("_" if place else "95% band"),
    )  # fmt: skip


def _far_above(*ends: Any) -> float:
    numbers = np.concatenate([np.ravel(end) for end in ends])
    return 10 * float(np.max(np.abs(numbers[np.isfinite(numbers)]), initial=1e-300))


def _set_top(axes: Axes, ends: list[FloatArray]) -> None:
    """Let a panel end above the highest finite number."""
    axes.set_ylim(0, _ABOVE * _far_above(*ends) / 10)
