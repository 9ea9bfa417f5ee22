"""Stations and classes of a model with several classes, with the numbers that its graph gives."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.solving.solutions.saturation import RATES
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import (
    VISITS,
    Amounts,
    Values,
    of_class,
    scv_by,
    station_at,
    time_by,
    visits_by,
)
from headway.models.structure.parts.orders import check_turns_known
from headway.models.structure.planning.by_class import chain_targets
from headway.models.structure.planning.ways import again_at
from headway.queueing.network.network import JobClass, SharedStation
from headway.queueing.network.ranks import check_priority
from headway.queueing.stations.abilities import QueueChoice, ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.stations.choosing import ChosenParallel
from headway.queueing.stations.listed.kinds import product_form_kinds


def class_network(
    model: Model, more: Sequence[str] = ()
) -> tuple[Amounts, list[SharedStation], list[JobClass]]:
    """The numbers that such a network is solved with, by name; its stations; and its classes.

    Parameters
    ----------
    model
        A model whose graph has classes.
    more
        Names of further numbers to calculate.
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
            msg = f"{name}: several classes cannot share a {station.label}; use {known}"
            if station.choice is not QueueChoice.RANDOM:
                msg = f"{name}: {ChosenParallel.lawless}"
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
    """A station as several classes use it."""
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
    """Squared coefficient of variation of a class's service times: its own, or else that of all.

    Raises
    ------
    GraphError
        For a class that visits the station and has none, although other classes have one.
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
    """Mean visits of a class: its own, or else those of all; none if only others have visits.

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
    """Service time of a class: its own, or else that of all classes [s].

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
