"""What changes in a network while it is played: its servers, and jobs that come all at once.

All are rare beside events, so the twins of the kernel's functions make them, on the same arrays.
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

_SCORE = 13  # arrays of a score among those that `play` takes


@contextmanager
def _opened(run: Run) -> Iterator[Play]:
    """A run's state as objects, written back at the end; no journey ends meanwhile."""
    given = arguments(run.score, replace(run.state, journeys=run.state.journeys[:0]))
    score = [np.ravel(each) for each in given[:_SCORE]]
    play = Play(score, given[_SCORE:])
    yield play
    play.write(given[_SCORE:])


def await_arrivals(run: Run) -> None:
    """Let each source of a run that has not begun wait for its first arrival, which else is now."""
    with _opened(run) as play:
        for source in range(play.sources):
            schedule(play, source, play.now + next_arrival(play, source))


def set_servers(run: Run, counts: Mapping[int, int]) -> None:
    """Give stations, by position, so many servers from now on; who is served now is served on.

    Parameters
    ----------
    run
        Played until now.
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
    """Let so many jobs of the first class come from outside now.

    Parameters
    ----------
    run
        Played until now.
    count
        Jobs, 0 or more.
    """
    run.grow(2 * count)
    with _opened(run) as play:
        for _ in range(count):
            begin_request(play, 0)
