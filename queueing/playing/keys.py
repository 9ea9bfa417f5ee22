"""Keys of random number streams: from the name of what is drawn, a seed and a replica."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from headway.queueing.playing.rows import RowArray, Stream, dtype_of


def key_of(name: str) -> int:
    """The key of a stream, from its name.

    Examples
    --------
    >>> key_of("order at cpu") == key_of("order at disk")
    False
    """
    return int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")


def streams_of(keys: NDArray[np.uint64], seed: int, replica: int) -> RowArray:
    """Streams at their start, from the keys of their names."""
    own = np.uint64(key_of(f"seed {seed}, replica {replica}"))
    streams = np.zeros(len(keys), dtype_of(Stream))
    streams["key"] = _mixed(keys ^ own).view(np.int64)
    return streams


def _mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64, which makes keys of similar names differ."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
