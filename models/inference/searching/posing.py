"""A fit set up: measurements and a model turned into residuals and scales, or refused."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.errors import InvalidParameter, MeasurementError, nearest
from headway.kinds import FloatArray
from headway.models.inference.searching.joint import shares
from headway.models.inference.searching.loss import Loss
from headway.models.inference.searching.problem import RELATIVE_NOISE, Ends, Problem, SearchBounds
from headway.models.language.digits import in_unit, with_unit
from headway.models.measured.cells import Observed
from headway.models.measured.columns import find
from headway.models.measured.matching import Match
from headway.models.measured.roles import DELIVERED, OFFERED
from headway.models.solving.evaluate import adding, evaluator
from headway.models.solving.response_times.percentiles import why_unknown
from headway.models.solving.solutions.saturation import RATES
from headway.models.solving.throughput_driven import driven_evaluator
from headway.models.structure.model import Model
from headway.models.structure.parts.counts import counts

# ratio of the largest to the least value; no curve spans more, nor could a sum of squares hold it
_WIDEST = 1e12

SMALLEST = 1e-9
"""Least value of a free parameter, as a share of where it starts: stations need values above 0."""


def problem(
    model: Model, match: Match, free: Sequence[str], source: str, loss: Loss = Loss.LINEAR
) -> Problem:
    """Set up a fit.

    Parameters
    ----------
    model
        A model with values for every parameter; the search starts from those of the free ones.
    match
        The measured points.
    free
        Names of the parameters to determine.
    source
        Name of the data, for messages.
    loss
        How residuals count.

    Raises
    ------
    UnknownParameter, InvalidParameter
        For a free parameter that the model lacks, that has no value to start from, or that the data
        set.
    GraphError
        For percentiles without a law in the model.
    MeasurementError
        For fewer points than free parameters, equal loads, or values that are not above 0.
    """
    _check_free(model, match, free)
    _check_measured(match, source)
    _check_offered(match, source)
    _check_points(match, len(free), source)
    measured, sigma = _measured(match)
    whole = tuple(name for name in free if name in counts(model.graph))
    added = {name: more for name, more in match.added.items() if name in free}
    inputs = {name: values for name, values in match.inputs.items() if name not in added}
    if "throughput" in match.inputs:
        _check_driven(match, source)
        at_points = model.at({n: v for n, v in inputs.items() if n != "throughput"})
        evaluate = driven_evaluator(at_points, match.load.values, match.full, tuple(free))
        evaluate = adding(evaluate) if added else evaluate
    else:
        at_points = model.at(inputs)
        if model.is_closed:
            at_points.solve()  # if the model cannot be closed, this says why
        _check_law(at_points, match)
        evaluate = evaluator(at_points, [one.output for one in match.each], free, whole, added)
    scales = tuple(_scale(model, name) for name in free)
    used = np.ones(measured.shape, bool)
    weighed = at_points, tuple(free), scales, measured, sigma, used
    times, rates = _times_and_rates(match)
    return Problem(
        *weighed,
        evaluate,
        whole,
        times,
        rates,
        loss=loss,
        outputs=tuple(one.output for one in match.each),
        share=shares(match, at_points, free),
        scatter=(1.0,) * len(match.each),
        added=added,
        places=_places(match),
    )


def _measured(match: Match) -> tuple[FloatArray, FloatArray]:
    """All measured numbers, and their standard deviations: noise, and digits that are not shown."""
    each = [one.measured for one in match.each]
    measured = np.concatenate([one.values for one in each])
    digits = np.concatenate([np.nan_to_num(one.resolution) for one in each])
    sigma = measured * np.sqrt(RELATIVE_NOISE**2 + (digits / (math.sqrt(3) * measured)) ** 2)
    return measured, sigma


def _check_law(at_points: Model, match: Match) -> None:
    """Refuse percentiles without a law in the model."""
    for percent in (one.percent for one in match.each if one.percent is not None):
        refused = why_unknown(at_points.solve(), percent)
        if refused is not None:
            raise refused


def _places(match: Match) -> NDArray[np.intp]:
    """Index of the combination of load and settings at which each point was measured."""
    points = match.load.values
    settings = [np.broadcast_to(values, points.shape) for values in match.inputs.values()]
    table = np.stack([points, *settings])
    return distinct_columns(table)[1]


def _check_driven(match: Match, source: str) -> None:
    """Refuse outputs that a closed model cannot predict from a throughput that drives it."""
    other = [one for one in match.each if one.output != "response_time"]
    if other:
        msg = (
            f"{source}: a closed model compared with a throughput predicts response times, not "
            f"{other[0].measured.header}; give the load as a population"
        )
        raise MeasurementError(msg)


def _times_and_rates(match: Match) -> tuple[Ends, Ends]:
    """Ends of the measured times and rates; if only one kind was measured, by reciprocals."""
    ends: dict[int, Ends] = {}
    for column in (*(one.measured for one in match.each), match.load):
        values = np.abs(column.values[column.values != 0])
        ends[column.unit.dimension[0]] = float(values.min()), float(values.max())
    times = ends.get(1) or tuple(1 / end for end in reversed(ends.get(-1, (1.0, 1.0))))
    rates = ends.get(-1) or tuple(1 / end for end in reversed(times))
    return (times[0], times[1]), (rates[0], rates[1])


def _is_set(match: Match, name: str) -> bool:
    return any(column.stated and column.name == name for column in match.table.columns.values())


def _check_free(model: Model, match: Match, free: Sequence[str]) -> None:
    if not free:
        msg = f"name the parameters to fit{nearest('', set(model.parameters) - set(match.inputs))}"
        raise InvalidParameter(msg)
    for name in free:
        model.exposing(name)
        if name in match.inputs and name not in match.added:
            more = "; write NAME=+VALUE for what was added" if _is_set(match, name) else ""
            msg = f"{name} is a column of the data, so it cannot be fitted as well{more}"
            raise InvalidParameter(msg)
        if list(free).count(name) > 1:
            msg = f"{name} is named twice among the free parameters"
            raise InvalidParameter(msg)
        value = model.parameters[name].value
        if value is None or np.ndim(value):
            msg = f"{name} needs a single value to start from; set {name}=..."
            raise InvalidParameter(msg)


_WIDEST_LOAD = 1e7  # ratio to the least load: a misplaced decimal point makes it, no benchmark does


def _check_span(column: Observed, source: str, widest: float) -> None:
    least, most = float(column.values.min()), float(column.values.max())
    if most > widest * least:
        lowest, highest = in_unit(least, column.unit), in_unit(most, column.unit)
        between = with_unit(f"{lowest} to {highest}", column.unit)
        msg = f"{source}: {column.header} goes from {between}; check it"
        raise MeasurementError(msg)


def _check_measured(match: Match, source: str) -> None:
    for one in match.each:
        if not (one.measured.values > 0).all():
            msg = f"{source}: {one.measured.header} must be above 0, as errors are relative to it"
            raise MeasurementError(msg)
        _check_span(one.measured, source, _WIDEST)


_MORE = 1.1  # ratio of throughput to offered load that short runs and their ends may cause


def _check_offered(match: Match, source: str) -> None:
    """Refuse a row whose throughput exceeds the offered load."""
    offered, rate = find(match.table, OFFERED), find(match.table, DELIVERED)
    if offered is None or rate is None:
        return
    more = np.flatnonzero(rate.values > _MORE * offered.values)
    if more.size:
        row = int(more[0])
        came, requested = (in_unit(c.values[row], c.unit) for c in (rate, offered))
        msg = (
            f"{source}:{match.table.lines[row]}: {rate.header} of {came} {rate.unit} is more than "
            f"the {requested} {offered.unit} offered; are the columns swapped?"
        )
        raise MeasurementError(msg)


def _check_points(match: Match, free: int, source: str) -> None:
    different = distinct_columns(np.stack([*match.inputs.values()]))[0].size
    if match.load.values.size < 2:
        msg = f"{source}: a fit needs several loads, but there is only one point"
        raise MeasurementError(msg)
    if different < 2:
        msg = f"{source}: all points are at one load; a fit needs several loads"
        raise MeasurementError(msg)
    driven = next(iter(match.inputs)) in (*RATES, "population")
    if driven and not (match.load.values > 0).all():
        msg = f"{source}: {match.load.header} contains a load of 0; leave that row out"
        raise MeasurementError(msg)
    if (match.load.values > 0).all():
        _check_span(match.load, source, _WIDEST_LOAD)
    if free > different * len(match.each):
        msg = (
            f"{source}: {free} free parameters need at least as many different points, not "
            f"{different}; fix some parameters"
        )
        raise MeasurementError(msg)
    if all(np.ptp(one.measured.values) == 0 for one in match.each):
        msg = (
            f"{source}: {match.measured.header} is the same at every load, so it "
            "determines no parameter"
        )
        raise MeasurementError(msg)


def _scale(model: Model, name: str) -> SearchBounds:
    """Search by logarithm if a value is above 0, by its bound or as a number of a station."""
    parameter = model.parameters[name]
    start = float(parameter.value or 0.0)
    positive = parameter.minimum >= 0 or (bool(model.graph.stations) and start > 0)
    if not positive:
        return SearchBounds(
            parameter.minimum, parameter.maximum, logarithmic=False, least=parameter.minimum
        )
    low = max(parameter.minimum, SMALLEST * (start or parameter.unit.scale))
    least = max(parameter.minimum, 0.0)
    return SearchBounds(low, parameter.maximum, logarithmic=True, least=least)
