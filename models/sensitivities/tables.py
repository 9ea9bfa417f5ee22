"""Sensitivities as tables, with what binds and what binds next."""

import math

from headway.models.model import Model
from headway.models.sensitivities.effects import Effect, Sensitivity
from headway.models.tables import Column, Table, four_digits

_FLAT = 1e-12  # elasticity below which a parameter has no effect
_VISIBLE = 5e-4  # elasticity below which tables show none


def sensitivity_tables(found: Sensitivity) -> list[Table]:
    """Elasticities by output, and derivatives in readable units."""
    return [_elasticity_table(found), _derivative_table(found)]


def _elasticity_table(found: Sensitivity) -> Table:
    inputs = found.model.inputs
    names = [n for n in inputs if any(_matters(e.get(n)) for e in found.effects.values())]
    columns = [
        Column("parameter", tuple(names)),
        Column("value", tuple(_value(found.model, name) for name in names)),
    ]
    for output, effects in found.effects.items():
        cells = [_percent(effects[name]) for name in names]
        columns.append(Column(output.replace("_", " "), tuple(cells)))
    preset = f" ({found.model.preset})" if found.model.preset else ""
    title = f"{found.model.name}{preset}: change of each output [%] per 1 % of each parameter"
    return Table(title, tuple(columns), tuple(_sentences(found)))


def _matters(effect: Effect | None) -> bool:
    return effect is not None and abs(effect.elasticity) > _FLAT


def _percent(effect: Effect) -> str:
    """Write an elasticity, with half of its interval where there is one."""
    if abs(effect.elasticity) < _VISIBLE:
        return "-"
    sure = "" if effect.half_width is None else f" ± {effect.half_width:.3f}"
    return f"{effect.elasticity:+.3f}{sure}"


def _value(model: Model, name: str) -> str:
    return model.parameters[name].shown(float(model.inputs[name]))


def _sentences(found: Sensitivity) -> list[str]:
    """Say what binds, and what would bind next."""
    rate = found.model.meaning("throughput").unit
    shown = [
        f"{b.station} at {b.saturation_throughput / rate.scale:.6g} {rate}" for b in found.binds
    ]
    sentences = []
    if shown:
        following = f"; were that relieved, {shown[1]} is next" if len(shown) > 1 else ""
        sentences.append(f"{shown[0].replace(' at ', ' binds: it saturates at ', 1)}{following}")
    unknown = [name for name in found.effects if name not in found.symbolic]
    if unknown:
        sentences.append(f"by differences: {', '.join(unknown)}; the others by the closed form")
    effects = [effect for each in found.effects.values() for effect in each.values()]
    if any(effect.half_width is not None for effect in effects):
        sentences.append("± is half of a 95 % interval, from the fit")
    return sentences


def _derivative_table(found: Sensitivity) -> Table:
    rows = []
    for output, effects in found.effects.items():
        shown = found.model.meaning(output).unit
        for name, effect in effects.items():
            if abs(effect.derivative) > 0 and math.isfinite(effect.derivative):
                by = found.model.parameters[name].unit
                size = effect.derivative * by.scale / shown.scale
                units = f"{str(shown) or 1} per {str(by) or 1}"
                rows.append((output, name, four_digits(size), units))
    titles = ("output", "parameter", "derivative", "unit")
    cells = zip(*rows, strict=True) if rows else [()] * 4
    return Table("", tuple(Column(t, tuple(c)) for t, c in zip(titles, cells, strict=True)))
