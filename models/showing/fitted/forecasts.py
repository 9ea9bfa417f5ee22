"""Forecasts described: a fit, with the predictions and advice that were asked for."""

from typing import Any

from headway.models.inference.forecast import Forecast
from headway.models.language.scales import Scale, units_of
from headway.models.language.verbs import perform
from headway.models.showing.fitted.predictions import part_document
from headway.models.tables.description import Description, Row
from headway.models.tables.forms import described, document, tables
from headway.models.tables.table import Table


def describe(forecast: Forecast) -> Description:
    """The fit's rows; CSV is that of the predictions if there are any."""
    return Description(
        records=lambda: described(forecast.fit).records(),
        scale=lambda: units_of(forecast.fit),
        tables=lambda scale: _tables(forecast, scale),
        document=lambda _: _document(forecast),
        csv=lambda: (forecast.predictions or forecast.fit).to_csv(),
    )


def _tables(forecast: Forecast, scale: Scale) -> list[Table]:
    """The fit's tables, the predictions in their units, and the advice."""
    predicted = tables(forecast.predictions, scale) if forecast.predictions else []
    advice = forecast.ahead.tables() if forecast.ahead else []
    return [*tables(forecast.fit, scale), *predicted, *advice]


def _document(forecast: Forecast) -> Row:
    whole = document(forecast.fit)
    if forecast.predictions is not None:
        whole |= part_document(forecast.predictions, forecast.predictions.rows())
    return whole if forecast.ahead is None else {**whole, "next": document(forecast.ahead)}


def forecast_figure(forecast: Forecast) -> Any:
    """The fit's figure."""
    return perform(forecast.fit, "plot")
