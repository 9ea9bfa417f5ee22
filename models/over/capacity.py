"""The network of a model at each time: its load, and a capacity that may follow `t`."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from headway.columns import distinct_columns
from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray
from headway.models.over.days import Day
from headway.models.simulating.jobs import blueprint
from headway.models.simulating.plan import Blueprint, SimulatedStation
from headway.models.structure.graph import ModelGraph
from headway.models.structure.inputs import points_shape
from headway.numerals import digits
from headway.queueing.flows.courses import RateTable
from headway.queueing.transient.network import TimedNetwork, TimedStation
from headway.queueing.transient.service import Service

if TYPE_CHECKING:
    from headway.models.structure.model import Model

TIME = "t"
"""The parameter of a model that is time [s]."""

MOST_CAPACITIES = 1000
"""Most different capacities of a day: they change in steps of whole servers."""

FINE = 1440
"""Parts of a day over which a rate that is a formula of `t` is averaged."""

_GAUSS = ((0.5 - np.sqrt(0.15), 5 / 18), (0.5, 4 / 9), (0.5 + np.sqrt(0.15), 5 / 18))
"""Nodes and weights of a mean over a part, exact for polynomials of degree 5."""


def steady_graph(graph: ModelGraph) -> ModelGraph:
    """The graph with arrival rates that do not follow time."""
    return replace(graph, arrival_courses={}) if graph.arrival_courses else graph


def own_day(model: "Model", length: float | None) -> Day:
    """The load that a model itself gives: its rates by time, or a formula of `t`.

    Parameters
    ----------
    model
        A model with ``rates`` of its arrivals, or numbers that are formulas of ``t``.
    length
        Length of the day [s]; None for the period of its rates.

    Raises
    ------
    GraphError
        For a model without either, and for a formula without a length.
    """
    tables = [c for c in model.graph.arrival_courses.values() if isinstance(c, RateTable)]
    if len(tables) == 1 and len(model.graph.arrivals) == 1:
        return _of_table(tables[0], length)
    if TIME not in model.parameters:
        msg = (
            f"{model.name}: nothing in it changes with time; give a day, as --over day.csv, "
            "rates of "
            "its arrivals, or a formula of the parameter t"
        )
        raise GraphError(msg)
    if length is None:
        msg = f"{model.name}: the length of the day is unknown; give --over a time such as 24h"
        raise GraphError(msg)
    edges = np.linspace(0.0, length, FINE + 1)
    return Day(tuple(edges.tolist()), tuple(rates_over(model, edges).tolist()))


def _of_table(table: RateTable, length: float | None) -> Day:
    whole = table.period if length is None else length
    turns = int(np.ceil(whole / table.period))
    starts = np.concatenate([np.array(table.starts) + k * table.period for k in range(turns)])
    rates = np.tile(table.rates, turns)
    kept = starts < whole * (1 - 1e-12)
    return Day((*starts[kept].tolist(), whole), tuple(rates[kept].tolist()))


def rates_over(model: "Model", edges: FloatArray) -> FloatArray:
    """Mean arrival rate of a model between times, by its formulas of `t` [1/s]."""
    lengths = np.diff(edges)
    total = np.zeros(len(lengths))
    for node, weight in _GAUSS:
        values = {**model.inputs, TIME: edges[:-1] + node * lengths}
        found = model.graph.plan.run(values, ["throughput"])["throughput"]
        total += weight * np.broadcast_to(np.asarray(found, float), lengths.shape)
    wrong = np.flatnonzero(~((total >= 0) & (total < inf)))
    if len(wrong):
        msg = (
            f"{model.name}: the arrival rate is {digits(total[wrong[0]])} at t = "
            f"{digits(edges[wrong[0]])} s; it must be 0 or more"
        )
        raise InvalidParameter(msg)
    return total


def timed_network(
    model: "Model", edges: FloatArray, rates: FloatArray, start: int | None
) -> TimedNetwork:
    """The network of a model at each time.

    Raises
    ------
    GraphError
        For closed networks, classes, programs, and models of several operating points.
    InvalidParameter
        For a capacity that changes too often.
    """
    check_followed(model)
    plans, which = _plans(model, edges)
    first = plans[0]
    (jobs,) = first.classes
    ways = jobs.ways
    onward = ways.onward
    entry = ways.entry
    if ways.visits is not None:
        entry, onward = _in_line(first, ways.visits)
    stations = tuple(
        TimedStation(
            place.name,
            tuple(_service(plan.places[k], jobs.name) for plan in plans),
            float(entry[k]),
            _lacking(place, first),
        )
        for k, place in enumerate(first.places)
    )
    return TimedNetwork(edges, rates, which, stations, onward, start, first.beyond)


def check_followed(model: "Model") -> None:
    """Refuse models that headway cannot solve over time.

    Raises
    ------
    GraphError
        For closed networks, classes, programs, regions, and several operating points.
    """
    graph = model.graph
    if model.is_closed or graph.classes or graph.layers or not graph.stations or graph.regions:
        what = next(
            words
            for holds, words in (
                (model.is_closed, "jobs circulate in it"),
                (graph.classes, "it has classes"),
                (graph.layers, "it has layers of services"),
                (graph.regions, "it has regions"),
                (True, "it has no stations"),
            )
            if holds
        )
        msg = (
            f"{model.name}: {what}; headway follows open networks of one class over time; solve it "
            "at its highest load"
        )
        raise GraphError(msg)
    given = model.at(arrival_rate=1.0) if graph.needs_arrival_rate else model
    if points_shape(given.inputs) not in ((), (1,)):
        msg = f"{model.name}: a day needs one operating point; give one value of each parameter"
        raise GraphError(msg)


def _in_line(plan: Blueprint, visits: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Stations with given visits as if in a row, if jobs visit each once."""
    if not np.allclose(visits, 1):
        msg = f"{plan.name}: has visits other than 1; give routes, so that jobs have a way in time"
        raise GraphError(msg)
    count = len(visits)
    return np.eye(count)[0], np.eye(count, k=1)


