"""Simulate a score in slices, so that Ctrl-C is noticed and arrays can grow in between."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.models.simulating.playing.loop import play
from headway.models.simulating.playing.rows import Reason
from headway.models.simulating.playing.score import Score
from headway.models.simulating.playing.state import COUNTED, State, opening
from headway.queueing.playing.rows import IntArray, RowArray
from headway.queueing.playing.times import NONE, Times
from headway.records import dataclass

SLICE = 2**18
"""Events in a slice."""


@dataclass(frozen=True, eq=False)
class Counts:
    """What a run counted over some time.

    Parameters
    ----------
    home
        The station of each queue.
    queues, gates, crowds
        Rows of each, with the fields of `COUNTED` only.
    each
        Times of the finished journeys, by class.
    """

    home: IntArray
    queues: RowArray
    gates: RowArray
    crowds: RowArray
    each: dict[int, Times]

    def times(self, class_: int | None = None) -> Times:
        """Times of the finished journeys, of one class or of all."""
        if class_ is not None:
            return self.each[class_]
        return Times.of_all(self.each.values())

    @classmethod
    def of_all(cls, some: Sequence["Counts"]) -> "Counts":
        """The counts of one or several times, joined."""
        if len(some) == 1:
            return some[0]
        sums = {name: getattr(some[0], name).copy() for name in COUNTED}
        for name, fields in COUNTED.items():
            each = [getattr(one, name) for one in some]
            rows = np.concatenate(each, dtype=each[0].dtype).reshape(len(some), -1)
            for field in fields:
                sums[name][field] = rows[field].sum(axis=0)
        times = {c: Times.of_all(one.each[c] for one in some) for c in some[0].each}
        return cls(some[0].home, **sums, each=times)


class Run:
    """A score that is being simulated.

    Parameters
    ----------
    score
        The score.
    seed, replica
        Seed of random numbers, and the number of the replica.
    kept
        Whether the time of each journey is kept.
    """

    def __init__(self, score: Score, seed: int, replica: int, *, kept: bool) -> None:
        self.score = score
        self.state = opening(score, seed, replica, kept=kept)
        self._times = dict.fromkeys(range(len(score.classes)), NONE)
        self._given = arguments(score, self.state)

    def play(self, until: float) -> None:
        """Simulate until a time [s].

        Raises
        ------
        GraphError
            For jobs that circulate endlessly without time passing, and for deadlocks.
        """
        reason = Reason.MORE
        while reason is not Reason.DONE:
            play(*(*self._given, until, SLICE))
            reason = Reason(int(self.state.clock["reason"][0]))
            if reason is Reason.CROWDED:
                self.grow(len(self.state.jobs))
            elif reason is Reason.RECORDED:
                self._collect()
                self.state.lengthen()
                self._given = arguments(self.score, self.state)
            elif reason is Reason.ENDLESS:
                msg = "jobs circulate without end in no time; give them service times"
                raise GraphError(msg)
        if self.state.clock["jobs"][0] and not self.state.clock["size"][0]:
            msg = "deadlock: each job waits for the place of another; give more capacity"
            raise GraphError(msg)

    def grow(self, count: int) -> None:
        """Make room for so many more jobs."""
        self.state.grow(count)
        self._given = arguments(self.score, self.state)

    def change(self, stations: RowArray) -> None:
        """Play on with other rows of the stations."""
        self.score = replace(self.score, stations=stations)
        self._given = arguments(self.score, self.state)

    def _collect(self) -> None:
        """Take the finished journeys out of the state."""
        recorded = int(self.state.clock["recorded"][0])
        if recorded:
            self.take(self.state.journeys[:recorded])
            self.state.clock["recorded"] = 0

    def take(self, journeys: RowArray) -> None:
        """Add the times of finished journeys."""
        for c, before in self._times.items():
            own = journeys["time"][journeys["class_"] == c]
            self._times[c] = Times.of_all([before, Times.of(own)])

    def begin(self) -> None:
        """Start counting anew: the warm-up is over."""
        self.state.forget()
        self._times = dict.fromkeys(self._times, NONE)

    @property
    def events(self) -> int:
        """Number of events so far."""
        return int(self.state.clock["events"][0])

    @property
    def counts(self) -> Counts:
        """What was counted since the counts began."""
        self._collect()
        arrays = {name: getattr(self.state, name).copy() for name in COUNTED}
        return Counts(self.score.home, **arrays, each=dict(self._times))


def arguments(score: Score, state: State) -> tuple[Any, ...]:
    """The arguments of `play` before the time and number of events: arrays, with rows as int64.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> from headway.models.simulating.jobs import blueprint
    >>> from headway.models.simulating.scoring import score_of
    >>> from headway.models.simulating.playing.state import opening
    >>> model = catalogue_model("nfs-server").with_preset("raid")
    >>> score = score_of(blueprint(model))
    >>> state = opening(score, seed=1, replica=0, kept=False)
    >>> play(*arguments(score, state), 1.0, 500)
    >>> int(state.clock["events"][0])
    500
    """
    arrays = (
        *(score.stations, score.classes, score.sources, score.laws, score.routes, score.ways),
        *(score.speeds, score.paces, score.visits, score.branches, score.home),
        *(score.sizes, score.tables),
        *(state.clock, state.queues, state.jobs, state.servers, state.places),
        *(state.events, state.streams, state.gates, state.crowds, state.journeys),
        *(state.left, state.outcomes),
    )
    return tuple(array.view(np.int64) if array.dtype.names else array for array in arrays)
