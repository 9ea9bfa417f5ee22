"""Predictions and advice on what to measure next, as tables, rows, CSV and JSON."""

import math
from typing import Any

from headway.kinds import FloatArray
from headway.models.inference.forecast import Forecast
from headway.models.inference.forecasting.next_load import PAYS, NextLoads
from headway.models.inference.forecasting.predictions import HARDLY, Predictions
from headway.models.language.scales import Scale, units_of
from headway.models.language.units import Unit, unit
from headway.models.language.verbs import perform
from headway.models.tables.table import Column, Table
from headway.numerals import four_digits, significant

_SURE = 0.995  # share from which a load counts as sustained

_TIME, _RATE = unit("s"), unit("op/s")
_BAND = (
    "bands contain 95% of new measurements if the load is sustained and one of the forms is right"
)


def prediction_scale(predictions: Predictions) -> Scale:
    """The units of predictions: by the times and rates of all loads."""
    times = [predictions.response_time, *predictions.percentiles.values()]
    shown = [(each, _TIME) for each in times]
    return Scale.of([*shown, (predictions.throughput, _RATE)], [predictions.unit])


def prediction_tables(predictions: Predictions, scale: Scale | None = None) -> list[Table]:
    """A row a load, in the units of the answer that it is part of."""
    scale = scale or prediction_scale(predictions)
    loads = (scale.text(load, predictions.unit) for load in predictions.loads.tolist())
    bands = [("response time", predictions.response_time, _TIME)]
    if predictions.load == "population":
        bands.insert(0, ("throughput", predictions.throughput, _RATE))
    for name, tail in predictions.percentiles.items():
        bands.append((name.removeprefix("response_time_"), tail, _TIME))
    columns = [Column("at", tuple(loads))]
    for name, band, own_unit in bands:
        columns.append(Column(name, _values(band, own_unit, scale)))
        columns.append(Column("95% band", _bands(band, own_unit, scale)))
    chances = tuple(_chance(share) for share in predictions.sustained.tolist())
    columns.append(Column("sustained", chances))
    notes = (_BAND, *_without(predictions))
    return [Table(f"{predictions.model}: predictions", tuple(columns), notes)]


def _without(predictions: Predictions) -> list[str]:
    """Who has no part in the percentiles, in a line."""
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


def prediction_rows(predictions: Predictions) -> list[dict[str, Any]]:
    """One dict a load, in SI; null where nothing plausible sustains it."""
    each = zip(
        predictions.loads,
        predictions.throughput.T,
        predictions.response_time.T,
        predictions.sustained,
        strict=True,
    )
    return [
        {
            "load": float(load),
            "throughput": _known(rate[1]),
            "throughput_ci95": [_known(rate[0]), _known(rate[2])],
            "response_time": _known(time[1]),
            "ci95": [_known(time[0]), _known(time[2])],
            "sustained": float(share),
            **{name: _interval(tail[:, place]) for name, tail in predictions.percentiles.items()},
        }
        for place, (load, rate, time, share) in enumerate(each)
    ]


def _interval(band: FloatArray) -> dict[str, Any]:
    return {"value": _known(band[1]), "ci95": [_known(band[0]), _known(band[2])]}


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def prediction_document(predictions: Predictions) -> dict[str, Any]:
    """The model, its load and the predictions."""
    return {"model": predictions.model, "load": predictions.load, **_document(predictions)}


def _document(predictions: Predictions) -> dict[str, Any]:
    """The predictions, and of percentiles the models that have none."""
    missing = (
        {"without_percentiles": list(predictions.without_percentiles)}
        if predictions.percentiles
        else {}
    )
    return {"predictions": prediction_rows(predictions), **missing}


