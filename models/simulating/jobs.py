"""Read a model for a simulation: how its stations serve, where jobs go, how many arrive.

It reads stations, routes or visits, arrivals and classes, but no traffic equation and no queueing
formula. A time that occurs only in a formula for the response time is taken as a constant delay.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import inf

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount
from headway.models.simulating.class_switching import ClassSwitching, class_switching_of
from headway.models.simulating.holding import regions_of
from headway.models.simulating.plan import ALL, Blueprint, Jobs, SimulatedRoutes, SimulatedStation
from headway.models.simulating.streams import streams_of
from headway.models.solving.solutions.saturation import RATES, depends_on_load
from headway.models.structure.graph import ModelGraph
from headway.models.structure.inputs import points_shape
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import (
    arrivals_at,
    batch_at,
    clients_at,
    of_class,
    oldest_at,
    scv_at,
    scv_by,
    station_at,
    time_by,
    visits_by,
)
from headway.models.structure.planning.by_class import chain_targets
from headway.queueing.flows.traffic import check_matrix
from headway.queueing.network.blocking import Blocking
from headway.queueing.stations.listed.serving import Serving, joining, serving_of

_CLASS_KEYS = ("arrival_rate", "population", "think_time")
_SAME = 1e-9
"""Relative difference below which a time outside the stations counts as independent of them."""


def blueprint(model: Model) -> Blueprint:
    """Read a model at its operating point.

    Raises
    ------
    GraphError
        For a program, several operating points, kinds that cannot be simulated, classes without
        jobs, losses in a closed network, and stations that do not define what blocked jobs
        occupy.
    """
    _check_point(model)
    network = model.network
    _check_losses(network)
    graph, values = network.graph, _numbers(network)
    _check_turns(graph)
    _check_clients(model)
    servings = {n: _serving(graph, n, values) for n in graph.stations}
    places = tuple(
        SimulatedStation(
            n,
            s,
            graph.stations[n].discipline,
            _times(graph, n, s, values),
            _scvs(graph, n, s, values),
            _branches(graph, n),
            Blocking(graph.stations[n].blocking),
            graph.stations[n].choice,
            float(values.get(oldest_at(n), inf)),
        )
        for n, s in servings.items()
    )
    renewals = _renewals(network, servings)
    if graph.ways_by_class:
        times = np.array([[place.times[c] for place in places] for c in graph.classes])
        switching = class_switching_of(graph, values, times)
        classes = tuple(_jobs(network, name, values, {}, switching[name]) for name in graph.classes)
    else:
        classes = tuple(_jobs(network, name, values, renewals) for name in graph.classes or (ALL,))
    blueprint = Blueprint(model.name, places, classes, regions=regions_of(network))
    blueprint = replace(blueprint, beyond=_time_outside(network, values, blueprint))
    _check_classes(blueprint)
    return blueprint


def _check_point(model: Model) -> None:
    if model.graph.layers:
        msg = f"{model.name} has layers of services; simulate it by solving it by method simulation"
        raise GraphError(msg)
    if not model.graph.stations:
        msg = f"{model.name} is a program without stations; there is nothing to simulate"
        raise GraphError(msg)
    check_one_point(model)


def check_one_point(model: Model) -> None:
    """Refuse several operating points.

    Parameters
    ----------
    model
        A model that is to be simulated once.
    """
    if points_shape(model.inputs) not in ((), (1,)):
        msg = (
            f"{model.name}: one simulation is of one operating point; call simulate_points for "
            "lists and ranges, or give one value"
        )
        raise GraphError(msg)


def _check_turns(graph: ModelGraph) -> None:
    """Refuse disciplines that do not declare which job is next."""
    for name, station in graph.stations.items():
        order = station.discipline
        if not (order.in_turn or order.shares or order.rank):
            msg = f"{name}: headway cannot simulate discipline {order}, which declares no rank"
            raise GraphError(msg)


def _check_clients(model: Model) -> None:
    """Refuse what cannot be simulated where clients give up."""
    graph = model.graph
    if not graph.gives_up:
        return
    forked = any(one.branches or one.can.forks for one in graph.stations.values())
    reason = {
        "a closed network, whose clients wait": model.is_closed,
        "stations that block, or regions": graph.blocks,
        "requests that fork": forked,
    }
    for what, there in reason.items():
        if there:
            msg = f"{graph.name}: headway cannot simulate clients that give up together with {what}"
            raise GraphError(msg)


def _has_closed_jobs(model: Model) -> bool:
    return model.is_closed or any("population" in keys for keys in model.graph.classes.values())


def _check_losses(model: Model) -> None:
    lossy = [name for name, station in model.graph.stations.items() if station.loses]
    if _has_closed_jobs(model) and lossy:
        msg = (
            f"{model.name}: {lossy[0]} loses jobs, so a closed network runs empty; use a station "
            "without losses"
        )
        raise GraphError(msg)


def _numbers(model: Model) -> dict[str, Amount]:
    """The graph's numbers, without visits, which the simulation determines itself."""
    graph = model.graph
    targets = chain_targets(graph)
    targets += [scv_at(name) for name in graph.arrival_scvs]
    targets += [batch_at(name) for name in graph.arrival_batches]
    targets += [clients_at(name) for name in graph.clients]
    targets += [oldest_at(name) for name, one in graph.stations.items() if one.oldest]
    targets += [of_class(name, key) for name, keys in graph.classes.items() for key in keys]
    for name, station in graph.stations.items():
        targets.append(station_at(name))
        targets += [visits_by(name, c) for c in station.visits]
        targets += [time_by(name, c) for c in station.service_times]
        targets += [scv_by(name, c) for c in station.scvs]
    if not (graph.classes or model.is_closed):
        targets.append("throughput")
    given: dict[str, Amount] = {n: float(np.ravel(v)[0]) for n, v in model.inputs.items()}
    # the rate at which the model's own numbers agree; otherwise only shares need one
    if model.is_closed:
        rate = _rate(model, {}) if depends_on_load(graph) else 1.0
        given |= dict.fromkeys(RATES, rate)
    return graph.plan.run(given, targets)


