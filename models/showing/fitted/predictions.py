"""Predictions of a fit described: plausible values at loads, and whether loads are sustained."""

import math
from dataclasses import asdict

from headway.kinds import FloatArray
from headway.models.inference.forecasting.predictions import HARDLY, Predictions
from headway.models.language.scales import Scale
from headway.models.language.units import Unit, unit
from headway.models.measured.arrivals import arrivals_in_words
from headway.models.tables.description import Description, Field, Records, Row, field, only_csv
from headway.models.tables.table import Column, Table
from headway.numerals import digits, significant

_SURE = 0.995  # share of plausible curves from which a load counts as sustained

_TIME, _RATE = unit("s"), unit("op/s")
_BAND = (
    "bands contain 95% of new measurements if the load is sustained and one of the forms is right"
)
_USERS = "for users"
_ARRIVING = "requests arrive {}, as measured; " + f"'{_USERS}' is at random (Poisson)"


def describe(predictions: Predictions) -> Description:
    """One row per load in SI; null if no plausible curve sustains it."""
    times = [predictions.response_time, *predictions.percentiles.values()]
    shown = [*((each, _TIME) for each in times), (predictions.throughput, _RATE)]
    return Description(
        records=lambda: _records(predictions),
        scale=lambda: Scale.of(shown, [predictions.unit]),
        tables=lambda scale: [_table(predictions, scale)],
        document=lambda rows: {
            "model": predictions.model,
            "load": predictions.load,
            "arrival_scv": predictions.arrival_scv,
            **part_document(predictions, rows),
        },
    )


def part_document(predictions: Predictions, rows: list[Row]) -> Row:
    """The predictions, and the models without a law of the percentiles."""
    without = {"without_percentiles": list(predictions.without_percentiles)}
    corrected = {"measured_tails": [asdict(tail) for tail in predictions.measured_tails]}
    more = without | (corrected if predictions.measured_tails else {})
    return {"predictions": rows, **(more if predictions.percentiles else {})}


def _records(predictions: Predictions) -> Records:
    per = "" if predictions.load == "population" else "_per_s"
    rates, times = predictions.throughput, predictions.response_time
    others = ["; ".join(predictions.without_percentiles)] * predictions.loads.size
    fields = [
        Field(("load",), predictions.loads.tolist(), csv=(f"{predictions.load}{per}",)),
        *_band_fields("throughput_{}per_s", rates, ("throughput",), ("throughput_ci95",)),
        *_band_fields("response_time_{}s", times, ("response_time",), ("ci95",)),
        field("sustained", predictions.sustained.tolist()),
    ]
    for name, tail in predictions.percentiles.items():
        fields += _band_fields(f"{name}_{{}}s", tail, (name, "value"), (name, "ci95"))
    more = [only_csv("without_percentiles", others)] if predictions.without_percentiles else []
    return Records((*fields, *_of_users(predictions), *more))


def _of_users(predictions: Predictions) -> list[Field]:
    """Times under Poisson arrivals, if the measured arrivals were of another kind."""
    users, own = predictions.poisson, "poisson"
    if users is None:
        return []
    times = {"response_time": users.response_time, **users.percentiles}
    return [
        one
        for name, band in times.items()
        for one in _band_fields(f"{own}_{name}_{{}}s", band, (own, name), (own, f"{name}_ci95"))
    ]


def _band_fields(
    column: str, band: FloatArray, value: tuple[str, ...], ends: tuple[str, ...]
) -> tuple[Field, Field]:
    """A best value, and the ends of the band that holds 95% of new measurements."""
    low, best, high = ([_known(end) for end in each] for each in band.tolist())
    pairs, names = list(zip(low, high, strict=True)), ("low_", "high_")
    return (
        Field(value, best, csv=(column.format(""),)),
        Field(ends, pairs, csv=tuple(column.format(name) for name in names)),
    )


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _table(predictions: Predictions, scale: Scale) -> Table:
    loads = (scale.text(load, predictions.unit) for load in predictions.loads.tolist())
    bands = [("response time", predictions.response_time, _TIME)]
    if predictions.load == "population":
        bands.insert(0, ("throughput", predictions.throughput, _RATE))
    for name, tail in predictions.percentiles.items():
        bands.append((name.removeprefix("response_time_"), tail, _TIME))
    users = predictions.poisson
    if users is not None:
        bands.append((_USERS, users.response_time, _TIME))
        for name, tail in users.percentiles.items():
            bands.append((f"{name.removeprefix('response_time_')} {_USERS}", tail, _TIME))
    columns = [Column("at", tuple(loads))]
    for name, band, own_unit in bands:
        columns.append(Column(name, _values(band, own_unit, scale)))
        columns.append(Column("95% band", _bands(band, own_unit, scale)))
    chances = tuple(_chance(share) for share in predictions.sustained.tolist())
    columns.append(Column("sustained", chances))
    notes = (_BAND, *_without(predictions), *_as_measured(predictions))
    if users is not None:
        notes = (f"{_ARRIVING.format(arrivals_in_words(predictions.arrival_scv))}", *notes)
    return Table(f"{predictions.model}: predictions", tuple(columns), notes)


def _as_measured(predictions: Predictions) -> list[str]:
    """How measured percentiles correct those of the form, and where its law is far off."""
    far = (tail for tail in predictions.measured_tails if tail.is_far_off)
    others = (
        f"p{digits(tail.percent)} of the data is {significant(tail.off_by or 0.0, 3)} times that "
        "of the law of its form"
        for tail in far
    )
    return [*map(str, predictions.measured_tails), *others]


def _without(predictions: Predictions) -> list[str]:
    """A line on the models that have no part in the percentiles."""
    if not predictions.without_percentiles:
        return []
    names = ", ".join(name.removeprefix("response_time_") for name in predictions.percentiles)
    others = ", ".join(predictions.without_percentiles)
    have = "has" if len(predictions.without_percentiles) == 1 else "have"
    return [f"{names}: from the plausible forms that provide it; {others} {have} no distribution"]


def _values(band: FloatArray, own_unit: Unit, scale: Scale) -> tuple[str, ...]:
    return tuple(scale.text(v, own_unit) if math.isfinite(v) else "-" for v in band[1].tolist())


def _bands(band: FloatArray, own_unit: Unit, scale: Scale) -> tuple[str, ...]:
    pairs = zip(band[0].tolist(), band[2].tolist(), strict=True)
    return tuple(scale.ends(a, b, own_unit) if math.isfinite(b) else "-" for a, b in pairs)


def _chance(share: float) -> str:
    if share >= _SURE:
        return "yes"
    return f"{share:.0%} likely" if share >= HARDLY else "no"
