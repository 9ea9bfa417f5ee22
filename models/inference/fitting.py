"""Determine parameters of a model from measurements."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import MeasurementError
from headway.models.analysis.comparison import compare
from headway.models.inference.certainty.resampling import bootstrap as resampled
from headway.models.inference.fit import Fit
from headway.models.inference.searching.joint import weighed_search
from headway.models.inference.searching.loss import Loss, loss_of
from headway.models.inference.searching.posing import problem
from headway.models.inference.searching.search import STARTS
from headway.models.language.names import Names, names_in
from headway.models.measured.matching import Named, match
from headway.models.measured.measurements import Measurements
from headway.models.reading.loadtest import Measured, measurements_beside
from headway.models.running.crews import Crew, crew_of
from headway.models.signatures.sfs import ALL, Range
from headway.models.structure.model import Model, check_model

if TYPE_CHECKING:
    from concurrent.futures import Executor


def _ignore() -> None:
    """Show no progress."""


def fit_model(
    model: Model,
    measurements: Measured,
    free: Names = (),
    x: str | None = None,
    y: Named = None,
    low: float = -math.inf,
    high: float = math.inf,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    loss: str = Loss.LINEAR,
    bootstrap: int = 0,
    executor: "Executor | Crew | None" = None,
    starts: int = STARTS,
    progress: Callable[[], None] = _ignore,
) -> Fit:
    r"""Determine parameters of a model from measurements, by least squares of relative errors.

    sum ((predicted - measured) / sigma)**2 with sigma = measured * sqrt(0.02**2 + r**2), where r is
    the relative standard error of rounding to the printed digits. Values at which a measured load
    is not sustained are never accepted.

    Parameters
    ----------
    model
        The model; its values of the free parameters are where the search starts.
    measurements
        As for `Model.compare`: a population as the load makes an open model closed, and a closed
        model also accepts a curve over throughput.
    free
        The parameters to determine: one name, or several; `headway.fit_server`
        chooses a form and fits all that it has.
    x, y, low, high
        Columns of load and output, and the range of load that counts [SI].
    bounds
        Narrower bounds of free parameters [SI].
    loss
        How residuals count: linear is least squares; others are soft_l1, huber and cauchy.
    bootstrap
        Rounds of bootstrap for the intervals; 0 for none.
    executor
        What runs the rounds, such as a pool of processes; by default this process alone.
    starts
        Most starts that are followed.
    progress
        Called after each round.

    Raises
    ------
    UnknownParameter, InvalidParameter, MeasurementError, Saturated
        For free parameters that the model lacks, fewer points than parameters, equal loads or
        values, and models that cannot sustain the measured loads.

    Examples
    --------
    >>> from headway.models import ModelGraph
    >>> from headway.queueing import MM1
    >>> one = ModelGraph("one").declare("s").station("cpu", MM1("s")).at(s=1.0)
    >>> text = "throughput_ops_s,response_ms\n10,11.11\n50,20.00\n90,100.0\n"
    >>> fit = fit_model(one, Measurements.parse(text, "curve"), "s")
    >>> round(fit.values["s"], 6)
    0.01
    """
    check_model(model)
    measurements = measurements_beside(model, measurements)
    free, crew = names_in(free), crew_of(executor)
    matched = match(model, measurements, x, y)
    x, y = matched.load.header, [one.measured.header for one in matched.each]
    bounded = _bounded(matched.model.exposing(*free), bounds or {})
    kept = _within(measurements, x, Range(low, high))
    matched = match(bounded, kept, x, y)
    posed = problem(bounded, matched, free, measurements.source, loss_of(loss))
    solved, optimum = weighed_search(posed, starts)
    values = dict(zip(free, map(float, optimum.free), strict=True))
    fitted = bounded.at(values)
    refits = resampled(solved, optimum, bootstrap, progress, crew) if bootstrap else None
    comparison = compare(fitted, kept, x, y)
    return Fit(bounded, fitted, kept, comparison, solved, optimum, refits)


def _bounded(model: Model, bounds: Mapping[str, tuple[float, float]]) -> Model:
    """Give parameters narrower bounds; a value outside moves to the nearer bound."""
    parameters = dict(model.parameters)
    for name, (low, high) in bounds.items():
        model.at({name: low}).at({name: high})
        old = parameters[name]
        value = None if old.value is None else float(np.clip(old.value, low, high))
        parameters[name] = replace(old, value=value, minimum=low, maximum=high, interval=None)
    return replace(model, parameters=parameters)


def _within(measurements: Measurements, x: str, within: Range) -> Measurements:
    """Leave out the rows whose load is outside the range."""
    if within == ALL:
        return measurements
    column = measurements.column(x)
    inside = within.holds(column.values)
    if not inside.any():
        loads = within.words(column.unit)
        msg = f"{measurements.source}: there is no load {loads}; change --from or --to"
        raise MeasurementError(msg)
    return measurements.only(inside)
