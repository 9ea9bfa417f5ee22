"""Distributions of the number of jobs at a station, by kind of service.

A distribution is a list of probabilities with a geometric tail, whose moments have a closed form.

Source: Kleinrock, *Queueing Systems* I, 1975, chapters 3 and 5.
"""

from functools import cached_property

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.numerals import four_digits
from headway.queueing.erlang.birth_death import weights
from headway.queueing.erlang.formulas import erlang_c
from headway.queueing.erlang.poisson import poisson
from headway.records import dataclass

MOST_NUMBERS = 1_000_000
"""Most numbers of jobs whose probabilities are listed: limited by memory, not accuracy."""

# Digits only: probabilities are listed down to 1e-18 = exp(-41.4), that is within so many standard
# deviations of the mean, or e-folds of a geometric tail.
_DEVIATIONS, _E_FOLDS = 40.0, 42.0


@dataclass(frozen=True)
class NumberLaw:
    """Distribution of the number of jobs at a station at any time.

    Parameters
    ----------
    head
        Probabilities of 0, 1, 2... jobs, shape (numbers,).
    ratio
        Ratio of successive probabilities beyond the head, 0 or more and below 1.
    waits
        Probability that an admitted arrival finds no free server; NaN if unknown.
    notes
        Assumptions, in words.

    Examples
    --------
    >>> law = NumberLaw(np.array([0.5]), 0.5)
    >>> law.chances(3).tolist(), law.mean, law.variance
    ([0.5, 0.25, 0.125, 0.0625], 1.0, 2.0)
    """

    head: FloatArray
    ratio: float = 0.0
    waits: float = np.nan
    notes: tuple[str, ...] = ()

    def chances(self, most: int) -> FloatArray:
        """Probabilities of 0, 1, ..., `most` jobs, shape (most + 1,)."""
        listed = self.head[: most + 1]
        beyond = np.arange(1, most + 2 - len(listed))
        return np.concatenate([listed, self.head[-1] * self.ratio**beyond])

    @property
    def empty(self) -> float:
        """Probability of no job."""
        return float(self.head[0])

    @cached_property
    def mean(self) -> float:
        """Mean number of jobs."""
        number = np.arange(len(self.head))
        return float(number @ self.head + self._tail(number[-1], 1))

    @cached_property
    def variance(self) -> float:
        """Variance of the number of jobs, summed about the mean so that nothing cancels."""
        number = np.arange(len(self.head)) - self.mean
        return float(number**2 @ self.head + self._tail(number[-1], 2))

    def more_than(self, most: int) -> float:
        """Probability of more than `most` jobs, to full precision if it is small."""
        last = len(self.head) - 1
        if most >= last:
            beyond = self.head[-1] * self.ratio ** (most - last + 1)
            return float(beyond / (1 - self.ratio))
        return float(self.head[:most:-1].sum() + self.more_than(last))

    def covering(self, share: float) -> int:
        """Smallest number of jobs not exceeded with the probability `share`, below 1.

        Examples
        --------
        >>> NumberLaw(np.array([0.5]), 0.5).covering(0.9)
        3
        """
        rest, last = 1 - share, len(self.head) - 1
        over = self.more_than(last)
        if over > rest:
            return last + int(np.ceil(np.log(rest / over) / np.log(self.ratio)))
        beyond = np.append(np.cumsum(self.head[:0:-1])[::-1], 0.0) + over
        return int(np.argmax(beyond <= rest))

    def _tail(self, start: float, power: int) -> float:
        """Sum over the tail of (start + j)**power times its probability, j = 1, 2..."""
        r, one = self.ratio, 1 - self.ratio
        sums = (r / one, r / one**2, r * (1 + r) / one**3)
        each = (start * sums[0] + sums[1], start**2 * sums[0] + 2 * start * sums[1] + sums[2])
        return float(self.head[-1] * each[power - 1])


