"""What replicas need to know, whatever is simulated."""

from collections.abc import Callable

from headway.models.simulating.planning import Schedule
from headway.models.simulating.replica import Replica
from headway.records import dataclass


@dataclass(frozen=True)
class Game:
    """A system to simulate, and for how long.

    Parameters
    ----------
    replica
        A function that simulates once, given the length, percentiles, seed and number of a replica.
    planned
        The length of a replica.
    notes
        What the simulation assumes beyond the model.
    """

    replica: Callable[[Schedule, tuple[float, ...], int, int], Replica]
    planned: Schedule
    notes: tuple[str, ...] = ()
