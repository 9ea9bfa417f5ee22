"""Open networks with propagated variability of arrivals."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount
from headway.models.language.formula import of_number
from headway.models.solving.solutions.marks import QNA
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import Amounts, Values, station_at
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.flows import not_poisson
from headway.models.structure.planning.variability import (
    SPREAD,
    TwoMoments,
    check_spread,
    comes_back,
    has_renewal,
    service_scv,
)

if TYPE_CHECKING:
    from headway.queueing.variability.measured import MeasuredRegion

_POISSON = of_number(1.0)


def propagating(model: Model) -> Model:
    """The model with Poisson arrivals wherever it gives no scv.

    Raises
    ------
    GraphError
        For a program, a closed network, and stations that do not support propagation.
    """
    graph = model.graph
    if not graph.stations:
        msg = f"{model.name} is a program without stations, so there is no variability to propagate"
        if graph.layers:
            msg = f"{model.name} has layered services, which qna does not solve; use method auto"
        raise GraphError(msg)
    if graph.arrival_batches:
        from headway.models.structure.planning.batches import refuse_batches

        refuse_batches(graph, "flows by two moments")
    propagated = replace(model, graph=_saying(graph))
    check_spread(propagated.graph)
    check_open(propagated.network)
    return propagated


def _saying(graph: ModelGraph) -> ModelGraph:
    """The graph with an scv for the arrivals of every place or class."""
    if graph.classes and not graph.arrival_scvs:
        poisson = {"arrival_scv": _POISSON}
        classes = {name: {**poisson, **numbers} for name, numbers in graph.classes.items()}
        return replace(graph, classes=classes)
    places = graph.arrivals or tuple(graph.stations)[:1]
    scvs = {name: graph.arrival_scvs.get(name, _POISSON) for name in places}
    return replace(graph, arrival_scvs=scvs)


def check_open(network: Model) -> None:
    """Refuse a closed network with an scv of arrivals.

    Raises
    ------
    GraphError
        Naming the remedy.
    """
    if network.is_closed and network.graph.arrival_scvs:
        msg = (
            f"{network.name}: headway propagates variability from arrivals, which a closed network "
            "does not have; delete the population, or the scv of arrivals and method qna"
        )
        raise GraphError(msg)


def check_way(graph: Structure, method: str) -> None:
    """Refuse methods of closed networks if arrivals have an scv.

    Raises
    ------
    GraphError
        Naming the remedy.
    """
    if graph.spreads and method not in ("auto", QNA):
        msg = (
            f"{graph.name}: arrivals have an scv, which method {method} does not support; do not "
            "set a method"
        )
        raise GraphError(msg)


def with_spread(graph: Structure, values: Values) -> Amounts:
    """Add the variability of arrivals and departures of each station."""
    spread = SPREAD.of(values)
    scvs = {f"{name}.arrival_scv": spread.coming[name] for name in graph.stations}
    return {**values, **scvs, **{f"{n}.departure_scv": spread.leaving[n] for n in graph.stations}}


def doubts_of_spread(graph: Structure, values: Values) -> str:
    """Notes on approximation; none if two moments give the exact answer."""
    from headway.queueing.variability.lone import GAMMA_ARRIVALS

    spread = SPREAD.of(values)
    if spread.exact:
        return ""
    notes = [GAMMA_ARRIVALS if has_renewal(graph, values) else _error(graph, values, spread)]
    own = [n for n, station in graph.stations.items() if "arrival_scv" in station.fields]
    notes += [f"flows replace the arrival_scv of {', '.join(own)}"] if own else []
    return "; ".join(notes)


def _error(graph: Structure, values: Values, spread: TwoMoments) -> str:
    """The measured error of such networks: those with Poisson arrivals, or else the others."""
    from headway.queueing.variability.network import approximation

    region = _region_of(graph, values, spread.busy)
    return region.means() if spread.poisson else approximation(region.busy)


def _region_of(graph: Structure, values: Values, busy: float) -> "MeasuredRegion":
    """The region of measured networks that holds one without classes, by its busiest queue."""
    from headway.queueing.variability.measured import MeasuredRegion

    queues = [name for name, station in graph.stations.items() if station.can.limits]
    stations = [station_at(name).of(values) for name in queues]
    told = [station for station in stations if station.can.service_scv is not None]
    scv = max((_most(service_scv(station)) for station in told), default=0.0)
    pools = any(_most(station.count) > 1 for station in stations)
    return MeasuredRegion.of(loops=comes_back(graph), pools=pools, scv=scv, busy=busy)


def _most(value: Amount) -> float:
    return value if type(value) is float else float(np.max(np.asarray(value, float), initial=0))


def poisson_notes(graph: Structure, values: Values) -> list[str]:
    """The note on flows that are taken as Poisson although services or losses make them differ.

    Parameters
    ----------
    graph, values
        A network without classes that is solved station by station, and its numbers.
    """
    others = not_poisson(graph)
    kinds = [graph.stations[name].can for name in others]
    if not others:
        return []
    if any(can.service_scv is None or can.forks or can.loses for can in kinds):
        from headway.queueing.flows.measured import assumed_poisson

        return [assumed_poisson(others, graph.losing)]
    queues = [name for name, station in graph.stations.items() if station.can.limits]
    busy = max((_most(values[f"{name}.utilisation"]) for name in queues), default=0.0)
    return [_region_of(graph, values, busy).poisson(tuple(others))]
