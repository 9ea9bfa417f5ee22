"""The what-if panel without a closed form: a table of solved points, with interpolation."""

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
"""Relative interpolation error above which a table is not shown."""

_SIZES = ((24, 9, 9), (40, 33), (64, 65))
"""Numbers of points along the load and each other parameter, tried in this order."""
# for closed classes; and where points take long to solve
_FEW, _LONG = ((12, 9), (24, 33)), ((12, 9),)
# at first: curves of layered services bend where a pool fills
_LAYERED = ((13, 9, 9), (13, 13), (13, 5))
# most loads, and most numbers of threads, of which few are of one structure
_MOST_LOADS, _MOST_COUNTED = 40, 5
# share of the error allowed between loads; the rest is between other parameters' values
_BETWEEN_LOADS = 0.5
_NEARBY = 1.5
_ALIKE = 0.1  # spread of think times, relative to their mean, up to which one curve stands for all
# lowest and highest load of the points, as shares of the load that saturates
_LEAST, _MOST = 1e-6, 0.96
_SAME = 1e-6  # relative difference of two answers by one method, which converges to 1e-9
_BEYOND = 1.1  # upper end of a slider, in multiples of the largest load drawn


@dataclass(frozen=True)
class Points:
    """A model solved at every combination of a few values.

    Parameters
    ----------
    grid
        The points, with the load as the first axis.
    values
        The output, the utilisation of each station, and for jobs the throughput; they are the first
        axis.
    error, lost
        Errors at the centre of a cell: the largest relative error of the output, and the largest
        error of utilisations.
    """

    grid: SolvedGrid
    values: FloatArray
    error: float
    lost: float

    @property
    def script(self) -> str:
        """A JavaScript function of the values along the axes, in the form of a closed form's."""
        written = json.dumps(self.grid.table(self.values), separators=(",", ":"))
        call = "function closedForm(v) {\n  return betweenPoints(solvedPoints, v);\n}"
        return f"{shipped('between.js')}const solvedPoints = {written};\n{call}"

    @property
    def note(self) -> str:
        """How many points there are, and how large the error is between them."""
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
        The data of a panel, with a load and an operating point.
    sensitivity
        Sensitivities, which say what parameters matter most.

    Returns
    -------
    The points, or why there are none.
    """
    others = beside(ground.model, ground.load)
    if others and not _is_one_curve(ground, others):
        return f"the data also set {', '.join(others)}, row by row"
    if why := _is_slow(ground):
        return f"{why}, so a table of solved points would take too long"
    names, error = _important(ground, sensitivity), None
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
    return _why_none(names, error)


def _why_none(names: Sequence[str], error: float | None) -> str:
    """Why there is no table, by the parameters beside the load and the error of the last tried."""
    if not names:
        return "no parameter besides the load changes its answers"
    if error is None:
        return "a table of solved points would take too long"
    if not np.isfinite(error):
        return "its answers jump between solved points"
    return f"its answers between solved points would be up to {error:.0%} off"


def _is_slow(ground: Ground) -> str:
    """Why points take too long to solve hundreds of them; empty if they do not."""
    if ground.solution.method == "simulation":
        return "each point is simulated"
    blocks = ground.solution.is_open and ground.model.graph.blocks
    return "the network blocks" if blocks else ""


def _is_one_curve(ground: Ground, others: Sequence[str]) -> bool:
    """Whether think times were about the same at every load, so that one curve applies to all."""
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
    """Whether a table of layers agrees with the page: its points may use a quicker method.

    The two are compared at the page's own load, if the table has it.
    """
    point, _ = _point_and_load(ground)
    places = [np.flatnonzero(axis == float(point.inputs[n])) for n, axis in grid.axes.items()]
    if not all(place.size for place in places):
        return True
    own = float(point.solve()[ground.output])
    return bool(np.isclose(values[0][tuple(place[0] for place in places)], own, rtol=_SAME))


def _solved(grid: SolvedGrid, ground: Ground) -> Points:
    """A table with its errors; infinite if the output has no logarithm, or is not the page's."""
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
    """Where to solve: along the load, and at so many values of each other parameter."""
    point, load = _point_and_load(ground)
    spreads = {name: _spread(point, name, count) for name, count in counted.items()}
    most, nothing = float(ground.loads.max()), np.empty((0, *counted.values()))
    if load in counts(point.graph):
        axes = {load: _jobs(float(point.inputs[load]), most, first)}
        if point.graph.layers:
            axes = {load: _some(np.unique(ground.loads), float(point.inputs[load]), first)}
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
    """The operating point and the load; a panel without them is refused before."""
    assert ground.point is not None  # noqa: S101
    assert ground.load is not None  # noqa: S101
    return ground.point, ground.load


def _sizes(ground: Ground) -> tuple[tuple[int, ...], ...]:
    """Numbers of points to try, depending on how long a point takes."""
    if ground.model.graph.layers:
        return _LAYERED
    if on_demand([ground.output]):
        return _LONG
    if is_quick(ground.solution):
        return _SIZES
    return _FEW if ground.solution.classes else _LONG


def _is_long(ground: Ground, counted: Mapping[str, int]) -> bool:
    """Whether there would be layers with too many numbers of threads."""
    whole = [count for name, count in counted.items() if name in counts(ground.model.graph)]
    return bool(ground.model.graph.layers and prod(whole) > _MOST_COUNTED)


def _important(ground: Ground, sensitivity: Sensitivity) -> list[str]:
    """Continuous parameters that change the output, those of largest elasticity first."""
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
    """Whole numbers of jobs from one to the most that is drawn, including the model's own."""
    return np.unique([own, *np.round(np.geomspace(1.0, max(np.ceil(most), 2.0), count))])


def _some(loads: FloatArray, own: float, count: int) -> FloatArray:
    """About so many of the loads of a curve, with its ends and the model's own."""
    places = np.round(np.linspace(0, loads.size - 1, min(count, loads.size))).astype(int)
    return np.unique(np.append(loads[places], own))


def _spread(point: Model, name: str, count: int) -> FloatArray:
    """Values along a slider, including the parameter's own."""
    parameter = point.parameters[name]
    own = float(point.inputs[name])
    if name in counts(point.graph):
        least = max(1.0, parameter.minimum, own - count // 2)
        return np.arange(least, least + count)
    low, high = slider_ends(parameter, is_whole=False)
    # curves of layered services bend where a pool fills: only nearby values are close enough
    if point.graph.layers:
        low, high = max(low, own / _NEARBY), min(high, own * _NEARBY)
    spread = np.geomspace(low or own / 4, high, count)
    spread[np.argmin(np.abs(np.log(spread / own)))] = own  # in place of the nearest value
    return spread
