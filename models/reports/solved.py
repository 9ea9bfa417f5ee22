"""The what-if panel of a closed network: a table of solved points, and a script between them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from headway.errors import HeadwayError
from headway.kinds import FloatArray
from headway.models.analysis.sensitivity import Sensitivity
from headway.models.plotting.dense import is_quick
from headway.models.reports.controls import Control, Role, slider_ends, whole_numbers
from headway.models.reports.ground import Ground
from headway.models.reports.templates import shipped
from headway.models.solving.solutions.on_demand import parse_percentile
from headway.models.structure.model import Model
from headway.models.tables.table import scale_of

LARGEST_ERROR = 0.02
"""A table that is further off between its points is no answer."""

_SIZES = ((24, 9, 9), (40, 33))  # points along the load and each parameter, tried in this order
_COSTLY_SIZES = ((12, 9),)  # where each point takes long, as percentiles do


@dataclass(frozen=True)
class Points:
    """A closed network solved at every combination of a few values.

    Parameters
    ----------
    axes
        SI values by parameter, the load first; all positive.
    values
        The output, the utilisation of each station and the throughput; one more dimension, in
        front.
    error
        The largest relative error of the output in the middle of a cell.
    """

    axes: dict[str, FloatArray]
    values: FloatArray
    error: float

    @property
    def script(self) -> str:
        """A JavaScript function of the values along the axes, as a closed form is written."""
        table = {
            "axes": [_rounded(np.log(axis), 12) for axis in self.axes.values()],
            "output": _rounded(np.log(self.values[0]), 6),
            "others": [_rounded(each, 5) for each in self.values[1:]],
        }
        written = json.dumps(table, separators=(",", ":"))
        call = "function closedForm(v) {\n  return betweenPoints(solvedPoints, v);\n}"
        return f"{shipped('between.js')}const solvedPoints = {written};\n{call}"

    @property
    def note(self) -> str:
        """How many points there are, and how far off it is between them."""
        return (
            f"The panel interpolates between {self.values[0].size:,} solved points; in the middle "
            f"of their cells the output is at most {max(self.error, 0.0005):.1%} off."
        )


def solved_points(ground: Ground, sensitivity: Sensitivity) -> Points | str:
    """Solve a closed network over its load and the one or two parameters that matter most.

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
    reason = _obstacle(ground)
    if reason or ground.point is None or ground.load is None:
        return reason
    names = _important(ground, sensitivity)
    error = np.inf
    for first, *others in _SIZES if _is_quick(ground) else _COSTLY_SIZES:
        if len(names) < len(others):
            continue
        axes = {ground.load: _loads(ground, first)}
        axes |= {n: _spread(ground.point, n, k) for n, k in zip(names, others, strict=False)}
        try:
            values = _solved(ground, axes)
            error = _error(ground, axes, values)
        except HeadwayError as refusal:
            return f"the network cannot be solved over the sliders ({refusal})"
        if error <= LARGEST_ERROR:
            return Points(axes, values, error)
    if not np.isfinite(error):
        return "no parameter but the load changes the output smoothly"
    return f"a table of solved points would be up to {error:.0%} off between them"


def solved_controls(ground: Ground, points: Points) -> tuple[Control, ...]:
    """A slider for each axis of the points, within its ends."""
    controls = []
    for name, axis in points.axes.items():
        assert ground.point is not None  # noqa: S101 - points are solved at one
        parameter = ground.point.parameters[name]
        low, high = float(axis[0]), float(axis[-1])
        role = Role.LOAD if name == ground.load else Role.PARAMETER
        own = scale_of(np.array([parameter.value], float), parameter.unit, ground.scale)
        unit = ground.load_unit if name == ground.load else own
        bounded = replace(parameter, minimum=low, maximum=high)
        whole = name in whole_numbers(ground.point)
        controls.append(Control(bounded, unit, low, high, whole, role))
    return tuple(controls)


def _obstacle(ground: Ground) -> str:
    if ground.load is None:
        return "no parameter of the model is the measured load"
    if ground.point is None:
        return "the model sustains none of the measured loads"
    if ground.model.graph.classes:
        return "jobs come in classes, and a panel has one load"
    others = [n for n, v in ground.model.inputs.items() if np.ndim(v) and n != ground.load]
    return f"the data also set {', '.join(others)}, row by row" if others else ""


def _is_quick(ground: Ground) -> bool:
    return is_quick(ground.solution) and parse_percentile(ground.output) is None


def _important(ground: Ground, sensitivity: Sensitivity) -> list[str]:
    """Continuous parameters that change the output, the largest elasticity first."""
    effects = sensitivity.effects[ground.output]
    fixed = whole_numbers(ground.model) | {ground.load}
    sizes = {
        name: abs(effect.elasticity)
        for name, effect in effects.items()
        if name not in fixed and np.isfinite(effect.elasticity) and abs(effect.elasticity) > 1e-3
    }
    return sorted(sizes, key=lambda name: -round(sizes[name], 6))


def _loads(ground: Ground, count: int) -> FloatArray:
    """Whole loads from one to the most that is drawn, those in use among them."""
    assert ground.point is not None  # noqa: S101 - see `_obstacle`
    assert ground.load is not None  # noqa: S101
    most = float(np.ceil(ground.loads.max()))
    own = float(ground.point.inputs[ground.load])
    return np.unique([own, *np.round(np.geomspace(1.0, max(most, 2.0), count))])


def _spread(point: Model, name: str, count: int) -> FloatArray:
    """Values along a slider, the parameter's own among them."""
    parameter = point.parameters[name]
    low, high = slider_ends(parameter, is_whole=False)
    own = float(point.inputs[name])
    spread = np.geomspace(low or own / 4, high, count)
    spread[np.argmin(np.abs(np.log(spread / own)))] = own  # the nearest gives way
    return spread


def _solved(ground: Ground, axes: dict[str, FloatArray]) -> FloatArray:
    """The output, utilisations and throughput at every combination."""
    assert ground.point is not None  # noqa: S101 - see `_obstacle`
    mesh = np.meshgrid(*axes.values(), indexing="ij")
    given = {name: each.ravel() for name, each in zip(axes, mesh, strict=True)}
    solution = ground.point.at(given).solve()
    busy = [f"{name}.utilisation" for name in solution.stations]
    names = [ground.output, *busy, "throughput"]
    every = [np.broadcast_to(np.asarray(solution[n], float), solution.shape) for n in names]
    return np.stack([each.reshape(mesh[0].shape) for each in every])


def _error(ground: Ground, axes: dict[str, FloatArray], values: FloatArray) -> float:
    """The largest relative error of the output in the middle of a cell."""
    from scipy.interpolate import RegularGridInterpolator

    middles = {name: np.sqrt(axis[:-1] * axis[1:]) for name, axis in axes.items()}
    load = next(iter(axes))
    middles[load] = np.unique(np.round(middles[load]))  # jobs are whole
    logs = tuple(map(np.log, axes.values()))
    between = RegularGridInterpolator(logs, np.log(values[0]))
    mesh = np.meshgrid(*map(np.log, middles.values()), indexing="ij")
    found = np.exp(between(np.stack([each.ravel() for each in mesh], axis=1)))
    exact = _solved(ground, middles)[0].ravel()
    return float(np.max(np.abs(found / exact - 1)))


def _rounded(values: FloatArray, digits: int) -> Sequence[float]:
    return [float(f"{value:.{digits}g}") for value in np.ravel(values).tolist()]
