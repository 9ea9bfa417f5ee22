"""Jobs of several classes that come to a network's queues and leave them, as one crowd.

Where classes differ in how they come only, the number of all who are inside has a product form of
its own: P(n) ~ G(n) H(n), G that of the queues and H(n) / n! the sum of the product of the classes'
weights h(n_c) / n_c! over n = n_1 + n_2 + ... An open class has h(n) = rate**n, one of N jobs that
are away for A at a time has h(n) = N! / (N - n)! / A**n. They come at H(n + 1) / H(n).

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.passages.passage import Circle

_MOST_TERMS = 10_000_000
"""Products of numbers of closed classes, beyond which they count as one class."""


_FEWEST, _MOST = 32, 20_000
_REST = 1e-10
"""Chance of as many inside as are counted with."""


@dataclass(frozen=True)
class Comers:
    """A class of jobs as it comes to the queues.

    Parameters
    ----------
    jobs
        How many there are; of an open class 0.
    away
        Mean time of each outside the queues, in each circle [s]; of an open class that between
        arrivals.

    Examples
    --------
    >>> Comers(3, 2.0).logs(3, 1.0).round(6).tolist()  # 1, 3 / 2, 3 * 2 / 2**2 / 2!...
    [0.0, 0.405465, -0.287682, -2.079442]
    """

    jobs: int
    away: float

    def logs(self, most: int, flow: float) -> FloatArray:
        """Logarithms of h(n) / n! / flow**n for n = 0 to `most`."""
        n = np.arange(most + 1)
        if not self.jobs:
            return np.asarray(-n * np.log(self.away * flow) - gammaln(n + 1))
        if self.away == 0:
            return np.where(n == self.jobs, 0.0, -np.inf)
        inside = np.minimum(n, self.jobs)
        ways = gammaln(self.jobs + 1) - gammaln(self.jobs - inside + 1) - gammaln(inside + 1)
        return np.where(n <= self.jobs, ways - n * np.log(self.away * flow), -np.inf)


def with_others(alone: Circle, comers: Sequence[Comers]) -> Circle:
    """Put jobs of several classes beside the one that goes alone through a circle.

    Parameters
    ----------
    alone
        A circle of one job.
    comers
        The others; some that come for ever are counted with up to a number that is rarely passed.

    Raises
    ------
    GraphError
        For more than can be counted with.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Place
    >>> one = np.ones(1)
    >>> alone = Circle((Place("cpu", 1.0, 1, 1),), one, 0 * one[None], one, 1, 0.0, 0.5, one)
    >>> with_others(alone, [Comers(3, 5.0)]).population
    4
    >>> with_others(alone, [Comers(0, 2.0)]).population > 30
    True
    """
    closed, comes = sum(each.jobs for each in comers), any(not each.jobs for each in comers)
    most = closed + (_FEWEST if comes else 0)
    while True:
        weights = outside(comers, most, alone.throughput) if comers else np.ones(1)
        places = tuple(replace(p, servers=min(p.servers, most + 1)) for p in alone.places)
        circle = replace(alone, places=places, population=most + 1, outside=weights)
        if not comes or circle.fullness <= _REST:
            return circle
        most = 2 * most
        if most > _MOST:
            msg = (
                f"percentiles support up to {_MOST:,} jobs inside, and the network is nearly "
                "saturated; reduce the load"
            )
            raise GraphError(msg)


def outside(comers: Sequence[Comers], most: int, flow: float) -> FloatArray:
    """Weights of 0, 1, 2... away, of `most` places that are inside or away.

    Parameters
    ----------
    comers
        The classes.
    most
        Largest number inside that is counted with.
    flow
        What the network does, about [1/s]; the weights are over flow**n of n inside.

    Returns
    -------
    Shape (most + 1,), the largest 1.

    Examples
    --------
    >>> outside([Comers(2, 1.0)], 2, 1.0).tolist()  # as those of one that thinks: 1, 1, 1 / 2
    [1.0, 1.0, 0.5]
    """
    logs = np.where(np.arange(most + 1) == 0, 0.0, -np.inf)
    for each in _few(comers):
        logs = _convolved(logs, each.logs(most, flow))
    logs = logs + gammaln(np.arange(most + 1) + 1)
    return np.asarray(np.exp(logs - logs.max()))[::-1]


def are_counted_apart(comers: Sequence[Comers]) -> bool:
    """Whether closed classes are few enough to be counted each by itself.

    Examples
    --------
    >>> are_counted_apart([Comers(30, 2.0), Comers(40, 1.0)])
    True
    """
    closed = [each.jobs for each in comers if each.jobs]
    return len(closed) <= 1 or sum(closed) ** 2 <= _MOST_TERMS


def _few(comers: Sequence[Comers]) -> list[Comers]:
    """Open classes as one, which is exact; closed ones too if there are too many of them."""
    came = sum(1 / each.away for each in comers if not each.jobs)
    closed = [each for each in comers if each.jobs]
    total = sum(each.jobs for each in closed)
    if not are_counted_apart(comers):
        closed = [Comers(total, sum(each.jobs * each.away for each in closed) / total)]
    return [*closed, *([Comers(0, 1 / came)] if came else [])]


def _convolved(first: FloatArray, second: FloatArray) -> FloatArray:
    """Convolve series that are given as logarithms, the second one with few numbers at best."""
    if np.isfinite(first).sum() < np.isfinite(second).sum():
        first, second = second, first
    total = np.full(len(first), -np.inf)
    for n in np.flatnonzero(np.isfinite(second)):
        total[n:] = np.logaddexp(total[n:], first[: len(first) - n] + second[n])
    return total
