"""Open, closed and mixed networks of several classes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray, plain
from headway.queueing.abilities import ServiceKind
from headway.queueing.centres import Method
from headway.queueing.classes import (
    ClassNetwork,
    CustomerClass,
    ServiceCentre,
    read_network,
)
from headway.queueing.erlang import erlang_c
from headway.queueing.multiclass_methods import Lengths, solve_closed_classes


@dataclass(frozen=True)
class MulticlassSolution:
    """What a network of several classes does at each operating point.

    Parameters
    ----------
    method
        How its closed classes were solved; ``exact`` if there are none.
    throughput, response_time
        Of each class: X_c [1/s] and R_c, think time left out [s], shape (classes, ...).
    utilisation, queue_length, residence_time, station_response_time, station_throughput
        Of each station and class: U, Q, V R per job [s], R per visit [s], V X [1/s], shape
        (stations, classes, ...). A station's own utilisation is the sum over its classes.
    approximation
        Says what is not exact; empty for an exact solution.
    """

    method: Method
    throughput: FloatArray
    response_time: FloatArray
    utilisation: FloatArray
    queue_length: FloatArray
    residence_time: FloatArray
    station_response_time: FloatArray
    station_throughput: FloatArray
    approximation: str = ""


def solve_multiclass(
    centres: Sequence[ServiceCentre],
    classes: Sequence[CustomerClass],
    method: Method = Method.AUTO,
) -> MulticlassSolution:
    """Solve a network of several classes, each of them open or closed.

    Open classes take their share of every server first; closed ones circulate in what is
    left: exact for product-form networks (BCMP), single servers and pools alike.

    Parameters
    ----------
    centres
        Stations with service times and visits by class.
    classes
        Classes, in the same order.
    method
        ``exact`` walks the lattice of populations; ``schweitzer`` and ``linearizer`` do not
        depend on its size; ``auto`` is exact unless that needs more than 1 GB.

    Returns
    -------
    MulticlassSolution over the broadcast shape of all arrays.

    Raises
    ------
    Saturated
        For open classes that some station cannot serve, with its name and limit.
    GraphError, InvalidParameter
        For what is no network, or a lattice too large for ``exact``.

    Examples
    --------
    >>> cpu = ServiceCentre("cpu", service_times=(0.1, 0.2), visits=(1, 1))
    >>> web = CustomerClass("web", arrival_rate=5.0)
    >>> batch = CustomerClass("batch", population=1)
    >>> solution = solve_multiclass([cpu], [web, batch])
    >>> solution.throughput.round(12).tolist(), solution.utilisation[0].round(12).tolist()
    ([5.0, 2.5], [0.5, 0.5])

    References
    ----------
    Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975; Lazowska et al., *Quantitative
    System Performance*, 1984, chapter 7.
    """
    network = read_network(centres, classes)
    load = _open_load(network)
    rate, queue = network.rates.copy(), np.zeros(network.demand.shape)
    closed = ~network.is_open
    used, note, growth = Method.EXACT, "", _alone(network, load)
    if closed.any():
        result = solve_closed_classes(network, load, Method(method))
        used, note = result.method, result.approximation
        rate[closed], queue[closed] = result.throughput, result.queue_length
        growth = _beside(network, result, growth)
    opened = network.is_open
    held = network.rates[:, None] * network.demand
    queue[opened] = (held * growth)[opened]
    return _solution(network, used, note, rate, queue)


def _open_load(network: ClassNetwork) -> FloatArray:
    """Servers that open classes hold at each station, shape (stations, points)."""
    held = network.rates[:, None] * network.demand
    load = held.sum(axis=0)
    busy = np.where(network.is_delay[:, None], 0.0, load / network.servers)
    if (busy >= 1).any():
        k, point = np.unravel_index(int(busy.argmax()), busy.shape)
        _refuse(network, int(k), int(point), float(busy[k, point]), held[:, k, point])
    return np.asarray(load)


def _refuse(network: ClassNetwork, k: int, point: int, busy: float, held: FloatArray) -> None:
    """Name the station, the class that loads it most, and the rate at which it saturates."""
    c = int(held.argmax())
    others = held.sum() - held[c]
    limit = max(network.servers[k, 0] - others, 0) / network.demand[c, k, point]
    msg = (
        f"{network.centres[k].name}: utilisation {busy:.3g} by open classes, "
        f"{network.classes[c].name} at {network.rates[c, point]:.6g} /s; "
        f"it saturates at {limit:.6g} /s"
    )
    raise Saturated(msg)


def _alone(network: ClassNetwork, load: FloatArray) -> FloatArray:
    """Mean number of open jobs for each server they hold, without closed classes."""
    growth = np.ones(load.shape)
    for k, centre in enumerate(network.centres):
        if network.is_pool[k]:
            waits = erlang_c(centre.servers, load[k])
            growth[k] = 1 + waits / (centre.servers - load[k])
        elif centre.kind is not ServiceKind.DELAY:
            growth[k] = 1 / (1 - load[k] / centre.servers)
    return growth


def _beside(network: ClassNetwork, result: Lengths, alone: FloatArray) -> FloatArray:
    """Mean number of open jobs for each server they hold, beside closed classes."""
    closed = result.queue_length.sum(axis=0)
    shared = alone.copy()
    for k, centre in enumerate(network.centres):
        if centre.kind is not ServiceKind.DELAY and not network.is_pool[k]:
            shared[k] = alone[k] * (1 + closed[k] / centre.servers)
    if result.open_growth is not None:
        visited = network.is_pool[:, None] & (closed > 0)
        shared = np.where(visited, result.open_growth, shared)
    return shared


def _solution(
    network: ClassNetwork, method: Method, note: str, rate: FloatArray, queue: FloatArray
) -> MulticlassSolution:
    """Everything else from throughputs and queue lengths, by the operational laws."""
    through = network.visits * rate[:, None]
    some = through > 0
    per_visit = np.where(some, queue / np.where(some, through, 1.0), network.service_times)
    busy = through * network.service_times / network.servers
    busy = np.where(network.is_delay[:, None], 0.0, busy)
    present = network.is_open[:, None] | (network.population > 0)
    residence = network.visits * per_visit * present[:, None]

    def shaped(values: FloatArray) -> Any:
        return plain(values.reshape((*values.shape[:-1], *network.shape)))

    return MulticlassSolution(
        method=method,
        throughput=shaped(rate),
        response_time=shaped(residence.sum(axis=1)),
        utilisation=shaped(busy.swapaxes(0, 1)),
        queue_length=shaped(queue.swapaxes(0, 1)),
        residence_time=shaped(residence.swapaxes(0, 1)),
        station_response_time=shaped(per_visit.swapaxes(0, 1)),
        station_throughput=shaped(through.swapaxes(0, 1)),
        approximation=note,
    )