def _renewals(model: Model, servings: Mapping[str, Serving]) -> dict[str, float]:
    """The scv of arrivals at stations whose kind sets it.

    Raises
    ------
    GraphError
        Where some arrivals come from other stations, which contradicts such a kind.
    """
    own = {n: s.arrival_scv for n, s in servings.items() if s.arrival_scv is not None}
    if not own:
        return {}
    graph = model.graph
    fed = {route.target for route in graph.routes}
    fed |= {name for station in graph.stations.values() for name in station.branches}
    fed |= {name for name, station in graph.stations.items() if station.visits}
    for name in own:
        if name in fed or _has_closed_jobs(model) or len(graph.classes) > 1:
            msg = (
                f"{name}: headway simulates the arrival_scv of a station only where all its jobs "
                "come from outside, in one class; use MGm or MMmK, and give an scv to the arrivals"
            )
            raise GraphError(msg)
    return own


def _jobs(
    model: Model,
    name: str,
    values: Mapping[str, Amount],
    renewals: Mapping[str, float],
    switching: ClassSwitching | None = None,
) -> Jobs:
    if name in model.graph.classes:
        given = {key: values.get(of_class(name, key), 0.0) for key in _CLASS_KEYS}
    elif model.is_closed:
        given = {**values, "arrival_rate": 0.0}
    else:
        given = {"arrival_rate": values["throughput"], "population": 0, "think_time": 0.0}
    rate, population, think_time = (float(given[key]) for key in _CLASS_KEYS)
    closed = model.is_closed or "population" in model.graph.classes.get(name, ())
    ways = (
        _ways(model.graph, name, values) if switching is None else _class_switching_ways(switching)
    )
    priority = round(float(values.get(of_class(name, "priority"), 1.0)))
    streams = streams_of(model.graph, rate, ways.entry, values, renewals)
    people, scv = round(population), float(values.get(of_class(name, "arrival_scv"), 1.0))
    clients = clients_at(name).of(values).point(0) if name in model.graph.clients else None
    return Jobs(name, rate, people, think_time, ways, closed, priority, streams, scv, clients)


def _class_switching_ways(switching: ClassSwitching) -> SimulatedRoutes:
    return SimulatedRoutes(
        switching.entry, np.zeros((len(switching.entry),) * 2), switching=switching
    )


def _ways(graph: ModelGraph, name: str, values: Mapping[str, Amount]) -> SimulatedRoutes:
    count = len(graph.stations)
    if any(station.visits for station in graph.stations.values()):
        visits = np.array([_visits(graph, s, name, values) for s in graph.stations])
        return SimulatedRoutes(np.zeros(count), np.zeros((count, count)), visits)
    position = {station: index for index, station in enumerate(graph.stations)}
    onward, entry = np.zeros((count, count)), np.zeros(count)
    for (source, target), chance in graph.routes.chances(values).items():
        onward[position[source], position[target]] = chance
    check_matrix(tuple(graph.stations), onward)
    for station in graph.arrivals:
        entry[position[station]] = arrivals_at(station).of(values)
    if not entry.any():
        entry[0] = 1.0
    return SimulatedRoutes(entry / entry.sum(), onward)


