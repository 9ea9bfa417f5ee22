"""What an arriving job meets at a station, and its time there, in approximate mean value analysis.

Two corrections are for closed classes of higher priority. The more of their jobs are present, the
fewer can arrive later: w_j = (N_j - Q_j) / N_j, which is the relative value of the first job in a
queue of N_j sources, and so exact for a single job. And a departing job leaves none of them behind,
except those that arrived during its service if it cannot be interrupted. When it returns it meets
again those it left, while the queue goes back to its mean within about R_j w_j; that is Z / (Z +
R_j w_j) of the others.

At pools of m servers all waits are those of one server as fast as all, times (1 + A + e - m) / A,
with e the mean work that idle servers leave undone (`pools`).

The corrections are derived here, and measured in docs/accuracy.md.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

import numpy as np

from headway.kinds import Amount, FloatArray
from headway.records import dataclass

_LEAST = 1e-9  # smallest share of the servers left by classes of higher priority
_NOBODY = 1e-300


class ServerPool(Protocol):
    """The servers of a station, some of which may be idle."""

    def moments(self, busy: FloatArray, own: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean number of idle servers while jobs are present, and its change with a job fewer."""


class Classes(Protocol):
    """Stations and classes, as in `headway.queueing.orders.shared.PriorityNetwork`."""

    @property
    def times(self) -> FloatArray:
        """Service times S [s], shape (classes, stations, points)."""

    @property
    def servers(self) -> FloatArray:
        """Servers m at each queue of a station, shape (stations, points)."""

    @property
    def is_open(self) -> Amount:
        """Whether each class is open, shape (classes,)."""

    @property
    def jobs(self) -> FloatArray:
        """Populations N, infinite for open classes, shape (classes, points)."""

    @property
    def before(self) -> Amount:
        """Whether each class (row) has priority over another (column), shape (classes, classes)."""

    def crowd(self, k: int) -> ServerPool | None:
        """The servers of a station; None if it has one server."""


@dataclass(frozen=True)
class ArrivalView:
    """What an arriving job meets at a station, whose queues are taken one by one.

    Parameters
    ----------
    present, serving
        Jobs of class j (first), and servers that they hold, as met by a job of class c (second);
        shape (classes, classes, points).
    busy, length
        Mean busy servers and mean jobs of each class, shape (classes, points).
    stay, away
        Time of a visit, and between two visits, shape (classes, points) [s].
    rate
        Visits, shape (classes, points) [1/s].
    """

    present: FloatArray
    serving: FloatArray
    busy: FloatArray
    length: FloatArray
    stay: FloatArray
    away: FloatArray
    rate: FloatArray


Rule: TypeAlias = Callable[[Classes, int, ArrivalView], FloatArray]
"""Time of a visit to a station by class, shape (classes, points) [s]."""


def free_share(network: Classes, k: int, arrival: ArrivalView) -> FloatArray:
    """Share of the servers that classes of higher priority leave to each class."""
    taken = (network.before[..., None] * arrival.busy[:, None]).sum(axis=0) / network.servers[k]
    return np.asarray(np.maximum(1 - taken, _LEAST))


def fewer_later(network: Classes, arrival: ArrivalView) -> FloatArray:
    """w_j for closed classes, 1 for open ones."""
    return np.clip(1 - arrival.length / network.jobs, 0.0, 1.0)


def found_again(network: Classes, arrival: ArrivalView, times: FloatArray | None) -> FloatArray:
    """Jobs of class j met by one of class c, which left only arrivals during its service."""
    fewer = fewer_later(network, arrival)
    back = np.maximum(arrival.stay * fewer, _NOBODY)[:, None]
    behind = np.zeros(arrival.present.shape)
    if times is not None:
        pace = arrival.rate / np.maximum(fewer, 1e-9)  # rate of all N_j jobs together
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
    """A mask in which all classes see all others, shape (classes, classes)."""
    return np.ones(network.before.shape, bool)


def pool_factor(
    network: Classes, k: int, arrival: ArrivalView, matters: FloatArray, among: Amount
) -> FloatArray | float:
    """Factor of a pool's waits over those of one fast server, by class, among classes in rows."""
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
