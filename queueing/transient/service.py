"""Service rates of a queue by its number of jobs, and waits of arrivals."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf

import numpy as np

from headway.kinds import FloatArray


@dataclass(frozen=True)
class Service:
    """Servers of a queue with exponential services, in order of arrival.

    Parameters
    ----------
    time
        Mean service time [s].
    servers
        Number of servers.
    places
        Largest number of jobs, including those in service.
    speeds
        Jobs served per second at 1, 2... jobs, the last for all more; replaces time and servers
        [1/s].

    Examples
    --------
    >>> Service(0.5, 2).rates(np.arange(4)).tolist()
    [0.0, 2.0, 4.0, 4.0]
    """

    time: float
    servers: float = 1.0
    places: float = inf
    speeds: tuple[float, ...] = ()

    def rates(self, number: FloatArray) -> FloatArray:
        """Jobs served per second at these numbers of jobs [1/s]."""
        if not self.speeds:
            return np.asarray(np.minimum(number, self.servers) / self.time)
        speeds = np.array([0.0, *self.speeds])
        return np.asarray(speeds[np.minimum(number, len(self.speeds)).astype(int)])

    def slowed(self, factor: float) -> "Service":
        """The same with services that take ``factor`` times as long.

        Examples
        --------
        >>> Service(0.5, 2).slowed(2.0).fastest
        2.0
        """
        if factor == 1:
            return self
        speeds = tuple(speed / factor for speed in self.speeds)
        return replace(self, time=self.time * factor, speeds=speeds)

    @property
    def fastest(self) -> float:
        """Largest rate of service at any number of jobs [1/s]."""
        return self.speeds[-1] if self.speeds else self.servers / self.time

    @property
    def crowd(self) -> float:
        """Number of jobs above which some wait: the number of servers."""
        return float(len(self.speeds)) if self.speeds else self.servers

    def busy(self, number: FloatArray) -> FloatArray:
        """Share of the servers that is busy at these numbers of jobs."""
        if not self.speeds and np.isfinite(self.servers):
            return np.asarray(np.minimum(number, self.servers) / self.servers)
        return np.asarray(np.minimum(number, 1.0))

    def mean_times(self, met: FloatArray) -> FloatArray:
        """Mean response time [s] by jobs met: the arrival waits for n - m + 1 departures."""
        if not np.isfinite(self.servers):
            return np.full(np.shape(met), self.time)
        return np.asarray(self.time * (1 + np.maximum(met - self.servers + 1, 0) / self.servers))

    def tails(self, least: int, most: int, time: float) -> FloatArray:
        """Probability that the response time exceeds a time, by the jobs that an arrival meets.

        An arrival that waits for k = n - m + 1 departures leaves after k steps of rate m / S, then
        its own service. Count steps at that rate, a Poisson number J in the time t. After the k-th,
        the job is still there with probability q^(J - k), q = 1 - 1 / m:

            P(R > t) = P(J < k) + u_k,  u_k = P(J = k) + q u_(k + 1).

        J is taken within 12 standard deviations and 60 of its mean; values further off have
        probability below 1e-30.

        Parameters
        ----------
        least, most
            Smallest and largest number of jobs met.
        time
            t [s].

        Returns
        -------
        Array of shape (most - least + 1,).

        Examples
        --------
        >>> one = Service(0.1)  # M/M/1: of one that meets n, Erlang with n + 1 stages
        >>> [round(float(p), 6) for p in one.tails(0, 1, 0.1)]
        [0.367879, 0.735759]
        """
        count = most - least + 1
        if not np.isfinite(self.servers):
            return np.full(count, np.exp(-time / self.time))
        load, stay = self.servers * time / self.time, 1 - 1 / self.servers
        low, near = _tails_near(load, stay)
        high = low + len(near) - 1
        ahead = least - int(self.servers) + 1  # departures that the first waits for, if above 0
        waits, first, last = np.clip([-ahead, low - ahead, high + 1 - ahead], 0, count).tolist()
        tails = np.ones(count)
        tails[:waits] = near[0] * stay**low
        tails[waits:first] = near[0] * stay ** (low - ahead - np.arange(waits, first))
        tails[first:last] = near[ahead + first - low : ahead + last - low]
        return tails


@lru_cache(maxsize=2**10)  # the parts of a day have few different services
def _tails_near(load: float, stay: float) -> tuple[int, FloatArray]:
    """P(R > t) for jobs that wait for k departures, for all k near the mean number of steps.

    Parameters
    ----------
    load, stay
        Mean number of steps in the time, and q as in `Service.tails`.

    Returns
    -------
    The first k, and the probabilities from that k on.
    """
    from scipy.linalg.blas import dtbsv
    from scipy.special import gammaln, pdtr

    around = 12 * np.sqrt(load) + 60
    low, high = int(max(load - around, 0)), int(load + around) + 1
    steps = np.arange(low, high + 1)
    with np.errstate(divide="ignore"):
        logs = steps * np.log(load) if load else np.where(steps == 0, 0.0, -inf)
    chances = np.exp(logs - load - gammaln(steps + 1))
    after = dtbsv(1, [np.full(len(steps), -stay), np.ones(len(steps))], chances)  # from the last up
    before = np.where(steps > 0, pdtr(np.maximum(steps - 1, 0), load), 0.0)
    return low, np.minimum(before + after, 1.0)
