"""The network of a model: what every method reads, at the operating points that the model has."""

import numpy as np

from headway.errors import GraphError
from headway.models.solving.classes.network import class_network
from headway.models.solving.classes.rooms import as_one
from headway.models.solving.classes.ways import class_ways
from headway.models.solving.closed.circulation import Circulation
from headway.models.solving.solutions.blocked import point_of, points_of
from headway.models.structure.inputs import points_shape
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import VISITS, station_at
from headway.models.structure.planning.by_class import class_routes
from headway.queueing.blocking.methods import network_that_blocks
from headway.queueing.chains.class_traffic import class_traffic
from headway.queueing.chains.whole_chain import network_by_class
from headway.queueing.closed.demands import common_shape
from headway.queueing.network.arrays import rows
from headway.queueing.network.network import JobClass, Network, read_network, shared_by_one
from headway.queueing.stations.base import Station


def lower(model: Model) -> Network:
    """The network of a model.

    Parameters
    ----------
    model
        Any but a program. One that blocks is taken at its first operating point, and of one whose
        numbers depend on the throughput those at the throughput that results.

    Raises
    ------
    GraphError
        For a program.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> network = lower(catalogue_model("server-single").at(arrival_rate=10))
    >>> network.has_open, network.demand.shape
    (True, (1, 1, 1))
    """
    if not model.graph.stations:
        msg = f"{model.name} is a program without stations, so no method solves it: it is evaluated"
        raise GraphError(msg)
    if model.network.graph.blocks:
        point = point_of(
            model.network.graph, points_of(model.inputs, points_shape(model.inputs))[0]
        )
        return network_that_blocks(point.network, point.stations)
    if model.network.graph.classes:
        one = as_one(model)
        return _of_classes(model) if one is None else lower(one)
    return _closed(model.network) if model.network.is_closed else _open(model.network)


def _of_classes(model: Model) -> Network:
    values, stations, classes = class_network(model)
    if model.graph.ways_by_class:
        routes = class_routes(model.graph, values)
        return network_by_class(class_traffic(stations, classes, routes), routes)
    return read_network(stations, classes, class_ways(model.graph, values))


def _closed(model: Model) -> Network:
    rate = model.solve()["throughput"]
    return Circulation(model.graph, model.inputs, "auto").network(rate)


def _open(model: Model) -> Network:
    """One open class: the stations at the rates that come to them."""
    solution = model.solve()
    names = tuple(model.graph.stations)
    stations: list[Station] = [station_at(name).of(solution.values) for name in names]
    visits = [VISITS.of(solution.values)[name] for name in names]
    rate = solution["throughput"]
    shape = common_shape(stations, [*visits, rate])
    rates = rows([rate], shape)
    none = np.zeros(rates.shape)
    return Network(
        tuple(shared_by_one(*each) for each in zip(names, stations, strict=True)),
        (JobClass("", arrival_rate=rate),),
        rows([station.service_time for station in stations], shape)[None],
        rows(visits, shape)[None],
        rows([station.count for station in stations], shape),
        rates,
        none,
        none,
        shape,
        kinds=tuple(stations),
    )
