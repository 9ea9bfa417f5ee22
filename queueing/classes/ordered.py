"""Networks in which classes go before others: solved by class, open ones by their own laws."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.errors import GraphError, Saturated
from headway.kinds import FloatArray
from headway.queueing.classes.crossings import crossing_of, disciplines_at, fitting
from headway.queueing.classes.fcfs import refuse_unmeasured
from headway.queueing.classes.methods import by_chain
from headway.queueing.classes.whole import MOST_REQUESTED
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.offered import Offered
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.overload import Overload
from headway.queueing.network.product_form import comers, comes_once, named, ranked, without_form
from headway.queueing.orders.chain import MOST
from headway.queueing.orders.isolated import (
    MOST_TOGETHER,
    busy_stations,
    is_exact,
    solve_isolated,
)
from headway.queueing.orders.measured import priority_note
from headway.queueing.orders.mva import ordered_mva


@dataclass(frozen=True)
class Ordered:
    """Results of classes that are served by priority.

    Parameters
    ----------
    method, approximation
        The method used, and what is not exact about it.
    rate
        Throughputs, shape (classes, points) [1/s].
    stay
        Response times per visit, shape (classes, stations, points) [s].
    queue
        Jobs there, of the same shape; None where they follow from these.
    """

    method: Method
    approximation: str
    rate: FloatArray
    stay: FloatArray
    queue: FloatArray | None = None


def solve_ordered(network: Network, overload: Overload, method: Method) -> Ordered:
    """Solve a network with stations that go by priority.

    Raises
    ------
    GraphError
        For an exact method where classes are closed.
    Saturated
        For open classes that find a full station beside closed ones, also of higher priority.
    """
    _check_sizes(network)
    _check_exponential(network)
    if network.is_open.all():
        rate = network.rates.copy()
        exact = _is_exact(network)
        if not exact:
            refuse_unmeasured(network, without_form(network))
        note = "" if exact else _note(network, closed=False)
        return Ordered(Method.EXACT, note, rate, _open_stay(network, overload))
    if overload.message:
        raise Saturated(overload.message)
    if network.speeds:
        msg = (
            f"{_named(network)[0]}: headway cannot combine priorities with speeds that "
            "depend on the number present; use one of them"
        )
        raise GraphError(msg)
    whole = None if method.approximate or network.is_open.any() else by_chain(network, method)
    if whole is not None:
        through = np.where(network.visits > 0, whole.throughput[:, None] * network.visits, 0.0)
        stay = whole.queue_length / np.where(through > 0, through, 1.0)
        stay = np.where(through > 0, stay, network.service_times)
        return Ordered(whole.method, "", whole.throughput, stay, whole.queue_length)
    return _one_by_one(network, method)


def _check_sizes(network: Network) -> None:
    """Refuse disciplines that look at service times, except where their law is exact."""
    by_size = np.array([s.discipline.by_size for s in network.stations]) & ranked(network)
    known = network.is_open.all() and _is_exact(network)
    for k in np.flatnonzero(by_size):
        station = network.stations[k]
        if not known or (network.servers[k] != 1).any():
            msg = f"{station.name}: {station.discipline.needs}"
            raise GraphError(msg)


def _check_exponential(network: Network) -> None:
    """Refuse times that are not exponential, except where the laws of open classes are exact."""
    arrivals = any(s.arrival_scv is not None for s in network.stations)
    spread = np.zeros(network.servers.shape, bool)
    if network.scv is not None:
        spread = np.asarray((network.scv != 1).any(axis=0))
    if not arrivals and not spread.any():
        return
    single = bool((network.servers[spread] == 1).all())
    if arrivals or not (single and network.is_open.all() and _is_exact(network)):
        msg = (
            f"{_named(network)[0]}: priorities with non-exponential times need open "
            "classes that visit one single server once; simulate other networks"
        )
        raise GraphError(msg)


def _one_by_one(network: Network, method: Method) -> Ordered:
    """Solve stations by priority state by state, each alone, where they are small."""
    refuse_unmeasured(network, without_form(network))
    crossing = crossing_of(network)
    rest, shares = ordered_mva(crossing, corrected=method is not Method.SCHWEITZER)
    _check_fits(network, rest.stay)
    stations = None if method.approximate else busy_stations(crossing, MOST_TOGETHER)
    local = None if stations is None else solve_isolated(crossing, stations, shares, rest)
    exact = local is not None and is_exact(crossing)
    if not (exact or method.approximate or method is Method.AUTO):
        msg = (
            f"{_named(network)[0]}: closed classes with priorities have an exact solution "
            "only when "
        )
        msg += (
            f"there are few states (at most {MOST:,} at one queue, or {MOST_REQUESTED:,} in "
            "all); use method auto"
        )
        raise GraphError(msg)
    if local is not None and exact:
        return Ordered(Method.CHAIN, "", local.rate, local.stay)
    used = method if method.approximate else Method.LINEARIZER
    rest = fitting(network, rest if local is None else local)
    starved = _starved(network, rest.rate)
    note = _note(network, closed=True, local=local is not None, starved=starved)
    return Ordered(used, note, rest.rate, rest.stay)


def _note(
    network: Network, *, closed: bool, local: bool = False, starved: Sequence[str] = ()
) -> str:
    """The note on its priorities, and on the other queues that jobs come to as well."""
    first = ranked(network)
    others = ~first & ~network.is_delay & np.any(comers(network), axis=(0, 2))
    return priority_note(
        _named(network),
        closed=closed,
        local=local,
        starved=starved,
        beside=named(network, others),
    )


def _starved(network: Network, rate: FloatArray) -> list[str]:
    """Names of closed classes that get hardly anything done beside the others."""
    some = (network.population > 0) & ~network.is_open[:, None]
    least = np.any(some & (rate < _LEAST * rate.max(axis=0)), axis=1)
    return [c.name for c, hardly in zip(network.classes, least, strict=True) if hardly]


_LEAST = 1e-6
"""Of the largest throughput: below, no chain that errors were measured by had digits."""


def _named(network: Network) -> list[str]:
    return named(network, ranked(network))


def _check_fits(network: Network, stay: FloatArray) -> None:
    """Refuse open classes to which closed ones that go first leave too little."""
    endless = network.is_open[:, None, None] & ~np.isfinite(stay)
    if endless.any():
        c, k, _ = np.argwhere(endless)[0]
        msg = (
            f"{network.stations[k].name}: closed classes with higher priority leave too "
            f"little capacity for class {network.classes[c].name}; raise its priority or "
            "reduce its arrivals"
        )
        raise Saturated(msg)


def _open_stay(network: Network, overload: Overload) -> FloatArray:
    """Response times of open classes at every station, each by its own law."""
    stay = network.service_times.copy()
    for k, discipline in enumerate(disciplines_at(network)):
        if discipline is not None:
            stay[:, k] = _stay_at(network, k, discipline)
    return np.where(overload.stuck, np.inf, stay)


def _stay_at(network: Network, k: int, discipline: Discipline) -> FloatArray:
    times, queues = network.service_times[:, k], network.queues[k]
    offered = Offered(
        network.rates * network.demand[:, k] / queues,
        times,
        network.servers[k] / queues,
        tuple(c.priority if discipline.by_priority else 1 for c in network.classes),
        None if network.scv is None else network.scv[:, k],
    )
    waits = discipline.open_waits(offered)
    return np.where(times > 0, times + np.where(np.isnan(waits), np.inf, waits), 0.0)


def _is_exact(network: Network) -> bool:
    """Whether Poisson streams come to the only station where anybody waits, once."""
    busy = ~network.is_delay & comers(network).any(axis=(0, 2))
    if busy.sum() > 1:
        return False
    alike = [_alike(network, int(k)) for k in np.flatnonzero(busy)]
    return bool(all(alike) and comes_once(network)[busy].all())


def _alike(network: Network, k: int) -> bool:
    """Whether it is one server, or all who come have one mean time."""
    if (network.servers[k] == network.queues[k]).all():
        return True
    times = network.service_times[comers(network)[:, k].any(axis=1), k]
    return bool((times == times[:1]).all())
