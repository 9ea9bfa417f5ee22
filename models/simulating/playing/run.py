"""Play a score in slices, so that Ctrl-C is heard and arrays grow between them."""

from functools import reduce
from typing import Any

import numpy as np

from headway.errors import GraphError
from headway.models.simulating.playing.loop import play
from headway.models.simulating.playing.rows import Reason
from headway.models.simulating.playing.score import Score
from headway.models.simulating.playing.state import State, opening
from headway.queueing.playing.rows import RowArray
from headway.queueing.playing.times import NONE, Times

SLICE = 2**18
"""Events of a slice."""


class Run:
    """A score that is being played.

    Parameters
    ----------
    score
        What is played.
    seed, replica
        Of random numbers.
    kept
        Whether the time of each journey is kept.
    """

    def __init__(self, score: Score, seed: int, replica: int, *, kept: bool) -> None:
        self.score = score
        self.state = opening(score, seed, replica, kept=kept)
        self._times = dict.fromkeys(range(len(score.classes)), NONE)

    def play(self, until: float) -> None:
        """Play until a time [s].

        Raises
        ------
        GraphError
            For jobs that circulate without end while no time passes, and where none can move.
        """
        reason = Reason.MORE
        while reason is not Reason.DONE:
            play(*arguments(self.score, self.state, until, SLICE))
            reason = Reason(int(self.state.clock["reason"][0]))
            self._collect()
            if reason is Reason.CROWDED:
                self.state.grow(len(self.state.jobs))
            elif reason is Reason.RECORDED:
                self.state.lengthen()
            elif reason is Reason.ENDLESS:
                msg = "jobs circulate without end in no time; give them service times"
                raise GraphError(msg)
        if self.state.clock["jobs"][0] and not self.state.clock["size"][0]:
            msg = "deadlock: each job waits for the place of another; give more capacity"
            raise GraphError(msg)

    def _collect(self) -> None:
        """Take the journeys that ended out of the state."""
        recorded = int(self.state.clock["recorded"][0])
        if recorded:
            self.take(self.state.journeys[:recorded])
            self.state.clock["recorded"] = 0

    def take(self, journeys: RowArray) -> None:
        """Count the times of journeys that ended."""
        for c, before in self._times.items():
            own = journeys["time"][journeys["class_"] == c]
            self._times[c] = before.and_those(Times.of(own)) if own.size else before

    def begin(self) -> None:
        """Count anew from now on: the warm-up is over."""
        self.state.forget()
        self._times = dict.fromkeys(self._times, NONE)

    @property
    def events(self) -> int:
        """Events so far."""
        return int(self.state.clock["events"][0])

    def times(self, class_: int | None = None) -> Times:
        """Times of the journeys that ended, of one class or of all."""
        if class_ is not None:
            return self._times[class_]
        return reduce(Times.and_those, self._times.values())


def arguments(score: Score, state: State, until: float, most: int) -> tuple[Any, ...]:
    """What `play` takes: arrays, rows of them as int64 in one line; a time, and a number of events.

    Examples
    --------
    >>> from headway.models import catalogue_model
    >>> from headway.models.simulating.jobs import blueprint
    >>> from headway.models.simulating.scoring import score_of
    >>> from headway.models.simulating.playing.state import opening
    >>> model = catalogue_model("nfs-server").with_preset("raid")
    >>> score = score_of(blueprint(model))
    >>> state = opening(score, seed=1, replica=0, kept=False)
    >>> play(*arguments(score, state, 1.0, 500))
    >>> int(state.clock["events"][0])
    500
    """
    arrays = (
        *(score.stations, score.classes, score.sources, score.laws, score.routes, score.ways),
        *(score.speeds, score.paces, score.visits, score.branches, score.home),
        *(score.sizes, score.tables),
        *(state.clock, state.queues, state.jobs, state.servers, state.places),
        *(state.events, state.streams, state.gates, state.crowds, state.journeys),
        state.left,
    )
    flat = (array.view(np.int64) if array.dtype.names else array for array in arrays)
    return (*flat, until, most)
