"""Distributions of response times in closed networks."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headway.models.structure.parts.keys import VISITS, station_at
from headway.models.structure.parts.orders import check_exponential
from headway.models.structure.planning.ways import shares, visits_given, ways_of
from headway.queueing.passages.laws import given_visits_law, passage_law
from headway.queueing.passages.passage import Passage, passage_station
from headway.queueing.times.laws import TimeLaw

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def closed_law(point: "Solution") -> TimeLaw:
    """Distribution of the response time of a closed network of one class, at one operating point.

    Raises
    ------
    GraphError
        For a station whose order of service is unknown.
    """
    graph, values = point.model.network.graph, point.values
    check_exponential(graph)
    names, jobs = tuple(graph.stations), round(float(values["population"]))
    served = (passage_station(name, station_at(name).of(values), jobs) for name in names)
    stations = tuple(replace(station, shares=shares(graph, station.name)) for station in served)
    numbers = float(values["think_time"]), float(values["throughput"])
    stays = np.array([float(values[f"{name}.response_time"]) for name in names])
    visits = np.array([float(VISITS.of(values)[name]) for name in names])
    if visits_given(graph):
        ends = np.ones(len(names)), np.zeros((len(names),) * 2), np.ones(len(names))
        return given_visits_law(Passage(stations, *ends, jobs, *numbers, stays, visits))
    ways = ways_of(graph, values)
    return passage_law(
        Passage(stations, ways.entries, ways.onward, ways.leaving, jobs, *numbers, stays)
    )