def _plans(model: "Model", edges: FloatArray) -> tuple[list[Blueprint], NDArray[np.int64]]:
    """The stations for each different capacity, and the capacity in each part."""
    count = len(edges) - 1
    if TIME not in model.parameters:
        return [_plan(model, {})], np.zeros(count, np.int64)
    middles = (edges[:-1] + edges[1:]) / 2
    graph = model.graph
    names = [f"{n}.{part}" for n, s in graph.stations.items() for part in s.numbers]
    given = model.at(arrival_rate=1.0) if graph.needs_arrival_rate else model
    found = graph.plan.run({**given.inputs, TIME: middles}, names)
    table = np.array([np.broadcast_to(np.asarray(found[n], float), (count,)) for n in names])
    first, kind = distinct_columns(table)
    if len(first) > MOST_CAPACITIES:
        msg = (
            f"{model.name}: its capacity changes {len(first):,} times; let it change by steps, at "
            f"most {MOST_CAPACITIES:,}, as floor(t / 3600) does"
        )
        raise InvalidParameter(msg)
    return [_plan_at(model, edges, int(k)) for k in first], kind.astype(np.int64)


def _plan_at(model: "Model", edges: FloatArray, part: int) -> Blueprint:
    """The capacity in one part of the time."""
    try:
        return _plan(model, {TIME: float(edges[part] + edges[part + 1]) / 2})
    except InvalidParameter as error:
        msg = (
            f"{model.name}: from t = {digits(edges[part])} s on {error}; let its formula of t last "
            f"as long as the load, to {digits(edges[-1])} s"
        )
        raise InvalidParameter(msg) from None


def day_plan(model: "Model") -> Blueprint:
    """The plan of a simulation, for a model whose capacity does not follow time.

    Raises
    ------
    GraphError
        As for `timed_network`.
    """
    check_followed(model)
    return _plan(model, {TIME: 0.0} if TIME in model.parameters else {})


def service_with(model: "Model", name: str) -> Service:
    """The service of a station whose capacity does not follow time."""
    plan = day_plan(model)
    (place,) = (place for place in plan.places if place.name == name)
    return _service(place, plan.classes[0].name)


def _plan(model: "Model", values: Mapping[str, float]) -> Blueprint:
    graph = steady_graph(model.graph)
    rate = {"arrival_rate": 1.0} if graph.needs_arrival_rate else {}
    one = replace(model, graph=graph).at({**values, **rate})
    return blueprint(one)


def _service(place: SimulatedStation, name: str) -> Service:
    serving = place.serving
    speeds = tuple(speed / place.times[name] for speed in serving.speeds)
    return Service(place.times[name], serving.servers, serving.places, speeds)


def _lacking(place: SimulatedStation, plan: Blueprint) -> str:
    """Why a station has no law of time; empty if it has one."""
    serving = place.serving
    (jobs,) = plan.classes
    delay = not np.isfinite(serving.servers)
    if jobs.clients is not None:
        return "its clients give up, which has no formula over time; use method simulation"
    if any(stream.scv != 1 or stream.batch is not None for stream in jobs.streams):
        return "its arrivals are not Poisson; use method simulation"
    if serving.queues > 1 or serving.needed or serving.paces or serving.budget:
        return "such a station has no formula over time; use method simulation"
    if place.by_turns or (place.shared and not delay):
        return (
            f"formulas over time need jobs in order of arrival, not {place.discipline}; use method "
            "simulation"
        )
    if not delay and (serving.scv != 1 or any(scv != 1 for scv in place.scvs.values())):
        return "its services are not exponential; use method simulation"
    return ""
