"""LogP signatures as tables, rows and CSV."""

from typing import Any

from headway.loggp.measuring.extraction import GapLimit
from headway.models.language.units import unit
from headway.models.signatures.logp import MeasuredLogp
from headway.models.tables.table import Column, Table

_LIMITS = {
    GapLimit.NETWORK: "the network sets the gap",
    GapLimit.OVERHEAD: "the overhead sets the gap: the network's own is at most this",
    GapLimit.WINDOW: "the window sets the gap: the network's own is at most this",
}


def logp_tables(found: MeasuredLogp) -> list[Table]:
    """The parameters with their intervals."""
    second = unit("us")
    rows = {name: (e.value, *(e.interval or (None, None))) for name, e in found.estimates.items()}
    rows["overhead"] = (found.found.overhead, None, None)
    names = ("send_overhead", "receive_overhead", "overhead", "gap", "latency")
    columns = [Column("parameter", tuple(name.replace("_", " ") for name in names))]
    columns.append(Column("value", tuple(rows[name][0] for name in names), second))
    if found.found.gap.interval is not None:
        columns += [
            Column(title, tuple(rows[name][place] for name in names), second)
            for place, title in ((1, "95 % from"), (2, "to"))
        ]
    return [Table(f"{found.source}: LogP signature", tuple(columns), _notes(found))]


def _notes(found: MeasuredLogp) -> tuple[str, ...]:
    notes = [_LIMITS[found.found.limited_by], *found.notes]
    notes.append(f"round trip: {found.round_trip.mean() * 1e6:.4g} us")
    if found.found.gap.interval is None:
        notes.append("no intervals: repeat the measurements, as further rows")
    if found.left_out:
        notes.append(f"{found.left_out} rows left out: a cell is empty")
    if found.misfit.f is not None and found.misfit.p is not None:
        test = f"F = {found.misfit.f:.3g}, p = {found.misfit.p:.2g}"
        notes.append(f"test of these parameters against the scatter of repeats: {test}")
    return (*notes, *found.warnings)


def logp_document(found: MeasuredLogp) -> dict[str, Any]:
    """The JSON contract's document."""
    values = {name: estimate.value for name, estimate in found.estimates.items()}
    return {
        "send_overhead": values["send_overhead"],
        "receive_overhead": values["receive_overhead"],
        "overhead": found.found.overhead,
        "gap": values["gap"],
        "latency": values["latency"],
        "ci95": {name: estimate.interval for name, estimate in found.estimates.items()},
        "gap_limited_by": str(found.found.limited_by),
        "lack_of_fit": found.misfit.document(),
        "notes": list(found.notes),
        "warnings": list(found.warnings),
    }


def logp_rows(found: MeasuredLogp) -> list[dict[str, Any]]:
    """One dict: the parameters in SI."""
    return [logp_document(found)]


def logp_csv(found: MeasuredLogp) -> str:
    """One row of SI values."""
    values = {
        **{n: e.value for n, e in found.estimates.items()},
        "overhead": found.found.overhead,
    }
    columns = [Column(name, (value,), unit("s")) for name, value in values.items()]
    return Table("", (*columns, Column("warnings", ("; ".join(found.warnings),)))).to_csv()
