"""Advice on what to measure next, for one fitted model or for all forms that suit a server."""

import math
from collections.abc import Sequence

import numpy as np

from headway.errors import InvalidParameter, MeasurementError, nearest
from headway.kinds import FloatArray
from headway.models.analysis.goals import Goal
from headway.models.inference.certainty.draws import Draws
from headway.models.inference.fit import SATURATION_THROUGHPUT, Fit
from headway.models.inference.forecasting.elsewhere import RESPONSE_TIME, Elsewhere
from headway.models.inference.forecasting.highest_load import (
    PRECISION,
    HighestLoad,
    check_search,
    enough,
    highest_loads,
    interval,
    is_narrow,
    lawful,
    likely,
    read_limit,
)
from headway.models.inference.forecasting.next_load import NextLoads, next_loads
from headway.models.language.units import quantity as quantity_of
from headway.numerals import digits


def fit_next_loads(fit: Fit, quantity: str) -> NextLoads:
    """The loads to measure next for one fitted model; see `Fit.next_loads`."""
    return advised(fit, quantity, [fit.draws])


def advised(fit: Fit, quantity: str, draws: Sequence[Draws]) -> NextLoads:
    """The loads to measure next, from all plausible values of one or several models.

    Parameters
    ----------
    fit
        A fit that gives the load, its unit, and the parameters.
    quantity
        As for `Fit.next_loads`.
    draws
        Plausible values, equally many for each model.
    """
    column = fit.comparison.load
    values = np.concatenate([_at_draws(fit, quantity, each) for each in draws])
    top = float(column.values.max())
    return next_loads(quantity, values, draws, fit.load, column.unit, top)


def fit_highest_load(
    fit: Fit, target: str | Goal, budget: int | None = None, precision: float = PRECISION
) -> HighestLoad:
    """The highest load under a limit for one fitted model; see `Fit.highest_load`."""
    return highest_load(fit, target, [fit.draws], budget, precision)


def highest_load(
    fit: Fit,
    target: str | Goal,
    draws: Sequence[Draws],
    budget: int | None = None,
    precision: float = PRECISION,
    within: tuple[float, float] = (0.0, math.inf),
    behind: float = math.inf,
) -> HighestLoad:
    """The highest load under a limit, and where to measure next to know it better.

    Parameters
    ----------
    fit
        A fit that gives the load and its unit.
    target
        The limit, such as ``response_time_p99<=300ms``.
    draws
        Plausible values, equally many for each model.
    budget
        Most further runs; None for any number.
    precision
        Width that the interval may have, as a share of its lower end.
    within
        Lowest and highest load that may be measured [SI].
    behind
        A load that the server did not sustain [SI]: curves that sustain it are not plausible.

    Raises
    ------
    InvalidParameter, UnknownParameter, UnitError
        For any other target, and if no plausible value determines a load.
    GraphError
        For a percentile for which no plausible model has a law, with the reason.
    MeasurementError
        If every plausible curve sustains the load that the server did not sustain.
    """
    goal, column = read_limit(target), fit.comparison.load
    check_search(budget, precision)
    top = float(column.values.max())
    draws = likely(lawful(goal, draws, top))
    values = highest_loads(goal, draws, fit.load, top, within)
    values = np.where(np.isfinite(behind) & (values >= behind), np.nan, values)
    left = values[np.isfinite(values) | np.isinf(values)]
    if not left.size:
        lost = digits(behind / column.unit.scale)
        msg = (
            f"{fit.measurements.source}: the server fell behind at {lost} {column.unit}, but all "
            "curves through its other points sustain that load; measure between them"
        )
        raise MeasurementError(msg)
    name = f"highest load with {goal.output}<={digits(goal.limit)}s"
    measured = goal.output if goal.output in fit.problem.outputs else RESPONSE_TIME
    most = min(4 * top, within[1])
    shown = np.where(np.isinf(values), most, values)
    known, unit = interval(left), column.unit
    if is_narrow(known[0], known[2], precision, fit.load):
        ahead = NextLoads(name, fit.load, unit, np.empty(0), np.ones(1))
        return HighestLoad(goal, fit.load, unit, known, ahead, precision, budget)
    new = within[0], max(min(within[1], behind / (1 + precision)), within[0])
    ahead = next_loads(name, shown, draws, fit.load, unit, top, measured, new)
    ahead = enough(ahead, precision, budget)
    return HighestLoad(goal, fit.load, unit, known, ahead, precision, budget)


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
