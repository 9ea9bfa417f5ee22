"""Response times of one class at servers shared by all jobs present."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from headway.errors import GraphError
from headway.models.structure.parts.keys import OWN_VISITS, station_at
from headway.models.structure.planning.ways import shares, visits_given, ways_of
from headway.queueing.sojourn.routed_network import GIVEN, RoutedNetwork
from headway.queueing.sojourn.visited_station import (
    ONCE,
    ClassStation,
    SingleVisitStation,
    VisitedStation,
    exponential_sharing_station,
)
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.stations.shared import is_general
from headway.queueing.times.absorption import merge_returns
from headway.queueing.times.laws import TimeLaw, in_series, independent_visits, merged

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def sharing_law(point: "Solution") -> TimeLaw:
    """Distribution of the response time of an open network with shared stations."""
    graph, values = point.model.network.graph, point.values
    names = tuple(graph.stations)
    visits = np.array([float(OWN_VISITS.of(values)[name]) for name in names])
    if not visits_given(graph):
        return _law_of_routes(point, names)
    laws = tuple(visit_law(point, name) for name in names)
    for name, v in zip(names, visits.tolist(), strict=True):
        if v > 1 and is_general(station_at(name).of(values)):
            msg = f"{name}: {ONCE}"
            raise GraphError(msg)
    each = (
        independent_visits(law, v) for law, v in zip(laws, visits.tolist(), strict=True) if v > 0
    )
    law = in_series(*each)
    random = np.array([graph.stations[name].can.limits for name in names])
    alone = visits[random].sum() <= 1 + _ROUNDING and (visits[random] > 0).sum() <= 1
    return replace(law, notes=merged(() if alone else (GIVEN,), law.notes))


def _law_of_routes(point: "Solution", names: tuple[str, ...]) -> TimeLaw:
    """Merge consecutive visits to a shared queue into one longer visit."""
    graph, values = point.model.network.graph, point.values
    ways, queues = ways_of(graph, values), np.array([_one_queue(point, name) for name in names])
    many, onward, leaving = merge_returns(ways.onward, ways.leaving, queues)
    rates = np.array([_arrivals(point, name) for name in names]) / many
    visited = tuple(_visited(point, *each) for each in zip(names, many.tolist(), strict=True))
    return RoutedNetwork(names, visited, rates, ways.entries, onward, leaving).law()


_ROUNDING = 1e-9  # relative to mean visits of 1


def _one_queue(point: "Solution", name: str) -> bool:
    """Whether all jobs at a station share its exponential servers, in one queue."""
    station = station_at(name).of(point.values)
    merges = station.can.product_form in _MERGED and not is_general(station)
    return merges and shares(point.model.network.graph, name) and _lanes(station) == 1


_MERGED = {ServiceKind.QUEUE, ServiceKind.PARALLEL}


def _lanes(station: Station) -> int:
    parallel = station.can.product_form is ServiceKind.PARALLEL
    return int(station.plain_count) if parallel else 1


def _visited(point: "Solution", name: str, many: float) -> VisitedStation:
    """The station as seen by a job that makes a random number of consecutive visits."""
    station: Station = station_at(name).of(point.values)
    if not shares(point.model.network.graph, name) or station.mean_service == 0:
        return station
    if is_general(station):
        return SingleVisitStation(
            station.mean_service, partial(station.shared_law, _arrivals(point, name))
        )
    if station.can.product_form not in _MERGED:
        law = partial(station.shared_law, _arrivals(point, name))
        return ClassStation(station.mean_service, law, lambda _: None)
    rate, time, lanes = _arrivals(point, name), station.mean_service * many, _lanes(station)
    servers = int(station.plain_count) // lanes
    return exponential_sharing_station(
        np.array([rate / many]), np.array([time]), time, servers, lanes
    )


def _arrivals(point: "Solution", name: str) -> float:
    return float(point.values[f"{name}.arrival_rate"])


def visit_law(point: "Solution", name: str) -> TimeLaw:
    """The law of a visit to a station of an open network, at one operating point.

    Parameters
    ----------
    point
        A solution below saturation.
    name
        The name of the station, whose servers may be shared by all jobs present.

    Raises
    ------
    GraphError
        For a station without a known law.
    """
    return _visited(point, name, 1.0).time_law(_arrivals(point, name))
