"""Kinds of stops: delays, single servers in order, pools of servers, and shared ones.

Source: as of `headway.queueing.times.phase_type` (single servers of any times); Baskett, Chandy,
Muntz and Palacios, J. ACM 22(2), 1975 (numbers at pools and at shared servers).
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.times.phase_type import Phases, in_phases
from headway.queueing.times.tagged_job.station import NO_CHANGE, Change, Numbers, TaggedStation

SMOOTHED = "constant times in a loop are approximated as varying"

_STEADY = 64  # phases of a delay at most


class TaggedDelay(TaggedStation):
    """A delay: places are the phases of it.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> wan = in_phases(2.0, 0.0)
    >>> TaggedDelay(0.5, wan, wan, 2.0).numbers(2).round(4).tolist()
    [0.3679, 0.3679]
    """

    @classmethod
    def alike(cls, rate: float, service: Phases, stay: float, count: int) -> "TaggedDelay":  # noqa: ARG003
        """Of the same time for all."""
        return cls(rate, service, service, stay, notes=(SMOOTHED,))

    @property
    def busy(self) -> float:
        """Nobody waits."""
        return 0.0

    def eased(self, least: float) -> "TaggedDelay":
        """In fewer phases."""
        time = self.own.mean
        return replace(self, own=in_phases(time, min(1.0, least / time), _STEADY))

    def numbers(self, size: int) -> FloatArray:
        """Poisson, at all of it."""
        from scipy.special import gammaln

        n = np.arange(size)

        return np.asarray(np.exp(n * np.log(self.load) - self.load - gammaln(n + 1)))

    def beside(self, most: int) -> Numbers:  # noqa: ARG002 - none
        """None."""
        return np.zeros(len(self.own.start), np.intp)

    def arrivals(self, most: int) -> Iterator[tuple[int, int, float]]:
        """Whatever is found, the first phase."""
        weights = self.numbers(most + 1)
        for number in np.flatnonzero(weights).tolist():
            yield from ((number, q, p) for q, p in enumerate(self.own.start.tolist()) if p > 0)

    def finishing(self, most: int) -> FloatArray:  # noqa: ARG002 - as of one
        """By its phases."""
        return self.own.ends

    def changes(self, most: int) -> Change:  # noqa: ARG002 - as of one
        """From phase to phase."""
        return _between(self.own.moves)

    def departures(self, most: int) -> Change:  # noqa: ARG002 - nobody is waited for
        """None."""
        return NO_CHANGE


def _between(moves: FloatArray) -> Change:
    before, after = np.nonzero(moves - np.diag(np.diag(moves)) > 0)
    return before, after, moves[before, after]


class FcfsQueue(TaggedStation):
    """Single servers of any times, in order: places are phases of one's own, or who is ahead.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> one = in_phases(1.0, 1.0)
    >>> FcfsQueue(0.5, one, one, 2.0).numbers(3).tolist()
    [0.5, 0.25, 0.125]
    """

    @classmethod
    def alike(cls, rate: float, service: Phases, stay: float, count: int) -> "FcfsQueue":
        """With a queue at each server."""
        return cls(rate, service, service, stay, lanes=count)

    @cached_property
    def _growth(self) -> FloatArray:
        """By what chances of a number and a phase grow with the number."""
        rate, count = self.rate / self.lanes * (1 - self.again), len(self.others.start)
        moves = self.others.again(self.again).moves
        back = np.outer(np.ones(count), self.others.start)
        return np.asarray(rate * np.linalg.inv(rate * (np.eye(count) - back) - moves))

    def _by_phase(self, size: int) -> FloatArray:
        """Chances of numbers from 1 on, and of the phase of who is served."""
        rows = np.zeros((size, len(self.others.start)))
        row = (1 - self.busy) * self.others.start
        for n in range(1, size):
            row = rows[n] = row @ self._growth
        return rows

    def numbers(self, size: int) -> FloatArray:
        """Of M/PH/1, its own returns being no arrivals."""
        chances = self._by_phase(size).sum(axis=1)
        chances[0] = 1 - self.busy
        return np.asarray(chances)

    def beside(self, most: int) -> Numbers:
        """None in service, else those ahead."""
        ahead = np.repeat(np.arange(1, most + 1), len(self.others.start))
        return np.append(np.zeros(len(self.own.start), np.intp), ahead)

    def arrivals(self, most: int) -> Iterator[tuple[int, int, float]]:
        """Nobody, or as many ahead."""
        yield from ((0, q, p) for q, p in enumerate(self.own.start.tolist()) if p > 0)
        phases, place = self._by_phase(most + 1), len(self.own.start)
        for ahead in range(1, most + 1):
            for chance in (phases[ahead] / phases[ahead].sum()).tolist():
                yield ahead, place, chance
                place += 1

    def finishing(self, most: int) -> FloatArray:
        """By the phases of one's own."""
        return np.append(self.own.ends, np.zeros(most * len(self.others.start)))

    def changes(self, most: int) -> Change:
        """From phase to phase, of one's own service or of one ahead."""
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
        """The next ahead begins to be served, or the job itself."""
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
    """A queue of several servers, or a shared one: of exponential times."""

    def numbers(self, size: int) -> FloatArray:
        """Of M/M/m."""
        n = np.arange(1, max(size, self.servers + 1))
        logs = np.append(0.0, np.cumsum(np.log(self.load / np.minimum(n, self.servers))))
        weights = np.exp(logs)
        last = weights[self.servers] / (1 - self.busy)
        return np.asarray(weights[:size] / (weights[: self.servers].sum() + last))


