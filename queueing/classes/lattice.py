"""All populations (n_1, ..., n_C) up to (N_1, ..., N_C), in planes of equal sum."""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray
from headway.queueing.methods.memory import check_memory


def lattice_bytes(sizes: Sequence[int], stations: int, points: int) -> float:
    """Memory of one number for each population, station and operating point [B].

    Examples
    --------
    >>> lattice_bytes([41, 41, 41], 8, 1)
    4410944.0
    """
    return 8.0 * prod(sizes) * stations * points


def convolution_bytes(sizes: Sequence[int], stations: int, points: int) -> float:
    """Memory that a convolution over all populations needs [B].

    For each population and operating point it keeps a number for each station convolved so far, one
    for each class for the remaining populations, and eight as work space; and for all points
    together three for each class.

    Examples
    --------
    >>> convolution_bytes([101, 101], 8, 1)
    2121808.0
    """
    classes = len(sizes)
    return 8.0 * prod(sizes) * (points * (stations + classes + 8) + 3 * classes + 2)


class Lattice:
    """All populations as rows, each with the row of its neighbour with one job fewer.

    Parameters
    ----------
    sizes
        N_c + 1 for each class.

    Examples
    --------
    >>> lattice = Lattice([2, 3])
    >>> lattice.states, [plane.tolist() for plane in lattice.planes()]
    (6, [[0], [1, 3], [2, 4], [5]])
    """

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = tuple(sizes)
        self.states = prod(sizes)
        self.number = np.indices(self.sizes).reshape(len(sizes), -1)
        strides = [prod(self.sizes[c + 1 :]) for c in range(len(sizes))]
        rows = np.arange(self.states)
        # A missing neighbour is represented by one more row, after the last state.
        self.fewer: list[NDArray[np.intp]] = [
            np.where(self.number[c] > 0, rows - stride, self.states)
            for c, stride in enumerate(strides)
        ]
        total = self.number.sum(axis=0)
        self._order = np.argsort(total, kind="stable")
        self._edges = np.concatenate([[0], np.cumsum(np.bincount(total))])

    def planes(self) -> Iterator[NDArray[np.intp]]:
        """Row numbers of the states with 0, 1, 2... jobs in all."""
        for start, stop in zip(self._edges[:-1], self._edges[1:], strict=True):
            yield self._order[start:stop]

    def row(self, population: FloatArray) -> NDArray[np.intp]:
        """Row number of each point's population, shape (classes, points)."""
        return np.asarray(np.ravel_multi_index(tuple(population.astype(int)), self.sizes))


def lattice_for(population: FloatArray, stations: int) -> Lattice:
    """Lattice up to the largest populations; refused if it would need too much memory.

    Parameters
    ----------
    population
        Jobs of each class, shape (classes, points).
    stations
        Number of stations.

    Raises
    ------
    InvalidParameter
        With the size of the lattice, and approximations that do not need it.

    Examples
    --------
    >>> lattice_for(np.full((2, 1), 3.0), stations=4).states
    16
    """
    sizes = [int(n) + 1 for n in population.max(axis=1)]
    check_memory(sizes, convolution_bytes(sizes, stations, population.shape[1]))
    return Lattice(sizes)
