"""Signatures of measured curves, and demands off utilisations, as tables, rows and CSV."""

from collections.abc import Sequence
from typing import Any

from headway.kinds import FloatArray
from headway.models.language.digits import in_unit, with_unit
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, unit
from headway.models.signatures.sfs import MeasuredSignature, Range, SfsSignature, Start
from headway.models.signatures.utilisation import Demand, MeasuredUse, Use
from headway.models.tables.table import Column, Table
from headway.numerals import digits

_MS, _RATE = unit("ms"), unit("op/s")
_ROWS = (
    ("base response time", "base_response_time", _MS),
    ("slope", "slope", unit("ms*s/op")),
    ("intercept", "intercept", _MS),
    ("r squared", "r_squared", ONE),
    ("saturation throughput", "saturation_throughput", _RATE),
    ("overall response time", "overall_response_time", _MS),
    ("response time at the peak", "peak_response_time", _MS),
    ("outstanding requests", "outstanding_requests", ONE),
)


def signature_scale(signatures: Sequence[SfsSignature]) -> Scale:
    """The units of signatures side by side."""
    return Scale.of(
        (float(getattr(s, key)), own_unit) for _, key, own_unit in _ROWS for s in signatures
    )


def curve_scale(signature: MeasuredSignature) -> Scale:
    """The units of a curve's signature."""
    return signature_scale([signature.signature])


def signature_table(
    title: str, signatures: dict[str, SfsSignature], scale: Scale | None = None
) -> Table:
    """Signatures side by side, all values of a row in one unit."""
    each = list(signatures.values())
    values = {key: [float(getattr(one, key)) for one in each] for _, key, _ in _ROWS}
    scale = scale or signature_scale(each)
    units = [scale.suited(own_unit, max(map(abs, values[key]))) for _, key, own_unit in _ROWS]
    columns = [Column("quantity", tuple(row[0] for row in _ROWS))]
    for place, name in enumerate(signatures):
        rows = zip(values.values(), units, strict=True)
        columns.append(Column(name, tuple(in_unit(row[place], shown) for row, shown in rows)))
    columns.append(Column("unit", tuple(str(shown) for shown in units)))
    return Table(title, tuple(columns))


def span(within: Range, load: FloatArray) -> str:
    """Say over which loads a line was drawn."""
    inside = load[within.holds(load)]
    between = with_unit(f"{digits(inside.min())} to {digits(inside.max())}", _RATE)
    return f"line and base over {between} ({inside.size} points)"


def curve_tables(signature: MeasuredSignature) -> list[Table]:
    """The signature in readable units."""
    notes = [str(signature.curve.axes), span(signature.within, signature.curve.load.values)]
    if signature.curve.start is Start.FIRST_POINT:
        notes.append("overall response time from the first point on, as SPECstorage has it")
    if signature.curve.invalid:
        notes.append(f"{signature.curve.invalid} points are marked invalid by the benchmark")
    table = signature_table(f"{signature.curve.source}: signature", {"value": signature.signature})
    return [Table(table.title, table.columns, tuple(notes))]


def curve_rows(signature: MeasuredSignature) -> list[dict[str, float]]:
    """One dict: the signature in SI."""
    return [signature.signature.document()]


def curve_document(signature: MeasuredSignature) -> dict[str, Any]:
    """The JSON contract's document."""
    return {**signature.curve.axes.document(), **signature.signature.document()}


def curve_csv(signature: MeasuredSignature) -> str:
    """One row of SI values, and the columns they come from."""
    units = {"slope": "s/op*s", "r_squared": "", "outstanding_requests": ""}
    columns = [
        Column(name, (value,), unit(units.get(name, "op/s" if "throughput" in name else "s")))
        for name, value in signature.signature.document().items()
    ]
    return Table("", (*columns, *signature.curve.axes.columns(1))).to_csv()


def use_scale(measured_use: MeasuredUse) -> Scale:
    """The unit of all demands."""
    demands = [demand.value for use in measured_use.resources for demand in use.demands]
    return Scale.of([(demands, _MS)])


def use_tables(measured_use: MeasuredUse) -> list[Table]:
    """One table a resource: what each operation takes of it."""
    scale = use_scale(measured_use)
    return [_table(measured_use, use, scale) for use in measured_use.resources]


def _table(measured_use: MeasuredUse, use: Use, scale: Scale) -> Table:
    cells = [_cells(demand, scale) for demand in use.demands]
    columns = (
        Column("rate", tuple(demand.rate for demand in use.demands)),
        Column("demand of one", tuple(value for value, _ in cells)),
        Column("95% interval", tuple(both for _, both in cells)),
    )
    rates = ", ".join(demand.rate for demand in use.demands)
    notes = [
        f"y = {use.resource}, x = {rates}",
        f"U = sum of X D through the origin, {use.points} points about it by {use.scatter:.2%}",
        *(f"warning: {text}" for text in use.warnings),
        "of several servers in one column, demands are those of one operation by their number",
    ]
    return Table(
        f"{measured_use.source}: what operations take of {use.resource}", columns, tuple(notes)
    )


def _cells(demand: Demand, scale: Scale) -> tuple[str, str]:
    return scale.text(demand.value, _MS), scale.ends(demand.low, demand.high, _MS)


def use_rows(measured_use: MeasuredUse) -> list[dict[str, Any]]:
    """One dict a demand, SI."""
    return [
        {"resource": use.resource, "rate": demand.rate, **_document(demand)}
        for use in measured_use.resources
        for demand in use.demands
    ]


def _document(demand: Demand) -> dict[str, Any]:
    return {
        "value": demand.value,
        "ci95": [demand.low, demand.high],
        "standard_error": demand.standard_error,
        "variance_inflation": demand.inflation,
    }


def use_document(measured_use: MeasuredUse) -> dict[str, Any]:
    """The JSON contract's document."""
    resources = {
        use.resource: {
            "demands": {demand.rate: _document(demand) for demand in use.demands},
            "idle": _document(use.idle),
            "scatter": use.scatter,
            "points": use.points,
            "warnings": list(use.warnings),
        }
        for use in measured_use.resources
    }
    return {"source": measured_use.source, "resources": resources}


def use_csv(measured_use: MeasuredUse) -> str:
    """A row a demand, SI."""
    rows = [(use.resource, demand) for use in measured_use.resources for demand in use.demands]
    columns = (
        Column("resource", tuple(resource for resource, _ in rows)),
        Column("rate", tuple(demand.rate for _, demand in rows)),
        Column("demand", tuple(demand.value for _, demand in rows), unit("s")),
        Column("low", tuple(demand.low for _, demand in rows), unit("s")),
        Column("high", tuple(demand.high for _, demand in rows), unit("s")),
        Column("variance_inflation", tuple(demand.inflation for _, demand in rows)),
    )
    return Table("", columns).to_csv()
