"""How long a backlog lasts: the law of the time until nobody waits any more.

The chain of the number of jobs is followed until it first comes down to as many as there are
servers; what is left above is the probability that it has not yet. At constant rates the time from
n jobs to m has mean (n - m) / (m mu - lambda), the sum of n - m busy periods.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.transient.forward import Numbers, Piece, forward

REST = 1e-4
"""Probability that is left where following the backlog ends; far beyond the interval stated."""


@dataclass(frozen=True)
class Drain:
    """The time until a backlog is gone.

    Parameters
    ----------
    times, left
        Times [s], and the probability that it lasts longer, which only falls.

    Examples
    --------
    >>> from headway.queueing.transient.forward import exactly
    >>> from headway.queueing.transient.service import Service
    >>> law = drain([Piece(1000.0, 5.0, Service(0.1))], exactly(101), 1)
    >>> round(law.mean, 3), [round(law.percentile(p), 1) for p in (2.5, 97.5)]
    (20.0, [14.0, 27.6])
    """

    times: FloatArray
    left: FloatArray
    mean: float

    def percentile(self, percent: float) -> float:
        """The time that it lasts at most in so many of 100 cases [s]; infinite if not seen."""
        share = 1 - percent / 100
        if self.left[-1] > share:
            return float("inf")
        below = int(np.argmax(self.left <= share))
        if below == 0:
            return float(self.times[0])
        from scipy.interpolate import PchipInterpolator
        from scipy.optimize import brentq

        curve = PchipInterpolator(self.times, self.left)
        low, high = self.times[below - 1], self.times[below]
        return float(brentq(lambda t: float(curve(t)) - share, low, high))


def drain(pieces: Sequence[Piece], start: Numbers, servers: int) -> Drain:
    """Follow a backlog until nobody waits, or to the end of the last piece.

    Parameters
    ----------
    pieces
        The load and capacity from now on.
    start
        How many jobs are there.
    servers
        With so many there nobody waits.
    """
    times, left, spent = [0.0], [1.0], 0.0
    above = start.within(servers + 1, max(start.first + len(start.chances), servers + 2))
    left[0] = float(above.chances.sum())
    for step in forward(pieces, above, floor=servers + 1) if left[0] > 0 else ():
        times.append(times[-1] + step.length)
        left.append(float(step.end.chances.sum()))
        spent += float(step.spent.chances.sum())
        if left[-1] < REST:
            break
    return Drain(np.array(times), np.minimum.accumulate(np.array(left)), spent)