class MultiServerQueue(_Exponential):
    """Exponential servers in one line: places are who is beside, then departures to come.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> one = in_phases(1.0, 1.0)
    >>> pool = MultiServerQueue(1.0, one, one, 4 / 3, servers=2)
    >>> pool.beside(3).tolist()  # served with so many, or waiting for one departure or two
    [0, 1, 2, 3, 2, 3]
    """

    def behind(self, size: int) -> FloatArray:
        """Geometric: all servers are busy."""
        return np.asarray((1 - self.busy) * self.busy ** np.arange(size))

    def beside(self, most: int) -> Numbers:
        """All beside, or those served and ahead."""
        return np.append(np.arange(most + 1), np.arange(self.servers, most + 1))

    def counted(self, most: int) -> NDArray[np.bool_]:
        """Once in service."""
        return np.arange(len(self.beside(most))) <= most

    def arrivals(self, most: int) -> Iterator[tuple[int, int, float]]:
        """A free server, or a line."""
        for number, place in enumerate(self.back(most)[: most + 1].tolist()):
            yield number, place, 1.0

    def back(self, most: int) -> Numbers:
        """At the end of the line, if there is one."""
        beside = np.arange(most + 1)
        ends = np.where(beside < self.servers, beside, most + 1 + beside - self.servers)
        return np.append(ends, np.arange(most + 1, len(self.beside(most))))

    def finishing(self, most: int) -> FloatArray:
        """Once in service."""
        return np.asarray(self.counted(most) / self.own.mean)

    def departures(self, most: int) -> Change:
        """One beside is served, or one less is to come."""
        beside = np.arange(1, most + 1)
        waits = np.arange(most + 1, len(self.beside(most)))
        ends = np.append(self.servers - 1, waits)[: len(waits)]
        speed = np.append(np.minimum(beside, self.servers - 1), np.full(len(waits), self.servers))
        before = np.append(beside, waits)
        return before, np.append(beside - 1, ends), np.asarray(speed / self.others.mean)


class SharedQueue(_Exponential):
    """Servers that all who are there share: places are who is beside.

    Examples
    --------
    >>> from headway.queueing.times.phase_type import in_phases
    >>> one = in_phases(1.0, 1.0)
    >>> SharedQueue(0.5, one, one, 2.0).finishing(2).round(3).tolist()
    [1.0, 0.5, 0.333]
    """

    def _share(self, most: int) -> FloatArray:
        return np.asarray(np.minimum(1.0, self.servers / np.arange(1.0, most + 2)))

    def beside(self, most: int) -> Numbers:
        """All beside."""
        return np.arange(most + 1)

    def counted(self, most: int) -> NDArray[np.bool_]:
        """Always."""
        return np.ones(most + 1, bool)

    def arrivals(self, most: int) -> Iterator[tuple[int, int, float]]:
        """So many beside."""
        return ((number, number, 1.0) for number in range(most + 1))

    def finishing(self, most: int) -> FloatArray:
        """By one's share."""
        return np.asarray(self._share(most) / self.own.mean)

    def departures(self, most: int) -> Change:
        """By the shares of those beside."""
        beside = np.arange(1, most + 1)
        speed = beside * self._share(most)[1:] / self.others.mean
        return beside, beside - 1, np.asarray(speed)
