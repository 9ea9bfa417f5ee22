"""A station in mean value analysis, with the jobs added so far.

Source: Reiser and Lavenberg, JACM 27(2), 1980, and Reiser, IBM J. Res. Dev. 23(3), 1979.
"""

import numpy as np

from headway.kinds import Amount, FloatArray, number
from headway.queueing.forks.branches import service_of
from headway.queueing.stations.abilities import ServiceKind
from headway.queueing.stations.base import Station


def divisor(value: FloatArray) -> FloatArray:
    """A value to divide by: infinite unless it is above 0, so that the quotient is 0.

    Examples
    --------
    >>> (1 / divisor(np.array([2.0, 0.0]))).tolist()
    [0.5, 0.0]
    """
    return np.where(value > 0, value, np.inf)


class ForkQueue:
    """A station in mean value analysis, with the jobs added so far.

    Parameters
    ----------
    station
        The station; for a fork of equal branches, one branch.
    visits
        Mean visits of a job and its parts, shape (points,).

    Attributes
    ----------
    delays
        Whether jobs never wait there.

    Examples
    --------
    >>> from headway.queueing import MM1
    >>> queue = ForkQueue(MM1(0.5), np.ones(1))
    >>> queue.add(np.array([1.0]), queue.response(), np.ones(1))  # one job, thinking 0.5 s
    >>> queue.response().tolist()  # finds half a job
    [0.75]
    """

    def __init__(self, station: Station, visits: FloatArray) -> None:
        self.station, self._visits = station, visits
        kind, count = station.can.product_form, np.asarray(station.count, float)
        if station.can.forks:  # one of its equal branches
            like: Amount = station
            time = np.asarray(number("service_time", like.service_time), float)
            scv: FloatArray = np.asarray(like.scv, float)
        else:
            time, scv = service_of(station)
        self._time = np.broadcast_to(time, visits.shape)
        self.scv: Amount = scv
        self.delays = kind is ServiceKind.DELAY
        self._apart = count if kind is ServiceKind.PARALLEL else np.ones(())
        self._servers = np.ones(()) if kind is ServiceKind.PARALLEL else count
        self._below = np.arange(int(self._servers.max()))[:, None]
        self._chances = np.zeros((self._below.size, *visits.shape))
        self._chances[0] = 1.0
        self._length = np.zeros(visits.shape)
        self.rate = np.zeros(visits.shape)

    @property
    def most(self) -> FloatArray:
        """Throughput of the network at which the station is always busy [1/s]."""
        if self.delays:
            return np.full(self.rate.shape, np.inf)
        demand = self._visits * self._time / (self._servers * self._apart)
        return np.asarray(np.where(demand > 0, 1 / divisor(demand), np.inf))

    @property
    def busy(self) -> FloatArray:
        """Utilisation of each server."""
        if self.delays:
            return np.zeros(self.rate.shape)
        return np.asarray(self.rate * self._time / (self._servers * self._apart))

    def response(self) -> FloatArray:
        """Response time of a visit with one job more [s]."""
        if self.delays:
            return self._time
        # R = S/m (1 + Q + sum over n < m - 1 of (m - 1 - n) p_n + P(wait) (scv - 1) / 2): Reiser's
        # marginal recursion for m servers, with the residual service of a general one.
        free = np.maximum(self._servers - 1 - self._below, 0)
        ahead = self._length / self._apart + (free * self._chances).sum(axis=0)
        waits = self.busy
        if self._below.size > 1:
            waits = 1 - (self._chances * (self._below < self._servers)).sum(axis=0)
        residual = np.maximum(waits, 0) * (self.scv - 1) / 2
        return np.asarray(self._time / self._servers * (1 + ahead + residual))

    @property
    def each(self) -> FloatArray:
        """Increase of the response time per job present [s]: S/m."""
        if self.delays:
            return np.zeros(self.rate.shape)
        return np.asarray(self._time / (self._servers * self._apart))

    def add(self, throughput: FloatArray, time: FloatArray, waited: FloatArray) -> None:
        """Update the state to the throughput and times with one job more.

        Parameters
        ----------
        throughput, time
            Throughput of the network [1/s], and time of a visit [s].
        waited
            Visits by parts of requests that have not gone on yet.
        """
        self._length = waited * throughput * time
        self.rate = self._visits * throughput
        load = self.rate * self._time
        if self._below.size > 1:
            later = load / self._below[1:] * self._chances[:-1]
            idle = (np.maximum(self._servers - self._below[1:], 0) * later).sum(axis=0)
            self._chances[1:] = later
            self._chances[0] = np.maximum(1 - (load + idle) / self._servers, 0)
        else:
            self._chances[0] = 0.0
