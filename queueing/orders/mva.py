"""Approximate mean value analysis of stations whose disciplines have no product form.

Open classes are classes of a given throughput.

Linearizer's shares are used for jobs as well as for busy servers: a job of class c meets what there
would be with one job of its class fewer, and that network is solved too.

Source: Chandy and Neuse, CACM 25(2), 1982; for priorities see `headway.queueing.disciplines`.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.queueing.disciplines.arrivals import ArrivalView
from headway.queueing.orders.shared import PriorityNetwork
from headway.records import dataclass

_CLOSE = ((300, 1e-11), (1500, 1e-9), (4000, 1e-6))
"""Relative change at which the iteration has converged, in its first steps and in later ones."""
_CORRECTIONS = 2
_ENDLESS = 1e9  # in service times; open classes that wait so long count as not served at all


@dataclass(frozen=True)
class Rest:
    """The solution: X, shape (classes, points), and R, (classes, stations, points)."""

    rate: FloatArray
    stay: FloatArray


@dataclass(frozen=True)
class Shares:
    """The change of the shares of class j with one job of class c fewer.

    Parameters
    ----------
    jobs, busy
        Changes of the share of class j's jobs, and of the servers they hold, per job; shape
        (classes, classes, stations, points).
    """

    jobs: FloatArray
    busy: FloatArray

    def at(self, points: NDArray[np.intp]) -> "Shares":
        """The changes at some of the points."""
        return Shares(self.jobs[..., points], self.busy[..., points])

    def tiled(self, count: int) -> "Shares":
        """The changes repeated for copies of the points."""
        return Shares(*(np.tile(part, count) for part in (self.jobs, self.busy)))


def ordered_mva(network: PriorityNetwork, *, corrected: bool = True) -> tuple[Rest, Shares]:
    """Solve a network; with Schweitzer's assumption of equal shares unless ``corrected``.

    Returns
    -------
    The solution, with infinite times of open classes that are left too little capacity; and the
    changes of shares.

    Raises
    ------
    InvalidParameter
        If the iteration does not converge.

    Examples
    --------
    >>> from headway.queueing import Discipline
    >>> one = np.ones((2, 1, 1))
    >>> network = PriorityNetwork(one, one, one[0], one[0], one[:, 0], one[:, 0], 0 * one[:, 0],
    ...     np.zeros(2, bool), (1, 2), (Discipline.PREEMPTIVE,))
    >>> ordered_mva(network)[0].rate.ravel().round(3).tolist()
    [0.5, 0.3]
    """
    none = np.zeros((len(network.priority), *network.times.shape))
    shares = Shares(none, none)
    rest = _iterated(network, shares, network.times)
    if not corrected or np.isinf(rest.stay).any():
        return rest, shares
    levels, count = _levels(network), len(network.priority) + 1
    points, here = network.times.shape[-1], np.tile(rest.stay, count)
    for _ in range(_CORRECTIONS):
        level = _iterated(levels, shares.tiled(count), here)
        here = level.stay
        if np.isinf(here).any():
            return Rest(
                rest.rate, np.where(np.isinf(here[..., :points]), np.inf, rest.stay)
            ), shares
        queue = level.rate[:, None] * levels.visits * here
        busy = level.rate[:, None] * levels.visits * levels.times
        shares = Shares(_change(levels, queue, count), _change(levels, busy, count))
    return _iterated(network, shares, here[..., :points]), shares


def _levels(network: PriorityNetwork) -> PriorityNetwork:
    """The network followed by those with one job fewer of the first, second... class, as points."""
    classes, points = network.population.shape
    whole = network.at(np.tile(np.arange(points), classes + 1))
    population = whole.population.reshape(classes, classes + 1, points).copy()
    for c in range(classes):
        population[c, c + 1] = np.maximum(population[c, c + 1] - 1, 0)
    return replace(whole, population=population.reshape(classes, -1))


def _change(levels: PriorityNetwork, part: FloatArray, count: int) -> FloatArray:
    """Changes of the shares of class j with one job of class c fewer, shape (j, c, k, p)."""
    share = np.where(levels.is_open[:, None, None], 0.0, part / levels.jobs[:, None])
    share = share.reshape(*part.shape[:2], count, -1)
    change: FloatArray = (share[:, :, 1:] - share[:, :, :1]).transpose(0, 2, 1, 3)
    return change


def _iterated(network: PriorityNetwork, shares: Shares, start: FloatArray) -> Rest:
    """Iterate with fixed changes of shares."""
    stays = start
    tolerances = [tolerance for steps, tolerance in _CLOSE for _ in range(steps)]
    for tolerance in tolerances:
        following = stays_at(network, shares, stays)
        change = np.abs(following - stays) / np.maximum(stays, 1e-300)
        stays = np.sqrt(stays * following)
        endless = network.is_open[:, None, None] & (stays > _ENDLESS * (network.times + 1e-300))
        if endless.any():
            return Rest(_rate(network, stays), np.where(endless, np.inf, stays))
        if change.max(initial=0.0) <= tolerance:
            return Rest(_rate(network, stays), stays)
    raise InvalidParameter("the approximation did not converge; use another method")


def _rate(network: PriorityNetwork, stays: FloatArray) -> FloatArray:
    cycle = network.think_time + (network.visits * stays).sum(axis=1)
    closed = network.population / np.where(cycle > 0, cycle, 1.0)
    return np.where(network.is_open[:, None], network.rates, closed)


def stays_at(network: PriorityNetwork, shares: Shares, stays: FloatArray) -> FloatArray:
    """Times of visits, from the jobs that arrivals meet with the present times."""
    rate, jobs, busy_shares = _rate(network, stays), shares.jobs, shares.busy
    own = np.eye(len(rate))[:, :, None]
    is_open = network.is_open[:, None, None]
    fewer = np.where(is_open, 0.0, network.population[:, None] - own)
    less = own / network.jobs[:, None]
    cycle = network.think_time + (network.visits * stays).sum(axis=1)
    times = np.empty(stays.shape)
    for k in range(stays.shape[1]):
        lanes, visits = network.lanes[k], network.visits[:, k]
        come = rate * visits / lanes
        length, busy = come * stays[:, k], come * network.times[:, k]
        between = cycle / np.where(visits > 0, visits, 1.0) - stays[:, k]
        arrival = ArrivalView(
            np.maximum(length[:, None] * (1 - less) + fewer * jobs[:, :, k] / lanes, 0.0),
            np.maximum(busy[:, None] * (1 - less) + fewer * busy_shares[:, :, k] / lanes, 0.0),
            busy,
            length,
            stays[:, k],
            np.where(network.is_open[:, None], np.inf, np.maximum(between, 0.0)),
            come,
        )
        discipline = network.disciplines[k]
        if discipline is None:
            times[:, k] = network.times[:, k]
        else:
            times[:, k] = discipline.visit_times(network, k, arrival)
    return times
