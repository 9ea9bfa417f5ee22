"""A page on a model alone: no measurements, only what the model predicts."""

from collections.abc import Collection
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal
from headway.models.analysis.kept import Kept, kept_by_model
from headway.models.analysis.saturating import saturating_load
from headway.models.analysis.sensitivity import Sensitivity, sensitivity
from headway.models.inference.fit import Fit
from headway.models.inference.forecasting.highest_load import read_limit
from headway.models.language.scales import units_of
from headway.models.reports.between.limits import full_loads
from headway.models.reports.controls import load_of
from headway.models.reports.ground import Ground
from headway.models.reports.paged import Paged
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.network_kind import NetworkKind
from headway.models.structure.parts.counts import counts
from headway.models.tables.table import scale_of
from headway.records import dataclass

_POINTS = 60  # points of the curve below saturation
# where clients give up: each point may take a second, as requests are followed attempt by attempt
_FOLLOWED_POINTS = 20
# highest and lowest load of the curve, as shares of the load that saturates
_NEAREST, _LITTLE = 0.95, 1e-3
_FURTHEST = 4.0  # largest load, in multiples of the model's own, where nothing saturates
_MOST_JOBS = 200
# of layered services: a simulation takes a second, as do layers that do not settle
_SLOW = 13
_ROWS = 10  # rows of the table beside the curve


