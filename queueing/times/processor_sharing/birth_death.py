"""The time of a job that shares its servers with all jobs present: processor sharing.

The job is followed together with the number of others, a birth-death process, with each of which it
shares alike; its transform is the solution of a tridiagonal system. Exact for exponential services
of one mean; for several, the others present are taken to be in equilibrium, given their number.

Source: Coffman, Muntz and Trotter, "Waiting time distributions for processor-sharing systems",
JACM 17(1), 1970 (one server); the chain is a birth-death one, absorbed when the job is served.
"""

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw
from headway.records import dataclass


@dataclass(frozen=True)
class BirthDeathSharing:
    """A tagged job whose number n of other jobs is a birth-death process.

    Parameters
    ----------
    births, deaths
        Rates from n to n + 1 and from n to n - 1 [1/s], by n.
    ends
        Rate at which the tagged job ends its service [1/s], by n.
    start
        Probability of n on arrival.

    Examples
    --------
    >>> alone = BirthDeathSharing(np.zeros(1), np.zeros(1), np.ones(1), np.ones(1))
    >>> alone.transform(np.array([1.0 + 0j])).real.tolist()
    [0.5]
    """

    births: FloatArray
    deaths: FloatArray
    ends: FloatArray
    start: FloatArray

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)], by elimination from the largest n down to 0."""
        last = len(self.start) - 1
        births = np.where(np.arange(last + 1) < last, self.births, 0.0)
        down, rest = [np.zeros_like(s)] * (last + 1), [np.zeros_like(s)] * (last + 1)
        for n in range(last, -1, -1):
            whole = s + births[n] + self.deaths[n] + self.ends[n]
            if n < last:
                whole = whole - births[n] * down[n + 1]
            after = births[n] * rest[n + 1] if n < last else 0.0
            down[n], rest[n] = self.deaths[n] / whole, (self.ends[n] + after) / whole
        value, total = rest[0], self.start[0] * rest[0]
        for n in range(1, last + 1):
            value = rest[n] + down[n] * value
            total = total + self.start[n] * value
        return np.asarray(total)

    def mean(self) -> float:
        """E[T] [s], by the same elimination."""
        count = len(self.start)
        births = np.where(np.arange(count) < count - 1, self.births, 0.0)
        down, rest = np.zeros(count + 1), np.zeros(count + 1)
        for n in range(count - 1, -1, -1):
            whole = births[n] * (1 - down[n + 1]) + self.deaths[n] + self.ends[n]
            down[n] = self.deaths[n] / whole
            rest[n] = (1 + births[n] * rest[n + 1]) / whole
        value, total = 0.0, 0.0
        for n in range(count):
            value = rest[n] + down[n] * value
            total += self.start[n] * value
        return float(total)

    def law(self) -> TimeLaw:
        """Law of the response time T."""
        return TimeLaw((Piece(0.0, self.transform),), self.mean())
