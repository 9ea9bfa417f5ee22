"""The routes of jobs through a graph, in numbers."""

from collections.abc import Mapping

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.models.structure.parts.keys import arrivals_at
from headway.models.structure.parts.routes import share_at
from headway.models.structure.parts.structure import Structure
from headway.records import dataclass

_ROUNDING = 1e-12  # rounding error of probabilities that sum to 1


@dataclass(frozen=True)
class RouteProbabilities:
    """Probabilities of entering at stations, of going between them, and of leaving."""

    entries: FloatArray
    onward: FloatArray
    leaving: FloatArray


def visits_given(graph: Structure) -> bool:
    """Whether the graph gives visits as numbers, so that its routes are unknown."""
    return any(station.visits for station in graph.stations.values())


def shares(graph: Structure, name: str) -> bool:
    """Whether the jobs at a station share its servers; otherwise they wait in order of arrival."""
    station = graph.stations[name]
    return station.can.limits and station.discipline.shares


def again_at(graph: Structure, name: str, values: Mapping[str, Amount]) -> Amount:
    """Probability that a job of any class returns directly to a station."""
    route = graph.routes.between(name, name)
    if route is None:
        return 0.0
    constant = route.probability.constant
    return share_at(route).of(values) if constant is None else constant


def ways_of(graph: Structure, values: Mapping[str, Amount]) -> RouteProbabilities:
    """Entries and routes at one operating point.

    Parameters
    ----------
    graph
        A graph without visits.
    values
        Its calculated numbers.
    """
    place = {name: k for k, name in enumerate(graph.stations)}
    onward, entries = graph.routes.fixed(tuple(place)).copy(), np.zeros(len(place))
    for route in graph.routes.changing:
        onward[place[route.source], place[route.target]] = float(share_at(route).of(values))
    for name in graph.arrivals or tuple(place)[:1]:
        entries[place[name]] = values.get(arrivals_at(name), 1.0)
    if not entries.any():
        entries[[place[name] for name in graph.arrivals]] = 1.0
    leaving = 1 - onward.sum(axis=1)
    return RouteProbabilities(
        entries / entries.sum(), onward, np.where(leaving < _ROUNDING, 0.0, leaving)
    )
