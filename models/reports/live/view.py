"""What a notebook's panel shows of a model: a curve, readings and tables, all from the solver."""

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np

from headway.kinds import FloatArray
from headway.models.language.digits import in_unit, with_unit
from headway.models.language.scales import Scale
from headway.models.language.titles import axis_title
from headway.models.language.units import Unit
from headway.models.plotting.dense import is_quick
from headway.models.reports.controls import Control
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.outputs import on_demand
from headway.models.tables.forms import tables
from headway.models.tables.table import scale_of
from headway.records import dataclass

# points of a curve, and of a curve whose points take long to solve
_POINTS, _COSTLY_POINTS = 120, 40
_NEAR, _ROUNDS = 16, 4  # cells, and how often they are divided, to find where a curve ends

Point = list[float]


@dataclass(frozen=True)
class PanelView:
    """A model at one operating point, with one output over one parameter.

    Parameters
    ----------
    model
        A model with a single value for each parameter.
    over
        The control of the parameter on the curve's axis.
    output
        A name in a solution, such as ``response_time``, ``cpu.utilisation`` or
        ``response_time_p95``.
    scale
        The units of the panel.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> from headway.models.reports.live.controls import live_controls
    >>> model = catalogue_model("server-single").at(delay="1 ms", service_time="1 ms")
    >>> view = PanelView(model, live_controls(model)[0], "response_time")
    >>> round(view.limit)
    1000
    """

    model: Model
    over: Control
    output: str
    scale: Scale = field(default_factory=Scale)

    @cached_property
    def solution(self) -> Solution:
        """The answer at the operating point."""
        return self.model.solve()

    @property
    def value(self) -> float:
        """The output at the operating point; infinite beyond saturation."""
        return float(_number(self.solution, self.output)[0])

    @cached_property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """Values of the parameter and of the output along the curve, both in SI.

        Points are closer together near the value at which the output becomes infinite.
        """
        loads = self._loads()
        values = self._solved(loads)
        for _ in range(0 if self.over.is_whole else _ROUNDS):
            last = _last_finite(values)
            if last is None:
                break
            low, high = float(loads[last]), float(loads[last + 1])
            between = np.linspace(low, high, _NEAR + 1)[1:-1]
            loads = np.insert(loads, last + 1, between)
            values = np.insert(values, last + 1, self._solved(between))
        return loads, values

    @property
    def limit(self) -> float | None:
        """Value at which the output becomes infinite along the curve [SI]; None if none."""
        loads, values = self.points
        last = _last_finite(values)
        return None if last is None or self.over.is_whole else float(loads[last + 1])

    @property
    def unit(self) -> Unit:
        """The unit in which the output is drawn."""
        _, values = self.points
        return scale_of(values, self._own_unit, self.scale)

    @property
    def _own_unit(self) -> Unit:
        return self.model.meaning(self.output).unit

    def _loads(self) -> FloatArray:
        count = _POINTS if self._is_quick else _COSTLY_POINTS
        low, high = self.over.low, self.over.high
        spread: Callable[..., FloatArray] = np.geomspace if self.over.is_log else np.linspace
        loads = spread(low or self._least, high, count)
        return np.unique(np.round(loads)) if self.over.is_whole else loads

    @property
    def _least(self) -> float:
        """The smallest value, in place of 0 where some number is not defined at 0."""
        return 1e-6 * self.over.high

    @property
    def _is_quick(self) -> bool:
        costly = on_demand([self.output], self.solution.classes, self.solution.stations)
        return is_quick(self.solution) and (not costly or self.solution.is_open)

    def _solved(self, loads: FloatArray) -> FloatArray:
        solution = self.model.at({self.over.parameter.name: loads}).solve()
        return _number(solution, self.output)

    def document(self) -> dict[str, Any]:
        """What the panel's script draws and writes, without infinite numbers."""
        loads, values = self.points
        kept = np.isfinite(values)
        value = self.value
        here = float(self.model.inputs[self.over.parameter.name])
        return {
            "curve": np.stack([loads[kept], values[kept]], axis=1).tolist(),
            "limit": self.limit,
            "marker": [here, value if np.isfinite(value) else None],
            "readings": self.readings(),
            "tables": "".join(
                f'<div class="scroll">{table.grid_html()}</div>{table.notes_html()}'
                for table in tables(self.solution, self.scale)
            ),
        }

    def axes(self) -> dict[str, Any]:
        """Both axes of the picture in SI, and the units in which they are labelled."""
        loads, values = self.points
        finite = values[np.isfinite(values) & np.isin(loads, self._loads())]
        top = float(np.percentile(finite, 90)) if finite.size else 1.0
        x = {**self.over.document(), "low": self.over.low, "high": self.over.high}
        unit = self.unit
        y = {"title": axis_title(self.output, unit), "unit": str(unit), "scale": unit.scale}
        return {"x": x, "y": {**y, "low": 0.0, "log": False, "high": 1.6 * top or unit.scale}}

    def readings(self) -> list[tuple[str, str]]:
        """Names and texts of the readings below the picture."""
        solution, over = self.solution, self.over.parameter
        here = float(self.model.inputs[over.name])
        readings = [(_words(over.name), over.shown(here, self.scale))]
        value = self.value
        text = with_unit(in_unit(value, self.unit), self.unit)
        text = text if np.isfinite(value) else "beyond saturation"
        readings.append((f"{_words(self.output)} there", text))
        if solution.stations:
            name = str(np.ravel(solution.bottleneck)[0])
            busy = f"{name}.utilisation"
            share = (
                f", {float(_number(solution, busy)[0]):.0%} busy"
                if name in solution.stations
                else ""
            )
            readings.append(("bottleneck", name + share))
        if "saturation_throughput" in solution.outputs:
            limit = float(np.ravel(solution.saturation_throughput)[0])
            ends = self.scale.text(limit, self.model.meaning("throughput").unit)
            readings.append(("saturates at", ends if np.isfinite(limit) else "no load"))
        return readings

    def _busy(self, station: str) -> str:
        """The utilisation of a station, as text; empty for a region."""
        if station not in self.solution.stations:
            return ""
        return f", {float(_number(self.solution, f'{station}.utilisation')[0]):.0%} busy"


def outputs_of(solution: Solution) -> list[str]:
    """Outputs that a panel can draw: results, those by class, and utilisations of stations."""
    busy = [f"{name}.utilisation" for name in solution.stations]
    return [*solution.outputs, *solution.class_outputs, *busy]


def _number(solution: Solution, output: str) -> FloatArray:
    """An output at every point of the curve."""
    return np.ravel(np.broadcast_to(np.asarray(solution[output], float), solution.shape))


def _last_finite(values: FloatArray) -> int | None:
    """Index of the last finite value before an infinite one."""
    ends = np.flatnonzero(np.isfinite(values[:-1]) & ~np.isfinite(values[1:]))
    return int(ends[0]) if ends.size else None


def _words(name: str) -> str:
    return name.replace("_", " ")
