"""How far a model's percentile is from the measured one: a fit to means need not hold it."""

import numpy as np

from headway.models.analysis.between import beside
from headway.models.analysis.comparison import Comparison
from headway.models.inference.forecasting.highest_load import column_of_percent
from headway.models.plotting.charts import modelled_tail
from headway.models.structure.outputs import percent_of


def tail_missed(comparison: Comparison, name: str) -> float | None:
    """Root mean square of the relative errors of a percentile at the measured points.

    Parameters
    ----------
    comparison
        A model beside measured mean response times.
    name
        The percentile, such as `response_time_p99`.

    Returns
    -------
    The error; None if the percentile was not measured, or the model has no quick law of it.
    """
    percent, load = percent_of(name), comparison.load_parameter
    if percent is None or load is None or comparison.output != "response_time":
        return None
    column = column_of_percent(comparison.table, percent)
    if column is None or beside(comparison.model, load):
        return None
    modelled = modelled_tail(comparison.solution, load, comparison.load.values, name)
    if modelled is None:
        return None
    errors = (modelled[1] / column.values - 1)[comparison.counted]
    errors = errors[np.isfinite(errors)]
    return float(np.sqrt(np.mean(errors**2))) if errors.size else None
