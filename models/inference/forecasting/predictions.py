"""Predictions at loads that were not measured, by all models that fit, and how certain they are."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.models.inference.certainty.draws import Draws
from headway.models.inference.forecasting.elsewhere import (
    Elsewhere,
    highest_measured,
    load_of,
)
from headway.models.inference.forecasting.tails import MeasuredTail, measured_percents, tails_of
from headway.models.inference.searching.problem import Problem
from headway.models.language.units import Unit
from headway.models.measured.arrivals import POISSON
from headway.models.measured.measurements import Measurements
from headway.models.structure.inputs import ARRIVAL_RATE
from headway.models.structure.model import Model
from headway.models.structure.outputs import percent_of, percentile_name
from headway.models.tables.shown import Answer
from headway.models.uncertain.beyond import further_weights
from headway.records import dataclass

ENDS = (0.025, 0.5, 0.975)
"""Probabilities at the lower end of a band, its middle, and its upper end."""

HARDLY = 0.025
"""Share of plausible values below which a load counts as not sustained."""

_NODES = 9  # nodes for a normal error, in the middles of equally likely intervals


@dataclass(frozen=True)
class Predictions(Answer):
    """Throughput and response time at some loads, with the 95% band of one further measurement.

    Parameters
    ----------
    model
        Name of the model that predicts, or of the group of models.
    load
        Name of the load: ``arrival_rate``, ``throughput`` or ``population``.
    unit
        Unit of the loads in tables.
    loads
        The loads [SI].
    throughput, response_time
        Expected throughput and response time [1/s, s]: lower end, middle and upper end, shape (3,
        loads). Times are those given that the load is sustained. Where no plausible value sustains
        it, times are infinite and the throughput is NaN.
    sustained
        Share of plausible values that sustain each load.
    percentiles
        Percentiles of the response time [s] by name, such as ``response_time_p99``, in the form of
        the times: by the models that have a law of them.
    without_percentiles
        Names of the models that have none, if percentiles were wanted.
    arrival_scv
        Squared coefficient of variation of the interarrival times, as measured and here.
    poisson
        The predictions for Poisson arrivals, those of many users; None if these are for Poisson
        arrivals.
    measured_tails
        Ratios of measured percentiles to those of the first form; percentiles are corrected by
        them.
    """

    model: str
    load: str
    unit: Unit
    loads: FloatArray
    throughput: FloatArray
    response_time: FloatArray
    sustained: FloatArray
    percentiles: Mapping[str, FloatArray] = field(default_factory=dict)
    without_percentiles: tuple[str, ...] = ()
    arrival_scv: float = POISSON
    poisson: "Predictions | None" = None
    measured_tails: tuple[MeasuredTail, ...] = ()

    def __repr__(self) -> str:
        return f"Predictions({self.model}: {self.loads.size} loads)"


def predicted(
    model: str,
    load: str,
    unit: Unit,
    loads: FloatArray | Sequence[float],
    draws: Sequence[Draws],
    best: FloatArray | None = None,
    percents: Sequence[float] = (),
    table: Measurements | None = None,
    *,
    is_known: bool = True,
) -> Predictions:
    """Predict from plausible values of one or several models.

    Parameters
    ----------
    model, load, unit, loads
        As `Predictions` has them.
    draws
        Plausible values, equally many for each model.
    best
        Free values whose predictions are the middle; by default the median is.
    percents
        Percentages whose percentiles are wanted too: by the models that have a law of them, and as
        they were measured.
    table
        The rows to which the models were fitted; their percentiles correct the models' laws.
    is_known
        Whether one of the models is taken to be right; if not, all may be wrong beyond the measured
        loads.

    Raises
    ------
    GraphError
        For percentiles that none of the models has, with the reason of the first.
    """
    loads = np.atleast_1d(np.asarray(loads, float))
    measured = arrival_scv_of(draws)
    tails = tails_of(draws, table, [p for p in percents if percentile_name(p) not in fitted(draws)])
    given = model, load, unit, loads, draws, best, percents, tails
    further = None if is_known else _further(loads, draws)

    def told(scv: float | None) -> Predictions:
        plain = _predicted(*given, scv)
        return plain if further is None else _allowing(plain, _predicted(*given, scv, further))

    usual = told(None)
    if measured == POISSON:
        return usual
    return replace(usual, arrival_scv=measured, poisson=told(POISSON))


def _further(loads: FloatArray, draws: Sequence[Draws]) -> list[FloatArray] | None:
    """Factor on each request beyond the measured loads, by draw; None if no load is beyond them."""
    open_ones = (one.problem for one in draws if load_of(one.problem) == ARRIVAL_RATE)
    if all(loads.max() <= highest_measured(problem) for problem in open_ones):
        return None
    return [further_weights(len(one.free), seed) for seed, one in enumerate(draws)]


def _allowing(plain: Predictions, wide: Predictions) -> Predictions:
    """Ends that allow for what no model covers, around the middle that the models give."""
    return replace(
        wide,
        response_time=_about(plain.response_time, wide.response_time),
        percentiles={n: _about(p, wide.percentiles[n]) for n, p in plain.percentiles.items()},
    )


def _about(middle: FloatArray, ends: FloatArray) -> FloatArray:
    """The middle of one band, moved between the ends of another."""
    low, high = np.minimum(ends[0], middle[1]), np.maximum(ends[2], middle[1])
    return np.stack([low, middle[1], high])


def fitted(draws: Sequence[Draws]) -> set[str]:
    """Names of the outputs to which the models were fitted."""
    return {output for one in draws for output in one.problem.outputs}


def arrival_scv_of(draws: Sequence[Draws]) -> float:
    """Squared coefficient of variation of the interarrival times in the fitted models."""
    scvs = (each.problem.model.inputs.get("arrival_scv", POISSON) for each in draws)
    return float(next((np.ravel(scv)[0] for scv in scvs), POISSON))


def _predicted(
    model: str,
    load: str,
    unit: Unit,
    loads: FloatArray,
    draws: Sequence[Draws],
    best: FloatArray | None,
    percents: Sequence[float],
    measured: Sequence[Mapping[float, MeasuredTail]],
    arrival_scv: float | None,
    further: Sequence[FloatArray] | None = None,
) -> Predictions:
    """Plausible predictions for arrivals of this variability; by default as measured."""
    weights: Sequence[FloatArray | None] = further or [None] * len(draws)
    there = [
        Elsewhere(each.problem, loads, arrival_scv, weight)
        for each, weight in zip(draws, weights, strict=True)
    ]
    each = list(zip(there, draws, strict=True))
    time = np.concatenate([here.response_time(one.free) for here, one in each])
    rate = np.concatenate([here.throughput(one.free) for here, one in each])
    lost = ~np.isfinite(time)
    sustained = 1 - lost.mean(axis=0)
    lost |= sustained < HARDLY
    driven = load != "population" and bool(np.all(rate == loads))
    errors = _errors(draws, "throughput")
    alike = _each_queue_alike(draws)
    band = _widest(np.where(lost, np.nan, rate), 0 * errors if driven else errors, alike)
    response = _times(time, lost, _errors(draws, "response_time"), alike)
    lawful = _lawful(there, percents, measured)
    known = [(*pair, tail) for pair, tail, has in zip(each, measured, lawful, strict=True) if has]
    rows = np.repeat(lawful, [len(one.free) for one in draws])
    tails = {percentile_name(p): _tail(known, p, lost[rows]) for p in percents}
    if best is not None:
        response[1] = _known(there[0].response_time(best), response[1])
        band[1] = _known(there[0].throughput(best), band[1])
        for percent, tail in zip(percents, tails.values(), strict=True):
            own = _by_form(there[0], best, percent, measured[0].get(percent))
            tail[1] = _known(own, tail[1])
    others = zip(there, lawful, strict=True)
    without = dict.fromkeys(here.model.name for here, has_law in others if not has_law)
    bands = band, response, sustained, tails, tuple(without)
    first = dict(measured[0]) if measured else {}
    found = Predictions(model, load, unit, loads, *bands)
    return replace(found, measured_tails=tuple(first.values()))


def _lawful(
    there: Sequence[Elsewhere],
    percents: Sequence[float],
    measured: Sequence[Mapping[float, MeasuredTail]],
) -> list[bool]:
    """Which models give percentiles, by their law or as measured; refused if none does.

    A percentile that was measured needs no law.
    """
    refused = [
        next(filter(None, (here.refusal(p) for p in percents if p not in tails)), None)
        for here, tails in zip(there, measured, strict=True)
    ]
    if refused and all(refused):
        raise next(filter(None, refused))
    return [one is None for one in refused]


def _by_form(
    there: Elsewhere, free: FloatArray, percent: float, tail: MeasuredTail | None
) -> FloatArray:
    """A percentile by a form, corrected by measured percentiles."""
    if tail is None:
        return there.percentile(free, percent)
    base = there.percentile(free, percent) if tail.by_law else there.response_time(free)
    return base * tail.ratio


def _tail(
    known: Sequence[tuple[Elsewhere, Draws, Mapping[float, MeasuredTail]]],
    percent: float,
    lost: NDArray[np.bool_],
) -> FloatArray:
    """Ends and middle of a percentile, by the models that have it."""
    times = np.concatenate(
        [_by_form(here, one.free, percent, tails.get(percent)) for here, one, tails in known]
    )
    draws = [one for _, one, _ in known]
    own = _errors(draws, percentile_name(percent))
    beside = [
        np.full(len(one.free), tails[percent].error if percent in tails else 0.0)
        for _, one, tails in known
    ]
    errors = np.where(np.concatenate(beside) > 0, np.concatenate(beside), own)
    return _times(times, lost, errors, _each_queue_alike(draws))


def percents_of(problem: Problem) -> tuple[float, ...]:
    """Percentages of the percentiles that were fitted."""
    percents = (percent_of(output) for output in problem.outputs)
    return tuple(percent for percent in percents if percent is not None)


def usual_percents(problem: Problem, table: Measurements) -> tuple[float, ...]:
    """Percentages to predict by default: those fitted, or else the high ones that were measured."""
    return percents_of(problem) or tuple(p for p in measured_percents(table) if p in _USUAL)


_USUAL = (95.0, 99.0)


def _errors(draws: Sequence[Draws], output: str) -> FloatArray:
    """Relative error of one further measurement of an output, by draw."""
    return np.concatenate([each.scatter * _own(each.problem, output) for each in draws])


def _own(problem: Problem, output: str) -> float:
    """Error of an output relative to that of the measured outputs, in the median."""
    if output not in problem.outputs:
        return 1.0
    error = problem.sigma / problem.measured
    own = error.reshape(len(problem.outputs), -1)[problem.outputs.index(output)]
    return float(np.median(own) / np.median(error))


def _times(
    values: FloatArray, lost: NDArray[np.bool_], error: FloatArray, alike: NDArray[np.bool_]
) -> FloatArray:
    """Ends and middle of times; infinite where no plausible value sustains a load."""
    return np.nan_to_num(_widest(np.where(lost, np.nan, values), error, alike), nan=np.inf)


def _each_queue_alike(draws: Sequence[Draws]) -> NDArray[np.bool_]:
    """Select draws so that each kind of queue among the forms has equally many.

    One queue with additional terms (a cache, contention, a step) occurs in several forms, but is a
    single statement of how requests wait; with one queue or several, and with other numbers of
    servers, they wait differently.
    """
    queues = [_queue(each.problem.model) for each in draws]
    marks = [
        np.arange(len(each.free)) % queues.count(queue) == 0
        for each, queue in zip(draws, queues, strict=True)
    ]
    return np.concatenate(marks)


def form_weights(draws: Sequence[Draws]) -> FloatArray:
    """Weight of each form in a mixture: half by equal weights of forms, half by those of queues.

    The weights sum to 1. Bands take the wider of both ways of counting; a mixture needs one weight
    for each.
    """
    queues = [_queue(each.problem.model) for each in draws]
    by_queue = [1 / (len(set(queues)) * queues.count(queue)) for queue in queues]
    return 0.5 / len(queues) + 0.5 * np.array(by_queue)


def _queue(model: Model) -> str:
    """What decides how requests of a model wait: its queues and their numbers of servers."""
    queues = (one for one in model.graph.stations.values() if one.can.limits)
    return str([(one.kind, dict(one.fields), dict(one.visits)) for one in queues])


def _widest(values: FloatArray, error: FloatArray, alike: NDArray[np.bool_]) -> FloatArray:
    """Ends and middle with forms counted equally, and the outer ends with queues counted equally.

    Neither weight can be known beforehand: a band should hold by both (``python -m
    tests.campaigns.arrival_bands``).
    """
    low, middle, high = _band(values, error)
    other = low, middle, high
    if not alike.all():
        other = tuple(_band(values[alike], error[alike]))
    return np.stack([np.fmin(low, other[0]), middle, np.fmax(high, other[2])])


def _known(wanted: FloatArray, else_: FloatArray) -> FloatArray:
    return np.where(np.isfinite(wanted), wanted, else_)


def _band(values: FloatArray, error: FloatArray) -> FloatArray:
    """Ends and middle of values with relative errors, by load; NaN are left out."""
    from scipy.special import ndtri

    nodes = ndtri((np.arange(_NODES) + 0.5) / _NODES)
    nodes = nodes / np.sqrt(np.mean(nodes**2))  # a few nodes spread less than the law
    spread = values * np.exp(error[:, None] * nodes[:, None, None])
    ordered = np.sort(spread.reshape(-1, values.shape[-1]), axis=0)
    counts = np.isfinite(ordered).sum(axis=0)
    places = np.outer(ENDS, np.maximum(counts - 1, 0))
    low = np.floor(places).astype(int)
    high = np.minimum(low + 1, np.maximum(counts - 1, 0))
    columns = np.arange(values.shape[-1])
    below, above = ordered[low, columns], ordered[high, columns]
    return np.asarray(below + (above - below) * (places - low))
