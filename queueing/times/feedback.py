"""One server to which some of those served come back at once: how long until they are through.

Passes are not independent: who arrives while one waits is ahead at the next pass. Given how many
are ahead, the transform of a pass and of the number behind at its end is a power of that number,
so that the passes' transforms are found one from the other. Exact.

Source: Takács, "A single-server queue with feedback", Bell System Technical Journal 42, 1963.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

import numpy as np

from headway.queueing.times.laws import GAMMA, ComplexArray, Piece, TimeLaw, Transform, gamma

_NEGLIGIBLE = 1e-14

STEADIEST = 0.01
"""Least squared coefficient of variation of a service that jobs come back to."""

NEARLY_CONSTANT = "constant service that some jobs return to is approximated as varying by 10%"


@dataclass(frozen=True)
class Feedback:
    """M/G/1, first come first served, whose jobs come back to the end with a chance.

    Parameters
    ----------
    arrival_rate
        From outside [1/s]; the server must keep up with them and those who return.
    chance
        Of coming back, 0 or more, below 1.
    service, mean, scv
        Service time: transform, mean [s] and squared coefficient of variation.

    Examples
    --------
    >>> Feedback(0.25, 0.5, gamma(1.0, 0.0), 1.0, 0.0).mean_time
    3.5
    """

    arrival_rate: float
    chance: float
    service: Transform
    mean: float
    scv: float

    @property
    def mean_time(self) -> float:
        """Mean time until a job leaves [s]: that of M/G/1 with all passes as one service."""
        stay = 1 - self.chance
        whole = self.mean / stay
        square = self.mean**2 * (self.scv / stay + self.chance / stay**2) + whole**2
        return whole + self.arrival_rate * square / (2 * (1 - self._busy))

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)] of the time T until a job leaves."""
        return np.asarray(sum(self._passes(s)))

    @property
    def _busy(self) -> float:
        return self.arrival_rate * self.mean / (1 - self.chance)

    def _passes(self, s: ComplexArray) -> Iterator[ComplexArray]:
        """Terms of those who leave after 1, 2, 3... passes."""
        most = 1 + int(log(_NEGLIGIBLE) / log(self.chance)) if self.chance else 1
        behind = np.ones_like(s)
        served, share = np.ones_like(s), 1 - self.chance
        for _ in range(most):
            during = s + self.arrival_rate * (1 - behind)
            own = self.service(during)
            served = served * own
            ahead = own * self._returned(behind)
            yield share * served * self._ahead_of_arrival(ahead, behind, during)
            behind, share = ahead, share * self.chance

    def _returned(self, mark: ComplexArray) -> ComplexArray:
        return 1 - self.chance + self.chance * mark

    def _ahead_of_arrival(
        self, ahead: ComplexArray, behind: ComplexArray, during: ComplexArray
    ) -> ComplexArray:
        """What an arrival finds: nobody, or a service going on and `ahead` for each after it."""
        idle = 1 - self._busy
        if self.scv == 1:  # exponential: what is left of a service is like all of it
            return idle / (1 - self._busy * ahead)
        inside = self.arrival_rate * (1 - ahead)
        turn, rest = self.service(inside), self.service(during)
        empty = self.arrival_rate * idle * (1 - ahead)
        going = empty * (rest - turn) / (ahead - turn * self._returned(ahead))
        return np.asarray(idle + self._returned(behind) * going / (during - inside))


def feedback_law(arrival_rate: float, chance: float, mean: float, scv: float) -> TimeLaw:
    """How long a job takes to leave a queue that some come back to.

    Parameters
    ----------
    arrival_rate, chance
        As of `Feedback`.
    mean, scv
        Mean [s] and squared coefficient of variation of the service time, gamma-distributed
        (exponential at 1). Below 0.01, where all times are nearly multiples of it, 0.01 is taken.

    Examples
    --------
    >>> round(feedback_law(0.05, 0.9, mean=1.0, scv=1.0).mean, 9)
    20.0
    """
    notes = (() if scv == 1 else (GAMMA,)) if scv >= STEADIEST else (NEARLY_CONSTANT,)
    scv = max(scv, STEADIEST)
    queue = Feedback(arrival_rate, chance, gamma(mean, scv), mean, scv)
    return TimeLaw((Piece(0.0, queue.transform),), queue.mean_time, notes)
