"""Closed networks whose stations with a discipline are solved one by one, state by state.

For such a station the rest of the network is an exponential time between two visits of a job. All
other stations are solved by approximate mean value analysis. Both are iterated to a fixed point.
"""

from dataclasses import replace

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.orders.chain import MOST, Local, solve_local
from headway.queueing.orders.mva import Rest, Shares, stays_at
from headway.queueing.orders.room import with_more_room, with_room
from headway.queueing.orders.shared import PriorityNetwork
from headway.records import dataclass

_CLOSE, _STEPS = 1e-9, 200  # relative change at which the iteration ends, and most steps
_HARDLY = 1e-11  # largest share of arrivals without room that is accepted
MOST_TOGETHER = 10_000
"""Most states of all stations of a network with priorities that is solved station by station."""

_BRIEF = 1e-11  # time away over a service time that stands for 0, for direct feedback


@dataclass(frozen=True)
class BusyStation:
    """A station and its classes at one operating point."""

    place: int
    classes: tuple[int, ...]
    local: Local


def busy_stations(network: PriorityNetwork, most: int) -> list[list[BusyStation]] | None:
    """Stations to solve state by state, at each point; None if a point has too many states.

    Parameters
    ----------
    network
        The network at all of its points.
    most
        Most states of all stations together at any point; open classes may need more room later.

    Examples
    --------
    >>> one = np.ones((2, 1, 1))
    >>> network = PriorityNetwork(one, one, one[0], one[0], one[:, 0], one[:, 0], 0 * one[:, 0],
    ...     np.zeros(2, bool), (1, 2), (Discipline.PREEMPTIVE,))
    >>> [[station.local.states for station in point] for point in busy_stations(network, 4)]
    [[4]]
    >>> busy_stations(network, 3) is None
    True
    """
    points = []
    for point in range(network.population.shape[1]):
        stations = _busy_at(network, point)
        if stations is None or sum(one.local.states for one in stations) > most:
            return None
        points.append(stations)
    return points


def _busy_at(network: PriorityNetwork, point: int) -> list[BusyStation] | None:
    busy = []
    for k, discipline in enumerate(network.disciplines):
        if discipline is None or discipline.slows:
            continue
        come = (network.population + network.rates)[:, point] * network.visits[:, k, point]
        classes = np.flatnonzero(come * network.times[:, k, point] > 0).tolist()
        local = _local(network, k, discipline, classes, point)
        if local.states > MOST or network.lanes[k, point] != 1:
            return None
        busy.append(BusyStation(k, tuple(classes), local))
    return busy


def _local(
    network: PriorityNetwork, k: int, discipline: Discipline, classes: list[int], point: int
) -> Local:
    jobs = tuple(0 if network.is_open[c] else int(network.population[c, point]) for c in classes)
    ranks = tuple(network.priority[c] if discipline.by_priority else 1 for c in classes)
    servers, interrupts = int(network.servers[k, point]), discipline.interrupts
    loads = (network.rates * network.visits[:, k] * network.times[:, k])[classes, point] / servers
    return with_room(Local(jobs, ranks, servers, interrupts), loads.tolist())


def is_exact(network: PriorityNetwork) -> bool:
    """Whether jobs only think and visit one queue once, and the chain's order is the queue's own.

    The chain takes jobs of one priority at random, whatever their class.
    """
    work = network.visits * network.times * ((network.population + network.rates) > 0)[:, None]
    busy: Amount = work.any(axis=(0, 2))
    if busy.sum() > 1 or not (network.visits[:, busy] == 1).all():
        return False
    k = int(busy.argmax())
    times = network.times[:, k]
    came: Amount = work[:, k].any(axis=1)
    discipline = network.disciplines[k]
    if discipline is not None and discipline.at_random:
        return True
    if discipline is not None and discipline.by_priority:
        both = network.same_priority & came & came[:, None] & ~np.eye(len(came), dtype=bool)
        return not both.any()
    alike: Amount = np.array(times[:, None] == times)
    return bool((alike.all(axis=-1) | ~came | ~came[:, None]).all())