def _visits(graph: ModelGraph, station: str, name: str, values: Mapping[str, Amount]) -> float:
    given = graph.stations[station].visits
    key = name if name in given else ""
    return float(visits_by(station, key).of(values)) if key in given else 0.0


def _serving(graph: ModelGraph, name: str, values: Mapping[str, Amount]) -> Serving:
    if graph.stations[name].branches:
        return joining(float(values[f"{name}.needed"]))
    return serving_of(name, station_at(name).of(values))


def _branches(graph: ModelGraph, name: str) -> tuple[int, ...]:
    """Positions of the stations that are a fork's branches."""
    position = {station: k for k, station in enumerate(graph.stations)}
    return tuple(position[branch] for branch in graph.stations[name].branches)


def _scvs(
    graph: ModelGraph, name: str, serving: Serving, values: Mapping[str, Amount]
) -> dict[str, float]:
    own = {c: scv_by(name, c) for c in graph.classes or (ALL,)}
    return {c: float(values.get(key, serving.scv)) for c, key in own.items()}


def _times(
    graph: ModelGraph, name: str, serving: Serving, values: Mapping[str, Amount]
) -> dict[str, float]:
    """Mean service times by class; of a lone job where speed depends on the number of jobs."""
    alone = serving.speeds[0] if serving.speeds else 1.0
    own = {c: time_by(name, c) for c in graph.classes or (ALL,)}
    return {c: values[t] * alone if t in values else serving.time for c, t in own.items()}


def _time_outside(model: Model, values: Mapping[str, Amount], blueprint: Blueprint) -> float:
    """The time that a formula for the response time adds to the times at stations [s].

    The formula is evaluated for stations without waiting, and again for stations that take twice as
    long.
    """
    graph = model.graph
    if "response_time" not in graph.outputs or graph.classes:
        return 0.0
    visits = blueprint.classes[0].ways.mean_visits.tolist()
    times = [place.serving.alone(place.times[ALL]) for place in blueprint.places]
    given = {n: v for n, v in values.items() if n in model.inputs}
    given |= dict.fromkeys(RATES, _rate(model, values))

    def added(scale: float) -> float:
        stays: dict[str, Amount] = {}
        for place, visit, time in zip(blueprint.places, visits, times, strict=True):
            stays[f"{place.name}.response_time"] = scale * time
            stays[f"{place.name}.residence_time"] = scale * time * visit
        total = graph.plan.run({**given, **stays}, ["response_time"])["response_time"]
        inside = sum(stays[f"{place.name}.residence_time"] for place in blueprint.places)
        return float(total - inside)

    once, twice = added(1.0), added(2.0)
    if not (once >= 0 and abs(once - twice) <= _SAME * (once + sum(times))):
        msg = (
            f"{model.name}: its formula for response_time is not a sum of the time at its stations "
            "and other time, so it cannot be simulated"
        )
        raise GraphError(msg)
    return once


def _rate(model: Model, values: Mapping[str, Amount]) -> float:
    """Arrival rate or throughput, as used in formulas [1/s]."""
    if not model.is_closed:
        return float(values["throughput"])
    return float(np.ravel(model.solve().throughput)[0])


def _check_classes(blueprint: Blueprint) -> None:
    for jobs in blueprint.classes:
        if jobs.ways.switching is not None and jobs not in blueprint.crowd:
            continue
        who = f"class {jobs.name}" if jobs.name else blueprint.name
        if not jobs.population and not jobs.arrival_rate > 0:
            msg = (
                f"{who}: no jobs arrive, so there is nothing to simulate; give it an arrival rate "
                "or a population"
            )
            raise InvalidParameter(msg)
        visits = blueprint.visits(jobs)
        spent = sum(v * p.times[jobs.name] for v, p in zip(visits, blueprint.places, strict=True))
        if not spent + jobs.think_time + blueprint.beyond > 0:
            msg = (
                f"{who}: its jobs take no time, so there is nothing to simulate; give it service "
                "times"
            )
            raise InvalidParameter(msg)
