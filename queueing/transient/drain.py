"""How long a backlog lasts: the law of the time until nobody waits.

The chain of the number of jobs is followed until it first falls to the number of servers; the
probability still above is that of a backlog that lasts longer. At constant rates the time from n
jobs to m has mean (n - m) / (m mu - lambda), the sum of n - m busy periods.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.transient.forward import Numbers, Piece, forward

REST = 1e-4
"""Probability left at which following a backlog ends; far beyond the reported interval."""


@dataclass(frozen=True)
class Drain:
    """The law of the time until a backlog is gone.

    Parameters
    ----------
    times, left
        Times [s], and the probability that the backlog lasts longer, which never increases.

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
        """The time not exceeded by so many of 100 backlogs [s]; infinite if not seen."""
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
    """The law of the time until nobody waits, followed at most to the end of the last piece.

    Parameters
    ----------
    pieces
        Loads and capacities from now on.
    start
        Number of jobs at the start.
    servers
        Number of jobs up to which nobody waits.
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
