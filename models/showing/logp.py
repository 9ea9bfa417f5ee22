"""LogP signatures described."""

from headway.loggp.measuring.extraction import GapLimit
from headway.models.language.scales import Scale
from headway.models.language.units import unit
from headway.models.signatures.logp import MeasuredLogp
from headway.models.tables.description import Description, Records, field, only_csv, only_json
from headway.models.tables.table import Column, Table
from headway.numerals import significant

_LIMITS = {
    GapLimit.NETWORK: "the network sets the gap",
    GapLimit.OVERHEAD: "the overhead sets the gap: the network's own is at most this",
    GapLimit.WINDOW: "the window sets the gap: the network's own is at most this",
}


_TIME = unit("us")
_NAMES = ("send_overhead", "receive_overhead", "overhead", "gap", "latency")


def describe(logp: MeasuredLogp) -> Description:
    """One row: the parameters in SI."""
    values = _values(logp)
    records = Records(
        (
            *(field(name, (value,), unit("s")) for name, value in values.items()),
            only_json("ci95", ({name: e.interval for name, e in logp.estimates.items()},)),
            only_json("gap_limited_by", (str(logp.estimate.limited_by),)),
            only_json("lack_of_fit", (logp.misfit.document(),)),
            only_json("notes", (list(logp.notes),)),
            only_json("warnings", (list(logp.warnings),)),
            only_csv("warnings", ("; ".join(logp.warnings),)),
        ),
        (*_NAMES, "ci95", "gap_limited_by", "lack_of_fit", "notes", "warnings"),
    )
    times = [*(e.value for e in logp.estimates.values()), float(logp.round_trip.mean())]
    return Description(
        records=lambda: records,
        scale=lambda: Scale.of([(times, _TIME)], [_TIME]),
        tables=lambda scale: [_table(logp, scale)],
    )


def _values(logp: MeasuredLogp) -> dict[str, float]:
    return {n: e.value for n, e in logp.estimates.items()} | {"overhead": logp.estimate.overhead}


def _table(logp: MeasuredLogp, scale: Scale) -> Table:
    """The parameters with their intervals."""
    values, second = _values(logp), scale.unit(_TIME)
    columns = [
        Column("parameter", tuple(name.replace("_", " ") for name in _NAMES)),
        Column("value", tuple(values[name] for name in _NAMES), second),
    ]
    if logp.estimate.gap.interval is not None:
        ends = {name: e.interval or (None, None) for name, e in logp.estimates.items()}
        pairs = [ends.get(name, (None, None)) for name in _NAMES]
        columns += [
            Column(title, tuple(pair[place] for pair in pairs), second)
            for place, title in enumerate(("95% from", "to"))
        ]
    return Table(f"{logp.source}: LogP signature", tuple(columns), _notes(logp, scale))


def _notes(logp: MeasuredLogp, scale: Scale) -> tuple[str, ...]:
    notes = [_LIMITS[logp.estimate.limited_by], *logp.notes]
    trip = scale.text(float(logp.round_trip.mean()), _TIME)
    notes.append(f"round trip: {trip}")
    if logp.estimate.gap.interval is None:
        notes.append("no intervals: repeat the measurements, as further rows")
    if logp.left_out:
        notes.append(f"{logp.left_out} rows left out: a cell is empty")
    if logp.misfit.f is not None and logp.misfit.p is not None:
        test = f"F = {significant(logp.misfit.f, 3)}, p = {significant(logp.misfit.p, 2)}"
        notes.append(f"test of these parameters against the scatter of repeats: {test}")
    return (*notes, *logp.warnings)
