"""What a target takes, as a table, a row and CSV."""

from typing import Any

from headway.models.analysis.target import Target, value_now
from headway.models.language.parameters import Parameter
from headway.models.language.scales import Scale
from headway.models.showing.solutions import labels
from headway.models.tables.table import Column, Table
from headway.numerals import four_digits, is_whole


def target_scale(answer: Target) -> Scale:
    """The units of a target: by the parameter's values and what is wanted."""
    model = answer.model
    parameter, own_unit = model.parameters[answer.parameter], model.meaning(answer.output).unit
    values = (value_now(model, answer.parameter), answer.value)
    changed = [(value, parameter.unit) for value in values if value is not None]
    stated = [parameter.unit, *model.stated]
    return Scale.of([*changed, (answer.wanted, own_unit)], stated)


def target_tables(answer: Target) -> list[Table]:
    """One row: from, to, and by which factor."""
    parameter, scale = answer.model.parameters[answer.parameter], target_scale(answer)
    now = value_now(answer.model, answer.parameter)
    own_unit = answer.model.meaning(answer.output).unit
    factor = f"x {four_digits(answer.value / now)}" if now else "-"
    cells = {
        "parameter": answer.parameter,
        "now": now_text(now, parameter, scale),
        "needed": scale.text(answer.value, parameter.unit),
        "factor": factor,
    }
    target = scale.stated(answer.wanted, own_unit)
    title = f"{answer.model.name}: {answer.parameter} for {answer.output} of {target}"
    columns = tuple(Column(name, (cell,)) for name, cell in cells.items())
    fitted = [f"fitted: {answer.axes}"] if answer.axes else []
    return [Table(title, columns, (*fitted, *labels(answer.solution)))]


def now_text(now: float, parameter: Parameter, scale: Scale) -> str:
    """The present value, with as many digits as the needed one beside it; counts in full.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> service_time = catalogue_model("server-single").parameters["service_time"]
    >>> now_text(0.000653217, service_time, Scale.of([(0.002, service_time.unit)]))
    '0.6532 ms'
    """
    if parameter.interval is None and not is_whole(now / parameter.unit.scale):
        return scale.text(now, parameter.unit)
    return scale.known(now, parameter.interval, parameter.unit)


def target_rows(target: Target) -> list[dict[str, Any]]:
    """One dict."""
    return [
        {
            "model": target.model.name,
            "output": target.output,
            "target": target.wanted,
            "parameter": target.parameter,
            "value": target.value,
            "initial": value_now(target.model, target.parameter),
            "approximation": target.solution.approximation or None,
            **(target.axes.document() if target.axes else {}),
        }
    ]


def target_document(target: Target) -> dict[str, Any]:
    """The JSON contract's document: the row."""
    return target_rows(target)[0]


def target_csv(target: Target) -> str:
    """One CSV row in SI."""
    row = target_rows(target)[0]
    return Table("", tuple(Column(name, (value,)) for name, value in row.items())).to_csv()