@dataclass(frozen=True)
class ModelReport(Paged):
    """What a page shows of a model at its own values.

    Parameters
    ----------
    model
        A model at one operating point.
    sensitivity
        Sensitivities of its output and its saturation throughput at that point.
    output
        The output that the curve shows.
    fixed
        Names of parameters whose values were set by hand.
    command
        The command that made the page.
    kept
        The highest load that keeps a limit, if a limit was given.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> report_model(catalogue_model("server-single").at(delay="1 ms", service_time="1 ms"))
    ModelReport(server-single)
    """

    model: Model
    sensitivity: Sensitivity
    output: str
    fixed: frozenset[str] = frozenset()
    command: str = ""
    kept: Kept | None = None

    def __repr__(self) -> str:
        return f"ModelReport({self.model.name})"

    @property
    def title(self) -> str:
        """The model's name with its preset."""
        return self.model.title

    @property
    def fit(self) -> Fit | None:
        """None: nothing was fitted."""
        return None

    @property
    def saturation(self) -> None:
        """None: without a fit there is no interval to state."""

    @property
    def load(self) -> str | None:
        """The parameter on the curve's axis; None if no single parameter is the load."""
        return load_of(self.model)

    @cached_property
    def curve(self) -> Solution | None:
        """The model solved over its load; None if no single parameter is the load."""
        return None if self.load is None else self._over(self.load, self._along[0])

    @property
    def loads(self) -> FloatArray:
        """The loads of the curve; empty if no single parameter is the load."""
        if self.load is None or self.curve is None:
            return np.empty(0)
        return np.asarray(self.curve.model.inputs[self.load], float)

    @property
    def rows(self) -> NDArray[np.intp]:
        """Positions of a few loads of the curve, for a table: round ones if they have answers."""
        loads = self.loads
        found = np.flatnonzero(np.isin(loads, self._along[1])) if loads.size else np.empty(0, int)
        return found if found.size > 1 else np.arange(loads.size)

    @cached_property
    def full(self) -> float:
        """The load at which the first station, pool or processor is full; infinite without one."""
        assert self.load is not None  # noqa: S101 - only then it is asked for
        try:
            return float(np.min(full_loads(self.model, self.load, {}), initial=np.inf))
        except GraphError:  # layers that do not settle at a load that was tried
            return np.inf

    @cached_property
    def _along(self) -> tuple[FloatArray, FloatArray]:
        """The loads of the curve, and those among them that are in the table."""
        assert self.load is not None  # noqa: S101 - only then there is a curve
        loads, least = self._loads(self.load), self.model.parameters[self.load].minimum
        places = np.linspace(0, loads.size - 1, min(_ROWS, loads.size)).astype(int)
        digits = 2 if self.load in counts(self.model.graph) else 3
        few = np.array([max(float(f"{load:.{digits}g}"), least) for load in loads[places].tolist()])
        # a round load takes the place of that which was rounded; the model's own is always there
        replaced = ~np.isin(few, loads)
        own = self._own(self.load)
        few = np.union1d(few, own if loads[0] <= own <= loads[-1] else [])
        return np.union1d(np.delete(loads, places[replaced]), few), few

    def _own(self, name: str) -> float:
        """The model's own load."""
        return float(np.ravel(self.model.inputs[name])[0])

    def _loads(self, name: str) -> FloatArray:
        """Loads for the curve: up to saturation, or up to a few times the model's own."""
        parameter, layers = self.model.parameters[name], self.model.graph.layers
        own = self._own(name)
        most = _FURTHEST * (own or 10 * parameter.unit.scale)
        solution = self.sensitivity.solution
        points = _SLOW if layers and solution.method == "simulation" else _POINTS
        if name in counts(self.model.graph):
            most = min(most, max(own, _MOST_JOBS))
            if layers:
                return np.unique(np.append(np.round(np.linspace(1.0, most, points)), own))
            return np.arange(1.0, most + 1)
        limit = np.inf
        if layers:
            limit = self.full
        elif name == "arrival_rate" and solution.stations:
            limit = float(np.ravel(solution.saturation_throughput)[0])
            if np.isfinite(limit):
                sustained = np.array([0.5 * own, own]) if own else np.array([0.0, _LITTLE * limit])
                limit = saturating_load(self.model.at({name: sustained}).solve(), name)
        elif solution.classes:
            limit = min(self.full, most / _NEAREST)
        most = _NEAREST * limit if np.isfinite(limit) else most
        if self.model.network_kind is NetworkKind.CLIENTS:
            points = _FOLLOWED_POINTS
        return np.linspace(max(most / points, parameter.minimum), most, points)

    def _over(self, name: str, loads: FloatArray) -> Solution:
        """The model over its load; if some loads have no answer, over a few that have one."""
        try:
            return self.model.at({name: loads}).solve()
        except GraphError:
            some = loads[:: max(1, loads.size // (_SLOW - 1))]
            answered = [float(load) for load in some if self._answers(name, float(load))]
            if not answered:
                raise
            return self.model.at({name: answered}).solve()

    def _answers(self, name: str, load: float) -> bool:
        try:
            self.model.at({name: load}).solve()
        except GraphError:
            return False
        return True

    @property
    def ground(self) -> Ground | None:
        """The data of a panel; None if no single parameter is the load."""
        if self.load is None or self.curve is None:
            return None
        curve, loads = self.curve, self.loads
        predicted = np.broadcast_to(np.asarray(curve[self.output], float), loads.shape)
        scale = units_of(self)
        return Ground(
            curve.model,
            self.sensitivity.model,
            curve,
            self.output,
            self.load,
            loads,
            scale_of(loads, self.model.parameters[self.load].unit, scale),
            predicted,
            np.empty(0),
            np.empty(0, bool),
            scale,
        )


def report_model(
    model: Model,
    output: str | None = None,
    fixed: Collection[str] = (),
    command: str = "",
    target: str | Goal | None = None,
) -> ModelReport:
    """Describe a model at its own values: graph, formulas, curve, sensitivities.

    Parameters
    ----------
    model
        A model with a single value for each parameter.
    output
        The output that the curve shows; by default the response time, or a program's first output.
    fixed
        Names of parameters whose values were set by hand.
    command
        The command that made the page.
    target
        A limit such as ``response_time_p99<=50ms``: the page gives the highest load that keeps it.

    Raises
    ------
    HeadwayError
        As `headway.models.analysis.sensitivity.sensitivity` does, and for several values of one
        parameter.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> raid = catalogue_model("nfs-server").with_preset("raid")
    >>> report_model(raid).sensitivity.bottleneck
    'cpu'
    """
    model = model.exposing(*model.graph.worth_naming)
    for name, value in model.inputs.items():
        if np.ndim(value):
            msg = f"a page of a model is made at one operating point; give {name} one value"
            raise InvalidParameter(msg)
    solution = model.solve()
    timed = solution.stations or model.graph.layers
    shown = output or ("response_time" if timed else solution.outputs[0])
    has_limit = "saturation_throughput" in solution.outputs and shown != "saturation_throughput"
    sensitivities = sensitivity(model, [shown, *(["saturation_throughput"] if has_limit else [])])
    point, kept = sensitivities.model, None
    if target is not None:
        load, goal = load_of(point), read_limit(target)
        if load is None:
            msg = f"target {goal.output}: no parameter of {model.name} is the load; leave it out"
            raise InvalidParameter(msg)
        kept = kept_by_model(point, load, goal)
    return ModelReport(point, sensitivities, shown, frozenset(fixed), command, kept)
