"""Points of a sweep from a table: one column for each parameter, with its unit in the title."""

import numpy as np

from headway.errors import MeasurementError, UnknownParameter, quoted
from headway.kinds import FloatArray, number_of
from headway.models.language.units import ONE, compatible
from headway.models.measured.cells import Observed
from headway.models.measured.measurements import Measurements
from headway.models.structure.model import Model
from headway.models.sweeping.listed import Listed


def listed_in(table: Measurements, model: Model) -> Listed:
    r"""Points of a table, one per row, in its order.

    Parameters
    ----------
    table
        A table with columns named after parameters: ``arrival_rate``, ``cpu_time_us``, ``delay
        [ms]``. Numbers without a unit are SI.
    model
        The model with these parameters.

    Raises
    ------
    MeasurementError
        For a column that is not a parameter or has a wrong unit, for text, and for empty cells.

    Examples
    --------
    >>> from headway.models import Measurements, catalogue_model
    >>> table = Measurements.parse("arrival_rate,cpu_time_us\n200,650\n300,700\n", "rows.csv")
    >>> listed_in(table, catalogue_model("nfs-server")).piece(0, 2).points(0, 2)
    {'arrival_rate': array([200., 300.]), 'cpu_time': array([0.00065, 0.0007 ])}
    """
    for title in (*table.labels, *table.columns, *table.spoilt):
        observed = {**table.columns, **table.spoilt}.get(title)
        _check_name(title if observed is None else observed.name, title, table, model)
    _check_numbers(table)
    return Listed({c.name: _values(c, table, model) for c in table.columns.values()})


def _check_name(name: str, title: str, table: Measurements, model: Model) -> None:
    try:
        model.exposing(name)
    except UnknownParameter as error:
        msg = f"{table.source}: column {title!r}: {error}"
        raise MeasurementError(msg) from None


def _check_numbers(table: Measurements) -> None:
    """Refuse cells that are not numbers; names the first."""
    wrong = {title: column.complaint for title, column in table.spoilt.items()}
    for title, words in table.labels.items():
        first = next((word for word in words if number_of(word) is None), words[0])
        wrong[title] = f"{quoted(first)} is not a number"
    for title, complaint in wrong.items():
        msg = f"{table.source}: column {title!r}: {complaint}"
        raise MeasurementError(msg)


def _values(column: Observed, table: Measurements, model: Model) -> FloatArray:
    wanted = model.exposing(column.name).parameters[column.name].unit
    if column.unit != ONE and not compatible(column.unit.dimension, wanted.dimension):
        msg = f"{table.source}: column {column.header!r} is in {column.unit}; give it in {wanted}"
        raise MeasurementError(msg)
    missing = np.flatnonzero(np.isnan(column.values))
    if missing.size:
        line = table.lines[missing[0]] if table.lines else missing[0] + 1
        msg = (
            f"{table.source}: line {line}: {column.header!r} is empty; give every value of a point"
        )
        raise MeasurementError(msg)
    return column.values
