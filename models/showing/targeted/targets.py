"""What a target takes, described: one row from the present value to the one needed."""

from headway.models.analysis.target import Target, value_now
from headway.models.language.parameters import Parameter
from headway.models.language.scales import Scale
from headway.models.showing.parts.alternatives import alone_note
from headway.models.showing.solutions import labels
from headway.models.tables.description import TEXT, Description, Records, each, field, words
from headway.models.tables.table import Table
from headway.numerals import four_digits, is_whole


def describe(target: Target) -> Description:
    """One row: the output and its target, the parameter's value now, and the value needed."""
    model, parameter = target.model, target.model.parameters[target.parameter]
    now, unit = value_now(model, target.parameter), parameter.unit
    shown = [(now, unit), (target.value, unit), (target.wanted, model.meaning(target.output).unit)]
    write_now = each(lambda scale, value, _unit: now_text(value, parameter, scale))
    records = Records(
        (
            field("model", [model.name]),
            field("output", [target.output]),
            field("target", [target.wanted]),
            field("parameter", [target.parameter], title="parameter"),
            field("value", [target.value], unit, "needed", TEXT, bare=True),
            field("initial", [now], unit, "now", write_now, bare=True),
            words("factor", [f"x {four_digits(target.value / now)}" if now else "-"]),
            field("approximation", [target.solution.approximation or None]),
            *(field(name, [title]) for name, title in _columns_read(target).items()),
        )
    )
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of(shown, [unit, *model.stated]),
        tables=lambda scale: [_table(target, records, scale)],
    )


def _columns_read(target: Target) -> dict[str, str]:
    """The columns of the data to which the model was fitted."""
    return target.axes.document() if target.axes else {}


def _table(target: Target, records: Records, scale: Scale) -> Table:
    wanted = scale.stated(target.wanted, target.model.meaning(target.output).unit)
    title = f"{target.model.name}: {target.parameter} for {target.output} of {wanted}"
    fitted = [f"fitted: {target.axes}"] if target.axes else []
    notes = (*fitted, *alone_note(target.solution.model), *labels(target.solution))
    return records.table(title, scale, notes, titles=("parameter", "now", "needed", "factor"))


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
