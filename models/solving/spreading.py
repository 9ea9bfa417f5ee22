"""Open networks through which the variability of arrivals is propagated: what is said of them."""

from dataclasses import replace

import numpy as np

from headway.errors import GraphError
from headway.models.language.formula import of_number
from headway.models.solving.solutions.marks import QNA
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import Found, Values
from headway.models.structure.parts.structure import Structure
from headway.models.structure.planning.variability import SPREAD, check_spread
from headway.queueing.variability.network import approximation

_POISSON = of_number(1.0)


def propagating(model: Model) -> Model:
    """The same model with arrivals that are Poisson where it does not say how they vary.

    Raises
    ------
    GraphError
        For a program, a closed network, and what variability cannot be propagated through.
    """
    graph = model.graph
    if not graph.stations:
        msg = f"{model.name} is a program without stations, through which nothing is propagated"
        raise GraphError(msg)
    found = replace(model, graph=_saying(graph))
    check_spread(found.graph)
    check_open(found.network)
    return found


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
    """Refuse a closed network that says how arrivals from outside vary.

    Raises
    ------
    GraphError
        Naming the remedy.
    """
    if network.is_closed and network.graph.arrival_scvs:
        msg = (
            f"{network.name}: variability is propagated from arrivals, and in a closed network "
            "nobody arrives; leave out the population, or the scv of arrivals and method qna"
        )
        raise GraphError(msg)


def check_way(graph: Structure, method: str) -> None:
    """Refuse methods of closed networks where arrivals have an scv.

    Raises
    ------
    GraphError
        Naming the remedy.
    """
    if graph.spreads and method not in ("auto", QNA):
        msg = (
            f"{graph.name}: arrivals have an scv, for which there is no method {method}; "
            "leave the method open"
        )
        raise GraphError(msg)


def with_spread(graph: Structure, values: Values) -> Found:
    """Add how what comes to each station and what leaves it varies."""
    found = SPREAD.of(values)
    scvs = {f"{name}.arrival_scv": found.coming[name] for name in graph.stations}
    return {**values, **scvs, **{f"{n}.departure_scv": found.leaving[n] for n in graph.stations}}


def doubts_of_spread(graph: Structure, values: Values) -> str:
    """What is not exact: all but networks of M/M/m queues, and M/G/1 alone."""
    if SPREAD.of(values).exact:
        return ""
    busy = np.stack(np.broadcast_arrays(*(values[f"{n}.utilisation"] for n in graph.stations)))
    own = [n for n, station in graph.stations.items() if "arrival_scv" in station.fields]
    notes = [approximation(float(busy.max(initial=0.0)))]
    notes += [f"the arrival_scv of {', '.join(own)} gives way to what comes"] if own else []
    return "; ".join(notes)
