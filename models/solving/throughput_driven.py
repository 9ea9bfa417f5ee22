"""Closed networks compared with a curve over throughput, where each point's think time is unknown.

A load generator of N processes controls its rate by thinking until the requested load is reached.
So the throughput X of a point is measured, and its think time follows. By Schweitzer's
approximation the stations of a closed network at throughput X behave as those of an open network
whose queues receive (N - 1)/N of the load; the think time is N/X - R. The model's own think time Z
is the least possible: with it, on the branch that bends back, R = N/X - Z by Little's law.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount, FloatArray
from headway.models.solving.evaluate import Evaluator, GraphKey, compiled_forms, travelling
from headway.models.solving.solutions.marks import DRIVEN, Marks
from headway.models.solving.solutions.solution import Solution
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import VISITS, station_at
from headway.numerals import digits
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.stations.listed.kinds import usable_kinds

_DRIVEN = (ServiceKind.DELAY, ServiceKind.QUEUE, ServiceKind.PARALLEL)


def _residence(
    station: Station, visits: Amount, throughput: Amount, share: Amount
) -> tuple[Amount, Amount]:
    """V R and utilisation; by Seidmann, m servers are a delay and one server m times as fast."""
    form = station.can.product_form
    time: Amount = station.service_time
    if form is ServiceKind.DELAY:
        return visits * time, throughput * 0
    servers: Amount = station.count
    busy = visits * time * throughput / servers * share
    stretched = visits * time / (1 - busy)
    if form is ServiceKind.QUEUE:
        return visits * time * (servers - 1) / servers + stretched / servers, busy
    return stretched, busy


@travelling
def driven_evaluator(
    model: Model, rate: FloatArray, full: Any, names: tuple[str, ...]
) -> Evaluator:
    """Predict a closed model from the delivered throughput.

    Parameters
    ----------
    model
        With values for every parameter.
    rate, full
        Delivered throughput by point [1/s], and points at which think times are at their minimum.
    names
        Free parameters.

    Raises
    ------
    InvalidParameter
        For a population below one, which could not drive any load.
    """
    jobs = float(np.min(np.asarray(model.inputs["population"])))
    if jobs < 1:
        msg = f"population is {digits(jobs)}; to drive a measured load it must be 1 or more"
        raise InvalidParameter(msg)
    evaluator = _compiled(GraphKey.of(model.graph), tuple(model.parameters), names)

    def predict(values: Mapping[str, Amount]) -> FloatArray:
        limit = _limit(values, rate)
        response = evaluator.predict({**values, "throughput": rate})
        limited: FloatArray = np.where(full, limit, np.minimum(response, limit))
        return limited

    def slopes(values: Mapping[str, Amount], wanted: Sequence[str]) -> FloatArray:
        slopes_at = evaluator.slopes({**values, "throughput": rate}, wanted)
        limited = predict(values) >= _limit(values, rate)
        little = [_limit_slope(name, rate) for name in wanted]
        return np.where(limited[..., None], np.stack(little, axis=-1), slopes_at)

    return Evaluator(predict, slopes, evaluator.smooth)


def _limit(values: Mapping[str, Amount], rate: FloatArray) -> FloatArray:
    """Longest response time at a throughput, by Little's law; infinite at a throughput of 0."""
    with np.errstate(divide="ignore", over="ignore"):
        longest = np.asarray(values["population"] / rate - values["think_time"])
    return np.where(longest > 0, longest, np.inf)


def _limit_slope(name: str, rate: FloatArray) -> FloatArray:
    if name == "population":
        return 1 / rate
    return np.full(rate.shape, -1.0 if name == "think_time" else 0.0)


@lru_cache(maxsize=256)
def _compiled(key: GraphKey, parameters: tuple[str, ...], names: tuple[str, ...]) -> Evaluator:
    """Compile once for all fits of a graph."""
    return compiled_forms(*_forms(key.graph, parameters), names)


def _forms(graph: ModelGraph, parameters: Sequence[str]) -> tuple[Amount, list[Amount]]:
    """Response time at a throughput, and the utilisation of each station."""
    from sympy import sympify

    from headway.models.solving.symbolic import symbol

    others = (s for s in graph.stations.values() if s.can.product_form not in _DRIVEN)
    for station in others:
        known = ", ".join(n for n, k in usable_kinds().items() if k.can.product_form in _DRIVEN)
        msg = f"{station.kind.__name__} cannot follow a measured load; use {known}"
        raise GraphError(msg)
    rate, jobs = symbol("throughput"), symbol("population")
    given = {name: symbol(name) for name in parameters}
    given |= {"throughput": rate, "arrival_rate": rate}
    values = graph.plan.run(given, [VISITS, *(station_at(name) for name in graph.stations)])
    parts = [
        _residence(station_at(name).of(values), VISITS.of(values)[name], rate, (jobs - 1) / jobs)
        for name in graph.stations
    ]
    response = sympify(sum(time for time, _ in parts), strict=True)
    return response, [sympify(busy, strict=True) for _, busy in parts]


def driven_solution(model: Model, rate: FloatArray, full: Any) -> Solution:
    """Solve a closed model at delivered throughputs, with the think times that produce them.

    The model's own think time is the minimum.

    Parameters
    ----------
    model
        With values for every parameter.
    rate, full
        Delivered throughput by point [1/s], and points at which think times are at their minimum.
    """
    response = driven_evaluator(model, rate, full, ()).predict(model.inputs)
    with np.errstate(divide="ignore", over="ignore"):  # without load, jobs think for ever
        spare = np.maximum(np.asarray(model.inputs["population"]) / rate - response, 0.0)
    if not np.isfinite(spare).all():
        msg = "a closed model needs a positive load; leave out the row with load 0"
        raise InvalidParameter(msg)
    model = model.at(think_time=spare)
    graph, inputs = model.graph, {**model.inputs, "throughput": rate, "arrival_rate": rate}
    names = list(graph.stations)
    values = graph.plan.run(inputs, [VISITS, *(station_at(name) for name in names)])
    jobs = np.asarray(model.inputs["population"])
    for name in names:
        station, visits = station_at(name).of(values), VISITS.of(values)[name]
        time, _ = _residence(station, visits, rate, (jobs - 1) / jobs)
        values[f"{name}.residence_time"] = np.where(time > 0, np.minimum(time, response), response)
        values[f"{name}.throughput"] = visits * rate
        values[f"{name}.utilisation"] = station.utilisation(visits * rate)
        values[f"{name}.queue_length"] = rate * values[f"{name}.residence_time"]
    values["response_time"] = response
    values = graph.plan.run(values, [*graph.outputs, VISITS])
    note = "throughput-driven: Schweitzer at the delivered throughput"
    marks = Marks(DRIVEN, note, is_quick=False, again=DRIVEN)
    return Solution(model, values, rate.shape, marks)
