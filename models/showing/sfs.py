"""Signatures of measured curves described, alone or side by side."""

from collections.abc import Sequence
from dataclasses import replace

from headway.kinds import FloatArray
from headway.models.language.digits import in_unit, with_unit
from headway.models.language.scales import Scale
from headway.models.language.units import ONE, unit
from headway.models.signatures.sfs import MeasuredSignature, Range, SfsSignature, Start
from headway.models.tables.description import Description, Records, field
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
    """State the loads over which a line was fitted."""
    inside = load[within.holds(load)]
    between = with_unit(f"{digits(inside.min())} to {digits(inside.max())}", _RATE)
    return f"line and base over {between} ({inside.size} points)"


def describe(signature: MeasuredSignature) -> Description:
    """One row: the signature in SI, and in CSV the columns that it comes from."""
    known, axes = signature.signature.document(), signature.curve.axes
    fields = [field(name, (value,), unit(_unit_of(name))) for name, value in known.items()]
    return Description(
        records=lambda: Records((*fields, *axes.fields(1))),
        scale=lambda: signature_scale([signature.signature]),
        tables=lambda scale: [_table(signature, scale)],
        document=lambda rows: {**axes.document(), **rows[0]},
    )


def _unit_of(name: str) -> str:
    own = {"slope": "s/op*s", "r_squared": "", "outstanding_requests": ""}
    return own.get(name, "op/s" if "throughput" in name else "s")


def _table(signature: MeasuredSignature, scale: Scale) -> Table:
    notes = [
        signature.curve.axes.note,
        span(signature.within, signature.curve.load.values),
    ]
    if signature.curve.start is Start.FIRST_POINT:
        notes.append("overall response time from the first point on, as SPECstorage has it")
    if signature.curve.invalid:
        notes.append(f"{signature.curve.invalid} points are marked invalid by the benchmark")
    title, values = f"{signature.curve.source}: signature", {"value": signature.signature}
    return replace(signature_table(title, values, scale), notes=tuple(notes))
