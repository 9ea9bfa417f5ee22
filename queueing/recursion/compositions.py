"""Compositions of whole numbers into parts, in ascending order of their sum."""

from math import comb

import numpy as np
from numpy.typing import NDArray

from headway.kinds import FloatArray


class Compositions:
    """All vectors of whole numbers c with sum(c) <= most, those of sum 0 first, then 1, 2...

    Vectors up to a smaller sum come first; adding 1 to a part leads to the same index for any
    largest sum.

    Parameters
    ----------
    parts
        Length of the vectors, 0 or more.
    most
        Largest sum.

    Attributes
    ----------
    numbers
        c, shape (parts, vectors).
    total
        sum(c), shape (vectors,).
    more
        Index of the vector with 1 more in a part, shape (parts, vectors with sum < most).

    Examples
    --------
    >>> pairs = Compositions(2, 2)
    >>> pairs.numbers.tolist(), pairs.more.tolist()
    ([[0.0, 1.0, 0.0, 2.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0, 1.0, 2.0]], [[1, 3, 4], [2, 4, 5]])
    """

    def __init__(self, parts: int, most: int) -> None:
        self.parts = parts
        binomials = [[comb(n, k) for k in range(parts + 1)] for n in range(most + parts + 2)]
        self._choose = np.array(binomials)
        vectors = np.zeros((0, 1), int)  # in any order, shape (parts, vectors)
        for _ in range(parts):
            room = most + 1 - vectors.sum(axis=0)
            starts = np.cumsum(room) - room
            last = np.arange(int(room.sum())) - np.repeat(starts, room)
            vectors = np.vstack([np.repeat(vectors, room, axis=1), last])
        self.numbers: FloatArray = np.empty(vectors.shape)
        self.numbers[:, self._position(vectors)] = vectors
        whole = self.numbers[:, : self.count(most - 1)].astype(int)
        self.total: NDArray[np.intp] = self.numbers.sum(axis=0).astype(int)
        steps = np.eye(parts, dtype=int)
        self.more = np.array([self._position(whole + step[:, None]) for step in steps])

    def count(self, most: int) -> int:
        """Number of vectors with a sum of at most ``most``."""
        return comb(most + self.parts, self.parts) if most >= 0 else 0

    def _position(self, vectors: NDArray[np.intp]) -> NDArray[np.intp]:
        """Indices of vectors: in order of the sum, then of the last parts."""
        rest = vectors.sum(axis=0)
        place = self._choose[rest + self.parts - 1, self.parts] if self.parts else rest
        for part in range(self.parts - 1, 0, -1):
            left = rest - vectors[part]
            place = place + self._choose[rest + part, part] - self._choose[left + part, part]
            rest = left
        return np.asarray(place)
