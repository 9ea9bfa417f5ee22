"""Stations without a product form that lie between two that have one, in closed networks."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.stations.base import Station


@dataclass(frozen=True)
class Ends:
    """What a closed network does with either end in the place of a station.

    Parameters
    ----------
    slow, free
        Throughput of the station with its slow and its fast end, shape (points,) [1/s].
    ratios
        P(n >= j + 1) / P(n >= j) of the jobs n at the fast end, j = 0, 1..., shape (jobs,
        points): its utilisation with N, N - 1... jobs; 0 where there are no more.
    """

    slow: FloatArray
    free: FloatArray
    ratios: FloatArray

    @cached_property
    def busy_variance(self) -> FloatArray:
        """(1 - U)**2 times the sum over j = 1, 2... of P(n >= j)**2 / P(n = j).

        Examples
        --------
        >>> one = np.ones(1)
        >>> Ends(one, one, np.array([[0.5], [0.0]])).busy_variance.tolist()  # one job, Z = S
        [0.125]
        """
        reached = np.cumprod(self.ratios, axis=0)
        idle = 1 - self.ratios
        after = np.concatenate([idle[1:], np.ones((1, *idle.shape[1:]))])
        some = after > 0  # where it is always busy with one job less, so it is with all
        share = np.where(some, idle[0] / np.where(some, after, 1.0), 0.0)
        return np.asarray(idle[0] * (reached * np.minimum(share, 1.0)).sum(axis=0))


class Mixed(Station):
    """A station that a closed network holds as a mixture of two with a product form."""

    mixed_note: ClassVar[str]
    """What is approximate about that, with the error measured."""

    @abstractmethod
    def ends(self) -> tuple[Station, Station]:
        """A slow single server, which is its limit at one end, and a fast one at the other."""

    @abstractmethod
    def weight(self, ends: Ends) -> FloatArray:
        """How far it does as with the fast end up to its capacity, 1, or as with the slow, 0."""
