"""Networks of several classes of jobs, open, closed or both."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.models.solving.classes.ways import class_ways
from headway.models.solving.solutions.marks import Marks, method_shown
from headway.models.solving.solutions.saturation import RATES
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import (
    VISITS,
    Amounts,
    Values,
    of_class,
    offered_at,
    scv_by,
    station_at,
    time_by,
    visits_by,
)
from headway.models.structure.parts.orders import check_turns_known
from headway.models.structure.planning.by_class import chain_targets, class_routes
from headway.models.structure.planning.ways import again_at
from headway.queueing.chains.solve import solve_chains
from headway.queueing.classes.solve import solve_multiclass
from headway.queueing.methods.registry import method_named
from headway.queueing.network.network import JobClass, Saturation, SharedStation
from headway.queueing.network.ranks import check_priority
from headway.queueing.network.result import Result
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.stations.listed.kinds import product_form_kinds


def class_values(model: Model, method: str) -> tuple[Amounts, Marks]:
    """Solve a network of several classes at every operating point.

    Parameters
    ----------
    model
        Whose graph has classes.
    method
        How closed classes are solved, see `headway.queueing.Method`.

    Returns
    -------
    The model's inputs and every calculated number by name, of a class such as
    ``class web.throughput``, with marks. At saturated points, the response
    times of the affected classes are infinite, and their throughput is unknown (NaN).

    Raises
    ------
    GraphError
        For kinds of station or formulas that classes do not support.
    """
    graph = model.graph
    values, solution = class_solution(model, method)
    values |= system_by_class(graph, solution) | stations_by_class(graph, solution)
    values = graph.plan.run(values, list(graph.outputs))
    used = solution.method
    circulating = any("population" in each for each in graph.classes.values())
    method = method_shown(used, solution.approximation) if circulating else Marks.method
    marks = (method, solution.approximation, solution.saturated, solution.overload)
    return values, Marks(
        *marks, is_quick=method_named(used).quick and not circulating, again=str(used)
    )


def class_solution(model: Model, method: str) -> tuple[Amounts, Result]:
    """Solve a network of several classes, by station and class; see `class_values`.

    Returns
    -------
    The numbers used by name, and the solution, with stations and classes in the order
    of the graph's.
    """
    values, stations, classes = class_network(model)
    if model.graph.ways_by_class:
        routes = class_routes(model.graph, values)
        return values, solve_chains(stations, classes, routes, method, Saturation.MARK)
    ways = class_ways(model.graph, values)
    return values, solve_multiclass(stations, classes, method, Saturation.MARK, ways)


def class_network(
    model: Model, more: Sequence[str] = ()
) -> tuple[Amounts, list[SharedStation], list[JobClass]]:
    """The numbers such a network is solved with by name, its stations and its classes.

    Parameters
    ----------
    model
        Whose graph has classes.
    more
        Names of numbers to calculate beside.
    """
    graph = model.graph
    values = graph.plan.run(model.inputs, [*targets_of(graph), *more])
    classes = [_job_class(graph, name, values) for name in graph.classes]
    stations = [shared_station(graph, name, values) for name in graph.stations]
    return values, stations, classes


def targets_of(graph: ModelGraph) -> list[str]:
    """Names of the numbers that the solver uses; refuses stations that classes cannot share."""
    targets: list[str] = [
        of_class(name, key) for name, keys in graph.classes.items() for key in keys
    ]
    for name, station in graph.stations.items():
        if station.can.spread and "arrival_scv" in station.fields:
            _check_arrivals(graph, name)
        if not station.can.shared:
            known = ", ".join(product_form_kinds(shared=True))
            msg = f"{name}: several classes cannot share a {station.kind.__name__}; use {known}"
            raise GraphError(msg)
        targets += [f"{name}.{part}" for part in station.fields]
        targets.append(station_at(name))
        targets += [visits_by(name, c) for c in station.visits]
        targets += [time_by(name, c) for c in station.service_times]
        targets += [scv_by(name, c) for c in station.scvs]
    if graph.ways_by_class:
        targets += chain_targets(graph)
    elif not any(station.visits for station in graph.stations.values()):
        targets.append(VISITS)
    rates = graph.plan.needed(targets) & set(RATES)
    if rates:
        msg = (
            f"{graph.name}: with several classes there is no single {max(rates)} that a formula "
            "could use"
        )
        raise GraphError(msg)
    return targets


def check_times_known(graph: ModelGraph, *, closed: bool) -> None:
    """Refuse stations whose order of service is not defined for several classes.

    Raises
    ------
    GraphError
        With the station, and why no percentile of its response time is known.
    """
    for name, station in graph.stations.items():
        kind: type[Station] = station.kind
        if station.can.product_form is ServiceKind.VARYING or (station.can.spread and closed):
            msg = f"{name}: the response time of {kind.__name__} has no known distribution: "
            raise GraphError(msg + kind.lawless)
    check_turns_known(graph)


def _job_class(graph: ModelGraph, name: str, values: Values) -> JobClass:
    numbers = {key: of_class(name, key).of(values) for key in graph.classes[name]}
    think_time = numbers.get("think_time", 0.0)
    priority = _priority(name, numbers.get("priority", 1))
    return JobClass(
        name, numbers.get("arrival_rate"), numbers.get("population"), think_time, priority
    )


def _priority(name: str, value: Amount) -> int:
    levels = np.unique(np.asarray(value, float))
    if len(levels) > 1:
        msg = (
            f"class {name}: priorities must be the same at all operating points; solve them one by "
            "one"
        )
        raise GraphError(msg)
    check_priority(name, float(levels[0]))
    return int(levels[0])


def shared_station(graph: ModelGraph, name: str, values: Values) -> SharedStation:
    """A station as the classes see it."""
    station = graph.stations[name]
    times = [time_of(graph, name, c, values) for c in graph.classes]
    visits = [visits_of(graph, name, c, values) for c in graph.classes]
    kind = station.can.product_form or ServiceKind.QUEUE
    servers, order = values.get(f"{name}.servers", 1), station.discipline
    speeds: Sequence[Amount] = ()
    crew: Amount = 1
    if kind is ServiceKind.VARYING:
        varying: Any = station_at(name).of(values)
        speeds, crew, servers = varying.speeds(), varying.crew, 1
    scvs: list[Amount] = []
    if station.can.spread:
        scvs = [scv_of(graph, name, c, values) for c in graph.classes]
    arrivals = values.get(f"{name}.arrival_scv") if station.can.spread else None
    again = [again_at(graph, name, values)] * len(times)
    return SharedStation(
        name, times, visits, kind, servers, order, speeds, crew, scvs, arrivals, again
    )


def _check_arrivals(graph: ModelGraph, name: str) -> None:
    """Refuse arrivals with an scv at shared servers and in closed networks."""
    if any("population" in numbers for numbers in graph.classes.values()):
        msg = (
            f"{name}: several classes cannot share a GGm if some are closed, because the network "
            "determines its arrivals; use an MGm"
        )
        raise GraphError(msg)


def scv_of(graph: ModelGraph, name: str, c: str, values: Values) -> Amount:
    """Squared coefficient of variation of a class's service times: its own, else that of all.

    Raises
    ------
    GraphError
        For a class that visits the station and has none, although others have.
    """
    station = graph.stations[name]
    if c in station.scvs:
        return scv_by(name, c).of(values)
    if not station.scvs:
        return station_at(name).of(values).scv  # type: ignore[attr-defined]
    if not station.visits or c in station.visits or "" in station.visits:
        msg = f"{name}: no scv for class {c}, which visits it; give one"
        raise GraphError(msg)
    return 1.0


def visits_of(graph: ModelGraph, name: str, c: str, values: Values) -> Amount:
    """Mean visits of a class: its own, else those of all; none if only others have visits.

    If routes differ by class, the visits come from the chains; each entry is a placeholder of 1.
    """
    own = graph.stations[name].visits
    if graph.ways_by_class:
        return 1.0
    if not own:
        return VISITS.of(values)[name]
    for known in (c, ""):
        if known in own:
            return visits_by(name, known).of(values)
    return 0.0


def time_of(graph: ModelGraph, name: str, c: str, values: Values) -> Amount:
    """Service time of a class: its own, else that of all [s].

    Raises
    ------
    GraphError
        For a class that visits the station and has none.
    """
    station = graph.stations[name]
    if c in station.service_times:
        return time_by(name, c).of(values)
    if not station.service_times:
        return station_at(name).of(values).service_time
    if graph.ways_by_class and (c, name) not in graph.ways_by_class:
        return 0.0
    if not station.visits or c in station.visits or "" in station.visits:
        msg = f"{name}: no service_time for class {c}, which visits it; give one"
        raise GraphError(msg)
    return 0.0


def system_by_class(graph: ModelGraph, solution: Result) -> Amounts:
    """Throughput and mean response time of all jobs and of each class."""
    rate, time = np.asarray(solution.throughput), np.asarray(solution.response_time)
    # how much of an overload each class gets through depends on more than the model says
    carried = np.where((rate > 0) & np.isinf(time) & _overloaded(solution), np.nan, rate)
    values = {}
    for position, name in enumerate(graph.classes):
        values[of_class(name, "throughput")] = carried[position]
        values[of_class(name, "response_time")] = time[position]
    return values | {"throughput": carried.sum(axis=0), "response_time": _mean(time, rate)}


def _overloaded(solution: Result) -> NDArray[np.bool_]:
    """Which classes more comes of to some station than it can serve: at a load of 1 all are."""
    if solution.offered is None:
        return np.ones(np.shape(solution.throughput), bool)
    over = np.asarray(solution.offered) > 1 + _EXACTLY
    stuck = np.isinf(np.asarray(solution.station_response_time))
    return np.asarray((stuck & over[:, np.newaxis]).any(axis=0))


_EXACTLY = 1e-12  # what a sum of loads that is 1 may lose


def _mean(times: FloatArray, rates: FloatArray) -> FloatArray:
    """Mean over the jobs of all classes; without jobs, over the classes."""
    total = rates.sum(axis=0)
    some = total > 0
    spent = np.where(rates > 0, rates * np.where(rates > 0, times, 0.0), 0.0).sum(axis=0)
    return np.asarray(np.where(some, spent / np.where(some, total, 1.0), times.mean(axis=0)))


def stations_by_class(graph: ModelGraph, solution: Result) -> Amounts:
    """Results of each station, for all classes together."""
    values: Amounts = {}
    rate = np.asarray(solution.throughput)
    for position, name in enumerate(graph.stations):
        through = np.asarray(solution.station_throughput[position])
        values[f"{name}.utilisation"] = solution.utilisation[position].sum(axis=0)
        if solution.offered is not None:
            values[offered_at(name)] = np.asarray(solution.offered[position])
        values[f"{name}.queue_length"] = solution.queue_length[position].sum(axis=0)
        values[f"{name}.throughput"] = through.sum(axis=0)
        residence = np.asarray(solution.residence_time[position])
        values[f"{name}.residence_time"] = _mean(residence, rate)
        stay = np.asarray(solution.station_response_time[position])
        values[f"{name}.response_time"] = _mean(stay, through)
    return values
