"""Advice on what to measure next, for one fitted model and for all forms that suit a server."""

from collections.abc import Sequence

import numpy as np

from headway.errors import InvalidParameter, nearest
from headway.kinds import FloatArray
from headway.models.inference.certainty.draws import Draws
from headway.models.inference.fit import SATURATION_THROUGHPUT, Fit
from headway.models.inference.forecasting.elsewhere import Elsewhere
from headway.models.inference.forecasting.next_load import NextLoads, next_loads
from headway.models.language.units import quantity as quantity_of


def fit_next_loads(fit: Fit, quantity: str) -> NextLoads:
    """The loads to measure next for one fitted model; see `Fit.next_loads`."""
    return advised(fit, quantity, [fit.draws])


def advised(fit: Fit, quantity: str, draws: Sequence[Draws]) -> NextLoads:
    """The loads to measure next, from all plausible values of one or several models.

    Parameters
    ----------
    fit
        Which tells the load and its unit, and the parameters.
    quantity
        As for `Fit.next_loads`.
    draws
        Plausible values, the same number of each model.
    """
    column = fit.comparison.load
    values = np.concatenate([_at_draws(fit, quantity, each) for each in draws])
    top = float(column.values.max())
    return next_loads(quantity, values, draws, fit.load, column.unit, top)


def _at_draws(fit: Fit, quantity: str, draws: Draws) -> FloatArray:
    """A quantity at every draw."""
    if quantity == SATURATION_THROUGHPUT:
        return draws.limits()
    name, at, load = quantity.partition("@")
    if at and name == "response_time":
        loads = np.array([quantity_of(load, fit.comparison.load.unit, quantity)])
        return Elsewhere(draws.problem, loads).response_time(draws.free)[:, 0]
    if name not in draws.problem.names:
        known = [SATURATION_THROUGHPUT, "response_time@LOAD", *draws.problem.names]
        msg = f"no further load can determine {quantity!r}{nearest(name, known)}"
        raise InvalidParameter(msg)
    return draws.free[:, draws.problem.names.index(name)]
