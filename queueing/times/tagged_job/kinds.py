"""Stations of a loop by kind: delays, M/PH/1 and M/M/m queues in order, and shared servers.

Source: as for `headway.queueing.times.phase_type` (single servers of any times); Baskett, Chandy,
Muntz and Palacios, J. ACM 22(2), 1975 (numbers at pools and at shared servers).
"""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.times.phase_type import Phases, in_phases
from headway.queueing.times.tagged_job.station import (
    NO_CHANGE,
    Arrivals,
    Change,
    Numbers,
    TaggedStation,
)

SMOOTHED = "constant times in a loop are approximated as varying"

_STEADY = 64  # largest number of phases of a delay: for speed


class TaggedDelay(TaggedStation):
    """A delay; a place is a phase of the tagged job's time.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> wan = in_phases(2.0, 0.0)
    >>> TaggedDelay(0.5, wan, wan, 2.0).numbers(2).round(4).tolist()
    [0.3679, 0.3679]
    """

    @classmethod
    def alike(cls, rate: float, service: Phases, stay: float, count: int) -> "TaggedDelay":  # noqa: ARG003
        """Return a delay: the number of servers does not matter."""
        return cls(rate, service, service, stay, notes=(SMOOTHED,))

    @property
    def busy(self) -> float:
        """0: no job waits."""
        return 0.0

    def with_coarse_phases(self, least: float) -> "TaggedDelay":
        """Return the delay with the tagged job's time in phases no shorter than `least`."""
        time = self.own.mean
        return replace(self, own=in_phases(time, min(1.0, least / time), _STEADY))

    def numbers(self, size: int) -> FloatArray:
        """f(n) = exp(-a) a**n / n!."""
        from scipy.special import gammaln

        n = np.arange(size)

        return np.asarray(np.exp(n * np.log(self.load) - self.load - gammaln(n + 1)))

    def jobs_counted(self, most: int) -> Numbers:  # noqa: ARG002 - none
        """No other job is counted: others do not matter."""
        return np.zeros(len(self.own.start), np.intp)

    def arrivals(self, most: int) -> Arrivals:
        """The initial phases, for any m."""
        found, phases = np.flatnonzero(self.numbers(most + 1)), np.flatnonzero(self.own.start > 0)
        numbers, places = np.repeat(found, len(phases)), np.tile(phases, len(found))
        return numbers, places, self.own.start[places]

    def service_rates(self, most: int) -> FloatArray:  # noqa: ARG002 - as of one
        """Rates of absorption from the phases."""
        return self.own.ends

    def phase_changes(self, most: int) -> Change:  # noqa: ARG002 - as of one
        """Changes of the tagged job's phase."""
        return _between(self.own.moves)

    def departures(self, most: int) -> Change:  # noqa: ARG002 - nobody is waited for
        """None: no other job is counted, so none ends its service."""
        return NO_CHANGE


def _between(moves: FloatArray) -> Change:
    before, after = np.nonzero(moves - np.diag(np.diag(moves)) > 0)
    return before, after, moves[before, after]


class FcfsQueue(TaggedStation):
    """M/PH/1 queues in order of arrival.

    A place is a phase of the tagged job's own service, or the number of jobs ahead of it with the
    phase of the job in service.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> one = in_phases(1.0, 1.0)
    >>> FcfsQueue(0.5, one, one, 2.0).numbers(3).tolist()
    [0.5, 0.25, 0.125]
    """

    @classmethod
    def alike(cls, rate: float, service: Phases, stay: float, count: int) -> "FcfsQueue":
        """Return `count` single-server queues."""
        return cls(rate, service, service, stay, lanes=count)

    @cached_property
    def _growth(self) -> FloatArray:
        """R with p(n + 1) = p(n) R; direct feedback is part of the service."""
        rate, count = self.rate / self.lanes * (1 - self.again), len(self.others.start)
        moves = self.others.again(self.again).moves
        back = np.outer(np.ones(count), self.others.start)
        return np.asarray(rate * np.linalg.inv(rate * (np.eye(count) - back) - moves))

    def _by_phase(self, size: int) -> FloatArray:
        """p(n) = (1 - U) start R**n of n jobs, by the phase in service; row 0 is empty."""
        rows = np.zeros((size, len(self.others.start)))
        row = (1 - self.busy) * self.others.start
        for n in range(1, size):
            row = rows[n] = row @ self._growth
        return rows

    def numbers(self, size: int) -> FloatArray:
        """f(n) of M/PH/1, with direct feedback as a longer service."""
        chances = self._by_phase(size).sum(axis=1)
        chances[0] = 1 - self.busy
        return np.asarray(chances)

    def jobs_counted(self, most: int) -> Numbers:
        """No other job while the tagged job is served, else the jobs ahead."""
        ahead = np.repeat(np.arange(1, most + 1), len(self.others.start))
        return np.append(np.zeros(len(self.own.start), np.intp), ahead)

    def arrivals(self, most: int) -> Arrivals:
        """The initial phases for m = 0, and for m > 0 the phases of the job in service."""
        phases = self._by_phase(most + 1)[1:]
        chances = np.append(self.own.start, phases / phases.sum(axis=1, keepdims=True))
        places = np.arange(len(chances))
        return self.jobs_counted(most), places, chances

    def service_rates(self, most: int) -> FloatArray:
        """Rates of absorption from the tagged job's own phases."""
        return np.append(self.own.ends, np.zeros(most * len(self.others.start)))

    def phase_changes(self, most: int) -> Change:
        """Changes of phase, of the tagged job's service or of the one in progress ahead of it."""
        first, count = len(self.own.start), len(self.others.start)
        before, after, speed = _between(self.others.moves)
        starts = first + count * np.arange(most)[:, None]
        own = _between(self.own.moves)
        return (
            np.append(own[0], starts + before),
            np.append(own[1], starts + after),
            np.append(own[2], np.tile(speed, most)),
        )

    def departures(self, most: int) -> Change:
        """The service ahead ends; that of the next job, or of the tagged job, begins."""
        first, count = len(self.own.start), len(self.others.start)
        speeds = np.outer(self.others.ends, self.others.start)
        before, after = np.nonzero(speeds > 0)
        starts = first + count * np.arange(1, most)[:, None]
        own = np.outer(self.others.ends, self.own.start) * (most > 0)
        last, begun = np.nonzero(own > 0)
        return (
            np.append(first + last, starts + before),
            np.append(begun, starts - count + after),
            np.append(own[last, begun], np.tile(speeds[before, after], max(most - 1, 0))),
        )


