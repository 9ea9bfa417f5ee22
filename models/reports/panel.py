"""The what-if panel: a model's closed form as JavaScript, or a table; and its controls."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headway.errors import HeadwayError
from headway.models.analysis.sensitivity import Sensitivity
from headway.models.language.titles import axis_title
from headway.models.reports.alone import ModelReport
from headway.models.reports.between.grids import Along
from headway.models.reports.controls import Control, ControlRole, slider_ends, whole_numbers
from headway.models.reports.ground import Ground
from headway.models.reports.report import Report
from headway.models.reports.solved import solved_controls, solved_points
from headway.models.structure.model import Model
from headway.models.tables.table import scale_of
from headway.records import dataclass

MOST_CHARACTERS = 100_000
"""A page does not include closed forms that are longer than this."""

_NO_LOAD = (
    "no parameter of the model is the load. Name the number of clients, or the arrival rate, in "
    "[parameters] to have one"
)
_CLOSED = "the network is closed, so no formula solves it"
_AGREEMENT = 1e-9  # relative tolerance of the closed form against the solver at the measured points
_NO_FORM = (HeadwayError, TypeError, ValueError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class Panel:
    """A panel that a page can include.

    Parameters
    ----------
    script
        A JavaScript function `closedForm` of an array of SI values in the order of the controls; it
        returns the output, then the utilisation of each station.
    controls
        A control for each parameter, the load first.
    document
        What else the page's script needs, for JSON.
    note
        How far off it is; empty if it is exact.
    """

    script: str
    controls: tuple[Control, ...]
    document: Mapping[str, Any]
    note: str = ""


@dataclass(frozen=True)
class NoPanel:
    """Why a page has no panel."""

    reason: str


def panel(report: Report | ModelReport) -> Panel | NoPanel:
    """Write a model's closed form as a script, or else a table of solved points, or say why not.

    Parameters
    ----------
    report
        The report, whose model is evaluated at the operating point, with the load and one parameter
        changed at a time.
    """
    ground, sensitivity = report.ground, report.sensitivity
    if ground is None:
        return NoPanel(_NO_LOAD)
    missing = ""
    if ground.load is None:
        missing = "no parameter of the model is the measured load"
    elif ground.point is None:
        missing = "the model sustains none of the measured loads"
    if missing or ground.point is None or sensitivity is None:
        return NoPanel(f"{_CLOSED}, and {missing}" if ground.model.network.is_closed else missing)
    exact = _exact(ground, ground.point)
    return exact if isinstance(exact, Panel) else _interpolated(ground, sensitivity, exact.reason)


def _exact(ground: Ground, point: Model) -> Panel | NoPanel:
    """A panel that evaluates the closed form of an open network, or of a program."""
    from headway.models.solving.symbolic import bounded_symbols, closed_form

    model = ground.model
    if model.network.is_closed:
        return NoPanel(_CLOSED)
    if model.graph.classes:
        return NoPanel("jobs come in classes, so no formula solves the network")
    stations = [name for name in model.graph.stations if name not in model.graph.losing]
    outputs = [ground.output, *(f"{name}.utilisation" for name in stations)]
    symbols = bounded_symbols(model)
    try:
        forms = [closed_form(model.graph, output, symbols) for output in outputs]
        agrees = _agrees(forms, ground)
    except _NO_FORM:
        return NoPanel("the model has no formula that a page could evaluate")
    if not agrees:
        return NoPanel("the closed form is not exact enough here to be evaluated in a page")
    controls = _controls(ground, point)
    try:
        script = javascript(forms, [symbols[c.parameter.name] for c in controls])
    except NotImplementedError:
        return NoPanel("the closed form uses functions that a page's script does not support")
    if len(script) > MOST_CHARACTERS:
        return NoPanel("the closed form is too long for a page")
    return Panel(script, controls, _document(ground, controls, stations))


def _interpolated(ground: Ground, sensitivity: Sensitivity, why: str) -> Panel | NoPanel:
    """A panel that interpolates between points solved now; `why` says why there is no formula."""
    points = solved_points(ground, sensitivity)
    if isinstance(points, str):
        return NoPanel(f"{why}, and {points}")
    controls = solved_controls(ground, points)
    document = _document(ground, controls, list(ground.solution.stations))
    jobs = points.grid.along is Along.JOBS
    return Panel(
        points.script, controls, document | {"table": True, "throughput": jobs}, points.note
    )


def _agrees(forms: Sequence[Any], ground: Ground) -> bool:
    """Compare the closed form with the solver at the loads that the model sustains."""
    from headway.models.solving.symbolic import numeric

    symbols = sorted({s for form in forms for s in form.free_symbols}, key=str)
    inputs = ground.model.inputs
    with np.errstate(all="ignore"):
        found = numeric(list(forms), symbols)(*(np.asarray(inputs[str(s)], float) for s in symbols))
    sustained = np.isfinite(ground.predicted)
    output = np.broadcast_to(np.asarray(found[0], float), sustained.shape)
    return np.allclose(output[sustained], ground.predicted[sustained], rtol=_AGREEMENT, atol=0)


def javascript(forms: Sequence[Any], symbols: Sequence[Any]) -> str:
    """Write closed forms as a JavaScript function of an array of values.

    No name of the model gets into the script: parameters go by their positions. The caller supplies
    Erlang's formulas as functions.

    Parameters
    ----------
    forms
        SymPy expressions.
    symbols
        Their symbols, in the order of the array.

    Raises
    ------
    NotImplementedError
        For a function that JavaScript lacks.

    Examples
    --------
    >>> from headway.models.solving.symbolic import symbol
    >>> print(javascript([symbol("a") / (1 - symbol("a"))], [symbol("a")]))
    function closedForm(v, erlangB, erlangC) {
      return [v[0]/(1 - v[0])];
    }
    """
    import sympy

    from headway.queueing.erlang.symbols import written_out

    places = {s: sympy.Symbol(f"v[{k}]", **s.assumptions0) for k, s in enumerate(symbols)}
    parts, results = sympy.cse(
        [written_out(form.xreplace(places)) for form in forms], symbols=sympy.numbered_symbols("t")
    )
    lines = [f"  const {name} = {_code(part)};" for name, part in parts]
    returned = ", ".join(map(_code, results))
    body = "\n".join([*lines, f"  return [{returned}];"])
    return f"function closedForm(v, erlangB, erlangC) {{\n{body}\n}}"


def _code(expression: Any) -> str:
    import sympy

    functions = {"ErlangB": "erlangB", "ErlangC": "erlangC"}
    functions |= {"ceiling": "wholeCeiling", "floor": "wholeFloor"}  # defined in panel.js
    written = sympy.jscode(expression, precision=17, strict=True, user_functions=functions)
    return " ".join(str(written).split())


def _controls(ground: Ground, point: Model) -> tuple[Control, ...]:
    """A control for each parameter, with the load first."""
    load = ground.load
    whole = whole_numbers(ground.model)
    controls = []
    for name, parameter in point.parameters.items():
        is_set = np.ndim(ground.model.inputs[name]) > 0
        role = (
            ControlRole.LOAD
            if name == load
            else ControlRole.DATA
            if is_set
            else ControlRole.PARAMETER
        )
        low, high = slider_ends(parameter, name in whole)
        if role is ControlRole.LOAD:
            low, high = (
                max(0.0, parameter.minimum),
                1.1 * float(ground.loads.max()),
            )
        value = np.array([float(parameter.value or 0.0)])
        unit = scale_of(value, parameter.unit, ground.scale)
        shown = ground.load_unit if role is ControlRole.LOAD else unit
        controls.append(Control(parameter, shown, low, high, name in whole, role))
    return tuple(sorted(controls, key=lambda c: c.role is not ControlRole.LOAD))


def _document(
    ground: Ground, controls: Sequence[Control], stations: Sequence[str]
) -> dict[str, Any]:
    """What the page's script needs apart from the formula; numbers in SI."""
    model = ground.model
    inputs = [c.parameter.name for c in controls if c.role is not ControlRole.PARAMETER]
    columns = {n: np.broadcast_to(model.inputs[n], ground.loads.shape).tolist() for n in inputs}
    return {
        "controls": [c.document() for c in controls],
        "stations": list(stations),
        "table": False,
        "throughput": False,
        "saturates": "arrival_rate" in model.parameters and not model.graph.arrivals,
        "output": {
            "title": axis_title(ground.output, ground.shown),
            "unit": str(ground.shown),
            "scale": ground.shown.scale,
            "top": ground.top,
        },
        "rate": {"unit": str(ground.rate), "scale": ground.rate.scale},
        "measured": ground.measured.tolist(),
        "counted": ground.counted.tolist(),
        "columns": columns,
    }
