"""Elasticities of a fitted model, with intervals from the fit's uncertainty."""

from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from headway.errors import Saturated
from headway.models.analysis.sensitivity import Effect, Sensitivity, sensitivity
from headway.models.inference.certainty.shifts import student
from headway.models.inference.fit import Fit
from headway.models.structure.model import Model

_STEP = 1e-4  # relative step of a fitted parameter; elasticities themselves are accurate to 1e-9


def elasticities(
    fit: Fit, point: Model | None = None, wanted: Collection[str] | None = None
) -> Sensitivity:
    r"""Elasticities of a fitted model with intervals, by linear propagation.

    Parameters
    ----------
    fit
        A fit of an open network or of a program.
    point
        The fitted model at the load of interest; by default as it was fitted.
    wanted
        Names of outputs; by default every output.

    Raises
    ------
    Saturated
        If the model cannot sustain that load.

    Examples
    --------
    >>> from headway.models import Measurements, ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.01)
    >>> text = "throughput_ops_s,response_ms\n10,11.2\n50,19.9\n80,50.3\n90,99.1\n"
    >>> fit = one.fit(Measurements.parse(text, "curve"), ["s"])
    >>> result = elasticities(fit, fit.model.at(arrival_rate=50.0))
    >>> round(result.effects["response_time"]["s"].elasticity, 2)
    2.0
    """
    here = sensitivity(point or fit.model, wanted)
    slopes = [_slopes(fit, name, here) for name in fit.free]
    factor = student(fit.uncertainty.degrees)
    effects = {
        output: {
            name: replace(
                effect,
                half_width=factor
                * fit.uncertainty.error_of(np.array([s[output][name] for s in slopes])),
            )
            for name, effect in by_parameter.items()
        }
        for output, by_parameter in here.effects.items()
    }
    counts = fit.problem.whole
    errors = {name: error for name, error in fit.standard_errors.items() if name not in counts}
    return replace(here, effects=effects, axes=fit.comparison.axes, errors=errors)


def _slopes(fit: Fit, name: str, here: Sensitivity) -> Mapping[str, Mapping[str, float]]:
    """Derivative of each elasticity by one fitted parameter."""
    ends = fit.problem.around(name, fit.values[name], _STEP)
    (low, below), (high, above) = ((end, _effects(name, end, here)) for end in ends)
    return {
        output: {
            other: float(
                np.nan_to_num(above[output][other].elasticity - below[output][other].elasticity)
                / (high - low)
            )
            for other in effects
        }
        for output, effects in here.effects.items()
    }


def _effects(name: str, value: float, here: Sensitivity) -> Mapping[str, Mapping[str, Effect]]:
    """The effects at another value of a parameter; the present ones if it saturates there."""
    try:
        return sensitivity(here.model.at({name: value}), here.effects).effects
    except Saturated:
        return here.effects
