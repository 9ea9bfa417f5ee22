"""A fitted model as it is saved: with the origin of its values, and how certain they are."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np

from headway import __version__
from headway.models.inference.certainty.draws import Draws
from headway.models.inference.fit import Fit
from headway.models.inference.forecasting.tails import measured_percents, tails_of
from headway.models.language.digits import ends, with_unit
from headway.models.language.parameters import Parameter
from headway.models.structure.correlations import Correlations
from headway.models.structure.model import Model


def with_provenance(fit: Fit, command: str) -> Model:
    """The fitted model, with the source of each fitted value: data, hash, version, command.

    A load that the data set has the highest measured value.
    """
    sha = fit.measurements.sha256
    digest = f", sha256 {sha}" if sha else ""
    source = f"fitted to {fit.measurements.source}{digest}; headway {__version__}"
    parameters = dict(fit.model.parameters)
    for name in fit.free:
        low, high = fit.ci95[name]
        unit = parameters[name].unit
        interval = f"95% interval {with_unit(ends(low, high, unit), unit)}"
        bounded = parameters[name].within(*_holding(parameters[name], low, high))
        parameters[name] = replace(bounded, source=f"{source}; {interval}")
    load = fit.comparison.load_parameter
    if load in parameters:
        highest = float(fit.comparison.load.values.max())
        parameters[load] = replace(parameters[load].at(highest), source="highest measured load")
    how = f"; {command}" if command else ""
    return replace(
        fit.model,
        parameters=parameters,
        correlations=_correlations(fit),
        tails=_tails(fit),
        preset=None,
        source=f"{fit.model.source}; {source}{how}".removeprefix("; "),
    )


def _tails(fit: Fit) -> dict[float, float]:
    """Ratios of measured percentiles to those of the fitted model's law, if it has one."""
    table = fit.comparison.table
    best = Draws(fit.problem, fit.optimum.free[None], np.zeros(1))
    tails = tails_of([best], table, measured_percents(table))[0]
    return {p: tail.off_by for p, tail in tails.items() if tail.off_by is not None}


def _holding(parameter: Parameter, low: float, high: float) -> tuple[float, float]:
    """An interval that contains the value, whose last digit may have been rounded, in bounds."""
    value = float(parameter.value)  # type: ignore[arg-type]
    inside = max(low, parameter.minimum), min(high, parameter.maximum)
    return min(inside[0], value), max(inside[1], value)


def _correlations(fit: Fit) -> Correlations:
    """Correlations by pair, if the data determine them, and those of unfitted parameters."""
    correlations, before = fit.uncertainty.correlations, fit.model.correlations
    others = {pair: value for pair, value in before.items() if not {*pair} & {*fit.free}}
    pairs = combinations(range(len(fit.free)), 2)
    own = {(fit.free[i], fit.free[j]): float(np.clip(correlations[i, j], -1, 1)) for i, j in pairs}
    return {**others, **{pair: value for pair, value in own.items() if math.isfinite(value)}}
