"""How often a service is asked while others are there, where its callers have few threads.

A thread that waits for an answer asks for nothing else meanwhile, so a caller with m threads has at
most m requests at a service, and asks the less often the more of them are there. If nobody waited
at the service, a caller with k threads there and e elsewhere, A and E of them on average, would be
as in M/M/m, where the threads that are busy are told apart by chance:

    p(k, e) ~ A^k / k! E^e / e! / (1 - (A + E) / m  if k + e = m, else 1),   k + e <= m.

All others ask at random: A^k / k!. Of all together, the convolution over callers, there are then n
with the chance f_n, and while n are there, requests come

    (n + 1) f_(n+1) / (f_n sum A)

times as often as on average, since as often as one finds n, one of n + 1 is answered. So much is
kept where requests wait (`bunches`). A service that only such callers ask has itself no more
threads busy than they have, however many there are.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from headway.kinds import FloatArray
from headway.models.measured.spans.columns import IntArray
from headway.models.tracing.bunches import MANY, Met
from headway.models.tracing.keys import Keyed

_FULL = 0.99  # busiest that a caller's threads are taken to be
_AT_ONCE = 0.01  # mean number of other calls of its request from which a call is made at once
_ALL = 0.99  # share of requests from which on all come from callers with few threads
_LEAST = 1e-9  # least mean number of threads
_RARE = 1e-200  # chance below which a number does not count


class Caller(NamedTuple):
    """A caller with few threads.

    Parameters
    ----------
    threads
        Their number.
    here, elsewhere
        Mean numbers of them that wait for an answer of the service, and that do something else.
    """

    threads: int
    here: float
    elsewhere: float


def pace_of(callers: Sequence[Caller], others: float) -> FloatArray:
    """How much more often than on average requests come while 0, 1, ... are there.

    Parameters
    ----------
    callers
        Callers with few threads.
    others
        Mean number of requests there from all others.

    Returns
    -------
    As far as `MANY`; the last holds for all more.

    Examples
    --------
    >>> pace_of([Caller(2, 0.5, 0.5)], 0.0).round(3)  # of two threads
    array([1.143, 1.   , 0.   ])
    """
    if not callers:
        return np.ones(1)
    number = np.arange(MANY + 2)
    chance = _poisson(others, number) if others > 0 else np.ones(1)
    for caller in callers:
        chance = np.convolve(chance, _there(caller))[: MANY + 2]
    chance = np.append(chance[chance > _RARE], [] if others > 0 else [0.0])
    mean = others + sum(caller.here for caller in callers)
    often = np.arange(1, len(chance)) * chance[1:] / (chance[:-1] * mean)
    return np.asarray(often[: MANY + 1])


def _poisson(mean: float, number: IntArray) -> FloatArray:
    """Mean^k / k!, up to a factor."""
    logs = number * np.log(max(mean, _LEAST)) - np.cumsum(np.log(np.maximum(number, 1)))
    return np.asarray(np.exp(logs - logs.max()))


def _there(caller: Caller) -> FloatArray:
    """Chance of each number of a caller's threads at the service, up to a factor."""
    number = np.arange(caller.threads + 1)
    elsewhere = _poisson(caller.elsewhere, number)
    fewer = np.append(0.0, np.cumsum(elsewhere)[:-1])  # with less than all threads busy
    queue = 1 - min((caller.here + caller.elsewhere) / caller.threads, _FULL)
    return _poisson(caller.here, number) * (fewer + elsewhere / queue)[::-1]


class Asked(NamedTuple):
    """How a service is asked in a load.

    Parameters
    ----------
    pace
        How often, while 0, 1, ... requests are there; the last holds for all more.
    most
        Most requests that can be there at once.
    """

    pace: FloatArray
    most: float


class Callers:
    """The services that ask others, as far as they are known to have few threads busy.

    Parameters
    ----------
    requests
        The requests of all loads.
    """

    def __init__(self, requests: Keyed) -> None:
        self.requests = requests
        self.service = np.concatenate([each.service for each in requests.loads])
        self.load = requests.load[requests.caller]
        self.few: dict[str, Few] = {}

    def add(self, name: str, threads: float, busy: Mapping[int, float]) -> None:
        """A service that has so many threads, of which so many are busy by load."""
        if threads <= MANY:
            self.few[name] = Few(int(threads), busy)

    def asked(self, calls: IntArray, k: int, number: int, time: float) -> Asked:
        """How a service is asked in a load.

        Parameters
        ----------
        calls
            Numbers of the calls that ask it, in any load.
        k, number, time
            The load, and how many requests of it there were, for how long together [s].
        """
        requests, names = self.requests, self.requests.loads[0].services
        there = self.mean(k, time)
        if there == 0:
            return Asked(np.ones(1), inf)
        mine = calls[(self.load[calls] == k) & ~requests.message[calls]]
        service = self.service[requests.caller[mine]]
        callers, left, most = [], number, 0.0
        for each in np.unique(service).tolist():
            few, rows = self.few.get(names[each]), mine[service == each]
            began, ended = requests.began[rows], requests.ended[rows]
            if few is None or _at_once(began, ended, requests.caller[rows]):
                continue
            waiting = self.mean(k, float((ended - began).sum()))
            elsewhere = max(few.busy[k] - waiting, 0.0)
            callers.append(Caller(few.threads, there * len(rows) / number, elsewhere))
            left, most = left - len(rows), most + few.threads
        if left > (1 - _ALL) * number:
            return Asked(pace_of(callers, there * left / number), inf)
        return Asked(pace_of(callers, 0.0), most)

    def mean(self, k: int, time: float) -> float:
        """Mean number that are there in a load, of requests there for so long together [s]."""
        return time / (self.requests.loads[k].window or inf) / self.requests.shares[k]


class Few(NamedTuple):
    """The threads of a service, and how many of them are busy on average by load."""

    threads: int
    busy: Mapping[int, float]


def _at_once(began: FloatArray, ended: FloatArray, caller: IntArray) -> bool:
    """Whether requests make several of these calls at once."""
    return float(Met.of(began, ended, caller, np.ones(1)).mean[0]) > _AT_ONCE
