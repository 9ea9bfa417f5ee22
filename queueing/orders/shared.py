"""Arrays of a network of several classes with priorities, for approximate mean value analysis."""

from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from headway.kinds import Amount, FloatArray
from headway.queueing.closed.pools import Crowd, closed_rates
from headway.queueing.disciplines.discipline import Discipline
from headway.records import dataclass


@dataclass(frozen=True)
class PriorityNetwork:
    """Stations and job classes of a network with priorities or disciplines, at many points.

    Parameters
    ----------
    times, visits
        S [s] and V, shape (classes, stations, points).
    servers, lanes
        Servers at each of a station's separate queues, and number of queues; shape (stations,
        points).
    population, think_time, rates
        N and Z [s] of closed classes, lambda [1/s] of open ones, otherwise 0; shape (classes,
        points).
    is_open
        Whether each class is open, shape (classes,).
    priority
        Priority of each class, 1 before 2.
    disciplines
        The order of service at each station; None at a delay.
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

    def at(self, points: NDArray[np.intp]) -> "PriorityNetwork":
        """The network at some of the points."""
        return replace(self, **{name: getattr(self, name)[..., points] for name in _BY_POINT})

    @cached_property
    def jobs(self) -> FloatArray:
        """max(N, 1) of closed classes, infinity of open ones, shape (classes, points)."""
        return np.where(self.is_open[:, None], np.inf, np.maximum(self.population, 1.0))

    @cached_property
    def before(self) -> Amount:
        """Whether class c (row) has priority over class d (column), shape (classes, classes)."""
        ranks = np.array(self.priority)
        return ranks[:, None] < ranks

    @cached_property
    def same_priority(self) -> Amount:
        """Whether two classes have the same priority, shape (classes, classes)."""
        ranks = np.array(self.priority)
        return ranks[:, None] == ranks

    def crowd(self, k: int) -> Crowd | None:
        """Service rates of a station by number of jobs; None for single servers."""
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
