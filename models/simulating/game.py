"""What replicas are made of, whatever is simulated."""

from collections.abc import Callable

from headway.models.simulating.planning import Schedule
from headway.models.simulating.replica import Replica
from headway.records import dataclass


@dataclass(frozen=True)
class Game:
    """What is simulated, and for how long.

    Parameters
    ----------
    replica
        Simulates once, by the length, percentiles, seed and number of a replica.
    pace
        Time of an event on this machine, by the length and the seed [s].
    planned
        The length of a replica.
    notes
        What is assumed beyond the model.
    """

    replica: Callable[[Schedule, tuple[float, ...], int, int], Replica]
    pace: Callable[[Schedule, int], float]
    planned: Schedule
    notes: tuple[str, ...] = ()
