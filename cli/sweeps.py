"""Values of ``--set``: one, a list, or a range, with units."""

import re
from collections.abc import Mapping, Sequence

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.parameters import Parameter
from headway.models.language.units import LEADING_NUMBER, Unit, quantity
from headway.models.structure.model import Model

MOST_POINTS = 100_000


def apply_settings(model: Model, settings: Sequence[str]) -> Model:
    """Set parameters from texts such as ``arrival_rate=200:1400:100``.

    Several sweeps make a grid: every combination of their values is an operating point.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError
        For text that is no setting, unknown names, wrong units, or more than 100,000 points.
    """
    values = dict(_setting(model, text) for text in settings)
    return model.at(_grid(values))


def _setting(model: Model, text: str) -> tuple[str, FloatArray]:
    name, equals, value = text.partition("=")
    name = name.strip()
    if not equals or not value.strip():
        msg = f"--set {text}: write NAME=VALUE, such as arrival_rate=800 or cpu_time=650us"
        raise InvalidParameter(msg)
    return name, sweep(value, named_parameter(model, name).unit, name)


def named_parameter(model: Model, name: str) -> Parameter:
    """Find a parameter of a model.

    Raises
    ------
    UnknownParameter
        With the nearest names.
    """
    return model.exposing(name).parameters[name]


def sweep(text: str, unit: Unit, name: str) -> FloatArray:
    """Read one value, a list ``1,2,5`` or a range ``start:stop:step`` (stop included).

    Parameters
    ----------
    text
        Values with or without units; a unit on the last alone holds for all.
    unit
        The unit they must be convertible to.
    name
        What they are, for messages.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> sweep("100:300:100us", unit("s"), "delay").round(9).tolist()
    [0.0001, 0.0002, 0.0003]
    """
    if ":" not in text:
        return np.array([quantity(part, unit, name) for part in _with_unit(text.split(","))])
    parts = _with_unit(text.split(":"))
    if len(parts) not in (2, 3):
        msg = f"{name} is {text!r}; a range is start:stop:step"
        raise InvalidParameter(msg)
    start, stop, *rest = (quantity(part, unit, name) for part in parts)
    return _range(start, stop, rest[0] if rest else 1.0, f"{name} is {text!r}")


def _with_unit(parts: list[str]) -> list[str]:
    """Let a unit on the last part hold for parts without one."""
    found = LEADING_NUMBER.sub("", parts[-1])
    return [
        p if re.search(r"[A-Za-zµμ%/]", re.sub(r"[eE][+-]?[0-9]", "", p)) else p + found
        for p in parts
    ]


def _range(start: float, stop: float, step: float, place: str) -> FloatArray:
    reach = (stop - start) / step if step else -1.0
    if reach < 0:
        msg = f"{place}: no step of {step:g} leads from {start:g} to {stop:g}"
        raise InvalidParameter(msg)
    _check_count(reach + 1)
    return start + step * np.arange(int(reach + 1e-9) + 1, dtype=float)


def _check_count(count: float) -> None:
    if not count <= MOST_POINTS:
        msg = f"{count:.10g} operating points are more than {MOST_POINTS}; take larger steps"
        raise InvalidParameter(msg)


def _grid(values: Mapping[str, FloatArray]) -> dict[str, FloatArray | float]:
    """Combine sweeps: one entry an operating point; single values stay single."""
    swept = {name: array for name, array in values.items() if array.size > 1}
    _check_count(float(np.prod([array.size for array in swept.values()], dtype=float)))
    single = {name: float(array[0]) for name, array in values.items() if array.size == 1}
    mesh = np.meshgrid(*swept.values(), indexing="ij")
    return {**single, **{name: grid.ravel() for name, grid in zip(swept, mesh, strict=True)}}