def prediction_csv(predictions: Predictions) -> str:
    """A CSV row a load, in SI."""
    times, rates = predictions.response_time, predictions.throughput
    per = "" if predictions.load == "population" else "_per_s"
    cells = {
        f"{predictions.load}{per}": predictions.loads,
        "throughput_per_s": rates[1],
        "throughput_low_per_s": rates[0],
        "throughput_high_per_s": rates[2],
        "response_time_s": times[1],
        "response_time_low_s": times[0],
        "response_time_high_s": times[2],
        "sustained": predictions.sustained,
    }
    for name, tail in predictions.percentiles.items():
        ends = zip(("", "_low", "_high"), (tail[1], tail[0], tail[2]), strict=True)
        cells |= {f"{name}{end}_s": values for end, values in ends}
    columns = [Column(t, tuple(map(_known, each.tolist()))) for t, each in cells.items()]
    if predictions.without_percentiles:
        others = "; ".join(predictions.without_percentiles)
        columns.append(Column("without_percentiles", (others,) * predictions.loads.size))
    return Table("", tuple(columns)).to_csv()


def next_scale(loads: NextLoads) -> Scale:
    """The unit of the loads of further runs."""
    return Scale.of([(loads.loads, loads.unit)], [loads.unit])


def next_tables(loads: NextLoads) -> list[Table]:
    """A row a further run."""
    scale = next_scale(loads)
    title = f"{loads.quantity.replace('_', ' ')}: where to measure next"
    now = f"its 95% interval now: {_reach(loads.factors[0])}"
    stop = f"a run after these narrows it by less than {PAYS:.0%}"
    if not loads.loads.size:
        return [Table(title, (), (now, f"no further run narrows it by {PAYS:.0%} or more"))]
    columns = (
        Column("run", tuple(str(k + 1) for k in range(loads.loads.size))),
        Column("measure at", tuple(scale.text(load, loads.unit) for load in loads.loads.tolist())),
        Column("95% interval then", tuple(map(_reach, loads.factors[1:].tolist()))),
    )
    return [Table(title, columns, (now, stop))]


def _reach(factor: float) -> str:
    """How far an interval reaches: in percent, or as a factor where that is more than twofold."""
    if factor > 2:
        return f"up to {four_digits(factor)} times as much or as little"
    return f"± {significant(100 * (factor - 1), 2)}%"


def next_rows(loads: NextLoads) -> list[dict[str, Any]]:
    """One dict a further run: its load in SI, and the factor that the interval reaches then."""
    pairs = zip(loads.loads.tolist(), loads.factors[1:].tolist(), strict=True)
    return [{"load": load, "expected_factor": factor} for load, factor in pairs]


def next_document(loads: NextLoads) -> dict[str, Any]:
    """What is to be known, how well it is now, and the further runs."""
    return {
        "quantity": loads.quantity,
        "load": loads.load,
        "factor": float(loads.factors[0]),
        "runs": next_rows(loads),
    }


def next_csv(loads: NextLoads) -> str:
    """A CSV row a further run, in SI."""
    columns = Column("load", tuple(loads.loads)), Column("factor", tuple(loads.factors[1:]))
    return Table("", columns).to_csv()


def forecast_scale(forecast: Forecast) -> Scale:
    """The units of the fit, which its predictions keep."""
    return units_of(forecast.fit)


def forecast_tables(forecast: Forecast) -> list[Table]:
    """The fit's tables, and what was asked besides in their units."""
    tables = forecast.fit.tables()
    if forecast.predictions is not None:
        tables += prediction_tables(forecast.predictions, forecast_scale(forecast))
    return tables if forecast.ahead is None else [*tables, *next_tables(forecast.ahead)]


def forecast_rows(forecast: Forecast) -> list[dict[str, Any]]:
    """The fit's rows."""
    return forecast.fit.rows()


def forecast_document(forecast: Forecast) -> dict[str, Any]:
    """The fit's document with `predictions` and `next`."""
    document: dict[str, Any] = perform(forecast.fit, "document")
    if forecast.predictions is not None:
        document |= _document(forecast.predictions)
    if forecast.ahead is not None:
        document["next"] = next_document(forecast.ahead)
    return document


def forecast_csv(forecast: Forecast) -> str:
    """The predictions where there are some, else the fit's CSV."""
    return (forecast.predictions or forecast.fit).to_csv()


def forecast_figure(forecast: Forecast) -> Any:
    """The fit's figure."""
    return perform(forecast.fit, "plot")