def delayed(load: float) -> NumberLaw:
    """Poisson law of M/G/infinity: every job is served at once, for any service times.

    Parameters
    ----------
    load
        a = lambda S, 0 or more.

    Raises
    ------
    InvalidParameter
        For more numbers of jobs than can be listed.

    Examples
    --------
    >>> round(delayed(1.0).empty, 6), round(delayed(2.5).variance, 12)
    (0.367879, 2.5)
    """
    most = int(load + _DEVIATIONS * np.sqrt(load)) + 40
    _check_listed(most)
    return NumberLaw(np.asarray(poisson(np.arange(most + 1), load)), waits=0.0)


def served(servers: int, load: float) -> NumberLaw:
    """M/M/m: probabilities up to m - 1, then a geometric tail of ratio a / m.

    Parameters
    ----------
    servers, load
        m, a whole number of 1 or more, and a = lambda S below m.

    Raises
    ------
    InvalidParameter
        For more servers than can be listed.

    Examples
    --------
    >>> law = served(2, 1.0)
    >>> law.chances(2).round(9).tolist(), round(law.waits, 9)
    ([0.333333333, 0.333333333, 0.166666667], 0.333333333)
    """
    _check_listed(servers)
    number = np.arange(1, servers)
    relative = weights(load / number)
    beyond = load / servers
    total = relative[:-1].sum() + relative[-1] / (1 - beyond)
    waits = float(erlang_c(servers, load))
    return NumberLaw(np.asarray(relative / total), beyond, waits)


def side_by_side(queues: int, busy: float) -> NumberLaw:
    """Total of m separate M/M/1 queues of one utilisation: the negative binomial law.

    Parameters
    ----------
    queues, busy
        m, and U, 0 or more and below 1.

    Raises
    ------
    InvalidParameter
        For more numbers of jobs than can be listed.

    Examples
    --------
    >>> law = side_by_side(2, 0.5)
    >>> law.chances(2).round(9).tolist(), round(law.variance, 9)
    ([0.25, 0.25, 0.1875], 4.0)
    """
    if queues == 1 or busy == 0:
        return NumberLaw(np.array([(1 - busy) ** queues]), busy, busy)
    free, spread = 1 - busy, np.sqrt(queues * busy) / (1 - busy)
    most = int(queues * busy / free + _DEVIATIONS * spread + 2 * _E_FOLDS / free)
    _check_listed(most)
    number = np.arange(1, most + 1)
    relative = weights(busy * (number + queues - 1) / number)
    return NumberLaw(np.asarray(relative / relative.sum()), 0.0, busy)


def moving(ratios: FloatArray, last: float) -> NumberLaw:
    """A birth-death process, from the ratios of successive probabilities.

    Parameters
    ----------
    ratios
        Arrival rate in state n - 1 over service rate in state n, n = 1, 2..., 0 or more.
    last
        The ratio for all further states, below 1; 0 if there are none.

    Examples
    --------
    >>> moving(np.array([1.0, 0.5]), 0.0).head.tolist()
    [0.4, 0.4, 0.2]
    """
    relative = weights(ratios)
    total = relative[:-1].sum() + relative[-1] / (1 - last)
    return NumberLaw(np.asarray(relative / total), last)


def roomy(servers: int, places: int, load: float) -> NumberLaw:
    """M/M/m/K: arrivals that find no place are lost; `waits` is for admitted jobs.

    Parameters
    ----------
    servers, places, load
        m, K and the offered load a = lambda S.

    Raises
    ------
    InvalidParameter
        For more places than can be listed.

    Examples
    --------
    >>> law = roomy(1, 2, 1.0)
    >>> law.head.round(9).tolist(), law.waits
    ([0.333333333, 0.333333333, 0.333333333], 0.5)
    """
    _check_listed(places)
    number = np.arange(1, places + 1)
    law = moving(load / np.minimum(number, servers), 0.0)
    return NumberLaw(law.head, waits=float(law.head[servers:-1].sum() / law.head[:-1].sum()))


def _check_listed(most: float) -> None:
    if most > MOST_NUMBERS:
        msg = (
            f"the probabilities of up to {four_digits(most)} jobs are too many to list; at most "
            f"{MOST_NUMBERS:,} are"
        )
        raise InvalidParameter(msg)
