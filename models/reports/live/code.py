"""A panel's state as Python code: the calls of `Model` that lead from one model to another."""

from collections.abc import Mapping
from keyword import iskeyword

from headway.errors import HeadwayError
from headway.kinds import Number
from headway.models.files.shipped import catalogue_model, is_own
from headway.models.language.parameters import Parameter
from headway.models.language.units import quantity
from headway.models.structure.model import Model
from headway.numerals import digits

_WIDTH = 88


def model_code(opened: Model, values: Mapping[str, float]) -> str:
    """Write code that makes a model with other values.

    Parameters
    ----------
    opened
        The model to start from.
    values
        SI values by parameter; those that are not the model's parameters are ignored.

    Returns
    -------
    Code that leaves the model in ``model``. If the catalogue does not have the model, the code
    starts from ``model``, the one that was opened.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> print(model_code(catalogue_model("nfs-server").with_preset("raid"), {"cpu_time": 5e-4}))
    import headway
    <BLANKLINE>
    model = headway.load("nfs-server").with_preset("raid")
    model = model.at(cpu_time="500 us")
    """
    current = opened.at(_changed(opened, values))
    for base, lines in _origins(opened):
        changed = _changed(base, {n: p.value for n, p in current.parameters.items()})
        if base.at(changed) == current:
            return "\n".join([*lines, *_at(base, changed)])
    changed = _changed(opened, values)
    return "\n".join(_at(opened, changed) or ["# model has its own values"])


def _origins(opened: Model) -> list[tuple[Model, list[str]]]:
    """Models of the catalogue from which this one may come, with the code that makes them."""
    if not is_own(opened.name):
        return []
    base, call = catalogue_model(opened.name), f'headway.load("{opened.name}")'
    if opened.preset and opened.preset in base.presets:
        base, call = base.with_preset(opened.preset), f'{call}.with_preset("{opened.preset}")'
    if opened.is_closed and not base.is_closed:
        jobs = float(opened.inputs["population"])
        try:
            base, call = base.closed(jobs), f"{call}.closed({digits(jobs).replace(',', '')})"
        except HeadwayError:
            return []
    return [(base, ["import headway", "", f"model = {call}"])]


def _changed(model: Model, values: Mapping[str, Number | None]) -> dict[str, float]:
    """Values that differ from the model's own."""
    given = {n: float(v) for n, v in values.items() if v is not None and n in model.parameters}
    return {n: value for n, value in given.items() if value != model.parameters[n].value}


def _at(model: Model, changed: Mapping[str, float]) -> list[str]:
    """The call of `Model.at`, on one line if it fits."""
    texts = {n: _text(model.parameters[n], value) for n, value in changed.items()}
    named = [f"{n}={text}" for n, text in texts.items() if n.isidentifier() and not iskeyword(n)]
    dotted = [f'"{n}": {t}' for n, t in texts.items() if not n.isidentifier() or iskeyword(n)]
    arguments = [f"{{{', '.join(dotted)}}}"] * bool(dotted) + named
    if not arguments:
        return []
    line = f"model = model.at({', '.join(arguments)})"
    if len(line) <= _WIDTH:
        return [line]
    return ["model = model.at(", *(f"    {argument}," for argument in arguments), ")"]


def _text(parameter: Parameter, value: float) -> str:
    """A value with its unit, if that reads back as the same number; otherwise the number in SI."""
    written = parameter.shown(value).replace(",", "")
    try:
        same = quantity(written, parameter.unit, parameter.name) == value
    except HeadwayError:
        same = False
    if same and parameter.unit.text:
        return f'"{written}"'
    return repr(int(value)) if value == int(value) and abs(value) < 2**53 else repr(value)
