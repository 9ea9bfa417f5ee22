"""The what-if panel without a closed form: a table of solved points, read between them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.analysis.between import beside, between_rows
from headway.models.analysis.sensitivity import Sensitivity
from headway.models.plotting.dense import is_quick
from headway.models.reports.between.grids import Along, SolvedGrid
from headway.models.reports.between.limits import full_loads
from headway.models.reports.between.refined import refined
from headway.models.reports.controls import Control, ControlRole, slider_ends, whole_numbers
from headway.models.reports.ground import Ground
from headway.models.reports.templates import shipped
from headway.models.structure.model import Model
from headway.models.structure.outputs import on_demand
from headway.models.structure.parts.counts import counts
from headway.models.tables.table import scale_of
from headway.records import dataclass

LARGEST_ERROR = 0.02
"""A table that is further off between its points is no answer."""

_SIZES = ((24, 9, 9), (40, 33), (64, 65))
"""Points along the load and each parameter, tried in this order."""
_FEW, _LONG = ((12, 9), (24, 33)), ((12, 9),)  # of closed classes; where points take long
_LAYERED = ((13, 9, 9), (13, 13), (13, 5))  # to begin with: they bend where a pool fills
_MOST_LOADS, _MOST_COUNTED = 40, 5  # and numbers of threads, each of which is solved by itself
_BETWEEN_LOADS = 0.5  # of the error, where the rest is between values of another parameter
_NEARBY = 1.5
_ALIKE = 0.1  # times their mean, so far think times may lie apart on one panel
_LEAST, _MOST = 1e-6, 0.96  # share of the load that saturates, of the points' ends
_SAME = 1e-6  # relative difference of two answers by one method, which settles to 1e-9
_BEYOND = 1.1  # times the largest load that is drawn, a slider goes


@dataclass(frozen=True)
class Points:
    """A model solved at every combination of a few values.

    Parameters
    ----------
    grid
        Where; the load first.
    values
        The output, the utilisation of each station and of jobs the throughput; one more
        dimension, in front.
    error, lost
        The largest relative error of the output in the middle of a cell, and the largest error
        of utilisations there.
    """

    grid: SolvedGrid
    values: FloatArray
    error: float
    lost: float

    @property
    def script(self) -> str:
        """A JavaScript function of the values along the axes, as a closed form is written."""
        written = json.dumps(self.grid.table(self.values), separators=(",", ":"))
        call = "function closedForm(v) {\n  return betweenPoints(solvedPoints, v);\n}"
        return f"{shipped('between.js')}const solvedPoints = {written};\n{call}"

    @property
    def note(self) -> str:
        """How many points there are, and how far off it is between them."""
        points = 100 * max(self.lost, 0.0005)
        others = len(self.values) - 1 - (self.grid.along is Along.JOBS)
        busy = f", utilisations {points:.1f} percentage points" if others else ""
        return (
            f"The panel interpolates between {self.values[0].size:,} solved points; in the middle "
            f"of their cells the output is at most {max(self.error, 0.0005):.1%} off{busy}."
        )


def solved_points(ground: Ground, sensitivity: Sensitivity) -> Points | str:
    """Solve a model over its load and the one or two parameters that matter most.

    Parameters
    ----------
    ground
        With a load and an operating point.
    sensitivity
        Says which parameters matter.

    Returns
    -------
    The points, or why there are none.
    """
    others = beside(ground.model, ground.load)
    if others and not _is_one_curve(ground, others):
        return f"the data also set {', '.join(others)}, row by row"
    if why := _is_slow(ground):
        return f"{why}, so a table of solved points would take too long"
    names, error = _important(ground, sensitivity), np.inf
    for first, *counted in _sizes(ground):
        values = dict(zip(names, counted, strict=False))
        if len(names) < len(counted) or _is_long(ground, values):
            continue
        try:
            grid = _grid(ground, first, values)
            points = _solved(grid, ground)
        except HeadwayError as refusal:
            return f"the model cannot be solved over the sliders ({refusal})"
        if points.error <= LARGEST_ERROR:
            return points
        error = points.error
    if not np.isfinite(error):
        return "no table of solved points is smooth enough over the sliders"
    return f"a table of solved points would be up to {error:.0%} off between them"


def _is_slow(ground: Ground) -> str:
    """Why a point takes too long to solve hundreds; empty where it does not."""
    if ground.solution.method == "simulation":
        return "each point is simulated"
    blocks = ground.solution.is_open and ground.model.graph.blocks
    return "the network blocks" if blocks else ""


def _is_one_curve(ground: Ground, others: Sequence[str]) -> bool:
    """Whether clients thought for about as long at every load, so that one curve is of all."""
    if between_rows(ground.model, ground.load, ground.loads) is None:
        return False
    spreads = [np.ptp(np.asarray(ground.model.inputs[n], float)) for n in others]
    middles = [np.mean(np.asarray(ground.model.inputs[n], float)) for n in others]
    return all(a <= _ALIKE * b for a, b in zip(spreads, middles, strict=True))


def solved_controls(ground: Ground, points: Points) -> tuple[Control, ...]:
    """A slider for each axis of the points, within its ends."""
    controls = []
    for name, axis in points.grid.axes.items():
        assert ground.point is not None  # noqa: S101 - points are solved at one
        parameter = ground.point.parameters[name]
        own = scale_of(np.array([parameter.value], float), parameter.unit, ground.scale)
        whole = name in whole_numbers(ground.point)
        low, high = float(axis[0]), float(axis[-1])
        if name != ground.load:
            role, unit = ControlRole.PARAMETER, own
        else:
            role, unit = ControlRole.LOAD, ground.load_unit
        if name == ground.load and points.grid.along is Along.SHARE:
            low, high = max(0.0, parameter.minimum), _BEYOND * float(ground.loads.max())
        else:
            parameter = replace(parameter, minimum=low, maximum=high)
        controls.append(Control(parameter, unit, low, high, whole, role))
    return tuple(controls)


def _is_like(grid: SolvedGrid, values: FloatArray, ground: Ground) -> bool:
    """Whether a table of layers answers as the page does: many points may be by a quicker method.

    Loads of which one is the page's own are compared there.
    """
    point, _ = _point_and_load(ground)
    places = [np.flatnonzero(axis == float(point.inputs[n])) for n, axis in grid.axes.items()]
    if not all(place.size for place in places):
        return True
    own = float(point.solve()[ground.output])
    return bool(np.isclose(values[0][tuple(place[0] for place in places)], own, rtol=_SAME))


def _solved(grid: SolvedGrid, ground: Ground) -> Points:
    """A table with its errors: endless where the output has no logarithm, or is another one."""
    if ground.model.graph.layers and grid.along is not Along.SHARE:
        between = any(name not in counts(grid.model.graph) for name in list(grid.axes)[1:])
        target = LARGEST_ERROR * (_BETWEEN_LOADS if between else 1.0)
        dense = refined(grid, target, _MOST_LOADS)
        error = dense.error if _is_like(dense.grid, dense.values, ground) else np.inf
        return Points(dense.grid, dense.values, error, dense.lost)
    values = grid.solved()
    is_positive = np.isfinite(values).all() and (values[0] > 0).all()
    error, lost = grid.errors(values) if is_positive else (np.inf, np.inf)
    return Points(grid, values, error if np.isfinite(error) else np.inf, lost)


def _grid(ground: Ground, first: int, counted: dict[str, int]) -> SolvedGrid:
    """Where to solve: along the load, and so many values of each of the others."""
    point, load = _point_and_load(ground)
    spreads = {name: _spread(point, name, count) for name, count in counted.items()}
    most, nothing = float(ground.loads.max()), np.empty((0, *counted.values()))
    if load in counts(point.graph):
        axes = {load: _jobs(float(point.inputs[load]), most, first)}
        if point.graph.layers:
            axes = {load: np.unique(ground.loads)}
        return SolvedGrid(point, ground.output, Along.JOBS, axes | spreads, nothing)
    full = nothing
    if ground.solution.stations or (point.graph.layers and ground.solution.is_open):
        mesh = np.meshgrid(*spreads.values(), indexing="ij")
        full = full_loads(point, load, dict(zip(spreads, mesh, strict=True)))
    if full.shape[0]:
        shares = -np.expm1(np.linspace(np.log1p(-_LEAST), np.log1p(-_MOST), first))
        return SolvedGrid(point, ground.output, Along.SHARE, {load: shares} | spreads, full)
    least = max(point.parameters[load].minimum, min(_LEAST * most, float(point.inputs[load])))
    axes = {load: np.linspace(least, _BEYOND * most, first)}
    return SolvedGrid(point, ground.output, Along.EVENLY, axes | spreads, nothing)


def _point_and_load(ground: Ground) -> tuple[Model, str]:
    """The operating point, and the load; a panel is refused before where there are none."""
    assert ground.point is not None  # noqa: S101
    assert ground.load is not None  # noqa: S101
    return ground.point, ground.load


def _sizes(ground: Ground) -> tuple[tuple[int, ...], ...]:
    """How many points are tried, by how long each takes."""
    if ground.model.graph.layers:
        return _LAYERED
    if on_demand([ground.output]):
        return _LONG
    if is_quick(ground.solution):
        return _SIZES
    return _FEW if ground.solution.classes else _LONG


def _is_long(ground: Ground, counted: Mapping[str, int]) -> bool:
    """Whether layers would be solved too often by themselves."""
    whole = [count for name, count in counted.items() if name in counts(ground.model.graph)]
    return bool(ground.model.graph.layers and prod(whole) > _MOST_COUNTED)


def _important(ground: Ground, sensitivity: Sensitivity) -> list[str]:
    """Continuous parameters that change the output, the largest elasticity first."""
    effects = sensitivity.effects[ground.output]
    fixed = whole_numbers(ground.model) | {ground.load}
    if ground.model.graph.layers:
        fixed = {ground.load}
    sizes = {
        name: abs(effect.elasticity)
        for name, effect in effects.items()
        if name not in fixed and np.isfinite(effect.elasticity) and abs(effect.elasticity) > 1e-3
    }
    return sorted(sizes, key=lambda name: -round(sizes[name], 6))


def _jobs(own: float, most: float, count: int) -> FloatArray:
    """Whole numbers of jobs from one to the most that is drawn, the model's own among them."""
    return np.unique([own, *np.round(np.geomspace(1.0, max(np.ceil(most), 2.0), count))])


def _spread(point: Model, name: str, count: int) -> FloatArray:
    """Values along a slider, the parameter's own among them."""
    parameter = point.parameters[name]
    own = float(point.inputs[name])
    if name in counts(point.graph):
        least = max(1.0, parameter.minimum, own - count // 2)
        return np.arange(least, least + count)
    low, high = slider_ends(parameter, is_whole=False)
    if point.graph.layers:  # these bend where a pool fills: a table is near enough only nearby
        low, high = max(low, own / _NEARBY), min(high, own * _NEARBY)
    spread = np.geomspace(low or own / 4, high, count)
    spread[np.argmin(np.abs(np.log(spread / own)))] = own  # the nearest gives way
    return spread
