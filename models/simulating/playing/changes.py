"""Changes of a network while it is simulated: its servers, and jobs that all come at once.

They are rare compared with events, so they use the Python twins of the kernel's functions, on the
same arrays.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from headway.models.simulating.playing.chance import Play
from headway.models.simulating.playing.loop import begin_request, next_arrival
from headway.models.simulating.playing.queues import start_next
from headway.models.simulating.playing.run import Run, arguments
from headway.queueing.playing.calendar import schedule

_SCORE = 13  # arrays of a score among the arguments of `play`


@contextmanager
def _opened(run: Run) -> Iterator[Play]:
    """A run's state as objects, written back at the end; no journey ends meanwhile."""
    given = arguments(run.score, replace(run.state, journeys=run.state.journeys[:0]))
    score = [np.ravel(each) for each in given[:_SCORE]]
    play = Play(score, given[_SCORE:])
    yield play
    play.write(given[_SCORE:])


def await_arrivals(run: Run) -> None:
    """Draw the first arrival of each source of a run that has not begun; else it is now."""
    with _opened(run) as play:
        for source in range(play.sources):
            schedule(play, source, play.now + next_arrival(play, source))


def set_servers(run: Run, counts: Mapping[int, int]) -> None:
    """Set the servers of stations, by position, from now on; jobs in service continue.

    Parameters
    ----------
    run
        The run, simulated until now.
    counts
        Servers of each station that changes, 0 or more.
    """
    stations = run.score.stations.copy()
    for station, count in counts.items():
        stations["servers"][station] = stations["crew"][station] = count
    run.change(stations)
    with _opened(run) as play:
        for queue, home in enumerate(play.home):
            if home in counts:
                start_next(play, queue)


def let_come(run: Run, count: int) -> None:
    """Let a number of jobs of the first class arrive from outside now.

    Parameters
    ----------
    run
        The run, simulated until now.
    count
        Number of jobs, 0 or more.
    """
    run.grow(2 * count)
    with _opened(run) as play:
        for _ in range(count):
            begin_request(play, 0)
