"""What a closed network needs to know of its stations, as arrays over operating points."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from headway.errors import GraphError, InvalidParameter
from headway.kinds import FloatArray, check_domain, check_not_negative, is_symbolic
from headway.queueing.dependent import LoadDependent, Parallel
from headway.queueing.stations import MM1, Delay, MMm, Station


class Method(StrEnum):
    """How a closed network is solved.

    ``auto`` takes an exact method; ``exact`` is mean value analysis where every station is a
    delay or single servers, else convolution; the last two are approximations.
    """

    AUTO = "auto"
    EXACT = "exact"
    CONVOLUTION = "convolution"
    SCHWEITZER = "schweitzer"
    LINEARIZER = "linearizer"

    @property
    def approximate(self) -> bool:
        """Whether its results are approximations."""
        return self in {Method.SCHWEITZER, Method.LINEARIZER}


class Kind(StrEnum):
    """How a centre serves: all at once, one at a time, or at a speed by number present."""

    DELAY = "delay"
    QUEUE = "queue"
    VARYING = "varying"


@dataclass(frozen=True)
class Centre:
    """A station of a closed network.

    Parameters
    ----------
    kind
        How it serves.
    demand
        Service a job needs of it, D = V S [s], shape (points,).
    queues
        Separate queues among which jobs choose at random, shape (points,).
    speeds
        Of a varying centre: its speed with 1, 2... jobs over that with one, shape
        (numbers, points); the last holds on.
    """

    kind: Kind
    demand: FloatArray
    queues: FloatArray
    speeds: FloatArray


def spread(values: Any, points: int) -> FloatArray:
    """Lay a number, or a number for each operating point, out as a row of points.

    Parameters
    ----------
    values
        A number, or shape (points,) or (1,).
    points
        Number of operating points.

    Examples
    --------
    >>> spread(2.0, 3).tolist()
    [2.0, 2.0, 2.0]
    """
    row = np.asarray(values, float)
    if row.size == points:
        return row.reshape(points)
    return np.broadcast_to(row, (points,))


def centre(station: Station, visits: Any, points: int) -> Centre:
    """Read a station as a centre of a closed product-form network.

    Parameters
    ----------
    station
        A station with numbers for fields, flat over the operating points.
    visits
        Visits V of a job, a number or shape (points,).
    points
        Number of operating points.

    Raises
    ------
    GraphError
        For a station that no closed product form holds.

    Examples
    --------
    >>> centre(MM1(0.5), 4.0, 1).demand.tolist()
    [2.0]
    """
    read = _READERS.get(type(station))
    if read is None:
        msg = (
            f"{type(station).__name__} has no closed product form; "
            f"use {', '.join(kind.__name__ for kind in _READERS)}"
        )
        raise GraphError(msg)
    time: Any = station.service_time
    return read(station, spread(visits * time, points))


def _delay(station: Any, demand: FloatArray) -> Centre:  # noqa: ARG001 - one of `_READERS`
    return Centre(Kind.DELAY, demand, np.ones(1), np.ones((1, 1)))


def _queue(station: Any, demand: FloatArray) -> Centre:
    queues = spread(station.count, demand.size)
    return Centre(Kind.QUEUE, demand, queues, np.ones((1, 1)))


def _pool(station: Any, demand: FloatArray) -> Centre:
    servers = spread(station.count, demand.size)
    if (servers == 1).all():
        return _queue(station, demand)
    present = np.arange(1, int(servers.max()) + 1)[:, None]
    return Centre(Kind.VARYING, demand, np.ones(1), np.minimum(present, servers))


def _dependent(station: Any, demand: FloatArray) -> Centre:
    rates = [spread(rate, demand.size) for rate in station.rates]
    return Centre(Kind.VARYING, demand, np.ones(1), np.stack(rates) / rates[0])


_READERS: dict[type, Callable[[Any, FloatArray], Centre]] = {
    Delay: _delay,
    MM1: _queue,
    MMm: _pool,
    Parallel: _queue,
    LoadDependent: _dependent,
}


def check_population(population: object) -> None:
    """Refuse a population that is not a whole number of 0 or more.

    Examples
    --------
    >>> check_population(2.5)
    Traceback (most recent call last):
        ...
    headway.errors.InvalidParameter: population is 2.5; it must be a whole number of 0 or more
    """
    check_domain(
        "population",
        population,
        lambda n: (n >= 0) & (n < np.inf) & (n == np.floor(n)),
        "a whole number of 0 or more",
    )


def check_network(stations: Sequence[Station], visits: Sequence[Any], think_time: Any) -> None:
    """Refuse what is not a closed network of numbers.

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
        For symbols, formulas, negative or infinite numbers.
    """
    if not stations:
        raise GraphError("a closed network needs a station; there is none")
    if len(visits) != len(stations):
        msg = f"visits has {len(visits)} entries for {len(stations)} stations; give one for each"
        raise GraphError(msg)
    for value in (*visits, think_time):
        if isinstance(value, str) or is_symbolic(value):
            msg = f"{value} is no number: a closed network is solved in numbers only"
            raise InvalidParameter(msg)
    for value in visits:
        check_not_negative("visits", value)
    check_not_negative("think_time", think_time)
