"""Signatures of measured curves as tables, rows and CSV."""

from typing import Any

from headway.kinds import FloatArray
from headway.models.language.units import unit
from headway.models.signatures.sfs import MeasuredSignature, Range, SfsSignature, Start
from headway.models.tables.table import Column, Table


def signature_table(title: str, signatures: dict[str, SfsSignature]) -> Table:
    """Signatures side by side, in readable units."""
    rows = [
        ("base response time", "base_response_time", "ms"),
        ("slope", "slope", "us per op/s"),
        ("intercept", "intercept", "ms"),
        ("r squared", "r_squared", ""),
        ("saturation throughput", "saturation_throughput", "op/s"),
        ("overall response time", "overall_response_time", "ms"),
        ("response time at the peak", "peak_response_time", "ms"),
        ("outstanding requests", "outstanding_requests", ""),
    ]
    scales = {"ms": 1e3, "us per op/s": 1e6}
    columns = [Column("quantity", tuple(row[0] for row in rows))]
    for name, signature in signatures.items():
        values = [getattr(signature, key) * scales.get(shown, 1) for _, key, shown in rows]
        columns.append(Column(name, tuple(_significant(value) for value in values)))
    columns.append(Column("unit", tuple(row[2] for row in rows)))
    return Table(title, tuple(columns))


def _significant(value: float) -> str:
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"


def span(within: Range, load: FloatArray) -> str:
    """Say over which loads a line was drawn."""
    inside = load[within.holds(load)]
    return f"line and base over {inside.min():g} to {inside.max():g} op/s ({inside.size} points)"


def curve_tables(found: MeasuredSignature) -> list[Table]:
    """The signature in readable units."""
    notes = [str(found.curve.axes), span(found.within, found.curve.load.values)]
    if found.curve.start is Start.FIRST_POINT:
        notes.append("overall response time from the first point on, as SPECstorage has it")
    if found.curve.invalid:
        notes.append(f"{found.curve.invalid} points are marked invalid by the benchmark")
    table = signature_table(f"{found.curve.source}: signature", {"value": found.signature})
    return [Table(table.title, table.columns, tuple(notes))]


def curve_rows(found: MeasuredSignature) -> list[dict[str, float]]:
    """One dict: the signature in SI."""
    return [found.signature.document()]


def curve_document(found: MeasuredSignature) -> dict[str, Any]:
    """The JSON contract's document."""
    return {**found.curve.axes.document(), **found.signature.document()}


def curve_csv(found: MeasuredSignature) -> str:
    """One row of SI values, and the columns they come from."""
    units = {"slope": "s/op*s", "r_squared": "", "outstanding_requests": ""}
    columns = [
        Column(name, (value,), unit(units.get(name, "op/s" if "throughput" in name else "s")))
        for name, value in found.signature.document().items()
    ]
    return Table("", (*columns, *found.curve.axes.columns(1))).to_csv()
