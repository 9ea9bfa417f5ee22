"""What approximate mean value analysis knows of a network with disciplines, as arrays."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.queueing.closed.pools import Crowd, closed_rates
from headway.queueing.disciplines.discipline import Discipline


@dataclass(frozen=True)
class Crossing:
    """Stations and their classes.

    Parameters
    ----------
    times, visits
        S [s] and V, shape (classes, stations, points).
    servers, lanes
        Servers at each of a station's separate queues, and queues; shape (stations, points).
    population, think_time, rates
        N, Z [s] and arrivals [1/s], 0 where a class is of the other sort; shape (classes, points).
    is_open
        Which classes are, shape (classes,).
    priority
        Of each class, 1 before 2.
    disciplines
        Whose turn it is at each station; None where everybody is served at once.
    """

    times: FloatArray
    visits: FloatArray
    servers: FloatArray
    lanes: FloatArray
    population: FloatArray
    think_time: FloatArray
    rates: FloatArray
    is_open: NDArray[np.bool_]
    priority: tuple[int, ...]
    disciplines: tuple[Discipline | None, ...]

    def at(self, points: NDArray[np.intp]) -> "Crossing":
        """Give some of the points, in a row."""
        return replace(self, **{name: getattr(self, name)[..., points] for name in _BY_POINT})

    @cached_property
    def jobs(self) -> FloatArray:
        """N, 1 at least, and without end for open classes, shape (classes, points)."""
        return np.where(self.is_open[:, None], np.inf, np.maximum(self.population, 1.0))

    @cached_property
    def before(self) -> Amount:
        """Which classes (rows) go before which, shape (classes, classes)."""
        ranks = np.array(self.priority)
        return ranks[:, None] < ranks

    @cached_property
    def beside(self) -> Amount:
        """Which classes go in order of arrival with which, shape (classes, classes)."""
        ranks = np.array(self.priority)
        return ranks[:, None] == ranks

    def crowd(self, k: int) -> Crowd | None:
        """Speeds of a station's pool by number present; None at single servers."""
        if k not in self._crowds:
            most = int(self.servers[k].max())
            if not self.is_open.any():
                most = min(most, max(int(self.population.sum(axis=0).max()), 1))
            none = np.zeros(self.servers.shape[1])
            rates = closed_rates(self.servers[k], none, most)[:, None]
            self._crowds[k] = Crowd(rates) if most > 1 else None
        return self._crowds[k]

    @cached_property
    def _crowds(self) -> dict[int, Crowd | None]:
        return {k: None for k in range(len(self.lanes)) if self.servers[k].max() == 1}


_BY_POINT = ("times", "visits", "servers", "lanes", "population", "think_time", "rates")
