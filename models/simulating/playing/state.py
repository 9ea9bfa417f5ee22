"""The state of a simulation, in arrays that grow when they are full."""

from dataclasses import dataclass

import numpy as np

from headway.models.simulating.playing.rows import Clock, Crowd, Gate, Job, Journey, Queue, Where
from headway.models.simulating.playing.score import Score
from headway.queueing.playing.keys import streams_of
from headway.queueing.playing.rows import NONE, Event, IntArray, RowArray, dtype_of, rows

SPARE = 64
"""Jobs for which there is room at first, beyond the circulating ones."""

JOURNEYS, MOST_JOURNEYS = 2**12, 2**16
"""Finished journeys that are collected together: at first, and in a long run."""


COUNTED = {
    "queues": (
        *("served", "lost", "present_area", "used_area", "held_area", "stayed", "allotted"),
    ),
    "gates": ("entered", "waiting_area", "inside_area", "full"),
    "crowds": (
        *("ended", "lost", "taken", "requests", "attempts", "withdrawn", "late", "given_up"),
        *("useful", "wasted", "openings", "refused", "open"),
    ),
}
"""Fields of the state's arrays that count events, and are reset after a warm-up."""


@dataclass
class State:
    """The state of a simulation.

    Parameters
    ----------
    clock
        Time and counts, a single row.
    queues, jobs, streams, gates, crowds, journeys
        Rows of each.
    servers
        The job at each of the unequal servers.
    places, events
        The position of each entity's event in the calendar, and the calendar. Entities are sources,
        queues and jobs.
    left
        Jobs of each source's batch that have yet to arrive.
    outcomes
        Whether the last attempts of each class with a circuit breaker failed, class after class.
    """

    clock: RowArray
    queues: RowArray
    jobs: RowArray
    servers: IntArray
    places: IntArray
    events: RowArray
    streams: RowArray
    gates: RowArray
    crowds: RowArray
    journeys: RowArray
    left: IntArray
    outcomes: IntArray

    def grow(self, count: int) -> None:
        """Make room for a number of further jobs."""
        had = len(self.jobs)
        fresh = np.repeat(rows(Job, [Job()]), count)
        fresh["next"] = np.arange(had + 1, had + count + 1)
        fresh["next"][-1] = self.clock["unused"][0]
        self.clock["unused"] = had
        self.jobs = np.concatenate((self.jobs, fresh))
        self.places = np.concatenate((self.places, np.full(count, NONE)))
        self.events = np.concatenate((self.events, np.zeros(count, self.events.dtype)))

    def lengthen(self) -> None:
        """Make room for twice as many journeys, up to the most."""
        room = min(2 * len(self.journeys), MOST_JOURNEYS)
        self.journeys = np.zeros(room, self.journeys.dtype)

    def forget(self) -> None:
        """Reset the counts: the warm-up is over."""
        for array, names in COUNTED.items():
            for name in names:
                getattr(self, array)[name] = 0
        self.clock["recorded"] = 0


def opening(score: Score, seed: int, replica: int, *, kept: bool) -> State:
    """The state at time 0: closed jobs arrive, and each source has its first arrival.

    Parameters
    ----------
    score
        The score to simulate.
    seed, replica
        Seed of random numbers, and the number of the replica.
    kept
        Whether the time of each journey is kept.
    """
    sources, queues = len(score.sources), len(score.home)
    crowd = sum(score.crowd)
    state = State(
        rows(Clock, [Clock(kept=int(kept))]),
        rows(Queue, [Queue()] * queues),
        rows(Job),
        np.full(len(score.paces), NONE),
        np.full(sources + queues, NONE),
        np.zeros(sources + queues, dtype_of(Event)),
        streams_of(score.keys, seed, replica),
        rows(Gate, map(Gate, score.limits)),
        rows(Crowd, [Crowd(tokens=each) for each in score.tokens]),
        np.zeros(JOURNEYS if kept else 0, dtype_of(Journey)),
        np.zeros(sources, np.int64),
        np.zeros(score.outcomes, np.int64),
    )
    state.grow(crowd + SPARE)
    jobs = state.jobs[:crowd]
    jobs["class_"] = jobs["born"] = np.repeat(np.arange(len(score.crowd)), score.crowd)
    jobs["queue"], jobs["next"] = Where.COMING, NONE
    owners = np.concatenate((np.arange(sources), sources + queues + np.arange(crowd)))
    _put(state, owners)
    state.clock["unused"], state.clock["jobs"] = crowd, crowd
    return state


def _put(state: State, owners: IntArray) -> None:
    """Put an event at time 0 into the calendar for each of some entities, in order."""
    count = len(owners)
    state.events["owner"][:count] = owners
    state.events["number"][:count] = np.arange(count)
    state.places[owners] = np.arange(count)
    state.clock["size"] = state.clock["scheduled"] = count
