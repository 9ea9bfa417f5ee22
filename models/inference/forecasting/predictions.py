"""What is expected at loads that were not measured, by all that fits, and how sure that is."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.kinds import FloatArray
from headway.models.inference.certainty.draws import Draws
from headway.models.inference.forecasting.elsewhere import Elsewhere
from headway.models.language.units import Unit
from headway.models.tables.shown import Answer

ENDS = (0.025, 0.5, 0.975)
"""Shares of the chances at the lower end of a band, in its middle, and at its upper end."""

HARDLY = 0.025
"""Share of what is plausible below which a load counts as not sustained."""

_NODES = 9  # of a normal error, at the middles of as many equal chances


@dataclass(frozen=True)
class Predictions(Answer):
    """Throughput and response time at some loads, with the 95 % band of one further measurement.

    Parameters
    ----------
    model
        Which model, or what all of them are called, says so.
    load
        Name of what drives it: ``arrival_rate``, ``throughput`` or ``population``.
    unit
        Unit of the loads in tables.
    loads
        The loads [SI].
    throughput, response_time
        What is expected [1/s, s]: lower end, middle and upper end, shape (3, loads). Times are
        those at a load that is sustained. Where nothing plausible sustains it they are infinite,
        and the throughput is NaN.
    sustained
        Share of what is plausible that sustains each load.
    """

    model: str
    load: str
    unit: Unit
    loads: FloatArray
    throughput: FloatArray
    response_time: FloatArray
    sustained: FloatArray

    def __repr__(self) -> str:
        return f"Predictions({self.model}: {self.loads.size} loads)"


def predicted(
    model: str,
    load: str,
    unit: Unit,
    loads: FloatArray | Sequence[float],
    draws: Sequence[Draws],
    best: FloatArray | None = None,
) -> Predictions:
    """Predict from plausible values of one model, or of several alike.

    Parameters
    ----------
    model, load, unit, loads
        As `Predictions` has them.
    draws
        Plausible values, the same number of each model.
    best
        Free values whose predictions stand in the middle; the median does where there are none.
    """
    loads = np.atleast_1d(np.asarray(loads, float))
    times, rates, errors = [], [], []
    for each in draws:
        there = Elsewhere(each.problem, loads)
        times.append(there.response_time(each.free))
        rates.append(there.throughput(each.free))
        errors.append(each.scatter)
    time, rate, error = np.concatenate(times), np.concatenate(rates), np.concatenate(errors)
    lost = ~np.isfinite(time)
    sustained = 1 - lost.mean(axis=0)
    lost |= sustained < HARDLY
    driven = load != "population" and bool(np.all(rate == loads))
    found_rate = np.where(lost, np.nan, rate)
    band = _band(found_rate, 0 * error if driven else error)
    response = np.nan_to_num(_band(np.where(lost, np.nan, time), error), nan=np.inf)
    if best is not None:
        there = Elsewhere(draws[0].problem, loads)
        response[1] = _known(there.response_time(best), response[1])
        band[1] = _known(there.throughput(best), band[1])
    return Predictions(model, load, unit, loads, band, response, sustained)


def _known(wanted: FloatArray, else_: FloatArray) -> FloatArray:
    return np.where(np.isfinite(wanted), wanted, else_)


def _band(values: FloatArray, error: FloatArray) -> FloatArray:
    """Ends and middle of values with relative errors, by load; NaN are left out."""
    from scipy.special import ndtri

    nodes = ndtri((np.arange(_NODES) + 0.5) / _NODES)
    nodes = nodes / np.sqrt(np.mean(nodes**2))  # as few nodes spread less than the law
    spread = values * np.exp(error[:, None] * nodes[:, None, None])
    ordered = np.sort(spread.reshape(-1, values.shape[-1]), axis=0)
    counts = np.isfinite(ordered).sum(axis=0)
    places = np.outer(ENDS, np.maximum(counts - 1, 0))
    low = np.floor(places).astype(int)
    high = np.minimum(low + 1, np.maximum(counts - 1, 0))
    columns = np.arange(values.shape[-1])
    below, above = ordered[low, columns], ordered[high, columns]
    return np.asarray(below + (above - below) * (places - low))
