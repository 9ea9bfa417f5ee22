"""LogP signatures as tables, rows and CSV."""

from typing import Any

from headway.loggp.measuring.extraction import GapLimit
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.signatures.logp import MeasuredLogp
from headway.models.tables.table import Column, Table
from headway.numerals import significant

_LIMITS = {
    GapLimit.NETWORK: "the network sets the gap",
    GapLimit.OVERHEAD: "the overhead sets the gap: the network's own is at most this",
    GapLimit.WINDOW: "the window sets the gap: the network's own is at most this",
}


_TIME = unit("us")


def logp_scale(logp: MeasuredLogp) -> Scale:
    """The unit of times: microseconds where they suit the parameters."""
    values = [estimate.value for estimate in logp.estimates.values()]
    return Scale.of([([*values, float(logp.round_trip.mean())], _TIME)], [_TIME])


def logp_tables(logp: MeasuredLogp) -> list[Table]:
    """The parameters with their intervals."""
    second = logp_scale(logp).unit(_TIME)
    rows = {name: (e.value, *(e.interval or (None, None))) for name, e in logp.estimates.items()}
    rows["overhead"] = (logp.estimate.overhead, None, None)
    names = ("send_overhead", "receive_overhead", "overhead", "gap", "latency")
    columns = [Column("parameter", tuple(name.replace("_", " ") for name in names))]
    columns.append(Column("value", tuple(rows[name][0] for name in names), second))
    if logp.estimate.gap.interval is not None:
        columns += [
            Column(title, tuple(rows[name][place] for name in names), second)
            for place, title in ((1, "95% from"), (2, "to"))
        ]
    return [Table(f"{logp.source}: LogP signature", tuple(columns), _notes(logp))]


def _notes(logp: MeasuredLogp) -> tuple[str, ...]:
    notes = [_LIMITS[logp.estimate.limited_by], *logp.notes]
    trip = logp_scale(logp).text(float(logp.round_trip.mean()), _TIME)
    notes.append(f"round trip: {trip}")
    if logp.estimate.gap.interval is None:
        notes.append("no intervals: repeat the measurements, as further rows")
    if logp.left_out:
        notes.append(f"{logp.left_out} rows left out: a cell is empty")
    if logp.misfit.f is not None and logp.misfit.p is not None:
        test = f"F = {significant(logp.misfit.f, 3)}, p = {significant(logp.misfit.p, 2)}"
        notes.append(f"test of these parameters against the scatter of repeats: {test}")
    return (*notes, *logp.warnings)


def logp_document(logp: MeasuredLogp) -> dict[str, Any]:
    """The JSON contract's document."""
    values = {name: estimate.value for name, estimate in logp.estimates.items()}
    return {
        "send_overhead": values["send_overhead"],
        "receive_overhead": values["receive_overhead"],
        "overhead": logp.estimate.overhead,
        "gap": values["gap"],
        "latency": values["latency"],
        "ci95": {name: estimate.interval for name, estimate in logp.estimates.items()},
        "gap_limited_by": str(logp.estimate.limited_by),
        "lack_of_fit": logp.misfit.document(),
        "notes": list(logp.notes),
        "warnings": list(logp.warnings),
    }


def logp_rows(logp: MeasuredLogp) -> list[dict[str, Any]]:
    """One dict: the parameters in SI."""
    return [logp_document(logp)]


def logp_csv(logp: MeasuredLogp) -> str:
    """One row of SI values."""
    values = {
        **{n: e.value for n, e in logp.estimates.items()},
        "overhead": logp.estimate.overhead,
    }
    columns = [Column(name, (value,), unit("s")) for name, value in values.items()]
    return Table("", (*columns, Column("warnings", ("; ".join(logp.warnings),)))).to_csv()
