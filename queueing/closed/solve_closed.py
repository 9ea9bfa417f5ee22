"""Closed networks of one class: N jobs that circulate, and think between requests."""

from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, check_not_negative, plain
from headway.queueing.closed.demands import check_network, common_shape
from headway.queueing.methods.memory import check_memory
from headway.queueing.methods.solve import solve
from headway.queueing.network.arrays import check_population, rows
from headway.queueing.network.names import Method
from headway.queueing.network.network import JobClass, Network, distinct, shared_by_one
from headway.queueing.network.result import BY_CLASS, BY_STATION, Result
from headway.queueing.stations.base import Station
from headway.queueing.stations.quota import Ends, Mixed
from headway.queueing.stations.rows import arrays_in
from headway.records import dataclass

_COPIES = 8  # arrays for each number of a station, while populations below N are solved too


@dataclass(frozen=True)
class Forked:
    """Names of stations, and which of them fork.

    Parameters
    ----------
    names
        Names of the stations in messages.
    visits
        Mean visits of a job to each, without those of its parts; None if nothing forks.
    branches
        Indices of the stations that serve the parts of a fork, by the index of the fork.

    Examples
    --------
    >>> Forked(("cpu", "disk")).branches
    {}
    """

    names: tuple[str, ...]
    visits: tuple[Amount, ...] = ()
    branches: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class ClosedSolution:
    """Results of a closed network at each operating point.

    Parameters
    ----------
    method
        The method; `approximation` says what is not exact about it.
    throughput, response_time
        For the system: X [1/s] and R = N / X - Z [s], shape of the operating points.
    utilisation, station_response_time, residence_time, queue_length, station_throughput
        For each station, along the first axis: U, response time per visit [s], residence time per
        job V R [s], Q, and V X [1/s].
    approximation
        Empty for an exact solution.
    """

    method: str
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
    method: str = Method.AUTO,
) -> ClosedSolution:
    """Solve a closed network of one class.

    Parameters
    ----------
    stations
        Stations with a product form (Delay, MM1, MMm, Parallel, LoadDependent), and at most one
        that is a mixture of two (Quota), whose fields are numbers or arrays over operating points.
    visits
        Mean visits V of a job to each station, 0 or more; numbers or arrays.
    population
        Jobs N, a whole number of 0 or more, or an array of them.
    think_time
        Mean time Z between an answer and the next request [s], 0 or more.
    method
        See `Method`; the solution says which one was used.

    Returns
    -------
    ClosedSolution over the broadcast shape of all arrays.

    Raises
    ------
    GraphError
        For no station, a station without product form, or one that the method cannot solve.
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
    return solve_one_class(stations, visits, population, think_time, method)


def solve_one_class(
    stations: Sequence[Station],
    visits: Sequence[Amount],
    population: Amount,
    think_time: Amount,
    method: str,
    forked: Forked | None = None,
) -> ClosedSolution:
    """Solve as `solve_closed` does, with names and forks.

    Parameters
    ----------
    stations, visits, population, think_time, method
        As for `solve_closed`; visits include those of parts.
    forked
        Names of the stations, and which of them fork.
    """
    check_network(stations, visits, think_time)
    check_population(population)
    abilities = distinct(station.can for station in stations)
    if any(can.mixed for can in abilities) and not any(can.forks for can in abilities):
        return _mixed(stations, visits, population, think_time, method)
    network = closed_network(stations, visits, population, think_time, forked)
    return of_one_class(solve(network, method))


def closed_network(
    stations: Sequence[Station],
    visits: Sequence[Amount],
    population: Amount,
    think_time: Amount,
    forked: Forked | None = None,
) -> Network:
    """The network of one closed class.

    Parameters
    ----------
    stations, visits, population, think_time
        As for `solve_closed`.
    forked
        Names of the stations, and which of them fork; by default no names and no forks.

    Raises
    ------
    GraphError
        For a network in which jobs would circulate in no time.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> closed_network([MM1(0.5)], [2.0], population=3, think_time=1.0).demand.item()
    1.0
    """
    own = Forked(("",) * len(stations)) if forked is None else forked
    more = [number for s in stations if s.can.forks for number in arrays_in(s)]
    shape = common_shape(stations, [*visits, *own.visits, *more, population, think_time])
    visited = rows(visits, shape)
    check_not_negative("visits", visited)
    times = rows([station.service_time for station in stations], shape)
    jobs, think = rows([population], shape), rows([think_time], shape)
    alone = rows(own.visits, shape) if own.visits else visited
    if not (think + (alone * times).sum(axis=0)).all():
        raise GraphError(
            "no station has a demand and there is no think time, so jobs would circulate "
            "for ever; give a service time"
        )
    return Network(
        tuple(shared_by_one(*each) for each in zip(own.names, stations, strict=True)),
        (JobClass("", population=population, think_time=think_time),),
        times[None],
        visited[None],
        rows([station.count for station in stations], shape),
        np.zeros(jobs.shape),
        jobs,
        think,
        shape,
        branches=own.branches,
        own_visits=alone if own.visits else None,
        kinds=tuple(stations),
    )


def of_one_class(result: Result) -> ClosedSolution:
    """The results of a network of one class, without the axis of classes."""
    system = {name: plain(getattr(result, name)[0]) for name in BY_CLASS}
    stations = {name: getattr(result, name)[:, 0] for name in BY_STATION}
    return ClosedSolution(
        method=result.method, approximation=result.approximation, **system, **stations
    )


def _solution(
    speeds: FloatArray,
    visits: FloatArray,
    times: FloatArray,
    jobs: FloatArray,
    rate: FloatArray,
    queue: FloatArray,
) -> dict[str, FloatArray]:
    """All other results from throughput and queue lengths, by the operational laws."""
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


def _mixed(
    stations: Sequence[Station],
    visits: Sequence[Amount],
    population: Amount,
    think_time: Amount,
    method: str,
) -> ClosedSolution:
    """Solve with either end in place of a mixed station, and mix the results.

    While all jobs are at the station nothing else happens; otherwise all is as with the fast end,
    with the station used up to its capacity, mixed with the result of the slow end.
    """
    place, station = _only_mixed(stations)
    numbers = [np.asarray(number, float) for number in vars(station).values()]
    shape = common_shape(stations, [*visits, population, think_time, *numbers])
    jobs, visited = np.broadcast_to(np.asarray(population, float), shape), rows(visits, shape)
    slow, free = ([*stations[:place], end, *stations[place + 1 :]] for end in station.ends())
    below = solve_closed(slow, visits, jobs, think_time, method)
    fewer = _smaller_populations(jobs, len(stations))
    above = solve_closed(free, visits, fewer, think_time, method)
    ends = Ends(
        np.asarray(below.station_throughput[place]),
        np.asarray(above.station_throughput[place][0]),
        np.asarray(above.utilisation[place]).reshape(-1, *shape),
    )
    rate, queue, used = _mixture(place, station, ends, below, above, jobs)
    times = rows([station.service_time for station in stations], shape)
    speeds = rows([station.speedup for station in stations], shape)
    answers = _solution(speeds, visited, times, jobs.reshape(-1), rate.reshape(-1), queue)
    used[place] = answers["utilisation"][place]
    answers["utilisation"] = used
    shaped = {k: plain(v.reshape((*v.shape[:-1], *shape))) for k, v in answers.items()}
    doubt = "; ".join(note for note in (station.mixed_note, below.approximation) if note)
    return ClosedSolution(method=below.method, approximation=doubt, **shaped)


def _only_mixed(stations: Sequence[Station]) -> tuple[int, Mixed]:
    """The index of the only mixed station, and the station; refuse more than one."""
    places = [(k, s) for k, s in enumerate(stations) if isinstance(s, Mixed)]
    if len(places) > 1:
        kinds = " and ".join(type(station).__name__ for _, station in places)
        msg = (
            f"{kinds} in one closed network: headway approximates at most one such "
            "station; replace the others"
        )
        raise GraphError(msg)
    return places[0]


def _smaller_populations(jobs: FloatArray, stations: int) -> FloatArray:
    """Populations N, N - 1... 1 of each operating point, then 0, by the first axis."""
    most = max(int(jobs.max(initial=1)), 1)
    check_memory([most], 8.0 * _COPIES * stations * most * jobs.size)
    down = np.arange(most).reshape(-1, *[1] * jobs.ndim)
    return np.maximum(jobs - down, 0.0)


def _mixture(
    place: int,
    station: Mixed,
    ends: Ends,
    below: ClosedSolution,
    above: ClosedSolution,
    jobs: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Throughput; queue lengths and utilisations of other stations, (stations, points)."""
    goes = np.asarray(ends.free > 0)
    share = np.where(goes, np.minimum(station.capacity / np.where(goes, ends.free, 1.0), 1.0), 1.0)
    weight = station.weight(ends)
    rate = (1 - weight) * below.throughput + weight * share * np.asarray(above.throughput)[0]
    ahead = share * np.asarray(above.queue_length)[:, 0]
    ahead[place] += (1 - share) * jobs
    queue = (1 - weight) * np.asarray(below.queue_length) + weight * ahead
    used = share * np.asarray(above.utilisation)[:, 0]
    used = (1 - weight) * np.asarray(below.utilisation) + weight * used
    return rate, queue.reshape(len(queue), -1), used.reshape(len(queue), -1)
