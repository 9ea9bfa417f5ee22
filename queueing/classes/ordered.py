"""Networks with priorities: solved by class, open classes by their own laws."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from headway.errors import Saturated
from headway.kinds import FloatArray
from headway.queueing.classes.answers import laid_out_result
from headway.queueing.classes.fcfs import refuse_unmeasured
from headway.queueing.classes.lengths import Lengths
from headway.queueing.classes.priority_networks import (
    disciplines_at,
    priority_network_of,
    within_capacity,
)
from headway.queueing.disciplines.discipline import Discipline
from headway.queueing.disciplines.offered import Offered
from headway.queueing.methods.needs import exact_by_priority
from headway.queueing.network.names import Method
from headway.queueing.network.network import Network
from headway.queueing.network.overload import Overload, find_overload, refuse_overload
from headway.queueing.network.product_form import comers, named, ranked, without_form
from headway.queueing.network.result import Result
from headway.queueing.orders.measured import priority_note
from headway.queueing.orders.mva import Rest, ordered_mva


def open_by_priority(network: Network) -> Result:
    """Solve open classes by the laws of each station, some of which have priorities."""
    overload = find_overload(network)
    exact = exact_by_priority(network)
    if not exact:
        refuse_unmeasured(network, without_form(network))
    note = "" if exact else priority_label(network, closed=False)
    rest = Rest(network.rates.copy(), _open_stay(network, overload))
    return priorities(network, overload, Method.EXACT, note, rest)


def by_mean_value(network: Network, method: Method) -> Result:
    """Solve closed classes with priorities by approximate mean value analysis.

    Parameters
    ----------
    network
        A network with some closed classes.
    method
        Schweitzer's shares, or those corrected by Linearizer.

    Raises
    ------
    Saturated
        For open classes at a saturated station beside closed ones, also of higher priority.
    """
    overload = find_overload(network)
    refuse_overload(overload)
    rest, _ = ordered_mva(priority_network_of(network), corrected=method is not Method.SCHWEITZER)
    check_fits(network, rest.stay)
    rest = within_capacity(network, rest)
    note = priority_label(network, closed=True, starved=starved(network, rest.rate))
    return priorities(network, overload, method, note, rest)


def priorities(
    network: Network, overload: Overload, method: Method, note: str, rest: Rest
) -> Result:
    """The result from the throughputs and times of visits of all classes.

    Parameters
    ----------
    network, overload
        The whole network, and the stations that open classes saturate.
    method, note
        The method, and what is approximate about it.
    rest
        Throughputs [1/s] and response times per visit [s].
    """
    none = Lengths.without_jobs(np.ones(network.servers.shape))
    named_so = replace(none, method=method, approximation=note)
    queue = rest.rate[:, None] * network.visits * rest.stay
    return laid_out_result(network, named_so, rest.rate, queue, overload)


def priority_label(
    network: Network, *, closed: bool, local: bool = False, starved: Sequence[str] = ()
) -> str:
    """The label for priorities, and for other queues that their departures reach."""
    first = ranked(network)
    others = ~first & ~network.is_delay & np.any(comers(network), axis=(0, 2))
    return priority_note(
        _named(network),
        closed=closed,
        local=local,
        starved=starved,
        beside=named(network, others),
    )


def starved(network: Network, rate: FloatArray) -> list[str]:
    """Names of closed classes that hardly complete anything beside the others."""
    some = (network.population > 0) & ~network.is_open[:, None]
    least = np.any(some & (rate < _LEAST * rate.max(axis=0)), axis=1)
    return [c.name for c, hardly in zip(network.classes, least, strict=True) if hardly]


_LEAST = 1e-6
"""Of the largest throughput: below this, no chain used to measure errors had any digits."""


def _named(network: Network) -> list[str]:
    return named(network, ranked(network))


def check_fits(network: Network, stay: FloatArray) -> None:
    """Refuse open classes to which closed ones of higher priority leave too little capacity."""
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
