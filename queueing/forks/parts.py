"""Parts of requests in closed networks: those waited for, and those that outlast their request."""

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from headway.errors import Saturated
from headway.kinds import Amount, FloatArray, number
from headway.numerals import four_digits
from headway.queueing.forks.branches import part
from headway.queueing.forks.kth import kth, unfinished
from headway.queueing.forks.queue import Queue, above
from headway.queueing.stations.base import Station
from headway.queueing.times.orders import left_over, moments

_FULL = 0.999  # utilisation that a branch has at most, where that of n - 1 jobs is told as more
_MOST = 1 - 1e-9  # of a branch's time that parts which nobody waits for take
_ROUNDING = 1e-9  # of a throughput that is a limit


def some_needed(station: Station) -> bool:
    """Whether a fork goes on before all its parts are done, at some operating point.

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
    """Branches of a fork, like or unlike ones."""
    several: Amount = getattr(station, "branches")  # noqa: B009 - of kinds that fork
    return np.asarray(len(several) if isinstance(several, tuple) else several, float)


class Parts:
    """The forks of a closed network, and their branches as mean value analysis finds them.

    Parameters
    ----------
    stations, branches, visits
        As for `headway.queueing.forks.closed.solve_forked`.
    queues
        All stations but forks to unlike ones.
    """

    def __init__(
        self,
        stations: Mapping[str, Station],
        branches: Mapping[str, Sequence[str]],
        visits: Mapping[str, FloatArray],
        queues: Mapping[str, Queue],
    ) -> None:
        self._stations, self._branches = stations, branches
        self._visits, self._queues = visits, queues
        self.some = {name for name, station in stations.items() if some_needed(station)}
        self.waited: dict[str, FloatArray] = {name: visits[name] for name in queues}
        self.most = self._most()

    def _most(self) -> FloatArray:
        """What the busiest station lets through [1/s]; times are stretched where they tell of more.

        A fork that needs k goes on with the k-th fastest of its branches.
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
        """Over the operating points."""
        return np.broadcast_to(value, next(iter(self._visits.values())).shape)

    def joined(self, parts: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
        """Times of a visit to each station, of forks until enough parts are done [s]."""
        times = {name: self._like(name, time) for name, time in parts.items()}
        return times | {fork: kth(*self._unlike(fork, parts))[0] for fork in self._branches}

    def _like(self, name: str, time: FloatArray) -> FloatArray:
        station, queue = self._stations[name], self._queues[name]
        if not station.can.forks:
            return time
        busy = np.minimum(queue.busy, 1.0)
        times = moments(_count(station), _needed(station), queue.scv, busy)[0]
        return np.asarray(times * time)

    def _unlike(
        self, fork: str, parts: Mapping[str, FloatArray]
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What the parts of a fork take, what each does not share, and how many are needed."""
        owns, means = [], []
        for name in self._branches[fork]:
            queue = self._queues[name]
            most = np.minimum(np.maximum(queue.busy, 1e-12), _FULL)
            rate = most / np.where(queue.busy > 0, queue.busy, 1.0) * queue.rate
            share = self._visits[fork] / above(self._visits[name])
            one = part(self._stations[name], rate, rate * share)
            owns.append(self._spread(one.own))
            means.append(self._spread(parts[name]))
        return np.array(means), np.array(owns), self._spread(_needed(self._stations[fork]))

    def share(self, parts: Mapping[str, FloatArray]) -> None:
        """Find what share of its time somebody waits for a part, at these times [s]."""
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

    def beside(self, bare: Mapping[str, FloatArray], rate: FloatArray) -> Mapping[str, FloatArray]:
        """Times of parts among those that outlast their requests [s], from times without them."""
        if not self.some:
            return bare
        return {name: time / (1 - self._taken(name, rate)) for name, time in bare.items()}

    def _taken(self, name: str, rate: FloatArray) -> FloatArray:
        """Share of a branch's time that parts which nobody waits for any more take."""
        outlasting = self._visits[name] - self.waited[name]
        return np.minimum(rate * outlasting * self._queues[name].each, _MOST)

    def steepest(self, rate: FloatArray) -> FloatArray:
        """How many percent a part takes longer for one more of throughput, at the most."""
        taken = reduce(np.maximum, (self._taken(name, rate) for name in self._queues))
        return np.asarray(taken / (1 - taken))

    def check_kept_up(self, rate: FloatArray) -> None:
        """Refuse branches to which more comes than they can serve.

        Raises
        ------
        Saturated
            Naming the branch.
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