def solve_isolated(
    network: PriorityNetwork, stations: list[list[BusyStation]], shares: Shares, start: Rest
) -> Rest | None:
    """Solve a network, starting from the results of mean value analysis.

    None if it does not converge, or if rates of a station's chain are too far apart.

    Parameters
    ----------
    network
        The whole network.
    stations
        The stations to solve state by state, at each point (`busy_stations`).
    shares
        Changes of shares with one job fewer.
    start
        Initial throughputs and times of visits.
    """
    rate, stay = start.rate.copy(), start.stay.copy()
    for point, busy in enumerate(stations):
        here = np.array([point])
        try:
            part = _iterated(network.at(here), shares.at(here), stay[..., here], busy)
        except GraphError:
            return None
        if part is None:
            return None
        rate[:, here], stay[..., here] = part.rate, part.stay
    return Rest(rate, stay)


def between(network: PriorityNetwork, alone: Rest, whole: Rest) -> Rest:
    """Times of visits between those of isolated stations and those of mean value analysis.

    An isolated station assumes that jobs come back independently of each other, which they do from
    delays but not from queues that are always busy. So with U the utilisation of the busiest other
    queue, times are R = R_alone**(1 - U) R_whole**U at each station.

    Parameters
    ----------
    network
        The network that both solve.
    alone, whole
        The results of isolated stations, and of mean value analysis.

    Examples
    --------
    >>> one = np.ones((1, 2, 1))
    >>> network = PriorityNetwork(one, one, one[0], one[0], 2 * one[:, 0], 0 * one[:, 0],
    ...     0 * one[:, 0], np.zeros(1, bool), (1,), (Discipline.FCFS, Discipline.FCFS))
    >>> result = between(network, Rest(0.5 * one[:, 0], 2 * one), Rest(0.5 * one[:, 0], 4.5 * one))
    >>> result.stay.ravel().round(12).tolist(), result.rate.ravel().round(3).tolist()
    ([3.0, 3.0], [0.333])
    """
    work = alone.rate[:, None] * network.visits * network.times
    busy = work.sum(axis=0) / (network.servers * network.lanes)
    busy[[discipline is None for discipline in network.disciplines]] = 0.0
    share = np.stack(
        [np.delete(busy, k, axis=0).max(axis=0, initial=0.0) for k in range(len(busy))]
    )
    share = np.minimum(share, 1.0)
    return _rest(network, alone.stay ** (1 - share) * whole.stay**share)


def _iterated(
    network: PriorityNetwork, shares: Shares, stay: FloatArray, stations: list[BusyStation]
) -> Rest | None:
    """Iterate between isolated stations and the rest of the network, at one point."""
    others = replace(
        network,
        disciplines=tuple(
            None if k in {s.place for s in stations} else d
            for k, d in enumerate(network.disciplines)
        ),
    )
    current = list(stations)
    for _ in range(_STEPS):
        following = stays_at(others, shares, stay)
        for number, station in enumerate(current):
            local = _solved_station(network, station, stay)
            if local is None:
                return None
            current[number], times = local
            following[list(station.classes), station.place] = times[:, None]
        change = np.abs(following / np.maximum(stay, 1e-300) - 1)[stay > 0]
        stay = np.where(stay > 0, np.sqrt(stay * following), following)
        if change.max(initial=0.0) <= _CLOSE:
            return _rest(network, following)
    return None


def _rest(network: PriorityNetwork, stay: FloatArray) -> Rest:
    """Throughputs that follow from times of visits."""
    cycle = network.think_time + (network.visits * stay).sum(axis=1)
    rate = np.where(
        network.is_open[:, None], network.rates, network.population / np.maximum(cycle, 1e-300)
    )
    return Rest(rate, stay)


def _solved_station(
    network: PriorityNetwork, station: BusyStation, stay: FloatArray
) -> tuple[BusyStation, FloatArray] | None:
    """Times of a visit by class, and the room used; None if arrivals find no room too often."""
    k, classes = station.place, list(station.classes)
    if not classes:
        return station, np.zeros(0)
    visits, times = network.visits[classes, k, 0], network.times[classes, k, 0]
    cycle = network.think_time[classes, 0] + (network.visits * stay)[classes, :, 0].sum(axis=1)
    away = np.maximum(cycle / visits - stay[classes, k, 0], _BRIEF * times)
    away = np.where(network.is_open[classes], 1.0, away)
    rates = network.rates[classes, 0] * visits
    given = times.tolist(), away.tolist(), rates.tolist()
    through, number, lost = solve_local(station.local, *given)
    while larger := with_more_room(station.local, lost):
        station = replace(station, local=larger)
        through, number, lost = solve_local(larger, *given)
    fits = lost.max(initial=0.0) <= _HARDLY
    return (station, number / np.maximum(through, 1e-300)) if fits else None
