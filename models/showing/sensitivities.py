"""Sensitivities described, with the bottleneck and the next one."""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from headway.models.analysis.differences import Change
from headway.models.analysis.sensitivity import Effect, Sensitivity
from headway.models.language.digits import in_unit, slope_unit, with_unit
from headway.models.language.scales import Scale
from headway.models.language.units import Unit
from headway.models.showing.parts.alternatives import (
    ALL,
    OF_ALL,
    OF_ALL_ENDS,
    alone_note,
    mixed_note,
    models_document,
)
from headway.models.showing.solutions import labels
from headway.models.tables.description import (
    ABSENT,
    Description,
    Field,
    Records,
    Row,
    field,
    only_csv,
    without,
)
from headway.models.tables.table import Column, Table

_FLAT = 1e-12  # elasticity below which a parameter has no effect
_VISIBLE = 5e-4  # elasticity below which tables show none


def describe(sensitivity: Sensitivity) -> Description:
    """One row per output and parameter; CSV leaves out columns that are empty in all rows."""
    model = sensitivity.model
    return Description(
        records=lambda: _records(sensitivity),
        scale=lambda: Scale.of(_shown(sensitivity), model.stated),
        tables=lambda scale: _tables(sensitivity, scale),
        document=lambda rows: {
            "model": model.name,
            "preset": model.preset,
            **(sensitivity.axes.document() if sensitivity.axes else {}),
            "method": sensitivity.solution.method,
            "approximation": sensitivity.solution.approximation or None,
            "inputs": {name: float(value) for name, value in model.inputs.items()},
            "outputs": _by_output(rows),
            "bottleneck": sensitivity.bottleneck,
            "bottlenecks": [
                {"station": b.station, "saturation_throughput": b.saturation_throughput}
                for b in sensitivity.bottlenecks
            ],
            **models_document(model),
        },
    )


def _records(sensitivity: Sensitivity) -> Records:
    each = [
        (output, name, effect)
        for output, effects in sensitivity.effects.items()
        for name, effect in effects.items()
    ]
    effects = [effect for *_, effect in each]
    doubt = sensitivity.solution.approximation
    return Records(
        (
            field("output", (output for output, _, _ in each)),
            field("parameter", (name for _, name, _ in each)),
            field("derivative", (effect.derivative for effect in effects)),
            field("elasticity", (effect.elasticity for effect in effects)),
            _ends("ci95", (effect.ci95 for effect in effects), ("low", "high")),
            _ends(OF_ALL, (_of_alternatives(sensitivity, *one[:2]) for one in each), OF_ALL_ENDS),
            *_changes(effects),
            *([only_csv("approximation", (doubt for _ in each))] if doubt else []),
            _errors(effects),
            *(sensitivity.axes.fields(len(each)) if sensitivity.axes else ()),
        ),
        _KEYS,
    )


def _of_alternatives(
    sensitivity: Sensitivity, output: str, name: str
) -> tuple[float, float] | None:
    """The range of an elasticity over a model and its alternatives, if it has any."""
    return sensitivity.elasticities(output, name) if sensitivity.alternatives else None


def _ends(
    name: str, ranges: Iterable[tuple[float, float] | None], titles: tuple[str, ...]
) -> Field:
    """Ends of ranges, with columns of their own in CSV if there are any."""
    ends = [ABSENT if one is None else one for one in ranges]
    return Field((name,), ends, csv=titles if _any(ends) else ())


def _changes(effects: Sequence[Effect]) -> Iterator[Field]:
    """How each effect was found, and for counts the output with one fewer and one more."""
    differs = any(effect.change is not Change.DERIVATIVE for effect in effects)
    yield _where("change", (effect.change.value for effect in effects), shown=differs)
    for title in ("fewer", "more"):
        each = (
            getattr(effect, title) if effect.change is Change.WHOLE_STEP else ABSENT
            for effect in effects
        )
        yield _where(title, each, shown=differs)


def _errors(effects: Iterable[Effect]) -> Field:
    """Errors of the differences, where no interval tells more."""
    errors = [ABSENT if one.error is None or one.ci95 is not None else one.error for one in effects]
    return _where("error", errors, shown=_any(errors))


_KEYS = (
    "output",
    "parameter",
    "derivative",
    "elasticity",
    "change",
    "error",
    "fewer",
    "more",
    "ci95",
    OF_ALL,
)


def _any(values: Sequence[object]) -> bool:
    return any(value is not ABSENT for value in values)


def _where(name: str, values: Iterable[object], *, shown: bool) -> Field:
    """A field that is in CSV if it is not empty."""
    return Field((name,), tuple(values), csv=(name,) if shown else ())


