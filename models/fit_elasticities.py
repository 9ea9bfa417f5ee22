"""Elasticities of a fitted model, with intervals that the fit's uncertainty leaves them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.models.fit import Fit
from headway.models.fit_uncertainty import student
from headway.models.model import Model
from headway.models.sensitivity import Sensitivity, sensitivity
from headway.models.tables import Column, Shown, Table

_STEP = 1e-4  # relative step of a fitted parameter; elasticities are themselves good to 1e-9


@dataclass(frozen=True)
class Elasticities(Shown):
    """Elasticities at a load, with 95 % intervals.

    Parameters
    ----------
    found
        The sensitivities of the fitted model.
    half_widths
        Half of the interval, by output and parameter.
    """

    found: Sensitivity
    half_widths: Mapping[str, Mapping[str, float]]

    def rows(self) -> list[dict[str, Any]]:
        """One dict an output and parameter: elasticity and its interval."""
        return [
            {
                "output": output,
                "parameter": name,
                "elasticity": effect.elasticity,
                "ci95": [
                    effect.elasticity - self.half_widths[output][name],
                    effect.elasticity + self.half_widths[output][name],
                ],
            }
            for output, effects in self.found.effects.items()
            for name, effect in effects.items()
        ]

    def tables(self) -> list[Table]:
        """Elasticities that are not zero, with their intervals."""
        rows = [row for row in self.rows() if abs(row["elasticity"]) > 1e-6]
        intervals = tuple(f"{row['ci95'][0]:+.3f} to {row['ci95'][1]:+.3f}" for row in rows)
        columns = (
            Column("output", tuple(row["output"] for row in rows)),
            Column("parameter", tuple(row["parameter"] for row in rows)),
            Column("% per 1 %", tuple(f"{row['elasticity']:+.3f}" for row in rows)),
            Column("95 % interval", intervals),
        )
        return [Table(f"{self.found.model.name}: elasticities of the fitted model", columns)]


def elasticities(fit: Fit, arrival_rate: float | None = None) -> Elasticities:
    r"""Give a fitted model's elasticities with intervals, by linear propagation.

    Parameters
    ----------
    fit
        A fit of an open network or a program.
    arrival_rate
        The load to look at [1/s]; the model's own if left out.

    Raises
    ------
    Saturated
        Where the fitted model cannot sustain that load.

    Examples
    --------
    >>> from headway.models import Measurements, ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=0.01)
    >>> text = "throughput_ops_s,response_ms\n10,11.2\n50,19.9\n80,50.3\n90,99.1\n"
    >>> found = elasticities(one.fit(Measurements.parse(text, "curve"), ["s"]), 50.0)
    >>> round(found.found.effects["response_time"]["s"].elasticity, 2)
    2.0
    """
    model = fit.model if arrival_rate is None else fit.model.at(arrival_rate=arrival_rate)
    here = sensitivity(model)
    slopes = [_slopes(fit, model, name, here) for name in fit.free]
    spread = np.nan_to_num(fit.known.covariance, posinf=0.0)
    factor = student(fit.known.degrees)
    half_widths = {
        output: {
            name: factor * _error(np.array([s[output][name] for s in slopes]), spread)
            for name in effects
        }
        for output, effects in here.effects.items()
    }
    return Elasticities(here, half_widths)


def _slopes(
    fit: Fit, model: Model, name: str, here: Sensitivity
) -> Mapping[str, Mapping[str, float]]:
    """How fast each elasticity changes with one fitted parameter."""
    ends = fit.problem.around(name, fit.values[name], _STEP)
    (low, below), (high, above) = ((end, _effects(model, name, end, here)) for end in ends)
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


def _effects(model: Model, name: str, value: float, here: Sensitivity) -> Any:
    """The effects at another value of a parameter; those here where it saturates there."""
    try:
        return sensitivity(model.at({name: value})).effects
    except Saturated:
        return here.effects


def _error(slope: FloatArray, spread: FloatArray) -> float:
    return float(np.sqrt(max(float(slope @ spread @ slope), 0.0)))
