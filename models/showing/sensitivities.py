"""Sensitivities as tables, with the bottleneck and the next one."""

import math
from typing import Any

import numpy as np

from headway.models.analysis.differences import Change
from headway.models.analysis.sensitivity import Effect, Sensitivity
from headway.models.language.digits import in_unit, slope_unit, with_unit
from headway.models.language.scales import Scale
from headway.models.showing.solutions import labels
from headway.models.tables.table import Column, Table

_FLAT = 1e-12  # elasticity below which a parameter has no effect
_VISIBLE = 5e-4  # elasticity below which tables show none


def sensitivity_tables(sensitivity: Sensitivity, scale: Scale | None = None) -> list[Table]:
    """Elasticities by output, derivatives in readable units, and what one more or fewer does."""
    scale = scale or sensitivity_scale(sensitivity)
    tables = [_elasticity_table(sensitivity, scale), _derivative_table(sensitivity, scale)]
    steps = _of(sensitivity, Change.WHOLE_STEP)
    counted = [step for step in steps if abs(step[2].elasticity) >= _VISIBLE]
    return [*tables, _whole_table(sensitivity, counted, scale)] if counted else tables


def sensitivity_scale(sensitivity: Sensitivity) -> Scale:
    """The units of an answer: by the inputs and the outputs."""
    model = sensitivity.model
    inputs = [(float(value), model.parameters[n].unit) for n, value in model.inputs.items()]
    outputs = [(float(sensitivity.solution[n]), model.meaning(n).unit) for n in sensitivity.effects]
    return Scale.of([*inputs, *outputs], model.stated)


def _of(sensitivity: Sensitivity, change: Change) -> list[tuple[str, str, Effect]]:
    """Outputs and parameters whose change is of a kind, where the output has a value."""
    return [
        (output, name, effect)
        for output, effects in sensitivity.effects.items()
        for name, effect in effects.items()
        if effect.change is change and math.isfinite(float(sensitivity.solution[output]))
    ]


def csv_columns(sensitivity: Sensitivity) -> tuple[Column, ...]:
    """The rows as columns; those that would say nothing in any row are left out."""
    rows = sensitivity.rows()
    columns: dict[str, list[Any]] = {
        title: [row[title] for row in rows]
        for title in ("output", "parameter", "derivative", "elasticity")
    }
    if any("ci95" in row for row in rows):
        for place, title in enumerate(("low", "high")):
            columns[title] = [row["ci95"][place] for row in rows]
    if any(row["change"] != Change.DERIVATIVE for row in rows):
        columns["change"] = [row["change"] for row in rows]
        columns |= {title: [row.get(title) for row in rows] for title in ("fewer", "more")}
    if sensitivity.solution.approximation:
        columns["approximation"] = [sensitivity.solution.approximation] * len(rows)
    if any("error" in row for row in rows):
        columns["error"] = [row.get("error") for row in rows]
    taken = sensitivity.axes.columns(len(rows)) if sensitivity.axes else ()
    return (*(Column(title, tuple(cells)) for title, cells in columns.items()), *taken)


def _elasticity_table(sensitivity: Sensitivity, scale: Scale) -> Table:
    inputs = sensitivity.model.inputs
    shown = {
        o: e
        for o, e in sensitivity.effects.items()
        if math.isfinite(float(sensitivity.solution[o]))
    }
    names = [n for n in inputs if any(_matters(e.get(n)) for e in shown.values())]
    columns = [
        Column("parameter", tuple(names)),
        Column("value", tuple(_value(sensitivity, name, scale) for name in names)),
    ]
    for output, effects in shown.items():
        cells = [_percent(effects[name]) for name in names]
        columns.append(Column(output.replace("_", " "), tuple(cells)))
    title = f"{sensitivity.model.title}: change of each output [%] per 1% of each parameter"
    return Table(title, tuple(columns), tuple(_sentences(sensitivity)))


def _matters(effect: Effect | None) -> bool:
    return effect is not None and (effect.change is Change.NONE or abs(effect.elasticity) > _FLAT)


def _percent(effect: Effect) -> str:
    """Write an elasticity, with half of its interval where there is one."""
    if effect.change is Change.NONE:
        return "undefined"
    if not abs(effect.elasticity) >= _VISIBLE:
        return "-"
    sure = "" if effect.half_width is None else f" ± {effect.half_width:.3f}"
    return f"{effect.elasticity:+.3f}{sure}"


def _value(sensitivity: Sensitivity, name: str, scale: Scale) -> str:
    """A parameter as it was stated; a fitted one as far as it is known."""
    model = sensitivity.model
    value, own_unit = float(model.inputs[name]), model.parameters[name].unit
    if name in sensitivity.errors:
        return scale.to_error(value, sensitivity.errors[name], own_unit)
    return scale.known(value, model.parameters[name].interval, own_unit)


