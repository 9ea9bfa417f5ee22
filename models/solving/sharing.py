"""Response times of one class of jobs where servers are shared among all who are there."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from headway.models.structure.parts.keys import VISITS, station_at
from headway.models.structure.planning.ways import shares, visits_given, ways_of
from headway.queueing.percentiles import of_visits
from headway.queueing.routed import GIVEN, INDEPENDENT
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.times.journeys import Journey
from headway.queueing.times.laws import TimeLaw, in_series, merged
from headway.queueing.times.shared import shared_law

if TYPE_CHECKING:
    from headway.models.solving.solutions.solution import Solution


def sharing_law(point: "Solution") -> TimeLaw:
    """Law of the response time of an open network some of whose stations are shared."""
    graph, values = point.model.network.graph, point.values
    names = tuple(graph.stations)
    laws = tuple(_visit_law(point, name) for name in names)
    visits = np.array([float(VISITS.of(values)[name]) for name in names])
    if visits_given(graph):
        each = (of_visits(law, v) for law, v in zip(laws, visits.tolist(), strict=True) if v > 0)
        law, told = in_series(*each), GIVEN
    else:
        ways = ways_of(graph, values)
        law, told = Journey(laws, ways.entries, ways.onward, ways.leaving).law(), INDEPENDENT
    random = np.array([graph.stations[name].can.limits for name in names])
    alone = visits[random].sum() <= 1 and (visits[random] > 0).sum() <= 1
    return replace(law, notes=merged(() if alone else (told,), law.notes))


def _visit_law(point: "Solution", name: str) -> TimeLaw:
    graph, values = point.model.network.graph, point.values
    station: Station = station_at(name).of(values)
    rate = float(values[f"{name}.arrival_rate"])
    if not shares(graph, name) or station.mean_service == 0:
        return station.time_law(rate)
    servers, time = int(station.plain_count), station.mean_service
    lanes = servers if station.can.product_form is ServiceKind.PARALLEL else 1
    return shared_law(rate / lanes, time, time, servers // lanes)
