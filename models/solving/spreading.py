"""Open networks with propagated variability of arrivals."""

from dataclasses import replace

import numpy as np

from headway.errors import GraphError
from headway.models.language.formula import of_number
from headway.models.solving.solutions.marks import QNA
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import Amounts, Values
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.variability import SPREAD, check_spread
from headway.queueing.variability.network import approximation

_POISSON = of_number(1.0)


def propagating(model: Model) -> Model:
    """The same model, with Poisson arrivals wherever it gives no scv.

    Raises
    ------
    GraphError
        For a program, a closed network, and stations that do not support propagation.
    """
    graph = model.graph
    if not graph.stations:
        msg = f"{model.name} is a program without stations, so there is no variability to propagate"
        raise GraphError(msg)
    propagated = replace(model, graph=_saying(graph))
    check_spread(propagated.graph)
    check_open(propagated.network)
    return propagated


def _saying(graph: ModelGraph) -> ModelGraph:
    """The same graph, in which the arrivals of every place or class say how they vary."""
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
    """Notes on approximation: only networks of M/M/m queues, and M/G/1 alone, are exact."""
    if SPREAD.of(values).exact:
        return ""
    busy = (values[f"{name}.utilisation"] for name in graph.stations)
    most = max(each if type(each) is float else float(np.max(each, initial=0)) for each in busy)
    own = [n for n, station in graph.stations.items() if "arrival_scv" in station.fields]
    notes = [approximation(most)]
    notes += [f"flows replace the arrival_scv of {', '.join(own)}"] if own else []
    return "; ".join(notes)
