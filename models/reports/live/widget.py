"""The widget itself; only this module imports anywidget."""

from collections.abc import Mapping, Sequence
from typing import Any

import anywidget
import traitlets

from headway.errors import HeadwayError, InvalidParameter, nearest
from headway.models.reports.live.code import model_code
from headway.models.reports.live.controls import live_controls
from headway.models.reports.live.view import PanelView, outputs_of
from headway.models.reports.templates import environment, shipped
from headway.models.reports.units import panel_units
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.model import Model
from headway.models.structure.outputs import on_demand

_DARK = "@media screen and (prefers-color-scheme: dark)"


def _style() -> str:
    """The style of a page's panel, limited to the widget; the notebook says whether it is dark."""
    light, dark = shipped("colours.css").split(_DARK)
    colours = f"{light}@media screen{dark.replace(':root', '&.dark')}".replace(":root", "&")
    rest = map(shipped, ("tables.css", "panel.css", "widget.css"))
    return f".headway-panel {{\n{colours}{''.join(rest)}}}\n"


class ModelPanel(anywidget.AnyWidget):
    """Sliders over a live model: each change solves the model and draws the curve again.

    Parameters
    ----------
    model
        A model at one operating point.
    free
        Names of the parameters with a slider.
    over, output
        The parameter on the curve's axis, and the output that it shows.
    """

    _esm = shipped("parts.js") + shipped("widget.js")
    _css = _style()
    markup = traitlets.Unicode().tag(sync=True)
    controls: Any = traitlets.List().tag(sync=True)
    choices: Any = traitlets.List().tag(sync=True)
    values: Any = traitlets.Dict().tag(sync=True)
    over = traitlets.Unicode().tag(sync=True)
    output = traitlets.Unicode().tag(sync=True)
    view: Any = traitlets.Dict().tag(sync=True)

    def __init__(
        self, model: Model, free: Sequence[str] | None, over: str | None, output: str | None
    ) -> None:
        self._opened = model
        solution = model.solve()
        self._scale = panel_units(solution)
        self._controls = {c.parameter.name: c for c in live_controls(model, free, self._scale)}
        usual = "response_time" if solution.stations else solution.outputs[0]
        self._outputs = list(dict.fromkeys([output or usual, *outputs_of(solution)]))
        prefix = f"panel-{id(self):x}"
        template = environment().get_template("widget.html")
        self._before: dict[str, Any] = {}
        super().__init__(
            markup=template.render(prefix=prefix, controls=self._controls.values()),
            controls=[c.document() for c in self._controls.values()],
            choices=self._outputs,
            values={name: c.value for name, c in self._controls.items()},
            over=over or next(iter(self._controls), ""),
            output=output or usual,
        )
        self._draw()
        self.observe(lambda _change: self._draw(), ["values", "over", "output"])

    def __repr__(self) -> str:
        return f"ModelPanel({self._opened.title}, {self.output} over {self.over})"

    @property
    def model(self) -> Model:
        """The model with the values of the sliders."""
        own = {name: control.value for name, control in self._controls.items()}
        changed = {name: value for name, value in self.values.items() if value != own[name]}
        return self._opened.at(changed)

    @property
    def solution(self) -> Solution:
        """The answer at the operating point."""
        return self.model.solve()

    def code(self) -> str:
        """Python code that makes the model with the values of the sliders.

        A model of the catalogue is loaded by its name; for any other, the code starts from
        ``model``, the model whose panel this is.
        """
        return model_code(self._opened, self.values)

    def reset(self) -> None:
        """Put all sliders back to where they started."""
        self.values = {name: control.value for name, control in self._controls.items()}

    @traitlets.validate("values")
    def _check_values(self, proposal: Any) -> dict[str, float]:
        given: Mapping[str, Any] = proposal["value"]
        values = {name: control.value for name, control in self._controls.items()} | self.values
        unknown = [name for name in given if name not in values]
        if unknown:
            msg = f"the panel has no slider {unknown[0]!r}{nearest(unknown[0], values)}"
            raise InvalidParameter(msg)
        moved = {n: value for n, value in given.items() if value != values[n]}
        read = {n: self._controls[n].parameter.at(value).value for n, value in moved.items()}
        # A slider's 1.207 ms is 0.0012070000000000002 s, and the code would show all its digits.
        return {**values, **{name: float(f"{value:.15g}") for name, value in read.items()}}

    @traitlets.validate("over")
    def _check_over(self, proposal: Any) -> str:
        return _one_of(proposal["value"], self._controls, "slider")

    @traitlets.validate("output")
    def _check_output(self, proposal: Any) -> str:
        name, graph = proposal["value"], self._opened.graph
        known = on_demand([name], graph.classes, graph.stations)
        return name if known else _one_of(name, self._outputs, "output")

    def _view(self, model: Model) -> PanelView:
        return PanelView(model, self._controls[self.over], self.output, self._scale)

    def _draw(self) -> None:
        """Solve the model along the curve; if that cannot be done, say why."""
        try:
            if (self._before.get("over"), self._before.get("output")) != (self.over, self.output):
                first = self._view(self._opened)
                self._before = {"over": self.over, "output": self.output, **first.axes()}
                self._before["before"] = first.document()["curve"]
            shown = self._view(self.model).document()
            self.view = {**self._before, **shown, "error": "", "code": self.code()}
        except HeadwayError as error:
            self.view = {**self.view, "error": str(error)}


def _one_of(name: str, names: Any, what: str) -> str:
    if name in names:
        return name
    msg = f"the panel has no {what} {name!r}{nearest(name, list(names))}"
    raise InvalidParameter(msg)
