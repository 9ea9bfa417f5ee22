"""How long a job takes that shares its servers with all who are there: processor sharing.

The job is followed among a number of others that goes up and down by one, with each of which it
shares alike; its transform is the solution of a tridiagonal system. Exact for exponential services
of one mean; of several, the others present are taken to be as in equilibrium, given their number.

Source: Coffman, Muntz and Trotter, "Waiting time distributions for processor-sharing systems",
JACM 17(1), 1970 (one server); the chain is a birth-death one, absorbed when the job is served.
"""

from dataclasses import dataclass

import numpy as np

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.times.laws import ComplexArray, Piece, TimeLaw

_LEFT_OUT = 1e-14  # chance of more others than the chain has room for
_MOST = 20_000  # others that are followed


@dataclass(frozen=True)
class Sharing:
    """A job among 0, 1, 2... others.

    Parameters
    ----------
    births, deaths
        How fast another comes, and one of those there is served [1/s], by their number.
    ends
        How fast the job itself is served [1/s].
    start
        Chances of the number that it finds.

    Examples
    --------
    >>> alone = Sharing(np.zeros(1), np.zeros(1), np.ones(1), np.ones(1))
    >>> alone.transform(np.array([1.0 + 0j])).real.tolist()
    [0.5]
    """

    births: FloatArray
    deaths: FloatArray
    ends: FloatArray
    start: FloatArray

    def transform(self, s: ComplexArray) -> ComplexArray:
        """E[exp(-s T)], by elimination from the largest number down to none."""
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
        """How long the job takes."""
        return TimeLaw((Piece(0.0, self.transform),), self.mean())


def shared_law(rate: float, time: float, own: float, servers: int) -> TimeLaw:
    """Response time at servers that are shared by all who are there, none having more than one.

    Parameters
    ----------
    rate
        Poisson arrivals [1/s], below what the servers can do.
    time
        Mean of all services [s].
    own
        Mean of the service that the job itself needs [s].
    servers
        Number of servers m: of n jobs each has m / n of one, at most a whole one.

    Examples
    --------
    >>> round(shared_law(0.5, 1.0, 1.0, 1).mean, 9)  # S / (1 - U)
    2.0
    """
    load = rate * time
    count = servers + int(np.log(_LEFT_OUT) / np.log(max(load / servers, 1e-3))) + 2
    if count > _MOST:
        msg = (
            f"percentiles at a shared server are found up to {_MOST} others; it is nearly saturated"
        )
        raise GraphError(msg)
    n = np.arange(count)
    share = np.minimum(1.0, servers / (n + 1))
    with np.errstate(divide="ignore"):
        logs = np.cumsum(np.log(load / np.minimum(np.arange(1.0, count), servers)))
    start = np.exp(np.append(0.0, logs) - logs.max(initial=0.0))
    start /= start.sum()
    return Sharing(np.full(count, rate), n * share / time, share / own, start).law()
