"""The results of a method for a network."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.records import dataclass

if TYPE_CHECKING:
    from headway.queueing.network.network import Network


@dataclass(frozen=True)
class Result:
    """Results for a network by class and station, at each operating point.

    Parameters
    ----------
    method
        The method for its closed classes; ``exact`` if there are none.
    throughput, response_time
        For each class: X_c [1/s] and R_c without think time [s], shape (classes, ...).
    utilisation, queue_length, residence_time, station_response_time, station_throughput
        For each station and class: U, Q, V R per job [s], R per visit [s], V X [1/s], shape
        (stations, classes, ...). A station's own utilisation is the sum over its classes. For a
        class without jobs the times are those of its service alone, R = sum of V S.
    saturated
        Whether open classes saturate each point, shape of the points.
    overload
        What is wrong at the first of these, in one line; empty if there are none.
    approximation
        What is not exact, in words; empty for an exact solution.
    unsolved
        Why the first of the unknown points (NaN) is not solved, in one line; empty if all are
        solved.
    blocking
        Further results of a network with blocking, at one operating point.
    clients
        Further results if clients give up, by output, shape of the points.
    offered
        Offered work of open classes over the capacity of each station, shape (stations, ...), if
        computed.
    """

    method: str
    throughput: FloatArray
    response_time: FloatArray
    utilisation: FloatArray
    queue_length: FloatArray
    residence_time: FloatArray
    station_response_time: FloatArray
    station_throughput: FloatArray
    saturated: NDArray[np.bool_]
    overload: str = ""
    approximation: str = ""
    unsolved: str = ""
    offered: FloatArray | None = None
    blocking: Any = None
    clients: Mapping[str, FloatArray] | None = None


BY_CLASS = ("throughput", "response_time")
"""Fields of a result by class; see `Result`."""

BY_STATION = (
    "utilisation",
    "queue_length",
    "residence_time",
    "station_response_time",
    "station_throughput",
)
"""Fields of a result by station and class."""


def one_class_result(
    shape: tuple[int, ...],
    method: str,
    approximation: str,
    system: tuple[FloatArray, FloatArray],
    stations: tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray],
) -> Result:
    """The results of one class, in the form of a network with C = 1.

    Parameters
    ----------
    shape
        Shape of the operating points.
    method, approximation
        The method, and what is not exact about it.
    system
        Throughput [1/s] and response time [s], shape (points,).
    stations
        In the order of `BY_STATION`, each of shape (stations, points).
    """
    rate, time = (each.reshape((1, *shape)) for each in system)
    used, queue, residence, stay, through = (
        each.reshape((len(each), 1, *shape)) for each in stations
    )
    none = np.zeros(shape, bool)
    answers = (rate, time, used, queue, residence, stay, through, none)
    return Result(method, *answers, approximation=approximation)


def by_operational_laws(
    network: "Network",
    method: str,
    rate: FloatArray,
    queue: FloatArray,
    approximation: str = "",
) -> Result:
    """All results that follow from throughputs and queue lengths.

    A station serves X V jobs per second, U = X V S / m, a visit takes R = Q / (X V) (Little), and a
    job spends V R there.

    Parameters
    ----------
    network
        The network that was solved.
    method, approximation
        The method, and what is not exact about it.
    rate
        Throughputs X, shape (classes, points) [1/s].
    queue
        Queue lengths Q, shape (classes, stations, points).

    Examples
    --------
    >>> from headway.queueing import JobClass, SharedStation
    >>> from headway.queueing.network.network import read_network
    >>> network = read_network([SharedStation("cpu", (0.5,), (2,))], [JobClass("a", population=1)])
    >>> alone = by_operational_laws(network, "by hand", np.ones((1, 1)), np.ones((1, 1, 1)))
    >>> alone.response_time.tolist(), alone.utilisation.ravel().tolist()
    ([1.0], [1.0])
    """
    through = network.visits * rate[:, None]
    some = through > 0
    stay = np.where(some, queue / np.where(some, through, 1.0), network.service_times)
    residence = np.where(network.visits > 0, network.visits * stay, 0.0)
    work = through * network.service_times
    used = np.where(network.is_delay[:, None], 0.0, work / network.full)

    def shaped(values: FloatArray) -> FloatArray:
        values = values.swapaxes(0, 1) if values.ndim > 2 else values  # stations first
        return values.reshape((*values.shape[:-1], *network.shape))

    return Result(
        method,
        shaped(rate),
        shaped(residence.sum(axis=1)),
        shaped(used),
        shaped(queue),
        shaped(residence),
        shaped(stay),
        shaped(through),
        np.zeros(network.shape, bool),
        approximation=approximation,
    )
