"""Other jobs of several classes, aggregated into one class that arrives at and leaves the queues.

If classes differ only in their arrivals at the queues, the number n of jobs at queues has a product
form of its own: P(n) ~ G(n) H(n), with G(n) the normalising constant of the queues and

    H(n) / n! = sum over n_1 + n_2 + ... = n of h_1(n_1) / n_1! h_2(n_2) / n_2! ...

An open class of rate lambda has h(n) = lambda**n; a class of N jobs, each away from the queues for
a mean time A per cycle, has h(n) = N! / (N - n)! / A**n. The aggregate arrives at the rate H(n + 1)
/ H(n) while n jobs are at queues.

Source: Baskett, Chandy, Muntz and Palacios, JACM 22(2), 1975.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.special import gammaln

from headway.errors import GraphError
from headway.kinds import FloatArray
from headway.queueing.passages.passage import Passage
from headway.records import dataclass

_MOST_TERMS = 10_000_000
"""Products of populations of closed classes above which these count as one class: a limit for
speed, which `AS_ONE` of `headway.models.solving.response_times.closed_classes` labels.
"""

_FEWEST, _MOST = 32, 20_000
"""Largest number of jobs at queues at first, and at most, if there is an open class: for speed."""

_LEFT_OUT = 1e-10
"""Largest probability of the last number of jobs at queues that is kept."""


@dataclass(frozen=True)
class ArrivingClass:
    """The arrivals of a class of other jobs at the queues.

    Parameters
    ----------
    jobs
        N of a closed class; 0 for an open one.
    away
        A, mean time of each job away from the queues per cycle [s]; for an open class 1 / lambda.

    Examples
    --------
    >>> ArrivingClass(3, 2.0).logs(3, 1.0).round(6).tolist()  # 1, 3 / 2, 3 * 2 / 2**2 / 2!...
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
        choices = gammaln(self.jobs + 1) - gammaln(self.jobs - inside + 1) - gammaln(inside + 1)
        return np.where(n <= self.jobs, choices - n * np.log(self.away * flow), -np.inf)


def with_other_classes(alone: Passage, arriving: Sequence[ArrivingClass]) -> Passage:
    """Add other jobs of several classes to the network of a tagged job that is alone.

    Parameters
    ----------
    alone
        A passage with a population of 1.
    arriving
        The classes. Jobs of open ones are kept up to a number that is rarely exceeded.

    Raises
    ------
    GraphError
        If more than 20,000 jobs at queues would have to be kept.

    Examples
    --------
    >>> from headway.queueing.passages.passage import PassageStation
    >>> one, cpu = np.ones(1), PassageStation("cpu", 1.0, 1, 1)
    >>> alone = Passage((cpu,), one, 0 * one[None], one, 1, 0.0, 0.5, one)
    >>> with_other_classes(alone, [ArrivingClass(3, 5.0)]).population
    4
    >>> with_other_classes(alone, [ArrivingClass(0, 2.0)]).population > 30
    True
    """
    closed, comes = sum(each.jobs for each in arriving), any(not each.jobs for each in arriving)
    most = closed + (_FEWEST if comes else 0)
    while True:
        weights = outside_weights(arriving, most, alone.throughput) if arriving else np.ones(1)
        stations = tuple(replace(s, servers=min(s.servers, most + 1)) for s in alone.stations)
        passage = replace(alone, stations=stations, population=most + 1, outside=weights)
        if not comes or passage.fullness <= _LEFT_OUT:
            return passage
        most = 2 * most
        if most > _MOST:
            msg = (
                f"percentiles support up to {_MOST:,} jobs inside, and the network is nearly "
                "saturated; reduce the load"
            )
            raise GraphError(msg)


def outside_weights(arriving: Sequence[ArrivingClass], most: int, flow: float) -> FloatArray:
    """Weights of j = 0, 1, 2... jobs away from the queues, of `most` jobs: H(most - j).

    Parameters
    ----------
    arriving
        The classes.
    most
        Largest number of jobs at queues that is kept.
    flow
        Approximate throughput of all classes [1/s]: H(n) is divided by flow**n.

    Returns
    -------
    Shape (most + 1,), the largest 1.

    Examples
    --------
    >>> outside_weights([ArrivingClass(2, 1.0)], 2, 1.0).tolist()  # as if thinking: 1, 1, 1 / 2
    [1.0, 1.0, 0.5]
    """
    opened = sum(1 / each.away for each in arriving if not each.jobs)
    closed = [each for each in arriving if each.jobs]
    if not are_counted_apart(arriving):
        total = sum(each.jobs for each in closed)
        closed = [ArrivingClass(total, sum(each.jobs * each.away for each in closed) / total)]
    logs = np.where(np.arange(most + 1) == 0, 0.0, -np.inf)
    for each in [*closed, *([ArrivingClass(0, 1 / opened)] if opened else [])]:
        logs = _convolved(logs, each.logs(most, flow))
    logs = logs + gammaln(np.arange(most + 1) + 1)
    return np.asarray(np.exp(logs - logs.max()))[::-1]


def are_counted_apart(arriving: Sequence[ArrivingClass]) -> bool:
    """Whether closed classes are few enough for H to be exact; otherwise they count as one class.

    Examples
    --------
    >>> are_counted_apart([ArrivingClass(30, 2.0), ArrivingClass(40, 1.0)])
    True
    """
    closed = [each.jobs for each in arriving if each.jobs]
    return len(closed) <= 1 or sum(closed) ** 2 <= _MOST_TERMS


def _convolved(first: FloatArray, second: FloatArray) -> FloatArray:
    """Convolve two series that are given as logarithms."""
    if np.isfinite(first).sum() < np.isfinite(second).sum():
        first, second = second, first  # the loop is over the shorter series
    total = np.full(len(first), -np.inf)
    for n in np.flatnonzero(np.isfinite(second)):
        total[n:] = np.logaddexp(total[n:], first[: len(first) - n] + second[n])
    return total
