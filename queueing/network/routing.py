"""The ways of classes of jobs between the stations that they share."""

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
        Chance of each station, shape (classes, stations, points or 1).
    onward
        Chance of a class to go from a station to a station as a class, shape (classes,
        stations, stations, classes, points or 1); what is left leaves.
    last
        Chance to leave there and come in again as a class, shape (classes, stations, classes,
        points or 1); None where all come in as what they are.
    """

    entries: FloatArray
    onward: FloatArray
    last: FloatArray | None = None

    @property
    def parts(self) -> tuple[FloatArray, ...]:
        """Everything that it is made of."""
        return (self.entries, self.onward, *([] if self.last is None else [self.last]))

    def at(self, points: NDArray[np.intp]) -> "Routing":
        """Give those of some operating points, in a row."""
        return Routing(*(_at(part, points) for part in self.parts))


def _at(chances: FloatArray, points: NDArray[np.intp]) -> FloatArray:
    return chances if chances.shape[-1] == 1 else chances[..., points]
