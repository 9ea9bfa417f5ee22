"""The score of a simulation: a network as plain arrays, independent of how they are simulated.

Rows are in a fixed order, by which they are found. Laws: service by class and station; thinking,
patience and backoff, each by class; sources. Routes: by class and station, then where each class
enters. Streams of random numbers: laws, routes, rounds by class, the choice among queues and the
order of service by station, and the sizes of batches by source.
"""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.playing.rows import IntArray, RowArray
from headway.records import dataclass


@dataclass(frozen=True, eq=False)
class Score:
    """The arrays to simulate, each in C order.

    Parameters
    ----------
    stations, classes, sources, laws
        Rows of `Station`, `Class`, `Source` and `Law`.
    routes, ways
        Where each row's routes begin, shape (rows + 1,), and all routes.
    speeds, paces
        Speeds and paces of stations, one station after the other.
    visits
        Mean visits of a journey, for classes that make rounds, shape (classes, stations).
    branches
        Branches of forks, one fork after the other.
    home
        The station of each queue.
    sizes
        Sizes of batches, one source after the other.
    tables
        Numbers of laws that have many: gaps of traces; starts and rates of pieces, and their
        integral over a period.
    limits
        Most jobs of each region.
    crowd
        Number of jobs of each class at the start.
    tokens
        Tokens for retries of each class, at the start.
    outcomes
        Outcomes of attempts that the circuit breakers of all classes keep.
    keys
        A key for each stream, derived from its name.
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
    outcomes: int
    keys: NDArray[np.uint64]
