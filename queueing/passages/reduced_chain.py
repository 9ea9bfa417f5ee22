"""Times of a job in a closed network too large to be followed with those who are beside it.

The chain holds the departures that the job waits for, and how many of the others are not
thinking; those behind it count among the rest, which is taken as in equilibrium, given its number.
"""

from collections.abc import Iterator

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.passages.passage import Queue
from headway.queueing.passages.tagged_job import Edge, Followed, Numbers, States


class Returning(Followed):
    """The smaller chain of a job in a circle.

    Examples
    --------
    >>> from headway.queueing.passages.passage import Circle, Place
    >>> one = np.ones(1)
    >>> again = Circle(
    ...     (Place("a", 1.0, 1, 1),), one, 0.5 * one[None], 0.5 * one, 2, 0.0, 0.5, 2 * one
    ... )
    >>> round(Returning(again).law().mean, 6)
    4.0
    """

    @property
    def moves(self) -> float:
        """About how many moves there are."""
        low, high = self.bounds
        return (high + 1) * (high - low + 1) * len(self.kept) * (3.0 + len(self.kept))

    def _pairs(self, k: int) -> tuple[Numbers, Numbers, Numbers]:
        low, high = self.bounds
        others = np.arange(low, high + 1)
        return 0 * others, others, np.maximum(others - self.circle.places[k].servers + 1, 0)

    def _of_rest(self, k: int, states: States) -> Iterator[Edge]:
        place, queue = self.circle.places[k], self.circle.queues[k]
        away = self.circle.returning[self.circle.others - states.others]
        yield states, states.moved(others=1), float(self.back.sum()) * away
        waiting = (states.waits > 0) & (not place.is_delay)
        for on, served in (
            (waiting, states.waits + place.servers - 1),
            (~waiting, 0 * states.waits),
        ):
            speed, out = self._free(k, queue, waits=bool(on is waiting))
            free = (states.others - served)[on]
            yield states.where(on), states.where(on).moved(others=-1), out * speed[free]

    def _free(self, k: int, queue: Queue | None, *, waits: bool) -> tuple[FloatArray, float]:
        """How fast so many flow who may be anywhere but before the job, and what flow that is."""
        whole = float(self.out.sum())
        if queue is None:
            return self._speed({}), whole
        servers, rest = queue.place.servers, self._series({k: 1})
        here = float(self.out[k]) / queue.place.lanes
        if waits or servers == 1:
            return _speeds(rest, np.full(len(rest), queue.busy)), whole - here
        beside = np.minimum(np.arange(1, len(rest) + 1), servers - 1)
        return _speeds(rest, queue.load / beside), whole

    def _of_those_beside(self, k: int, queue: Queue, states: States) -> Iterator[Edge]:
        some = states.where(states.waits > 0)
        rate: FloatArray = np.full(len(some.waits), queue.place.servers / queue.place.time)
        out = float(self.out[k]) / float(self.flows[k].sum() + self.out[k])
        yield some, some.moved(waits=-1), rate * (1 - out)
        yield some, some.moved(waits=-1, others=-1), rate * out

    def _on(self, k: int, states: States) -> Iterator[Edge]:
        speed = self._own_speed(states.station)
        for target in self.kept:
            rate = speed * float(self.circle.onward[k, target])
            if rate.any():
                rows, arrived, chances = self._on_arrival(target, states.others, states.others, {})
                columns = States(*(each[rows] for each in states.columns))
                yield columns, arrived, rate[rows] * chances

    def _on_arrival(
        self, k: int, others: Numbers, elsewhere: Numbers, without: dict[int, int]
    ) -> tuple[Numbers, States, FloatArray]:
        rows, arrived, chances = super()._on_arrival(k, others, elsewhere, without)
        if self.circle.queues[k] is None:
            return rows, arrived, chances
        base = int(arrived.waits.max(initial=0)) + 1
        keys, place = np.unique(rows * base + arrived.waits, return_inverse=True)
        rows, waits = np.divmod(keys, base)
        states = States(np.full(len(rows), k), waits, 0 * rows, others[rows])
        return rows, states, np.asarray(np.bincount(place, chances, len(keys)), float)


def _speeds(rest: FloatArray, ratios: FloatArray) -> FloatArray:
    """How fast so many flow, over the flow that is assumed, with a queue of such ratios more."""
    with np.errstate(divide="ignore"):
        logs = np.append(0.0, np.cumsum(np.log(ratios[: len(rest) - 1])))
    series = np.convolve(rest, np.exp(logs - logs.max()))[: len(rest)]
    return np.append(0.0, series[:-1]) / np.where(series > 0, series, 1.0)
