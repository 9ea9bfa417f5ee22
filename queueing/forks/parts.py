"""Forks in closed networks: parts that are waited for, and parts that outlast their request."""

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from headway.errors import Saturated
from headway.kinds import Amount, FloatArray, number
from headway.numerals import four_digits
from headway.queueing.forks.branches import branch_time
from headway.queueing.forks.kth import kth, unfinished
from headway.queueing.forks.queue import ForkQueue, divisor
from headway.queueing.order_statistics.alike import left_over, moments
from headway.queueing.stations.base import Station

# largest utilisation of a branch: that of mean value analysis with n - 1 jobs can exceed 1
_FULL = 0.999
_MOST = (
    1 - 1e-9
)  # largest share of a branch's time for parts that nobody waits for: 1 would divide by 0
_ROUNDING = 1e-9  # relative, of a throughput at its limit


def some_needed(station: Station) -> bool:
    """Whether a fork goes on before all of its parts are done, at some operating point.

    Examples
    --------
    >>> from headway.queueing import ForkJoin
    >>> some_needed(ForkJoin(1.0, 3, 2)), some_needed(ForkJoin(1.0, 3, 3))
    (True, False)
    """
    if not station.can.forks:
        return False
    return bool(np.any(_needed(station) < _count(station)))


def _needed(station: Station) -> FloatArray:
    return np.asarray(number("needed", getattr(station, "needed")), float)  # noqa: B009 - of forks


def _count(station: Station) -> FloatArray:
    """Number of branches of a fork, equal or different."""
    several: Amount = getattr(station, "branches")  # noqa: B009 - of kinds that fork
    return np.asarray(len(several) if isinstance(several, tuple) else several, float)


class ClosedForks:
    """The forks of a closed network, and their branches in mean value analysis.

    Parameters
    ----------
    stations, branches, visits
        As for `headway.queueing.forks.closed.solve_forked`.
    queues
        All stations except forks to different stations.
    """

    def __init__(
        self,
        stations: Mapping[str, Station],
        branches: Mapping[str, Sequence[str]],
        visits: Mapping[str, FloatArray],
        queues: Mapping[str, ForkQueue],
    ) -> None:
        self._stations, self._branches = stations, branches
        self._visits, self._queues = visits, queues
        self.some = {name for name, station in stations.items() if some_needed(station)}
        self.waited: dict[str, FloatArray] = {name: visits[name] for name in queues}
        self.most = self._throughput_limit()

    def _throughput_limit(self) -> FloatArray:
        """Throughput at which the bottleneck is saturated [1/s].

        A fork that needs k of its branches is limited by the k-th fastest of them.
        """
        some = [fork for fork in self.some if fork in self._branches]
        apart = {branch for fork in some for branch in self._branches[fork]}
        limits = [queue.most for name, queue in self._queues.items() if name not in apart]
        for fork in some:
            each = np.sort([self._queues[b].most for b in self._branches[fork]], axis=0)
            place = len(each) - self._spread(_needed(self._stations[fork])).astype(int)
            limits.append(np.take_along_axis(each, place[np.newaxis], axis=0)[0])
        return reduce(np.minimum, limits)

    def _spread(self, value: FloatArray) -> FloatArray:
        """A value at each of the operating points."""
        return np.broadcast_to(value, next(iter(self._visits.values())).shape)

    def joined(self, parts: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Times of a visit to each station, for forks until enough parts are done [s]."""
        times = dict(parts)
        for name, time in parts.items():
            station, queue = self._stations[name], self._queues[name]
            if (
                station.can.forks
            ):  # with equal branches the k-th takes x(k, n; g) times as long as one
                busy = np.minimum(queue.busy, 1.0)
                ratio = moments(_count(station), _needed(station), queue.scv, busy)[0]
                times[name] = np.asarray(ratio * time)
        return times | {fork: kth(*self._unlike(fork, parts))[0] for fork in self._branches}

    def _unlike(
        self, fork: str, parts: Mapping[str, FloatArray]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Means and own scvs g_b of a fork's branches, shape (n, points), and k."""
        owns, means = [], []
        for name in self._branches[fork]:
            queue = self._queues[name]
            most = np.minimum(np.maximum(queue.busy, 1e-12), _FULL)
            rate = most / np.where(queue.busy > 0, queue.busy, 1.0) * queue.rate
            share = self._visits[fork] / divisor(self._visits[name])
            one = branch_time(self._stations[name], rate, rate * share)
            owns.append(self._spread(one.own))
            means.append(self._spread(parts[name]))
        return np.array(means), np.array(owns), self._spread(_needed(self._stations[fork]))

    def share(self, parts: Mapping[str, FloatArray]) -> None:
        """Compute the visits by parts that are still waited for, from these times of parts [s]."""
        waited = {name: self._visits[name] for name in self._queues}
        for fork in sorted(self.some):
            if fork in self._branches:
                shares = unfinished(*self._unlike(fork, parts))
                for branch, share in zip(self._branches[fork], shares, strict=True):
                    waited[branch] = waited[branch] - self._visits[fork] * (1 - share)
            else:
                station, queue = self._stations[fork], self._queues[fork]
                busy = np.minimum(queue.busy, 1.0)
                left = left_over(_count(station), _needed(station), queue.scv, busy)
                waited[fork] = waited[fork] * (1 - left)
        self.waited = waited

    def lengthened(
        self, bare: Mapping[str, FloatArray], rate: FloatArray
    ) -> Mapping[str, FloatArray]:
        """Times of parts [s], lengthened by parts that outlast their requests."""
        if not self.some:
            return bare
        return {name: time / (1 - self._taken(name, rate)) for name, time in bare.items()}

    def _taken(self, name: str, rate: FloatArray) -> FloatArray:
        """X f S/m: the utilisation of a branch by parts that no request waits for any more."""
        outlasting = self._visits[name] - self.waited[name]
        return np.minimum(rate * outlasting * self._queues[name].each, _MOST)

    def steepest(self, rate: FloatArray) -> FloatArray:
        """Largest elasticity of a part's time to the throughput: taken / (1 - taken)."""
        taken = reduce(np.maximum, (self._taken(name, rate) for name in self._queues))
        return np.asarray(taken / (1 - taken))

    def check_kept_up(self, rate: FloatArray) -> None:
        """Refuse branches that receive more than they can serve.

        Raises
        ------
        Saturated
            With the name of the branch.
        """
        for fork in sorted(self.some & self._branches.keys()):
            for branch in self._branches[fork]:
                over = rate / self._queues[branch].most
                if np.any(over > 1 + _ROUNDING):
                    msg = (
                        f"{branch}: {fork} sends {four_digits(float(np.max(over)))} times what it "
                        "can serve, as it waits for faster branches only, so its queue grows for "
                        "ever; raise needed or think_time"
                    )
                    raise Saturated(msg)
