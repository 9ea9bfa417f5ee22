"""How long a visit takes among those whom a job finds there, by discipline.

With what a job of class c finds, A_j jobs of class j, of which B_j are in service, and U_j the
servers that class j holds, one visit to one server takes

    shared            S_c (1 + sum of A_j)
    in order          S_c + sum of A_j S_j
    head of the line  S_c + (sum up to c of A_j S_j w_j + sum beyond c of B_j S_j) / (1 - U_<c)
    preemptive        (S_c + sum up to c of A_j S_j w_j) / (1 - U_<c)

The last two are Bryant's and others'; for Poisson arrivals they are exact. Two corrections are for
closed classes that go first. Their later arrivals are fewer the more of them are there already:
w_j = (N_j - Q_j) / N_j, which is the relative value of the first of them in a queue of N_j sources,
so exact for one of them. And a job that leaves leaves none of them behind (only those that came
during its service, where nobody is interrupted): it finds again those it left while the
queue goes back to its mean, which takes it about R_j w_j, that is Z / (Z + R_j w_j) of the others.

At pools of m servers all waits are those of one server as fast as all, times (1 + A + e - m) / A:
what such a pool lacks, e being the mean of what idle servers do not do (`pools`).

Source: Reiser, IEEE Trans. Comm. 27(8), 1979; Bryant, Krzesinski, Lakshmi and Chandy, "The MVA
priority approximation", ACM TOCS 2(4), 1984; Bondi and Buzen, SIGMETRICS 1984. The corrections
are derived here, and measured in docs/accuracy.md.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.queueing.orders.shared import Crossing
from headway.queueing.stations.abilities import Discipline

_LEAST = 1e-9  # of a server, left by those who go first
_NOBODY = 1e-300


@dataclass(frozen=True)
class ArrivalView:
    """What jobs find at a station, whose queues are seen one by one.

    Parameters
    ----------
    present, serving
        Jobs of class j (first), and servers they hold, as one of class c (second) finds them;
        shape (classes, classes, points).
    busy, length
        Servers that classes hold, and jobs there, in the mean, shape (classes, points).
    stay, away
        Time of a visit, and between two, likewise [s].
    rate
        Visits [1/s], likewise.
    """

    present: FloatArray
    serving: FloatArray
    busy: FloatArray
    length: FloatArray
    stay: FloatArray
    away: FloatArray
    rate: FloatArray


def stay(network: Crossing, k: int, arrival: ArrivalView) -> FloatArray:
    """Time of a visit to a station, by class, shape (classes, points) [s]."""
    discipline = network.disciplines[k]
    if discipline is None:
        return np.asarray(network.times[:, k])
    rule = _STAYS.get(discipline, _shared)
    return np.asarray(rule(network, k, arrival))


def _shared(network: Crossing, k: int, arrival: ArrivalView) -> FloatArray:
    times, everybody = network.times[:, k], _everybody(network)
    fast = times * arrival.present.sum(axis=0) / network.servers[k]
    return np.asarray(times + fast * _pooled(network, k, arrival, arrival.present, everybody))


def _in_order(network: Crossing, k: int, arrival: ArrivalView) -> FloatArray:
    times, everybody = network.times[:, k], _everybody(network)
    fast = (arrival.present * times[:, None]).sum(axis=0) / network.servers[k]
    waits = times + fast * _pooled(network, k, arrival, arrival.present, everybody)
    return np.where(times > 0, waits, 0.0)


def _head_of_line(network: Crossing, k: int, arrival: ArrivalView) -> FloatArray:
    times, servers = network.times[:, k], network.servers[k]
    first, later = network.before[..., None], network.before.T[..., None]
    matters = np.where(first, _again(network, arrival, times), arrival.present)
    weight = np.where(first, _fewer(network, arrival)[:, None], 1.0)
    matters = np.where(later, arrival.serving, matters)
    work = (matters * weight * times[:, None]).sum(axis=0) / servers
    fast = work / _left(network, k, arrival)
    waits = times + fast * _pooled(network, k, arrival, matters, _everybody(network))
    return np.where(times > 0, waits, 0.0)


def _preemptive(network: Crossing, k: int, arrival: ArrivalView) -> FloatArray:
    times, servers = network.times[:, k], network.servers[k]
    first, later = network.before[..., None], network.before.T[..., None]
    matters = np.where(first, _again(network, arrival, None), arrival.present)
    matters = np.where(later, 0.0, matters)
    weight = np.where(first, _fewer(network, arrival)[:, None], 1.0)
    work = (matters * weight * times[:, None]).sum(axis=0) / servers
    fast = (times / servers + work) / _left(network, k, arrival) - times / servers
    waits = times + fast * _pooled(network, k, arrival, matters, ~network.before.T)
    return np.where(times > 0, waits, 0.0)


_Rule = Callable[[Crossing, int, ArrivalView], FloatArray]
_STAYS: Mapping[Discipline, _Rule] = {
    Discipline.FCFS: _in_order,
    Discipline.RANDOM: _in_order,
    Discipline.PRIORITY: _head_of_line,
    Discipline.PREEMPTIVE: _preemptive,
}


def _left(network: Crossing, k: int, arrival: ArrivalView) -> FloatArray:
    """Share of the servers that those who go first leave each class."""
    taken = (network.before[..., None] * arrival.busy[:, None]).sum(axis=0) / network.servers[k]
    return np.asarray(np.maximum(1 - taken, _LEAST))


def _fewer(network: Crossing, arrival: ArrivalView) -> FloatArray:
    """w_j, 1 for open classes."""
    return np.clip(1 - arrival.length / network.jobs, 0.0, 1.0)


def _again(network: Crossing, arrival: ArrivalView, times: FloatArray | None) -> FloatArray:
    """Jobs of class j that one of class c finds, where it left none but those of its service."""
    fewer = _fewer(network, arrival)
    back = np.maximum(arrival.stay * fewer, _NOBODY)[:, None]
    behind = np.zeros(arrival.present.shape)
    if times is not None:
        pace = arrival.rate / np.maximum(fewer, 1e-9)  # of all N_j together
        alone = np.where(network.is_open[:, None], pace, pace / network.jobs)[:, None] * times
        many = np.where(network.is_open[:, None], np.inf, network.jobs)[:, None]
        behind = np.where(np.isinf(many), alone, np.minimum(many, 1e300) * alone / (1 + alone))
        behind = np.minimum(behind, arrival.present)
    away = np.broadcast_to(arrival.away, back.shape[:1] + arrival.away.shape)
    endless = np.isinf(away)
    away = np.where(endless, 1.0, away)
    mixed = (arrival.present * away + behind * back) / (away + back)
    return np.where(endless, arrival.present, mixed)


def _everybody(network: Crossing) -> Amount:
    return np.ones(network.before.shape, bool)


def _pooled(
    network: Crossing, k: int, arrival: ArrivalView, matters: FloatArray, among: Amount
) -> FloatArray | float:
    """By what waits at a fast server become those at a pool among some classes (rows), by class."""
    crowd = network.crowd(k)
    if crowd is None:
        return 1.0
    part = np.zeros(arrival.busy.shape)
    for c in range(len(part)):
        busy = np.where(among[:, c, None], arrival.busy, 0.0)
        total = np.maximum(busy.sum(axis=0), _NOBODY)
        share = busy / total / network.jobs
        own = (busy * share).sum(axis=0) / total
        idle, fewer = crowd.moments(total[None], own[None])
        met = np.maximum(matters[:, c].sum(axis=0), _NOBODY)
        lacking = 1 + met + idle[0] + fewer[0] * share[c] - network.servers[k]
        part[c] = np.maximum(lacking, 0.0) / met
    return part
