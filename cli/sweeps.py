"""Values of ``--set``: one, a list, or a range, with units."""

from collections.abc import Mapping, Sequence

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.models.language.parameters import Parameter
from headway.models.language.units import LEADING_NUMBER, ONE, Unit, quantity
from headway.models.structure.model import Model
from headway.models.sweeping.axes import MOST_STEPS, Choices, Steps
from headway.numerals import digits

MOST_POINTS = 100_000


def apply_settings(model: Model, settings: Sequence[str]) -> Model:
    """Set parameters from text such as ``arrival_rate=200:1400:100``.

    Several sweeps make a grid: every combination of their values is an operating point.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError
        For malformed settings, unknown names, wrong units, or more than 100,000 points.
    """
    values = dict(_setting(model, text) for text in settings)
    return model.at(_grid(values))


def _setting(model: Model, text: str) -> tuple[str, FloatArray]:
    name, value = name_and_value(text)
    return name, sweep(value, named_parameter(model, name).unit, name)


def name_and_value(text: str) -> tuple[str, str]:
    """Split a setting at its equals sign.

    Raises
    ------
    InvalidParameter
        If either side is missing.
    """
    name, equals, value = text.partition("=")
    if not equals or not value.strip():
        msg = f"--set {text}: write NAME=VALUE, such as arrival_rate=800 or cpu_time=650us"
        raise InvalidParameter(msg)
    return name.strip(), value


def named_parameter(model: Model, name: str) -> Parameter:
    """Find a parameter of a model.

    Raises
    ------
    UnknownParameter
        With the nearest names.
    """
    return model.exposing(name).parameters[name]


def sweep(text: str, unit: Unit, name: str) -> FloatArray:
    """Read the values of `axis`, 100,000 at most, as an array.

    Parameters and errors are those of `axis`.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> sweep("100:300:100us", unit("s"), "delay").round(9).tolist()
    [0.0001, 0.0002, 0.0003]
    """
    values = axis(text, unit, name, MOST_POINTS)
    return values.values(0, values.count)


def check_above(at: str | None) -> None:
    """Refuse a load of ``--at`` that is not above 0, before the data are read and fitted.

    Raises
    ------
    InvalidParameter
        Naming it.
    """
    if at is None:
        return
    for text in at.split(":")[:1] if ":" in at else at.split(","):
        number = LEADING_NUMBER.match(text.strip())
        if number is not None and not quantity(number.group(), ONE, "--at") > 0:
            msg = f"--at {text.strip()}: a load to predict at must be above 0"
            raise InvalidParameter(msg)


def axis(text: str, unit: Unit, name: str, most: int = MOST_STEPS) -> Steps | Choices:
    """Read one value, a list ``1,2,5`` or a range ``start:stop:step`` (stop included).

    Parameters
    ----------
    text
        Values with or without units; a single unit on the last applies to all.
    unit
        Unit to which they must be convertible.
    name
        Name of the parameter, for messages.
    most
        Most values of a range; they take no memory.

    Raises
    ------
    InvalidParameter, UnitError
        For malformed ranges, and numbers in a wrong unit.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> axis("1:1e9", unit("op/s"), "arrival_rate")
    Steps(start=1.0, step=1.0, count=1000000000)
    """
    if ":" not in text:
        values = [quantity(part, unit, name) for part in _with_unit(text.split(","))]
        return Choices(np.array(values))
    start, stop, *rest = ends(text, unit, name)
    return _range(start, stop, rest[0] if rest else 1.0, f"{name} is {text!r}", most)


def ends(text: str, unit: Unit, name: str) -> list[float]:
    """Read the two or three numbers of a range.

    Raises
    ------
    InvalidParameter, UnitError
        For any other count, and numbers in a wrong unit.

    Examples
    --------
    >>> from headway.models.language.units import unit
    >>> ends("5:9ms", unit("s"), "delay")
    [0.005, 0.009]
    """
    parts = _with_unit(text.split(":"))
    if len(parts) not in (2, 3):
        msg = f"{name} is {text!r}; a range is start:stop:step"
        raise InvalidParameter(msg)
    return [quantity(part, unit, name) for part in parts]


def _with_unit(parts: list[str]) -> list[str]:
    """Apply a unit on the last part to parts without one."""
    last_unit = LEADING_NUMBER.sub("", parts[-1])
    return [part if LEADING_NUMBER.sub("", part) else part + last_unit for part in parts]


def _range(start: float, stop: float, step: float, place: str, most: int) -> Steps:
    reach = (stop - start) / step if step else -1.0
    if reach < 0:
        msg = f"{place}: steps of {digits(step)} do not lead from {digits(start)} to {digits(stop)}"
        raise InvalidParameter(msg)
    _check_count(reach + 1, most)
    return Steps(start, step, int(reach + 1e-9) + 1)


def _check_count(count: float, most: int = MOST_POINTS) -> None:
    if not count <= most:
        msg = (
            f"{digits(count)} operating points exceed the limit of {digits(most)}; use larger steps"
        )
        raise InvalidParameter(msg)


def _grid(values: Mapping[str, FloatArray]) -> dict[str, FloatArray | float]:
    """Combine sweeps: one entry per operating point; single values stay single."""
    swept = {name: array for name, array in values.items() if array.size > 1}
    _check_count(float(np.prod([array.size for array in swept.values()], dtype=float)))
    single = {name: float(array[0]) for name, array in values.items() if array.size == 1}
    mesh = np.meshgrid(*swept.values(), indexing="ij")
    return {**single, **{name: grid.ravel() for name, grid in zip(swept, mesh, strict=True)}}
