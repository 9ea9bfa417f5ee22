"""Points of the unit cube by index: Sobol sequences, Latin hypercubes, random points.

Every part of a sample has the same points; none depends on which worker made others.

Source: Sobol', *On the distribution of points in a cube*, 1967; Joe and Kuo, *Constructing Sobol
sequences with better two-dimensional projections*, 2008; McKay, Beckman and Conover, *A comparison
of three methods for selecting values of input variables*, 1979; Salmon et al., *Parallel random
numbers: as easy as 1, 2, 3*, 2011, for streams by counter.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from headway.errors import PackageError
from headway.kinds import FloatArray

BLOCK_OF_SAMPLES = 2**15
"""Points of a Latin hypercube, and of the stored block of Sobol points."""

SOBOL_BITS = 52
"""Bits of a coordinate, as many as a float holds; they limit the number of points."""

_NARROW, _WIDE_SCIPY = 32, (1, 17)
"""Bits of an index with which SciPy counts before a version: past them it searches for ever."""

_WORDS = 4
"""Random numbers per counter of a stream."""

Whole = NDArray[np.int64]
Shares = list[FloatArray]
"""By dimension: coordinates in [0, 1), shape (points,)."""


def sobol(width: int, seed: int, start: int, stop: int, bits: int = SOBOL_BITS) -> Shares:
    """Points of Sobol's sequence, scrambled.

    Each point is the exclusive or of direction numbers, chosen by the bits of the point's index in
    Gray code. In a block of 2^15 points, all but the last 15 bits are the same, so every block is
    the first one combined with a constant.

    Parameters
    ----------
    width
        Number of dimensions, from 1 to 21201.
    seed
        Seed of the scrambling.
    start, stop
        Indices of the points, below 2^bits.
    bits
        Bits of a coordinate.

    Returns
    -------
    Coordinates by dimension, equal to those of ``scipy.stats.qmc.Sobol``.

    Examples
    --------
    >>> from scipy.stats.qmc import Sobol
    >>> engine = Sobol(2, bits=52, seed=np.random.default_rng(7))
    >>> bool((engine.random(1024).T[:, 1000:] == sobol(2, 7, 1000, 1024)).all())
    True
    """
    return _joined(start, stop, lambda *place: _sobol_block(width, seed, bits, *place))


def _sobol_block(width: int, seed: int, bits: int, block: int, low: int, high: int) -> Shares:
    number = block * BLOCK_OF_SAMPLES
    _, directions = _directions(
        width, seed, bits if number >> _NARROW else min(bits, _NARROW), bits
    )
    constant = _gray(directions, number)
    first = _first_block(width, seed, bits)
    return [(row[low:high] ^ own) * 2.0**-bits for row, own in zip(first, constant, strict=True)]


@lru_cache(maxsize=4)
def _first_block(width: int, seed: int, bits: int) -> Whole:
    """Points of the first block as whole numbers, shape (width, 2^15)."""
    begin, directions = _directions(width, seed, min(bits, _NARROW), bits)
    points: Whole = begin[:, None]
    for direction in directions[: BLOCK_OF_SAMPLES.bit_length() - 1]:
        points = np.concatenate([points, points[:, ::-1] ^ direction[:, None]], axis=1)
    return points


def _gray(directions: Whole, number: int) -> Whole:
    """Exclusive or of the directions that the Gray code of an index selects, shape (width,)."""
    digits = number ^ (number >> 1)
    total: Whole = np.zeros_like(directions[0])
    for direction in directions[: digits.bit_length()]:
        if digits & 1:
            total = total ^ direction
        digits >>= 1
    return total


@lru_cache(maxsize=16)
def _directions(width: int, seed: int, count: int, bits: int) -> tuple[Whole, Whole]:
    """The first point, shape (width,), and directions, shape (count, width), as whole numbers.

    A point differs from the previous one by the direction of the lowest bit of its index. So the
    engine gives a direction when it is set to just before a power of two.
    """
    from scipy.stats.qmc import Sobol

    if count > _NARROW:
        _check_scipy()
    engine = Sobol(width, bits=bits, seed=np.random.default_rng(seed))
    points = [engine.random(1)[0]]
    for power in range(count):
        engine.num_generated = 2**power
        points.append(engine.random(1)[0])
    numbers = (np.array(points) * 2.0**bits).astype(np.int64)
    return numbers[0], numbers[1:] ^ numbers[:-1]


def _check_scipy() -> None:
    import scipy

    version = tuple(map(int, scipy.__version__.split(".")[:2]))
    if version < _WIDE_SCIPY:
        wanted = ".".join(map(str, _WIDE_SCIPY))
        msg = (
            f"Sobol points from 2^{_NARROW} on need SciPy {wanted}, and this is {scipy.__version__}"
            f": pip install 'scipy>={wanted}', or take fewer samples"
        )
        raise PackageError(msg)


def uniform(width: int, seed: int, start: int, stop: int) -> Shares:
    """Random points: each dimension has its own stream, with the index of the point as its counter.

    Parameters
    ----------
    width, seed, start, stop
        As for `sobol`.

    Returns
    -------
    Coordinates by dimension.

    Examples
    --------
    >>> uniform(2, 7, 0, 9)[1][5:].tolist() == uniform(2, 7, 5, 9)[1].tolist()
    True
    """
    return [_random(seed, dimension, start, stop) for dimension in range(width)]


def _random(seed: int, dimension: int, start: int, stop: int) -> FloatArray:
    stream = np.random.Generator(_stream(seed, start // _WORDS, dimension))
    stream.random(start % _WORDS)
    return stream.random(stop - start)


def latin(width: int, seed: int, start: int, stop: int, count: int) -> Shares:
    """Points of consecutive Latin hypercubes, each of 2^15 points, the last one of the rest.

    In each dimension a hypercube has one point in each of as many equal strata as it has points.

    Parameters
    ----------
    width, seed, start, stop
        As for `sobol`.
    count
        Number of points of the sample.

    Returns
    -------
    Coordinates by dimension.

    Examples
    --------
    >>> sorted(np.floor(latin(2, 7, 0, 5, 5)[1] * 5).tolist())
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """

    def of_block(block: int, low: int, high: int) -> Shares:
        points = min(BLOCK_OF_SAMPLES, count - block * BLOCK_OF_SAMPLES)
        return [row[low:high] for row in _hypercube(width, seed, block, points)]

    return _joined(start, stop, of_block)


@lru_cache(maxsize=2)
def _hypercube(width: int, seed: int, block: int, points: int) -> Shares:
    from scipy.stats.qmc import LatinHypercube

    stream = np.random.Philox(np.random.SeedSequence([seed, block]))
    random = np.random.Generator(stream)
    return list(np.ascontiguousarray(LatinHypercube(width, seed=random).random(points).T))


def _stream(seed: int, counter: int, dimension: int) -> np.random.Philox:
    words = [counter % 2**64, counter >> 64, dimension, 0]
    return np.random.Philox(key=_key(seed), counter=words)


@lru_cache(maxsize=16)
def _key(seed: int) -> NDArray[np.uint64]:
    return np.asarray(np.random.SeedSequence(seed).generate_state(2, np.uint64), np.uint64)


def _joined(start: int, stop: int, of_block: Callable[[int, int, int], Shares]) -> Shares:
    """Points of blocks, each restricted to a range."""
    pieces = [of_block(*place) for place in _places(start, stop)]
    if len(pieces) == 1:
        return pieces[0]
    return [np.concatenate(rows) for rows in zip(*pieces, strict=True)]


def _places(start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Indices of blocks, with the first point in each and the one after the last."""
    first, last = start // BLOCK_OF_SAMPLES, max(start, stop - 1) // BLOCK_OF_SAMPLES
    for block in range(first, last + 1):
        begin = block * BLOCK_OF_SAMPLES
        yield block, max(start - begin, 0), min(stop - begin, BLOCK_OF_SAMPLES)