class _Exponential(TaggedStation):
    """A station with exponential service times and the numbers of M/M/m."""

    def numbers(self, size: int) -> FloatArray:
        """f(n) = f(n - 1) a / min(n, m)."""
        n = np.arange(1, max(size, self.servers + 1))
        logs = np.append(0.0, np.cumsum(np.log(self.load / np.minimum(n, self.servers))))
        weights = np.exp(logs)
        last = weights[self.servers] / (1 - self.busy)
        return np.asarray(weights[:size] / (weights[: self.servers].sum() + last))


class MultiServerQueue(_Exponential):
    """M/M/m in order of arrival.

    A place is the number of others at the station while the tagged job is served, or the number of
    departures for which it waits.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> one = in_phases(1.0, 1.0)
    >>> pool = MultiServerQueue(1.0, one, one, 4 / 3, servers=2)
    >>> pool.jobs_counted(3).tolist()  # served with 0 to 3 others, or waiting for 1 or 2
    [0, 1, 2, 3, 2, 3]
    """

    def weights_behind(self, size: int) -> FloatArray:
        """b_i = (1 - U) U**i, as all servers are busy."""
        return np.asarray((1 - self.busy) * self.busy ** np.arange(size))

    def jobs_counted(self, most: int) -> Numbers:
        """All other jobs while the tagged job is served, else those in service and ahead."""
        return np.append(np.arange(most + 1), np.arange(self.servers, most + 1))

    def counts_all(self, most: int) -> NDArray[np.bool_]:
        """The places in service."""
        return np.arange(len(self.jobs_counted(most))) <= most

    def arrivals(self, most: int) -> Arrivals:
        """Service if m < servers, else waiting for m - servers + 1 departures."""
        return np.arange(most + 1), self.place_on_return(most)[: most + 1], np.ones(most + 1)

    def place_on_return(self, most: int) -> Numbers:
        """Waiting behind all others if there are as many as servers, else in service."""
        others = np.arange(most + 1)
        ends = np.where(others < self.servers, others, most + 1 + others - self.servers)
        return np.append(ends, np.arange(most + 1, len(self.jobs_counted(most))))

    def service_rates(self, most: int) -> FloatArray:
        """Rates 1 / S in service, else 0."""
        return np.asarray(self.counts_all(most) / self.own.mean)

    def departures(self, most: int) -> Change:
        """A service of another job ends: one fewer with the tagged job, or to wait for."""
        others = np.arange(1, most + 1)
        waits = np.arange(most + 1, len(self.jobs_counted(most)))
        ends = np.append(self.servers - 1, waits)[: len(waits)]
        speed = np.append(np.minimum(others, self.servers - 1), np.full(len(waits), self.servers))
        before = np.append(others, waits)
        return before, np.append(others - 1, ends), np.asarray(speed / self.others.mean)


class SharedQueue(_Exponential):
    """Servers that all jobs present share (processor sharing); a place is the number of others.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> one = in_phases(1.0, 1.0)
    >>> SharedQueue(0.5, one, one, 2.0).service_rates(2).round(3).tolist()
    [1.0, 0.5, 0.333]
    """

    def _share(self, most: int) -> FloatArray:
        return np.asarray(np.minimum(1.0, self.servers / np.arange(1.0, most + 2)))

    def jobs_counted(self, most: int) -> Numbers:
        """All other jobs at the station."""
        return np.arange(most + 1)

    def counts_all(self, most: int) -> NDArray[np.bool_]:
        """Every place counts all."""
        return np.ones(most + 1, bool)

    def arrivals(self, most: int) -> Arrivals:
        """The place of m others."""
        return np.arange(most + 1), np.arange(most + 1), np.ones(most + 1)

    def service_rates(self, most: int) -> FloatArray:
        """Rates min(1, m / (b + 1)) / S with b others."""
        return np.asarray(self._share(most) / self.own.mean)

    def departures(self, most: int) -> Change:
        """Rates b min(1, m / (b + 1)) / S with b others."""
        others = np.arange(1, most + 1)
        speed = others * self._share(most)[1:] / self.others.mean
        return others, others - 1, np.asarray(speed)