def _sentences(sensitivity: Sensitivity) -> list[str]:
    """Say which station is the bottleneck, and which is next."""
    rate = sensitivity.model.meaning("throughput").unit
    shown = [
        f"{b.station} at {with_unit(in_unit(b.saturation_throughput, rate), rate)}"
        for b in sensitivity.bottlenecks
    ]
    sentences = [f"fitted: {sensitivity.axes}"] if sensitivity.axes else []
    if shown:
        following = f"; relieve it, and {shown[1]} is next" if len(shown) > 1 else ""
        first = shown[0].replace(" at ", ", which saturates at ", 1)
        sentences.append(f"bottleneck: {first}{following}")
    sentences += _warnings(sensitivity) + labels(sensitivity.solution)
    effects = [effect for each in sensitivity.effects.values() for effect in each.values()]
    if any(effect.half_width is not None for effect in effects):
        sentences.append("± is half of a 95% interval, from the fit")
    return sentences


def _warnings(sensitivity: Sensitivity) -> list[str]:
    """Say which of the numbers are no derivatives."""
    steps = _of(sensitivity, Change.WHOLE_STEP)
    counted = dict.fromkeys(name for _, name, effect in steps if _matters(effect))
    warnings = []
    if counted:
        warnings.append(f"integers, changed by one: {', '.join(counted)}")
    for change, words in (
        (Change.CORNER, "mean of both sides of a corner"),
        (Change.NONE, "undefined, as the output jumps there"),
    ):
        pairs = [f"{output} by {name}" for output, name, _ in _of(sensitivity, change)]
        warnings += [f"{words}: {', '.join(pairs)}"] if pairs else []
    return warnings


def _whole_table(
    sensitivity: Sensitivity, counted: list[tuple[str, str, Effect]], scale: Scale
) -> Table:
    """Outputs with one fewer and one more of what is counted."""
    rows = []
    for output, name, effect in counted:
        here = float(sensitivity.solution[output])
        values = np.array([effect.fewer, here, effect.more])
        shown = Column.of("", values, sensitivity.model.meaning(output).unit, scale)
        rows.append((name, output, *shown.texts, str(shown.unit) or "-"))
    titles = ("whole number", "output", "one fewer", "now", "one more", "unit")
    cells = zip(*rows, strict=True)
    return Table("", tuple(Column(t, tuple(c)) for t, c in zip(titles, cells, strict=True)), keys=2)


def _derivative_table(sensitivity: Sensitivity, scale: Scale) -> Table:
    rows = []
    for output, effects in sensitivity.effects.items():
        shown = scale.unit(sensitivity.model.meaning(output).unit)
        for name, effect in effects.items():
            if _slopes(effect):
                by = scale.unit(sensitivity.model.parameters[name].unit)
                slope = slope_unit(shown, by, effect.derivative)
                rows.append((output, name, in_unit(effect.derivative, slope), str(slope)))
    titles = ("output", "parameter", "derivative", "unit")
    cells = zip(*rows, strict=True) if rows else [()] * 4
    return Table("", tuple(Column(t, tuple(c)) for t, c in zip(titles, cells, strict=True)))


def _slopes(effect: Effect) -> bool:
    """Whether a derivative is worth a line; one more of a count has to change what is shown."""
    is_small = effect.change is Change.WHOLE_STEP and abs(effect.elasticity) < _VISIBLE
    return abs(effect.derivative) > 0 and math.isfinite(effect.derivative) and not is_small


def sensitivity_rows(sensitivity: Sensitivity) -> list[dict[str, Any]]:
    """One dict an output and parameter."""
    return [
        {"output": output, "parameter": name, **_entry(effect)}
        for output, effects in sensitivity.effects.items()
        for name, effect in effects.items()
    ]


def sensitivity_document(sensitivity: Sensitivity) -> dict[str, Any]:
    """The JSON contract's document."""
    return {
        "model": sensitivity.model.name,
        "preset": sensitivity.model.preset,
        **(sensitivity.axes.document() if sensitivity.axes else {}),
        "method": sensitivity.solution.method,
        "approximation": sensitivity.solution.approximation or None,
        "inputs": {name: float(value) for name, value in sensitivity.model.inputs.items()},
        "outputs": {
            output: {name: _entry(effect) for name, effect in effects.items()}
            for output, effects in sensitivity.effects.items()
        },
        "bottleneck": sensitivity.bottleneck,
        "bottlenecks": [
            {"station": b.station, "saturation_throughput": b.saturation_throughput}
            for b in sensitivity.bottlenecks
        ],
    }


def sensitivity_csv(sensitivity: Sensitivity) -> str:
    """A CSV row an output and parameter."""
    return Table("", csv_columns(sensitivity)).to_csv()


def _entry(effect: Effect) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "derivative": effect.derivative,
        "elasticity": effect.elasticity,
        "change": effect.change.value,
    }
    if effect.error is not None and effect.ci95 is None:
        entry["error"] = effect.error
    if effect.change is Change.WHOLE_STEP:
        entry |= {"fewer": effect.fewer, "more": effect.more}
    return entry if effect.ci95 is None else {**entry, "ci95": list(effect.ci95)}
