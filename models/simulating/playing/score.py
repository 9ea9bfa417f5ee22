"""The score of a simulation: a network as plain arrays, which say nothing of how they are played.

Rows stand in a fixed order, by which they are found. Laws: service by class and station; thinking,
patience and backing off, each by class; sources. Routes: by class and station, then where each
class enters. Streams of random numbers: laws, routes, rounds by class, the choice among queues and
the order of service by station, and the sizes of batches by source.
"""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.playing.rows import IntArray, RowArray
from headway.records import dataclass


@dataclass(frozen=True, eq=False)
class Score:
    """What is played; each array in C order.

    Parameters
    ----------
    stations, classes, sources, laws
        Rows of `Station`, `Class`, `Source` and `Law`.
    routes, ways
        Where the ways of each row of routes begin, shape (rows + 1,), and all of them.
    speeds, paces
        Of stations, one after the other.
    visits
        Mean visits of a journey, for classes that make rounds, shape (classes, stations).
    branches
        Of forks, one after the other.
    home
        The station of each queue.
    sizes
        Of batches that arrive, one source after the other.
    tables
        Numbers of laws that have many: gaps of traces; starts and rates of pieces, and their
        integral over a period.
    limits
        Jobs that each region holds.
    crowd
        Jobs of each class that are there from the start.
    tokens
        Of each class for retries, at the start.
    keys
        A key for each stream, of its name.
    """

    stations: RowArray
    classes: RowArray
    sources: RowArray
    laws: RowArray
    routes: IntArray
    ways: RowArray
    speeds: FloatArray
    paces: FloatArray
    visits: FloatArray
    branches: RowArray
    home: IntArray
    sizes: RowArray
    tables: FloatArray
    limits: tuple[int, ...]
    crowd: tuple[int, ...]
    tokens: tuple[float, ...]
    keys: NDArray[np.uint64]