def _by_output(rows: list[Row]) -> dict[str, dict[str, Row]]:
    outputs: dict[str, dict[str, Row]] = {}
    for row in rows:
        entry = without(row, "output", "parameter")
        outputs.setdefault(row["output"], {})[row["parameter"]] = entry
    return outputs


def _tables(sensitivity: Sensitivity, scale: Scale) -> list[Table]:
    """Elasticities by output, derivatives in readable units, and effects of one more or fewer."""
    tables = [_elasticity_table(sensitivity, scale), _derivative_table(sensitivity, scale)]
    steps = _of(sensitivity, Change.WHOLE_STEP)
    counted = [step for step in steps if abs(step[2].elasticity) >= _VISIBLE]
    whole = [_whole_table(sensitivity, counted, scale)] if counted else []
    of_all = of_all_models(sensitivity)
    return [*tables, *whole, *([] if of_all is None else [of_all])]


def _shown(sensitivity: Sensitivity) -> Iterator[tuple[float, Unit]]:
    """The inputs and the outputs."""
    model = sensitivity.model
    for name, value in model.inputs.items():
        yield float(value), model.parameters[name].unit
    for name in sensitivity.effects:
        yield float(sensitivity.solution[name]), model.meaning(name).unit


def _of(sensitivity: Sensitivity, change: Change) -> list[tuple[str, str, Effect]]:
    """Outputs and parameters whose change is of a kind, if the output has a value."""
    return [
        (output, name, effect)
        for output, effects in sensitivity.effects.items()
        for name, effect in effects.items()
        if effect.change is change and math.isfinite(float(sensitivity.solution[output]))
    ]


def of_all_models(sensitivity: Sensitivity) -> Table | None:
    """The range of elasticities over a model and its alternatives, where they differ.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> of_all_models(catalogue_model("server-single").at(arrival_rate=200).sensitivity())
    """
    cells: dict[str, dict[str, str]] = {}
    for output, effects in sensitivity.effects.items() if sensitivity.alternatives else ():
        for name in effects:
            low, high = sensitivity.elasticities(output, name)
            if high - low >= _VISIBLE:
                cells.setdefault(name, {})[output] = f"{low:+.3f} to {high:+.3f}"
    if not cells:
        return None
    columns = [Column("parameter", tuple(cells))]
    for output in sensitivity.effects:
        texts = [row.get(output, "-") for row in cells.values()]
        if any(text != "-" for text in texts):
            columns.append(Column(output.replace("_", " "), tuple(texts)))
    return Table(f"Range over {ALL}: change [%] per 1% of each parameter", tuple(columns))


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
    """An elasticity in per cent, with its half-width if it has one."""
    if effect.change is Change.NONE:
        return "undefined"
    if not abs(effect.elasticity) >= _VISIBLE:
        return "-"
    half = effect.half_width
    sure = "" if half is None else f" ± {half:.3f}" if math.isfinite(half) else " ± ?"
    return f"{effect.elasticity:+.3f}{sure}"


def _value(sensitivity: Sensitivity, name: str, scale: Scale) -> str:
    """A parameter as it was stated; a fitted one to the digits that are known."""
    model = sensitivity.model
    value, own_unit = float(model.inputs[name]), model.parameters[name].unit
    if name in sensitivity.errors:
        return scale.to_error(value, sensitivity.errors[name], own_unit)
    return scale.known(value, model.parameters[name].interval, own_unit)


def _sentences(sensitivity: Sensitivity) -> list[str]:
    """Name the bottleneck, and the next one."""
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
    spoken = mixed_note if sensitivity.alternatives else alone_note
    sentences += _warnings(sensitivity) + spoken(sensitivity.model) + labels(sensitivity.solution)
    effects = [effect for each in sensitivity.effects.values() for effect in each.values()]
    if any(effect.half_width is not None for effect in effects):
        sentences.append("± is half of a 95% interval, from the fit")
    return sentences


def _warnings(sensitivity: Sensitivity) -> list[str]:
    """Name the numbers that are not derivatives."""
    steps = _of(sensitivity, Change.WHOLE_STEP)
    counted = dict.fromkeys(name for _, name, effect in steps if _matters(effect))
    warnings = []
    if counted:
        warnings.append(f"whole numbers, changed by one: {', '.join(counted)}")
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
    """Outputs with one fewer and one more of a parameter that counts something."""
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
    """Whether a derivative has a line; for a count, if one more changes the digits shown."""
    is_small = effect.change is Change.WHOLE_STEP and abs(effect.elasticity) < _VISIBLE
    return abs(effect.derivative) > 0 and math.isfinite(effect.derivative) and not is_small
