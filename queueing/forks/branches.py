"""Moments of the time at one branch of a fork, for any kind of station.

The squared coefficient of variation c**2 of a branch's response time has a part g of the branch's
own; the rest is common to all branches, like their arrivals. If all arrivals of a branch fork, g is
that of `headway.queueing.order_statistics.alike.own_scv`; if hardly any do, branches are
independent and g = c**2. With r the share of its arrivals that fork,

    g_b = (1 - r) c_b**2 + r own_scv(U_b, scv_b).

docs/explanation/forks.md derives it; docs/accuracy/forks.md has its errors.

Source: Kleinrock, *Queueing Systems* I, 1975, sections 3.5 and 5.7, for the moments of waits.
"""

from typing import NamedTuple

import numpy as np

from headway.errors import GraphError
from headway.kinds import Amount, FloatArray, number
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.order_statistics.alike import own_scv
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station

_LEAST = 1e-9  # least scv of a wait, against division by 0; digits only


class BranchTime(NamedTuple):
    """Moments of the response time at a branch.

    Parameters
    ----------
    mean
        Mean [s].
    scv
        Squared coefficient of variation c_b**2.
    own
        g_b, the part of it that is independent of the other branches.
    """

    mean: FloatArray
    scv: FloatArray
    own: FloatArray


def check_branch(name: str, station: Station) -> None:
    """Refuse a station that cannot be a branch.

    Raises
    ------
    GraphError
        For a kind whose variation of service is not known, or that loses jobs.
    """
    if station.can.scv is None:
        kind = type(station).__name__
        msg = (
            f"{name} is {kind}, which cannot be a branch of a fork: its response time "
            "variance is unknown; use MM1, MMm, MD1, MG1, MGm, Parallel or Delay"
        )
        raise GraphError(msg)


def branch_time(station: Station, arrival_rate: Amount, forked: Amount) -> BranchTime:
    """Moments of the response time at a branch that is not saturated.

    Parameters
    ----------
    station
        A station of a kind with an `scv` of service.
    arrival_rate, forked
        Arrival rates at the branch, and of the requests that fork [1/s].

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> alone, half = (branch_time(MM1(1.0), 0.5, forked) for forked in (0.5, 0.25))
    >>> float(alone.mean), round(float(alone.own), 3), round(float(half.own), 3)
    (2.0, 0.717, 0.858)
    """
    service, spread = service_of(station)
    mean = np.asarray(station.response_time(arrival_rate), float)
    wait = np.asarray(station.waiting_time(arrival_rate), float)
    waits, queues = _waits(station, arrival_rate)
    third = (1 + spread) * (1 + 2 * spread) / 6
    squared = 2 * wait**2 + waits.variation * third
    whole = np.where(mean > 0, mean, 1.0) ** 2
    scv = (squared - wait**2 + spread * service**2) / whole
    share = np.where(np.asarray(arrival_rate) > 0, forked / _positive(arrival_rate), 1.0) / queues
    own = (1 - share) * scv + share * np.asarray(own_scv(waits.chance, spread), float)
    return BranchTime(mean, scv, own)


def waiting(station: Station, arrival_rate: Amount, forked: Amount) -> tuple[FloatArray, ...]:
    """The fields of `headway.queueing.order_statistics.branch_times.Wait`, over the points.

    Parameters
    ----------
    station, arrival_rate, forked
        As for `branch_time`.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> [float(row) for row in waiting(MM1(1.0), 0.5, 0.5)]
    [1.0, 1.0, 0.5, 2.0, 4.0, 0.5, 1.0]
    """
    service, spread = service_of(station)
    wait = np.asarray(station.waiting_time(arrival_rate), float)
    waits, queues = _waits(station, arrival_rate)
    square = 2 * wait**2 + waits.variation * (1 + spread) * (1 + 2 * spread) / 6
    some = (wait > 0) & (waits.chance > 0)
    chance = np.where(some, waits.chance, 0.0)
    mean = np.where(some, wait / np.where(some, chance, 1.0), 0.0)
    variance = np.where(some, square / np.where(some, chance, 1.0) - mean**2, 0.0)
    busy = np.asarray(station.utilisation(arrival_rate), float)
    share = np.where(np.asarray(arrival_rate) > 0, forked / _positive(arrival_rate), 1.0) / queues
    least = np.maximum(variance, _LEAST * mean**2)
    return service, spread, chance, mean, least, busy, np.asarray(share)


def service_of(station: Station) -> tuple[FloatArray, FloatArray]:
    """Mean service time [s] at a branch, and its squared coefficient of variation."""
    told = station.can.scv
    spread = number("scv", getattr(station, told)) if isinstance(told, str) else told
    time = np.asarray(number("service_time", station.service_time), float)
    return time, np.asarray(spread, float)


class _Waits(NamedTuple):
    """P(W > 0) of M/M/m, and E[W**2] - 2 E[W]**2 of it: 2 C (1 - C) (S / (m (1 - U)))**2."""

    chance: FloatArray
    variation: FloatArray


def _waits(station: Station, arrival_rate: Amount) -> tuple[_Waits, Amount]:
    """Waits with exponential service, and the number of queues, one of which a job joins."""
    kind, servers = station.can.product_form, station.count
    if kind is ServiceKind.DELAY:
        return _Waits(np.zeros(()), np.zeros(())), 1.0
    busy = np.asarray(station.utilisation(arrival_rate), float)
    apart = kind is ServiceKind.PARALLEL
    each, queues = (1, servers) if apart else (servers, 1)
    chance = np.asarray(erlang_c(each, each * busy), float)
    until = station.service_time / (each * (1 - busy))
    return _Waits(chance, 2 * until**2 * chance * (1 - chance)), queues


def _positive(rate: Amount) -> Amount:
    return np.where(np.asarray(rate) > 0, rate, 1.0)
