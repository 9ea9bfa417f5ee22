"""Open classes with one service time that share a station with limited room: equal losses."""

from dataclasses import replace

import numpy as np

from headway.errors import GraphError
from headway.kinds import plain
from headway.models.language.formula import formula
from headway.models.solving.classes.network import time_of
from headway.models.structure.graph import ModelGraph
from headway.models.structure.model import Model
from headway.models.structure.one_class import alone
from headway.models.structure.parts.keys import Amounts, Values, of_class, station_at, time_by


def as_one(model: Model) -> Model | None:
    """Merge the classes at a lone station that loses jobs.

    If all have the same exponential service time, they form one Poisson stream, in which the
    station cannot distinguish them: each class loses the same share and takes the same time.

    Parameters
    ----------
    model
        A model whose graph has several classes.

    Returns
    -------
    The merged model; None for other models, which are solved or refused class by class.

    Raises
    ------
    GraphError
        For service times that differ by class.
    """
    graph = model.graph
    if not _is_room(graph):
        return None
    (name,) = graph.stations
    keys = [time_by(name, c) for c in graph.stations[name].service_times]
    values = graph.plan.run(model.inputs, [*keys, station_at(name)])
    times = [np.asarray(time_of(graph, name, c, values), float) for c in graph.classes]
    if any(np.any(time != times[0]) for time in times):
        kind = graph.stations[name].kind.__name__
        msg = (
            f"{name}: several classes cannot share a {kind} with different service times; give one "
            "service_time for all, or simulate a station without losses"
        )
        raise GraphError(msg)
    total = formula(" + ".join(f"({c['arrival_rate'].text})" for c in graph.classes.values()))
    first = next(iter(graph.classes))
    return replace(model, graph=alone(replace(graph, classes={first: {"arrival_rate": total}})))


def of_each(model: Model, blocked: Values) -> Amounts:
    """Results of each merged class: its share of the arrivals, with the same times."""
    keys = {name: of_class(name, "arrival_rate") for name in model.graph.classes}
    values = model.graph.plan.run(model.inputs, list(keys.values()))
    (station,) = model.graph.stations
    carried, total = blocked[f"{station}.throughput"], sum(key.of(values) for key in keys.values())
    share = plain(np.where(np.asarray(total) > 0, carried / np.where(total > 0, total, 1.0), 0.0))
    each: Amounts = {of_class(c, "throughput"): key.of(values) * share for c, key in keys.items()}
    return each | {of_class(c, "response_time"): blocked["response_time"] for c in keys}


def _is_room(graph: ModelGraph) -> bool:
    """Whether open classes visit a station with losses once, and no other station."""
    opened = all("arrival_rate" in numbers for numbers in graph.classes.values())
    lone = len(graph.stations) == 1 and all(s.loses for s in graph.stations.values())
    plain = not (graph.routes or graph.arrivals or graph.ways_by_class)
    return opened and lone and plain and not any(s.visits for s in graph.stations.values())
