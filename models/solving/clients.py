"""Networks whose clients give up and retry."""

from dataclasses import replace

import numpy as np

from headway.errors import GraphError
from headway.kinds import plain
from headway.models.solving.solutions.marks import Marks
from headway.models.structure.model import Model
from headway.models.structure.parts.keys import (
    ANSWERED,
    VISITS,
    Amounts,
    clients_at,
    oldest_at,
    station_at,
)
from headway.models.structure.planning.batches import check_batches
from headway.queueing.closed.demands import common_shape
from headway.queueing.flows.clients import Clients
from headway.queueing.methods.solve import solved
from headway.queueing.network.arrays import rows
from headway.queueing.network.network import JobClass, Network, shared_by_one
from headway.queueing.stations.base import Station


def client_values(model: Model, method: str, shape: tuple[int, ...]) -> tuple[Amounts, Marks]:
    """Solve a network whose clients give up.

    Parameters
    ----------
    model
        A model with one open class.
    method
        The name of a method, or ``auto``.
    shape
        Shape of the operating points.

    Raises
    ------
    GraphError
        Where no method applies, with the reason.
    """
    network = network_with_clients(model)
    row, result = solved(network, method)
    values: Amounts = {
        **with_patience(model).solve().values,
        "throughput": plain(result.throughput[0]),
        ANSWERED: plain(result.throughput[0]),
        "response_time": plain(result.response_time[0]),
        **{name: plain(np.reshape(each, shape)) for name, each in (result.clients or {}).items()},
    }
    for k, name in enumerate(model.graph.stations):
        values |= {
            f"{name}.utilisation": plain(result.utilisation[k, 0]),
            f"{name}.queue_length": plain(result.queue_length[k, 0]),
            f"{name}.residence_time": plain(result.residence_time[k, 0]),
            f"{name}.response_time": plain(result.station_response_time[k, 0]),
            f"{name}.throughput": plain(result.station_throughput[k, 0]),
        }
    if network.kinds[0].can.loses:
        values[f"{network.stations[0].name}.loss_probability"] = values["loss_probability"]
    error = row.error_of(network)
    notes = filter(None, ("" if error.exact else str(error), result.approximation))
    return values, Marks(
        row.name,
        "; ".join(notes),
        result.saturated,
        result.overload,
        unsolved=result.unsolved,
        is_quick=row.quick,
    )


def network_with_clients(model: Model) -> Network:
    """The network of one open class, with its clients.

    Parameters
    ----------
    model
        A model whose clients give up.

    Raises
    ------
    GraphError
        Where headway knows no law of such clients.
    """
    model = model.network
    graph = model.graph
    check_batches(graph)
    unlike = (graph.classes, graph.spreads, graph.arrival_batches, graph.outputs)
    turns = all(one.discipline.in_turn for one in graph.stations.values())
    if any(unlike) or model.is_closed or not turns:
        msg = (
            f"{model.name}: where clients give up, headway has formulas for one open class, "
            "Poisson, in order of arrival, without outputs by formulas; simulate"
        )
        raise GraphError(msg)
    needed = [*map(clients_at, graph.clients)]
    aged = [oldest_at(name) for name, one in graph.stations.items() if one.oldest]
    values = graph.plan.run(model.inputs, [*needed, *aged, "throughput"])
    network = open_network(with_patience(model))
    return replace(
        network,
        rates=rows([values["throughput"]], network.shape),
        clients=needed[0].of(values) if needed else Clients(),
        oldest=aged[0].of(values) if aged else None,
    )


def with_patience(model: Model) -> Model:
    """The network with clients that never give up."""
    graph = model.graph
    stations = {name: replace(one, oldest=None) for name, one in graph.stations.items()}
    return replace(model, graph=replace(graph, clients={}, stations=stations))


def open_network(model: Model) -> Network:
    """The network of one open class: its stations, at the rates that arrive at them."""
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
