"""Determine parameters of a model from measurements."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from headway.errors import MeasurementError
from headway.models.analysis.comparison import compare
from headway.models.inference.certainty.resampling import bootstrap
from headway.models.inference.fit import Fit
from headway.models.inference.searching.joint import weighed_search
from headway.models.inference.searching.loss import Loss, loss_of
from headway.models.inference.searching.posing import problem
from headway.models.inference.searching.search import STARTS
from headway.models.measured.matching import Named, match
from headway.models.measured.measurements import Measurements
from headway.models.reading.loadtest import Measured, measurements_in
from headway.models.running.crews import Crew, crew_of
from headway.models.signatures.sfs import ALL, Range
from headway.models.structure.model import Model


def _ignore() -> None:
    """Show no progress."""


def fit_within(
    model: Model,
    measurements: Measured,
    free: Sequence[str],
    x: str | None,
    y: Named,
    low: float,
    high: float,
    bounds: Mapping[str, tuple[float, float]] | None,
    loss: str,
    bootstrap: int,
    executor: object = None,
) -> Fit:
    """Determine parameters from measurements at loads between two ends; see `fit_model`."""
    within, kind, crew = Range(low, high), loss_of(loss), crew_of(executor)
    arguments = model, measurements, free, x, y, within, bounds, kind
    return fit_model(*arguments, rounds=bootstrap, crew=crew)


def fit_model(
    model: Model,
    measurements: Measured,
    free: Sequence[str],
    x: str | None = None,
    y: Named = None,
    within: Range = ALL,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    loss: Loss = Loss.LINEAR,
    starts: int = STARTS,
    rounds: int = 0,
    progress: Callable[[], None] = _ignore,
    crew: Crew | None = None,
) -> Fit:
    r"""Determine parameters of a model from measurements, by least squares of relative errors.

    sum ((predicted - measured) / sigma)**2 with sigma = measured * sqrt(0.02**2 + r**2), r the
    standard error of rounding to the printed digits, relative. Values at which a measured load
    is not sustained are never taken.

    Parameters
    ----------
    model
        Values of the free parameters are where the search starts.
    measurements
        As for `Model.compare`: a population as the load closes an open model, and a closed
        model takes a curve of throughput too.
    free
        Names of the parameters to determine.
    x, y, within
        Columns of load and output, and the range of load that counts.
    bounds
        Narrower bounds of free parameters [SI].
    loss
        How residuals count; linear is least squares.
    starts
        How many starts are followed at most.
    rounds, progress
        Rounds of bootstrap for the intervals, and what to call after each.
    crew
        Whose workers do the rounds; this process alone where it is left out.

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
    >>> fit = fit_model(one, Measurements.parse(text, "curve"), ["s"])
    >>> round(fit.values["s"], 6)
    0.01
    """
    measurements = measurements_in(measurements)
    matched = match(model, measurements, x, y)
    x, y = matched.load.header, [one.measured.header for one in matched.each]
    bounded = _bounded(matched.model.exposing(*free), bounds or {})
    kept = _within(measurements, x, within)
    posed = problem(bounded, match(bounded, kept, x, y), free, measurements.source, loss)
    solved, optimum = weighed_search(posed, starts)
    values = dict(zip(free, map(float, optimum.free), strict=True))
    fitted = bounded.at(values)
    refits = bootstrap(solved, optimum, rounds, progress, crew) if rounds else None
    comparison = compare(fitted, kept, x, y)
    return Fit(bounded, fitted, kept, comparison, solved, optimum, refits)


def _bounded(model: Model, bounds: Mapping[str, tuple[float, float]]) -> Model:
    """Give parameters narrower bounds; a value outside moves to the nearer one."""
    parameters = dict(model.parameters)
    for name, (low, high) in bounds.items():
        model.at({name: low}).at({name: high})
        old = parameters[name]
        value = None if old.value is None else float(np.clip(old.value, low, high))
        parameters[name] = replace(old, value=value, minimum=low, maximum=high, interval=None)
    return replace(model, parameters=parameters)


def _within(measurements: Measurements, x: str, within: Range) -> Measurements:
    """Leave out the rows whose load is not in the range."""
    if within == ALL:
        return measurements
    column = measurements.column(x)
    inside = within.holds(column.values)
    if not inside.any():
        loads = within.words(column.unit)
        msg = f"{measurements.source}: there is no load {loads}; change --from or --to"
        raise MeasurementError(msg)
    return measurements.only(inside)
