"""First come first served with service times that differ by class: no product form.

Means in random order are taken as the same. For Poisson arrivals they are, as the choice of the
next job does not depend on service times.

A job that finds q jobs waits as if each of them took the mean time of those that it finds,

    R_c = S_c + (g - 1) S',   S' = mean of S over jobs found,

where g = R/S is what a station with product form would give. For open classes at one station
that is Pollaczek and Khinchine's formula for a mixture of exponential times; with m servers
the wait of M/M/m times (1 + scv)/2; for closed classes Reiser's, W_c = sum of S_j Q_j over
the jobs that an arrival finds.

Source: Reiser, "A queueing network analysis of computer communication networks with window
flow control", IEEE Trans. Comm. 27(8), 1979; Kleinrock, *Queueing Systems* I, 1975, section 5.6.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.classes.feedback import feedback_waits
from headway.queueing.closed.measured import Apart, OpenRegion
from headway.queueing.network.network import Network
from headway.queueing.network.product_form import comes_once, turns_at, unequal
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station
from headway.queueing.stations.general import GGm, MGm


def apart(network: Network) -> Apart | None:
    """How far service times differ at stations in order of arrival; None with open classes.

    For random order it was not measured, and None as well.
    """
    turns = turns_at(network)
    if network.is_open.any() or turns.at_random:
        return None
    here = unequal(network)
    come = (network.population[:, None] * network.demand > 0) & here
    if not come.any():
        return None
    longest = np.where(come, network.service_times, 0.0).max(axis=0)
    shortest = np.where(come, network.service_times, np.inf).min(axis=0)
    ratio = float((longest[here] / shortest[here]).max())
    scv = 1.0 if network.scv is None else float(network.scv[come].max())
    return Apart(ratio, scv)


def open_region(network: Network, busy: FloatArray) -> OpenRegion:
    """The region of open classes in order of arrival, among those that were measured.

    Parameters
    ----------
    network
        A network with some open classes.
    busy
        Utilisation of each station, shape (stations, points).
    """
    queue = ~network.is_delay
    come = (network.rates[:, None] * network.demand > 0) & queue[:, None]
    longest = np.where(come, network.service_times, 0.0).max(axis=0)
    shortest = np.where(come, network.service_times, np.inf).min(axis=0)
    scvs = np.ones(1) if network.scv is None else network.scv[come]
    loops = bool((queue & ~comes_once(network)).any())
    return OpenRegion(
        loops,
        None if (scvs == 1).all() else (float(scvs.min()), float(scvs.max())),
        float((longest[come.any(axis=0)] / shortest[come.any(axis=0)]).max()),
        int(come.any(axis=(0, 2)).sum()),
        float(network.visits[:, queue].max()),
        float(busy[queue].max()),
        all(s.arrival_scv is None for s in network.stations),
    )


def is_spread(network: Network) -> bool:
    """Whether some times are not exponential where it matters, or arrivals have an scv."""
    if network.scv is None:
        return False
    arrivals = any(s.is_spread and s.arrival_scv is not None for s in network.stations)
    return bool(arrivals or (network.scv != 1).any())


def refuse_unmeasured(network: Network, unlike: NDArray[np.bool_]) -> None:
    """Refuse to approximate a discipline for which no error was measured.

    Parameters
    ----------
    unlike
        Stations where different times by class matter, shape (stations,) or with points.

    Raises
    ------
    GraphError
        With the names of the station and its discipline.
    """
    for k in np.flatnonzero(unlike.reshape(len(unlike), -1).any(axis=1)):
        discipline = network.stations[k].discipline
        if not discipline.measured:
            msg = (
                f"{network.stations[k].name}: discipline {discipline} ({discipline.unlike}) has no "
                "approximation whose error was measured; simulate it"
            )
            raise GraphError(msg)


def mean_service_ahead(network: Network, queue: FloatArray, busy: FloatArray) -> FloatArray:
    """Mean service time of the jobs that an arrival finds, shape (stations, points) [s].

    Parameters
    ----------
    queue
        Closed jobs that it finds, 0 for open classes, shape (classes, stations, points).
    busy
        Servers that open classes hold, 0 for closed ones, the same shape.
    """
    ahead = queue + busy
    jobs = ahead.sum(axis=0)
    work = (ahead * network.service_times).sum(axis=0)
    return np.where(jobs > 0, work / np.where(jobs > 0, jobs, 1.0), 0.0)


def spread_waits(network: Network) -> dict[int, FloatArray]:
    """Waits of open classes at stations of general times, by index, shape (classes, points) [s].

    All jobs wait like those of one class whose times are a mixture of all classes' times: the
    Pollaczek-Khinchine wait at one server, that of `MGm` at several, and that of `GGm` if arrivals
    have an scv. All visits of a job that returns at once are one service, as at stations of one
    class (`MGm.returning`): of S / (1 - p), with an scv of (1 - p) scv + p.
    """
    waits: dict[int, FloatArray] = {}
    for k, station in enumerate(network.stations):
        if not station.is_spread or network.scv is None:
            continue
        whole = 1 - _coming_back(network, k)
        rates = network.rates * network.visits[:, k] * whole
        times, scvs = network.service_times[:, k] / whole, network.scv[:, k] * whole + 1 - whole
        rates = np.where(times > 0, rates, 0.0)
        total = rates.sum(axis=0)
        share = rates / np.where(total > 0, total, 1.0)
        mean = (share * times).sum(axis=0)
        second = (share * times**2 * (1 + scvs)).sum(axis=0)
        scv = np.where(mean > 0, second / np.where(mean > 0, mean, 1.0) ** 2 - 1, 1.0)
        law = _law(network, k, mean, np.maximum(scv, 0.0))
        waits[k] = np.asarray(law.waiting_time(total) * whole)
    return waits


def _coming_back(network: Network, k: int) -> FloatArray:
    """Probability of returning at once in order of arrival, shape (classes, points)."""
    station = network.stations[k]
    if network.again is None or station.arrival_scv is not None:
        return np.zeros(network.rates.shape)
    return network.again[:, k] * float(station.discipline.in_turn)


def returning_waits(network: Network, unlike: NDArray[np.bool_]) -> dict[int, FloatArray]:
    """Waits of open classes at single servers to which they return at once, by index [s].

    Parameters
    ----------
    unlike
        As in `unequal`.

    Returns
    -------
    Shape (classes, points); exact if all other arrivals are Poisson.
    """
    waits: dict[int, FloatArray] = {}
    if network.again is None:
        return waits
    for k in np.flatnonzero((unlike & _come_back(network)).any(axis=1)).tolist():
        rates = network.rates * network.visits[:, k]
        rates = np.where(network.service_times[:, k] > 0, rates, 0.0)
        scvs = np.ones(rates.shape) if network.scv is None else network.scv[:, k]
        waits[k] = feedback_waits(rates, network.service_times[:, k], scvs, network.again[:, k])
    return waits


def _come_back(network: Network) -> NDArray[np.bool_]:
    """Single servers in order to which only open jobs return at once, shape (stations, points)."""
    if network.again is None:
        return np.zeros(network.servers.shape, bool)
    single = np.array(
        [s.kind is ServiceKind.QUEUE and s.discipline.in_turn for s in network.stations]
    )
    single &= np.array([s.arrival_scv is None for s in network.stations])
    closed = ((network.population > 0)[:, None] & (network.demand > 0)).any(axis=0)
    return np.asarray(
        single[:, None] & (network.servers == 1) & ~closed & (network.again > 0).any(axis=0)
    )


def _law(network: Network, k: int, mean: FloatArray, scv: FloatArray) -> Station:
    servers, arrivals = network.servers[k], network.stations[k].arrival_scv
    if arrivals is None:
        return MGm(mean, servers, scv)
    return GGm(mean, servers, arrivals, scv)


def is_exact(network: Network, unlike: NDArray[np.bool_]) -> bool:
    """Whether the formula is exact: a single server visited once, with Poisson arrivals.

    Visits by which jobs return at once are not counted.

    Parameters
    ----------
    unlike
        Stations that serve classes of different times in order, shape (stations, points).
    """
    busy = ~network.is_delay[:, None] & (network.demand > 0).any(axis=0)
    alone = busy.sum(axis=0) <= 1
    single = (network.servers == 1) & _once(network)
    single &= np.array([s.arrival_scv is None for s in network.stations])[:, None]
    return bool(network.is_open.all() and (~unlike | (alone & single)).all())


def _once(network: Network) -> NDArray[np.bool_]:
    """Stations visited once, except by returning at once in the same class, shape (stations, 1)."""
    if network.again is None:
        return comes_once(network)[:, None]
    here: NDArray[np.bool_] = np.asarray(_come_back(network).any(axis=1))
    visits = np.where(here[:, None], network.visits * (1 - network.again), network.visits)
    ways = network.ways
    if ways is not None:
        onward = ways.onward.copy()
        for k in np.flatnonzero(here):
            for c in range(len(onward)):
                onward[c, k, k, c] = 0.0
        ways = replace(ways, onward=onward)
    return comes_once(replace(network, visits=visits, ways=ways))[:, None]
