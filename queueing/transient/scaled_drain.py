"""How long a backlog lasts under an autoscaler: along each course, until nobody waits.

As in `headway.queueing.transient.drain`, a course is left for good once its jobs do not exceed its
ready replicas. The total probability of the remaining courses is that somebody still waits; looks
split courses as in `headway.queueing.transient.scaled`.
"""

from collections.abc import Callable

import numpy as np

from headway.queueing.transient.autoscaler import Autoscaler
from headway.queueing.transient.branches import Branch, Start
from headway.queueing.transient.drain import REST, Drain
from headway.queueing.transient.forward import Follower
from headway.queueing.transient.network import TimedNetwork
from headway.queueing.transient.scaled import ERROR, Courses
from headway.queueing.transient.service import Service

FALL = 0.03
"""Largest decrease of the probability between two times of the law; curves through them are then
within 0.1% of it. Chosen.
"""

_SHORT = 1e-6
"""Share of an interval that is not halved further: ready replicas may end all waits at once."""


def drain_by_autoscaler(
    network: TimedNetwork, law: Autoscaler, count: int, service: Callable[[int], Service]
) -> Drain | None:
    """The law of the time until nobody waits, followed at most to the end of the day.

    Parameters
    ----------
    network, law, count, service
        As in `headway.queueing.transient.scaled.by_autoscaler`.

    Returns
    -------
    None if nobody waits at the start.
    """
    if network.start is None or network.start <= service(count).crowd:
        return None
    return _Waiting(network, law, count, service).law_of_time()


class _Waiting(Courses):
    """Courses in which somebody has waited ever since the start, with total probability `alive`."""

    def __init__(
        self,
        network: TimedNetwork,
        law: Autoscaler,
        count: int,
        service: Callable[[int], Service],
    ) -> None:
        super().__init__(network, law, count, service, np.zeros(len(network.rates)), None)
        self.alive, self.spent = 1.0, 0.0
        self.times, self.left = [0.0], [1.0]

    def follower(self, service: Service) -> Follower:
        """A follower that leaves a course for good once nobody waits."""
        return Follower(int(service.crowd) + 1, ERROR)

    def law_of_time(self) -> Drain:
        """The law of the time until nobody waits."""
        edges, interval = self.network.edges, self.law.interval
        due = float(edges[0]) + interval
        for at, end, rate in zip(edges[:-1], edges[1:], self.network.rates, strict=True):
            if at >= due - 1e-9 * interval:
                self.only_waiting()
                self.look(float(at), risen=False)
                due += interval
            self.advance(float(at), float(end), float(rate))
            if self.left[-1] < REST:
                break
        return Drain(np.array(self.times), np.minimum.accumulate(np.array(self.left)), self.spent)

    def advance(self, at: float, end: float, rate: float) -> None:
        """Follow all courses between two times, in halves if much of their probability ends."""
        before = self.branches.copy()
        spent = self.through(at, end, rate)
        left = self.alive * sum(branch.chance for branch in self.branches)
        if self.left[-1] - left > FALL and end - at > _SHORT * self.law.interval:
            self.branches, middle = before, (at + end) / 2
            self.advance(at, middle, rate)
            self.advance(middle, end, rate)
            return
        self.times.append(end - float(self.network.edges[0]))
        self.left.append(left)
        self.spent += self.alive * sum(float(time.chances.sum()) for time, _ in spent)

    def only_waiting(self) -> None:
        """Drop courses that have ended, and rescale the others to total probability 1."""
        whole = sum(branch.chance for branch in self.branches)
        self.alive *= whole
        self.branches = [
            Branch(
                pods,
                chance / whole,
                Start([(weight / chance, now.columns)]),
                chance / whole,
            )
            for pods, weight, now, chance in self.branches
            if chance > REST * whole
        ]
