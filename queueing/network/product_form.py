"""Which stations leave a network of several classes without a product form.

This is decided here only, and used wherever a result is called exact: solutions, numbers of jobs,
bounds. A product form (BCMP) requires that a station with waiting

* shares its servers, or is one last-come-first-served preemptive server: for any times by class;
* takes jobs in order of arrival, at random, or the last first at several servers, without regard to
  service times: for exponential times with one mean for all classes that visit; or
* has a server for each job that can be there, so that no job waits.

Classes that change into one another are one chain: all of its jobs may be of each of its classes. A
station where classes of different times meet has no product form even if they are of one chain.

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975; Kelly, *Reversibility and Stochastic
Networks*, 1979, sections 3.1 to 3.3 (queues that do not look at classes).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.disciplines.discipline import ProductForm
from headway.queueing.network.network import Network, once
from headway.queueing.network.turns import OrderedStations
from headway.queueing.stations.abilities import ServiceKind


@once
def without_form(network: Network) -> NDArray[np.bool_]:
    """Whether each station has no product form at each point, shape (stations, points).

    Examples
    --------
    >>> from headway.queueing import Discipline
    >>> from headway.queueing.network.network import JobClass, SharedStation, read_network
    >>> two = [JobClass(c, population=1) for c in "ab"]
    >>> cpu = SharedStation("cpu", (0.2, 2.0), (1, 1), discipline=Discipline.RANDOM)
    >>> without_form(read_network([cpu], two)).item()
    True
    """
    return unequal(network) | _last_at_several(network) | ranked(network)[:, None]


def formless(network: Network) -> str:
    """Why a network has no product form, by the first such station; empty if it has one.

    Examples
    --------
    >>> from headway.queueing import Discipline
    >>> from headway.queueing.network.network import JobClass, SharedStation, read_network
    >>> cpu = SharedStation("cpu", (0.1, 0.2), (1, 1), discipline=Discipline.FCFS)
    >>> formless(read_network([cpu], [JobClass(c, population=1) for c in "ab"]))
    'cpu: first come first served with times that differ by class'
    """
    first = ranked(network)
    for k in np.flatnonzero(without_form(network).any(axis=1)):
        station = network.stations[k]
        order = station.discipline
        if first[k]:
            how = "it serves by priority" if order.by_priority else f"it serves {order.how}"
            return f"{station.name}: {how}"
        return f"{station.name}: {order.unranked.unlike}"
    return ""


def lawless(network: Network) -> str:
    """Why the distribution of the number of jobs is not known; empty if it is."""
    reason = formless(network)
    return f"{reason}; the number of jobs has no known distribution" if reason else ""


@once
def comers(network: Network) -> NDArray[np.bool_]:
    """Whether each class is served at each station, shape (classes, stations, points)."""
    return np.asarray(network.may_be[:, None] * network.demand > 0)


@once
def ranked(network: Network) -> NDArray[np.bool_]:
    """Whether jobs go before others that came first at each station, shape (stations,).

    By priority, or by service times. If all classes that visit have one priority, it is order of
    arrival.

    Examples
    --------
    >>> from headway.queueing import Discipline
    >>> from headway.queueing.network.network import JobClass, SharedStation, read_network
    >>> cpu = SharedStation("cpu", (0.2, 2.0), (1, 1), discipline=Discipline.PRIORITY)
    >>> web, batch = JobClass("web", 0.4), JobClass("batch", 0.2, priority=2)
    >>> ranked(read_network([cpu], [web, batch])).tolist()
    [True]
    """
    if not any(order.by_priority or order.by_size for order in network.disciplines):
        return np.zeros(len(network.stations), bool)
    come, ranks = np.any(comers(network), axis=2), np.array([c.priority for c in network.classes])
    return np.array(
        [
            s.kind is not ServiceKind.DELAY
            and (
                (s.discipline.by_priority and len(set(ranks[come[:, k]].tolist())) > 1)
                or (s.discipline.by_size and bool(come[:, k].any()))
            )
            for k, s in enumerate(network.stations)
        ]
    )


@once
def unequal(network: Network) -> NDArray[np.bool_]:
    """Stations that serve different, or non-exponential, times in order.

    In order of arrival or in random order; shape (stations, points).

    Examples
    --------
    >>> from headway.queueing import Discipline
    >>> from headway.queueing.network.network import JobClass, SharedStation, read_network
    >>> cpu = SharedStation("cpu", (0.2, 2.0), (1, 1), discipline=Discipline.FCFS)
    >>> unequal(read_network([cpu], [JobClass(c, arrival_rate=0.4) for c in "ab"])).item()
    True
    """
    if all(order.slows for order in network.disciplines):
        return np.zeros(network.servers.shape, bool)
    ordered = np.array(
        [not s.discipline.slows and s.kind != ServiceKind.DELAY for s in network.stations]
    )
    if not ordered.any():
        return np.zeros(network.servers.shape, bool)
    unlike = _unlike_times(network)
    if network.scv is not None:
        unlike |= (comers(network) & (network.scv != 1)).any(axis=0)
        unlike |= np.array([s.is_spread and s.arrival_scv is not None for s in network.stations])[
            :, None
        ]
    return ordered[:, None] & unlike & ~_room_for_all(network)


def turns_at(network: Network, among: NDArray[np.bool_] | None = None) -> OrderedStations:
    """Names of the stations of `unequal`, or some of them: in order of arrival, in random order."""
    here = _at_any_point(unequal(network), among)
    if not here.any():
        return OrderedStations()
    names: dict[bool, list[str]] = {False: [], True: []}
    for station, unlike in zip(network.stations, here, strict=True):
        if unlike:
            names[station.discipline.at_random].append(station.name)
    return OrderedStations(tuple(names[False]), tuple(names[True]))


def last_in_pools(network: Network, among: NDArray[np.bool_] | None = None) -> list[str]:
    """Names of last-come-first-served pools, or some of them, with different times by class.

    They are solved as if all jobs shared the servers.
    """
    return named(network, _at_any_point(_last_at_several(network), among))


def _at_any_point(here: NDArray[np.bool_], among: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Stations for which it holds at any point, among all or among some."""
    ever: NDArray[np.bool_] = np.asarray(here.any(axis=1))
    return ever if among is None else ever & among


