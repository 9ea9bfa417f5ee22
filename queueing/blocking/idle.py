"""Stations and regions that no job visits: left out of the solution, then added as empty."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from headway.kinds import FloatArray
from headway.queueing.blocking.answers import BlockingSolution, WindowAnswer
from headway.queueing.network.blocking import BlockingNetwork, Window, visited
from headway.records import dataclass

Each = TypeVar("Each")

EMPTY = WindowAnswer(0.0, 0.0, 0.0, 0.0, 0.0)
"""The result of a region that no job visits."""


@dataclass(frozen=True)
class Visited:
    """The part of a network that jobs visit.

    Parameters
    ----------
    network
        This part of the network.
    places, windows
        Indices of its stations and regions in the whole network.
    """

    network: BlockingNetwork
    places: tuple[int, ...]
    windows: tuple[int, ...]

    @staticmethod
    def of(network: BlockingNetwork) -> "Visited":
        """Leave out the stations and regions that no job visits.

        Examples
        --------
        >>> from headway.queueing.network.blocking import Room
        >>> none, first = np.zeros((2, 2)), np.array([0.0, 1.0])
        >>> two = BlockingNetwork((Room(1.0), Room(2.0)), none, first, 0.1)
        >>> Visited.of(two).places
        (1,)
        """
        places = tuple(visited(network))
        new = {k: position for position, k in enumerate(places)}
        members = [[new[k] for k in w.stations if k in new] for w in network.windows]
        windows = tuple(k for k, inside in enumerate(members) if inside)
        if len(places) == len(network.rooms):
            return Visited(network, places, windows)
        part = replace(
            network,
            rooms=tuple(network.rooms[k] for k in places),
            onward=np.asarray(network.onward)[np.ix_(places, places)],
            entry=np.asarray(network.entry)[list(places)],
            windows=tuple(Window(tuple(members[k]), network.windows[k].limit) for k in windows),
            names=tuple(network.called[k] for k in places),
        )
        return Visited(part, places, windows)

    def extended(self, whole: BlockingNetwork, solution: BlockingSolution) -> BlockingSolution:
        """Extend a solution of the visited part to the whole network, with the rest empty."""
        if len(self.places) == len(whole.rooms):
            return solution

        def every(values: FloatArray | None) -> Any:
            if values is None:
                return None
            everywhere = np.zeros(len(whole.rooms))
            everywhere[list(self.places)] = values
            return everywhere

        windows = dict(zip(self.windows, solution.windows, strict=True))
        return replace(
            solution,
            station_throughput=every(solution.station_throughput),
            utilisation=every(solution.utilisation),
            blocked=every(solution.blocked),
            queue_length=every(solution.queue_length),
            call_blocking=every(solution.call_blocking),
            windows=tuple(windows.get(k, EMPTY) for k in range(len(whole.windows))),
        )

    def pick(self, values: Sequence[Each]) -> list[Each]:
        """The values of the visited stations, from one for each station."""
        return [values[k] for k in self.places]
