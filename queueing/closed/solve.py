"""Closed networks of one class: N jobs that circulate and, between requests, think."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, check_not_negative, plain
from headway.queueing.closed.demands import (
    Method,
    check_network,
    check_population,
    closed_stations,
    common_shape,
    rows,
)
from headway.queueing.closed.methods import SOLVERS, choose, note
from headway.queueing.stations.base import Station


@dataclass(frozen=True)
class ClosedSolution:
    """What a closed network does at each operating point.

    Parameters
    ----------
    method
        How it was solved; `approximation` says what is not exact about it.
    throughput, response_time
        Of the system: X [1/s] and R = N / X - Z [s], shape of the operating points.
    utilisation, station_response_time, residence_time, queue_length, station_throughput
        Of each station, first axis as the stations: U, response time per visit [s],
        residence time per job V R [s], Q, and V X [1/s].
    approximation
        Empty for an exact solution.
    """

    method: Method
    throughput: Amount
    response_time: Amount
    utilisation: FloatArray
    station_response_time: FloatArray
    residence_time: FloatArray
    queue_length: FloatArray
    station_throughput: FloatArray
    approximation: str = ""


def solve_closed(
    stations: Sequence[Station],
    visits: Sequence[Amount],
    population: Amount,
    think_time: Amount = 0.0,
    method: Method = Method.AUTO,
) -> ClosedSolution:
    """Solve a closed network of one class.

    Parameters
    ----------
    stations
        Stations with a product form (Delay, MM1, MMm, Parallel, LoadDependent) whose fields
        are numbers or arrays over operating points.
    visits
        Mean visits V of a job to each, 0 or more; numbers or arrays.
    population
        Jobs N, a whole number of 0 or more, or an array of them.
    think_time
        Mean time Z between an answer and the next request [s], 0 or more.
    method
        See `Method`; the solution says which was used.

    Returns
    -------
    ClosedSolution over the broadcast shape of all arrays.

    Raises
    ------
    GraphError
        For no station, a station without product form, or one the method cannot hold.
    InvalidParameter
        For numbers outside their domain, or symbols.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> cpu, disk = MM1(0.005), MM1(0.030)
    >>> solution = solve_closed([cpu, disk], [11, 10], population=1, think_time=0.145)
    >>> round(solution.throughput, 12), solution.method.value
    (2.0, 'exact')

    References
    ----------
    Reiser and Lavenberg, JACM 27(2), 1980; Buzen, CACM 16(9), 1973.
    """
    check_network(stations, visits, think_time)
    check_population(population)
    shape = common_shape(stations, [*visits, population, think_time])
    visited = rows(visits, shape)
    check_not_negative("visits", visited)
    times = rows([station.service_time for station in stations], shape)
    (jobs,), (think,) = rows([population], shape), rows([think_time], shape)
    demand = visited * times
    _check_demand(demand, think)
    network = closed_stations(stations, demand, shape, jobs)
    used = choose(Method(method), network, think, jobs)
    rate, queue = SOLVERS[used](network, think, jobs)
    speeds = rows([station.speedup(population) for station in stations], shape)
    answers = _solution(speeds, visited, times, jobs, rate, queue)
    shaped = {k: plain(v.reshape((*v.shape[:-1], *shape))) for k, v in answers.items()}
    return ClosedSolution(method=used, approximation=note(used, network), **shaped)


def _check_demand(demand: FloatArray, think: FloatArray) -> None:
    if not (think + demand.sum(axis=0)).all():
        raise GraphError("no station has a demand and nobody thinks: jobs would circulate for ever")


def _solution(
    speeds: FloatArray,
    visits: FloatArray,
    times: FloatArray,
    jobs: FloatArray,
    rate: FloatArray,
    queue: FloatArray,
) -> dict[str, FloatArray]:
    """Everything else from throughput and queue lengths, by the operational laws."""
    through = visits * rate
    some = through > 0
    per_visit = np.where(some, queue / np.where(some, through, 1.0), times)
    residence = np.where(jobs > 0, visits * per_visit, 0.0)
    return {
        "throughput": rate,
        "response_time": residence.sum(axis=0),
        "utilisation": through * times / speeds,
        "station_response_time": per_visit,
        "residence_time": residence,
        "queue_length": queue,
        "station_throughput": through,
    }
