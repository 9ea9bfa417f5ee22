"""Loads beyond the highest measured one, where errors that no model covers grow.

Up to the highest measured load x_h a fitted model predicts what has been seen. Beyond it, a server
may reach its limits sooner or later than any of the models says. A load x > x_h is taken to act
like the load

    x_h + (x - x_h) f,    log f normal with mean 0 and standard deviation `SPREAD`:

so nothing changes at x_h, and uncertainty grows with the distance. docs/accuracy/fits.md says where
the standard deviation comes from.
"""

from collections.abc import Mapping

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.models.solving.solutions.saturation import saturation_throughput
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.model import Model
from headway.models.structure.replicas import REPLICAS, are_copies

SPREAD = 0.8
"""Standard deviation of the logarithm of the factor f on each further request.

Found from servers that are none of the forms (`python -m tests.campaigns.strange_sizes`).
"""

HELD = {False: 0.975, True: 0.854}
"""Share of sizes with a stated 95% that held for such servers: for means, and for percentiles."""


def further_weights(count: int, seed: int) -> FloatArray:
    """Factors on each request beyond the highest measured load, by draw.

    Parameters
    ----------
    count
        Number of draws, whose quantiles are evenly spread.
    seed
        Seed of their order.

    Examples
    --------
    >>> np.median(further_weights(1001, 1)).round(3).item()
    1.0
    """
    from scipy.special import ndtri

    shares = np.random.default_rng(seed).permutation((np.arange(count) + 0.5) / count)
    return np.asarray(np.exp(SPREAD * ndtri(shares)))


def acting_load(load: FloatArray, measured: FloatArray | float, weight: FloatArray) -> FloatArray:
    """The load that a load acts like: itself, up to the highest measured one.

    Parameters
    ----------
    load, measured
        The load and the highest measured one, in the same unit.
    weight
        The factor on each further request.

    Examples
    --------
    >>> acting_load(np.array([80.0, 120.0]), 100.0, np.array(1.5)).tolist()
    [80.0, 130.0]
    """
    return np.asarray(load + np.maximum(load - measured, 0.0) * (weight - 1.0))


def is_time(output: str) -> bool:
    """Whether an output is the response time or follows from its law, and so from the acting load.

    Examples
    --------
    >>> is_time("response_time_p99"), is_time("throughput")
    (True, False)
    """
    return output.startswith("response_time")


def of_load(values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """The value of the load among values by parameter."""
    return {ARRIVAL_RATE: values[ARRIVAL_RATE]} if ARRIVAL_RATE in values else {}


def share_of_measured(model: Model, columns: Mapping[str, FloatArray]) -> Amount:
    """Load of a model, or of each of its replicas, over the highest measured load.

    If parameters have other values than those of the fit, the highest measured load is scaled like
    the saturation throughput: twice as many servers are as busy at twice the load.

    Parameters
    ----------
    model
        A model at its best values, without alternatives.
    columns
        Values given to parameters in addition, by name [SI].

    Returns
    -------
    The ratio; 0 if the model was not fitted to a curve over the arrival rate.
    """
    if ARRIVAL_RATE not in model.measured_to or ARRIVAL_RATE not in model.parameters:
        return 0.0
    asked = model.at(columns)
    rate = asked.inputs[ARRIVAL_RATE]
    replicas = asked.inputs[REPLICAS.name] if are_copies(asked.parameters) else 1.0
    own = {name: p.own for name, p in asked.parameters.items() if p.own is not None}
    now, before = (_saturation(one) for one in (asked, asked.at(own)))
    with np.errstate(invalid="ignore"):
        growth = np.asarray(now) / np.asarray(before)
    highest = model.measured_to[ARRIVAL_RATE] * np.where(np.isfinite(growth), growth, 1.0)
    return np.asarray(rate) / np.asarray(replicas) / highest


def _saturation(model: Model) -> Amount:
    """Saturation throughput [1/s]."""
    network = model.network
    return saturation_throughput(network.graph, network.inputs)


def acting_rate(
    model: Model, columns: Mapping[str, FloatArray], weight: FloatArray
) -> FloatArray | None:
    """The arrival rate that a fitted model's own acts like; None where nothing changes.

    Parameters
    ----------
    model, columns
        As for `share_of_measured`, without drawn values.
    weight
        The factor on each further request.
    """
    share = np.asarray(share_of_measured(model, columns), float)
    if not (share > 1.0).any():
        return None
    rate = np.asarray(columns.get(ARRIVAL_RATE, model.inputs[ARRIVAL_RATE]), float)
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.where(share > 1.0, acting_load(share, 1.0, weight) / share, 1.0)
    return np.asarray(rate * factor)
