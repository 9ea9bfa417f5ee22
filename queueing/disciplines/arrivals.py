"""What a job finds at a station by approximate mean value analysis, and how long that takes.

Two corrections are for closed classes that go first. Their later arrivals are fewer the more of
them are there already: w_j = (N_j - Q_j) / N_j, which is the relative value of the first of them in
a queue of N_j sources, so exact for one of them. And a job that leaves leaves none of them behind
(only those that came during its service, where nobody is interrupted): it finds again those it left
while the queue goes back to its mean, which takes it about R_j w_j, that is Z / (Z + R_j w_j) of
the others.

At pools of m servers all waits are those of one server as fast as all, times (1 + A + e - m) / A:
what such a pool lacks, e being the mean of what idle servers do not do (`pools`).

The corrections are derived here, and measured in docs/accuracy.md.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.records import dataclass

_LEAST = 1e-9  # of a server, left by those who go first
_NOBODY = 1e-300


class ServerPool(Protocol):
    """The servers of a station, of which some may be idle."""

    def moments(self, busy: FloatArray, own: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean of what idle servers do not do, and its change by a job less."""


class Classes(Protocol):
    """Stations and their classes, as `headway.queueing.orders.shared.PriorityNetwork` has them."""

    @property
    def times(self) -> FloatArray:
        """S [s], shape (classes, stations, points)."""

    @property
    def servers(self) -> FloatArray:
        """Servers m at each of a station's queues, shape (stations, points)."""

    @property
    def is_open(self) -> Amount:
        """Which classes are, shape (classes,)."""

    @property
    def jobs(self) -> FloatArray:
        """N, infinite for open classes, shape (classes, points)."""

    @property
    def before(self) -> Amount:
        """Which classes (rows) go before which, shape (classes, classes)."""

    def crowd(self, k: int) -> ServerPool | None:
        """The servers of a station; None if it has one."""


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


Rule: TypeAlias = Callable[[Classes, int, ArrivalView], FloatArray]
"""Time of a visit to a station, by class, shape (classes, points) [s]."""


def free_share(network: Classes, k: int, arrival: ArrivalView) -> FloatArray:
    """Share of the servers that those who go first leave each class."""
    taken = (network.before[..., None] * arrival.busy[:, None]).sum(axis=0) / network.servers[k]
    return np.asarray(np.maximum(1 - taken, _LEAST))


def fewer_later(network: Classes, arrival: ArrivalView) -> FloatArray:
    """w_j, 1 for open classes."""
    return np.clip(1 - arrival.length / network.jobs, 0.0, 1.0)


def found_again(network: Classes, arrival: ArrivalView, times: FloatArray | None) -> FloatArray:
    """Jobs of class j that one of class c finds, where it left none but those of its service."""
    fewer = fewer_later(network, arrival)
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


def everybody(network: Classes) -> Amount:
    """All classes beside all others, shape (classes, classes)."""
    return np.ones(network.before.shape, bool)


def pool_factor(
    network: Classes, k: int, arrival: ArrivalView, matters: FloatArray, among: Amount
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
