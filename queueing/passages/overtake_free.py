"""Times of a job that goes forward only, from the state in which it finds the network.

Who comes to a closed network finds it as it is with one job less (arrival theorem). Where nobody
can overtake, times at the stations are distributed as if the job found each of them in that state
at once: E[exp(-s T)] is a ratio of normalising constants, with a factor t**n in the weight of n
jobs at a station that the job passes, t the transform of a service there. Exact for stations of
single servers, first come first served; the same is taken for others.

Source: Schassberger and Daduna, "The time for a round trip in a cycle of exponential queues", JACM
30(1), 1983; Kelly and Pollett, "Sojourn times in closed queueing networks", Adv. Appl. Prob. 15(3),
1983; Boxma, Kelly and Konheim, "The product form for sojourn time distributions in cyclic
exponential queues", JACM 31(1), 1984.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.passages.passage import Circle
from headway.queueing.times.laws import ComplexArray, gamma

STEADY = 0.01
"""Squared coefficient of variation of a constant time that only some jobs spend."""

_GONE = -1


@dataclass(frozen=True)
class FollowedJob:
    """A job that goes through a circle, each station once at most.

    Parameters
    ----------
    circle
        The network.
    order
        Its stations, none before one from which jobs come to it.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> two = Circle((Place("cpu", 1.0, 1, 1),), one, 0 * one[None], one, 2, 0.0, 1.0, 2 * one)
    >>> FollowedJob(two, [0]).transform(np.array([1.0 + 0j])).real.tolist()
    [0.25]
    """

    circle: Circle
    order: list[int]

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)], without the constant times."""
        circle, base = self.circle, self.circle.at_delays(self.circle.others + 1)
        going: dict[int, ComplexArray] = {
            int(k): np.asarray(base * (circle.entries[k] + 0 * s))
            for k in np.flatnonzero(circle.entries)
        }
        nowhere = 1 - float(circle.entries.sum())
        if nowhere > 0:
            going[_GONE] = np.asarray(base * (nowhere + 0 * s))
        for k in self.order:
            own = going.pop(k, None)
            queue = circle.queues[k]
            if queue is not None:
                going = {target: queue.times(series) for target, series in going.items()}
            if own is not None:
                self._go_on(going, k, self._pass(k, own, s))
        return np.asarray(going[_GONE][-1] / circle.ways[-1])

    def _pass(self, k: int, series: ComplexArray, s: ComplexArray) -> ComplexArray:
        queue = self.circle.queues[k]
        if queue is not None:
            return queue.passed(series, s)
        return np.asarray(series * gamma(self.circle.places[k].own_time, STEADY)(s))

    def _go_on(self, going: dict[int, ComplexArray], k: int, series: ComplexArray) -> None:
        targets = [(int(j), float(self.circle.onward[k, j])) for j in self.order]
        for target, chance in [*targets, (_GONE, float(self.circle.leaving[k]))]:
            if chance > 0:
                going[target] = going.get(target, 0) + chance * series


def cannot_overtake(circle: Circle) -> bool:
    """Whether jobs cannot overtake each other, so that the law is exact.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> pool = Circle((Place("cpu", 1.0, 4, 1),), one, 0 * one[None], one, 9, 1.0, 2.0, 3 * one)
    >>> cannot_overtake(pool)  # the only station: who is served no longer counts
    True
    """
    queues = [k for k, place in enumerate(circle.places) if not place.is_delay]
    if len(queues) < 2:
        return True
    single = all(circle.places[k].servers == 1 or _at_an_end(circle, k) for k in queues)
    certain = len(queues) == len(circle.places)
    return bool(single and certain and _ways(circle.onward > 0).max() <= 1)


def _at_an_end(circle: Circle, k: int) -> bool:
    return not (circle.onward[k].any() and circle.onward[:, k].any())


def _ways(edges: NDArray[np.bool_]) -> FloatArray:
    """Numbers of ways from station to station."""
    ways = np.eye(len(edges))
    for _ in edges:
        ways = np.eye(len(edges)) + edges @ ways
    return np.asarray(ways)
