"""Closed networks with forks."""

from collections.abc import Sequence

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, plain
from headway.models.structure.parts.forks import forks
from headway.models.structure.parts.structure import Structure
from headway.queueing.closed.solve import ClosedSolution
from headway.queueing.forks.closed import APPROXIMATION, SOME, solve_forked
from headway.queueing.forks.parts import some_needed
from headway.queueing.network.arrays import check_population, rows
from headway.queueing.network.names import Method
from headway.queueing.stations.base import Station
from headway.queueing.stations.rows import in_a_row


def some_fork(graph: Structure) -> bool:
    """Whether a job can be in several queues of a station at once."""
    return any(station.can.forks for station in graph.stations.values())


def forked_solution(
    graph: Structure,
    stations: Sequence[Station],
    visits: tuple[Sequence[Amount], Sequence[Amount]],
    population: Amount,
    think_time: Amount,
    method: Method,
) -> ClosedSolution:
    """Solve a closed network with forks.

    Parameters
    ----------
    graph, stations
        Its structure, and its stations in their order.
    visits
        Mean visits including those of parts, and those of the job itself.
    population, think_time, method
        As for `headway.queueing.solve_closed`; only method ``auto``.

    Raises
    ------
    GraphError
        For another method, and for stations that are not supported beside a fork.
    """
    if method is not Method.AUTO:
        msg = (
            f"{graph.name}: a closed network with a fork has its own approximation; do not set "
            f"method {method.value}"
        )
        raise GraphError(msg)
    check_population(population)
    shape = _shape(stations, [*visits[0], population, think_time])
    every, own = (rows(each, shape) for each in visits)
    (jobs,), (think,) = rows([population], shape), rows([think_time], shape)
    laid = [_laid(station, shape) for station in stations]
    names = tuple(graph.stations)
    times = np.array([np.broadcast_to(np.asarray(s.service_time, float), jobs.shape) for s in laid])
    if not (think + (own * times).sum(axis=0)).all():
        raise GraphError(
            "no station has a demand and there is no think time, so jobs would circulate for ever; "
            "give a service time"
        )
    solution = solve_forked(
        dict(zip(names, laid, strict=True)),
        forks(graph.stations),
        dict(zip(names, every, strict=True)),
        dict(zip(names, own, strict=True)),
        jobs,
        think,
    )
    residence = np.where(jobs > 0, own * solution.response, 0.0)
    through = every * solution.throughput
    speeds = rows([station.speedup for station in stations], shape)
    answers = {
        "throughput": solution.throughput,
        "response_time": residence.sum(axis=0),
        "utilisation": through * times / speeds,
        "station_response_time": solution.response,
        "residence_time": residence,
        "queue_length": through * solution.response,
        "station_throughput": through,
    }
    shaped = {k: plain(v.reshape((*v.shape[:-1], *shape))) for k, v in answers.items()}
    label = SOME if any(some_needed(station) for station in laid) else APPROXIMATION
    return ClosedSolution(method=method, approximation=label, **shaped)


def _shape(stations: Sequence[Station], numbers: Sequence[Amount]) -> tuple[int, ...]:
    """Of the operating points."""
    return np.broadcast_shapes(*map(np.shape, numbers), *(np.shape(v) for v in _numbers(stations)))


def _numbers(stations: Sequence[Station]) -> list[Amount]:
    """Every number of the stations; a fork's branches have their own."""
    values = (value for station in stations for value in vars(station).values())
    return [value for value in values if not isinstance(value, tuple | str)]


def _laid(station: Station, shape: tuple[int, ...]) -> Station:
    """A station whose arrays are rows of operating points."""

    def row(value: Amount) -> FloatArray:
        return np.broadcast_to(np.asarray(value, float), shape).reshape(-1)

    return in_a_row(station, row)
