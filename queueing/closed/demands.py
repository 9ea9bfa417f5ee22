"""What a closed network needs of its stations, as arrays over operating points."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import Amount, FloatArray, check_not_negative, is_symbolic
from headway.queueing.methods.memory import check_memory
from headway.queueing.network.arrays import rows, shape_over
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station


class ClosedStation(NamedTuple):
    """A station in a closed network: its demand, and how it serves.

    Parameters
    ----------
    kind
        Whether it is a delay, a queue, or of varying speed; separate queues count as a queue.
    demand
        Service that a job needs there, D = V S [s], shape (points,).
    queues
        Number of separate queues among which jobs choose at random, infinite for a delay, shape
        (points,).
    speeds
        For varying speed: the speed with 1, 2... jobs over that with one, shape (numbers, points)
        or (numbers, 1); then the last holds.
    servers
        For a pool: the number of its servers, shape (points,).
    crew
        For rates of its own: the servers m of which min(n, m) work with n jobs present, shape
        (points,) or (1,).
    """

    kind: ServiceKind
    demand: FloatArray
    queues: FloatArray
    speeds: FloatArray
    servers: FloatArray | None = None
    crew: FloatArray | None = None


def common_shape(stations: Sequence[Station], others: Sequence[Amount]) -> tuple[int, ...]:
    """Shape of the operating points over which stations and other values are given.

    Examples
    --------
    >>> from headway.queueing.stations.base import MM1
    >>> common_shape([MM1(np.ones(3))], [np.ones((2, 1)), 0.5])
    (2, 3)
    """
    values = [*others]
    for station in stations:
        values += (station.service_time, station.count, *getattr(station, "rates", ()))
    return shape_over(values)


def closed_stations(
    stations: Sequence[Station],
    demand: FloatArray,
    servers: FloatArray,
    shape: tuple[int, ...],
    population: FloatArray,
) -> list[ClosedStation]:
    """The stations in the form that closed product-form networks take.

    Parameters
    ----------
    stations
        Stations with numbers for fields.
    demand
        Service demands D, shape (stations, points) [s].
    servers
        Servers of each station, of the same shape.
    shape
        Shape of the operating points.
    population
        Jobs N, shape (points,): at most N servers can be busy.

    Examples
    --------
    >>> from headway.queueing.stations.base import MM1
    >>> one = np.ones((1, 1))
    >>> closed_stations([MM1(0.5)], 2 * one, one, (), np.array([3.0]))[0].kind.value
    'queue'
    """
    used: list[bool] = np.any(demand, axis=1).tolist()
    pooled: list[bool] = np.any(servers > 1, axis=1).tolist()
    return [
        _station(station, demand[k], servers[k], shape, population, is_pool=pooled[k])
        if used[k]
        else ClosedStation(ServiceKind.QUEUE, demand[k], np.ones(demand[k].shape), _STEADY)
        for k, station in enumerate(stations)  # no job spends time at a station without visits
    ]


def _station(
    station: Station,
    demand: FloatArray,
    count: FloatArray,
    shape: tuple[int, ...],
    population: FloatArray,
    *,
    is_pool: bool,
) -> ClosedStation:
    kind = station.can.product_form
    if kind is ServiceKind.VARYING:
        most = float(population.max(initial=1))
        rates = rows(list(station.rates_to(most)), shape)  # type: ignore[attr-defined]
        (crew,) = rows([station.crew], shape)  # type: ignore[attr-defined]
        return ClosedStation(kind, demand, count, rates / rates[0], crew=crew)
    if kind is ServiceKind.QUEUE and is_pool:
        return _pool(demand, count, population)
    if kind is ServiceKind.DELAY:
        return ClosedStation(kind, demand, np.full(demand.shape, np.inf), _STEADY)
    return ClosedStation(ServiceKind.QUEUE, demand, count, _STEADY)


def _pool(demand: FloatArray, count: FloatArray, population: FloatArray) -> ClosedStation:
    """A station of m servers at one queue; a delay if no job ever finds all m busy."""
    if (count >= population).all():
        return ClosedStation(ServiceKind.DELAY, demand, np.full(demand.shape, np.inf), _STEADY)
    most = int(min(count.max(), population.max()))
    check_memory([most], 8.0 * most)
    present = np.arange(1, most + 1)[:, None]
    different = count if np.ptp(count) else count[:1]
    speeds = np.minimum(present, different)
    return ClosedStation(ServiceKind.VARYING, demand, np.ones(1), speeds, count)


_STEADY = np.ones((1, 1))


def check_network(
    stations: Sequence[Station], visits: Sequence[Amount], think_time: Amount
) -> None:
    """Refuse everything but a closed network with numbers.

    Parameters
    ----------
    stations, visits
        Stations and the mean visits to each, 0 or more.
    think_time
        Mean think time [s], 0 or more.

    Raises
    ------
    GraphError
        For no station at all, or visits that do not match them.
    InvalidParameter
        For symbols, formulas, or a think time that is negative or infinite.
    """
    if not stations:
        raise GraphError("a closed network needs a station; add one")
    if len(visits) != len(stations):
        msg = f"visits has {len(visits)} entries for {len(stations)} stations; give one for each"
        raise GraphError(msg)
    for value in (*visits, think_time):
        if isinstance(value, str) or is_symbolic(value):
            msg = f"{value} is not a number: a closed network is solved with numbers only"
            raise InvalidParameter(msg)
    check_not_negative("think_time", think_time)