def named(network: Network, here: Sequence[bool] | NDArray[np.bool_]) -> list[str]:
    """Names of some stations."""
    return [s.name for s, k in zip(network.stations, here, strict=True) if k]


@once
def _last_at_several(network: Network) -> NDArray[np.bool_]:
    if not network.is_pool.any():
        return np.zeros(network.servers.shape, bool)
    alone = np.array(
        [
            s.discipline.slows and s.discipline.pool_form is not ProductForm.ANY
            for s in network.stations
        ]
    )
    pools = alone & network.is_pool
    if not pools.any():
        return np.zeros(network.servers.shape, bool)
    several = (network.servers > 1) & ~_room_for_all(network)
    return np.asarray(pools[:, None] & several & _unlike_times(network))


def _unlike_times(network: Network) -> NDArray[np.bool_]:
    """Stations visited by classes with different mean times, shape (stations, points)."""
    come = comers(network)
    longest = np.where(come, network.service_times, 0.0).max(axis=0)
    return np.asarray(np.where(come, network.service_times, np.inf).min(axis=0) < longest)


def _room_for_all(network: Network) -> NDArray[np.bool_]:
    """Stations where no job ever waits: closed jobs only, and a server for each.

    Such a pool is a delay, with a product form for times of any law and class.
    """
    queues = np.array([s.kind is ServiceKind.QUEUE for s in network.stations])
    come = comers(network)
    opened = (come & network.is_open[:, None, None]).any(axis=0)
    chains = network.chains or tuple((c,) for c in range(len(network.classes)))
    jobs = sum(_of_chain(network, come, list(chain)) for chain in chains)
    return np.asarray(queues[:, None] & ~opened & (jobs <= network.servers))


def _of_chain(network: Network, come: NDArray[np.bool_], chain: list[int]) -> FloatArray:
    """Largest number of jobs of a chain at each station, shape (stations, points)."""
    return np.asarray(come[chain].any(axis=0) * network.population[chain].sum(axis=0))


def comes_once(network: Network) -> NDArray[np.bool_]:
    """Whether no job visits a station twice on its way, in any class; shape (stations,).

    If routes are not known, a job that visits a station at most once on average is taken never to
    return.
    """
    most = network.visits.max(axis=(0, 2), initial=0.0) <= 1 + _ROUNDING
    if network.ways is None:
        return np.asarray(most)
    onward: NDArray[np.bool_] = np.asarray(np.any(network.ways.onward > 0, axis=-1))
    classes, count = onward.shape[:2]
    some = np.any(network.visits > 0, axis=2).ravel()
    reach = onward.transpose(0, 1, 3, 2).reshape(classes * count, -1) & some[:, None]
    for state in range(len(reach)):
        reach |= reach[:, [state]] & reach[state]
    again = np.diag(np.any(reach.reshape(classes, count, classes, count), axis=(0, 2)))
    return np.asarray(most & ~again)


_ROUNDING = 1e-12  # of visits computed from routes
