"""Stations whose speed depends on the number present, in approximate mean value analysis.

An arriving job of class c finds n jobs with probability p_c(n). With a(n) servers working while n
jobs are present, and a(m) from m on, it stays

    R_c = D_c sum of (n + 1) / a(n + 1) p_c(n).

The probabilities follow from those with all jobs, p(n), as if a random job of class c were removed
(Schweitzer's assumption, made for the whole distribution and not only for its mean): one of the n
jobs is of class c in proportion to the queue lengths, and it is the removed one with probability 1
/ N_c. Then p obeys a recursion, a(n) p(n) = sum of X_c D_c p_c(n - 1). For jobs that never wait it
gives the binomial distribution, which is exact.

Source: the exact recursion of Reiser and Lavenberg, JACM 27(2), 1980, closed by Schweitzer's
assumption of 1979; Bruell, Balbo and Afshari, Performance Evaluation 4, 1984, for a(n) beside
open classes.
"""

import numpy as np

from headway.errors import InvalidParameter
from headway.kinds import FloatArray
from headway.numerals import digits
from headway.queueing.erlang.poisson import poisson

MOST_SERVERS = 10_000_000
"""Most terms of a sum over servers, over all points together."""


def check_few(servers: float, points: int = 1) -> None:
    """Refuse more servers beside open jobs than a sum can have terms.

    Raises
    ------
    InvalidParameter
        For more than ten million.
    """
    if points * servers > MOST_SERVERS:
        msg = (
            f"{digits(servers)} servers shared with open classes are too many to sum "
            "over; use fewer"
        )
        raise InvalidParameter(msg)


def closed_rates(servers: FloatArray, open_load: FloatArray, most: int) -> FloatArray:
    """Servers working for 1, 2... closed jobs beside open ones.

    Parameters
    ----------
    servers, open_load
        m, and the servers u below m that open classes hold; shape (points,).
    most
        Number of entries; from m on all are m - u.

    Returns
    -------
    a(n) = f(n - 1) / f(n), shape (most, points), where f(n) is the coefficient of s**n in the
    station's product form F(s + u) = B(s + u) / (1 - (s + u) / m).

    Raises
    ------
    InvalidParameter
        For more than ten million servers beside open jobs.

    Examples
    --------
    >>> closed_rates(np.array([2.0]), np.array([0.0]), 3).ravel().tolist()
    [1.0, 2.0, 2.0]
    """
    count = np.arange(1.0, most + 1)[:, None]
    if not open_load.any():
        return np.asarray(np.minimum(count, servers))
    check_few(servers.max(), servers.size)
    terms = np.arange(servers.max())[:, None]
    sums = np.cumsum(np.cumsum(poisson(terms, open_load), axis=0), axis=0)
    room, share = servers - open_load, np.ones(len(servers))
    rates = np.tile(room, (most, 1))
    for n in range(1, min(most, int(servers.max()) - 1) + 1):
        left = (servers - n).astype(int)
        ahead = np.take_along_axis(sums, np.maximum(left, 0)[None], axis=0)[0]
        here = np.take_along_axis(sums, np.maximum(left - 1, 0)[None], axis=0)[0]
        step = np.where(left > 0, share * here / ahead / n, 0.0)
        rates[n - 1] = 1 / (1 / room + step)
        share = step * rates[n - 1]
    return rates


class Crowd:
    """Waiting at stations whose speed depends on the number of jobs.

    Parameters
    ----------
    rates
        a(1), a(2)... a(m), shape (m, stations, points); then the last holds.
    """

    def __init__(self, rates: FloatArray) -> None:
        self.full = rates[-1]
        self._number = np.arange(len(rates))[:, None, None]
        self._rates = rates
        self._extra = (self._number + 1) * (self.full / rates - 1)
        before = np.concatenate([np.zeros((1, *self.full.shape)), rates[:-1]])
        self._idle = 1 - before / self.full

    def moments(self, busy: FloatArray, own: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sum of (n + 1) (a(m) / a(n + 1) - 1) p(n), and its change with a job fewer.

        Parameters
        ----------
        busy
            Servers working U, the sum of X_c D_c, shape (stations, points).
        own
            Probability that a job is the one removed: the mean of its share of the queue over N_c.

        Returns
        -------
        A and B: a job with the share s of the queue and a population N finds A + B s / N.
        """
        number, taken = self._number, busy * own
        with np.errstate(divide="ignore"):
            up = np.log(np.maximum(busy - number * taken, 0.0))
            down = np.log(np.maximum(self._rates - (number + 1) * taken, 1e-9 * self._rates))
            logs = np.concatenate([np.zeros((1, *busy.shape)), np.cumsum(up - down, axis=0)])
        weight = np.exp(logs - logs.max(axis=0))
        idle = np.maximum(1 - busy / self.full, 0.0)
        # The recursion alone does not keep probabilities at most 1.
        chance = np.minimum(weight * (idle / (weight[:-1] * self._idle).sum(axis=0)), 1.0)
        fewer = (number + 1) * chance[1:] - number * chance[:-1]
        return (self._extra * chance[:-1]).sum(axis=0), (self._extra * fewer).sum(axis=0)

    def crowded(self, busy: FloatArray, own: FloatArray) -> tuple[FloatArray, ...]:
        """A + B `own`, its derivatives by U and by `own`, and B."""

        def mean(busy: FloatArray, own: FloatArray) -> FloatArray:
            idle, fewer = self.moments(busy, own)
            return idle + fewer * own

        idle, fewer = self.moments(busy, own)
        here, step = idle + fewer * own, 1e-6 * self.full
        by_busy = (mean(busy + step, own) - here) / step
        by_own = (mean(busy, own * (1 + 1e-6)) - here) / (1e-6 * np.maximum(own, 1e-12))
        return here, by_busy, by_own, fewer
