"""Routes of classes of jobs between the stations that they share."""

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.records import dataclass


@dataclass(frozen=True)
class Routing:
    """Entries and routes of jobs by class, with changes of class.

    Parameters
    ----------
    entries
        Probability of entering at each station, shape (classes, stations, points or 1).
    onward
        Probability that a class goes from a station to a station as a class, shape (classes,
        stations, stations, classes, points or 1); with the remaining probability it leaves.
    last
        Probability of leaving there and entering again as a class, shape (classes, stations,
        classes, points or 1); None if all enter again in their own class.
    """

    entries: FloatArray
    onward: FloatArray
    last: FloatArray | None = None

    @property
    def parts(self) -> tuple[FloatArray, ...]:
        """All arrays."""
        return (self.entries, self.onward, *([] if self.last is None else [self.last]))

    def at(self, points: NDArray[np.intp]) -> "Routing":
        """The routes at some of the operating points."""
        return Routing(*(_at(part, points) for part in self.parts))


def _at(chances: FloatArray, points: NDArray[np.intp]) -> FloatArray:
    return chances if chances.shape[-1] == 1 else chances[..., points]
