"""Sliders for parameters, used in the panels of pages and of notebooks."""

import math
from enum import StrEnum
from typing import Any

import numpy as np

from headway.models.language.formula import Name
from headway.models.language.parameters import Parameter
from headway.models.language.titles import axis_title
from headway.models.language.units import Unit
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts
from headway.records import dataclass

_FROM_ZERO = 100.0  # largest value of a slider whose parameter is zero, in its unit
_DECADES = 100.0  # ratio of its ends from which a slider is logarithmic


class ControlRole(StrEnum):
    """The part that a parameter plays for the panel's curve."""

    LOAD = "load"
    DATA = "data"
    PARAMETER = "parameter"


@dataclass(frozen=True)
class Control:
    """A slider and a number for one parameter; ends and bounds in SI.

    Parameters
    ----------
    parameter
        The parameter, at the operating point.
    unit
        The unit in which it is shown.
    low, high
        Ends of the slider.
    is_whole
        Whether it takes whole numbers only.
    role
        Whether it is the load, set row by row by the data, or free.
    """

    parameter: Parameter
    unit: Unit
    low: float
    high: float
    is_whole: bool
    role: ControlRole

    @property
    def value(self) -> float:
        """SI value when the page opens."""
        return float(self.parameter.value)  # type: ignore[arg-type]

    @property
    def is_log(self) -> bool:
        """Whether the slider is logarithmic, so that each step is a factor."""
        return self.low > 0 and self.high >= _DECADES * self.low

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the slider in the unit shown, or their logarithms."""
        low, high = self.low / self.unit.scale, self.high / self.unit.scale
        return (math.log10(low), math.log10(high)) if self.is_log else (low, high)

    @property
    def step(self) -> str:
        """Step of the slider."""
        return "1" if self.is_whole and not self.is_log else "any"

    @property
    def note(self) -> str:
        """The text below the slider."""
        fixed = "the curve only: each measured point keeps the value it was measured at"
        notes = [self.parameter.doc, fixed if self.role is ControlRole.DATA else ""]
        return "; ".join(filter(None, notes))

    def document(self) -> dict[str, Any]:
        """What a panel's script needs; bounds that do not exist are null."""
        bounds = (self.parameter.minimum, self.parameter.maximum)
        low, high = (end if np.isfinite(end) else None for end in bounds)
        return {
            "name": self.parameter.name,
            "title": axis_title(self.parameter.name, self.unit),
            "unit": str(self.unit),
            "scale": self.unit.scale,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "minimum": low,
            "maximum": high,
            "whole": self.is_whole,
            "log": self.is_log,
            "role": self.role,
        }


def load_of(model: Model) -> str | None:
    """The parameter that is a model's load; None if no single one is.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> load_of(catalogue_model("nfs-server")), load_of(catalogue_model("program-overhead"))
    ('arrival_rate', 'added_overhead')
    """
    rates = [name for name in ("arrival_rate", "population") if name in model.parameters]
    rates += _class_loads(model) + _layered_loads(model)
    added = [name for name in model.parameters if name.startswith("added_")]
    return next(iter([*rates, *added]), None)


def _class_loads(model: Model) -> list[str]:
    """Parameters that are the arrival rate or population of a class, in the order of classes."""
    numbers = [
        each.get("arrival_rate") or each.get("population") for each in model.graph.classes.values()
    ]
    trees = [number.tree for number in numbers if number is not None]
    return [t.name for t in trees if isinstance(t, Name) and t.name in model.parameters]


def _layered_loads(model: Model) -> list[str]:
    """Parameters that are numbers of clients of layered services, or rates from outside."""
    layers = model.graph.layers
    if layers is None:
        return []
    numbers = [task.threads for task in layers.tasks.values() if task.clients]
    numbers += [entry.arrival_rate for entry in layers.entries.values()]
    return [
        n.tree.name for n in numbers if isinstance(n.tree, Name) and n.tree.name in model.parameters
    ]


def whole_numbers(model: Model) -> set[str]:
    """Parameters that count something, and are whole numbers now."""
    names = counts(model.graph)
    values = {name: np.asarray(model.inputs[name]) for name in names & model.inputs.keys()}
    return {name for name, value in values.items() if np.all(value == np.round(value))}


def slider_ends(
    parameter: Parameter,
    is_whole: bool,  # noqa: FBT001
    width: float = 4.0,
) -> tuple[float, float]:
    """Ends of a slider: the parameter's bounds, or values around its own.

    Parameters
    ----------
    parameter
        A parameter with a single value.
    is_whole
        Whether it takes whole numbers only.
    width
        Range of the slider around a value: from a `width`-th of it to `width` times it.

    Examples
    --------
    >>> slider_ends(Parameter("share", 0.25, minimum=0.0, maximum=1.0), is_whole=False)
    (0.0, 1.0)
    >>> slider_ends(Parameter("servers", 2.0, minimum=1.0), is_whole=True)
    (1.0, 8.0)
    """
    low, high = parameter.minimum, parameter.maximum
    own = float(parameter.value)  # type: ignore[arg-type]
    value = abs(own)
    is_near = high <= _DECADES * value and value <= _DECADES * (low or value)
    if is_near and math.isfinite(high - low):
        return low, high
    low, high = sorted((own / width, own * width))
    if value == 0:
        low, high = 0.0, _FROM_ZERO * parameter.unit.scale
    if is_whole:
        low, high = max(1.0, np.floor(low)), np.ceil(high)
    return float(max(low, parameter.minimum)), float(min(high, parameter.maximum))
