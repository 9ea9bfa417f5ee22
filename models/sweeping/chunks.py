"""Divide a sweep: blocks of points, and aligned runs of blocks as units of work.

Each block is solved separately, and blocks are merged pairwise in a fixed binary tree: 0 with 1, 2
with 3, then those two pairs, and so on. A `Chunk` is a subtree, so the same numbers are merged in
the same order, whatever the size of chunks and whichever worker does them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from headway.models.sweeping.reductions.reduction import State
from headway.records import dataclass

Merge: TypeAlias = Callable[[State, State], State]
"""Merges the states of two adjacent runs of points."""

LEAST_SECONDS, MOST_SECONDS = 0.2, 1.0
"""Target time of a chunk [s]."""

MOST_LEVEL = 40


@dataclass(frozen=True)
class Chunk:
    """Blocks ``index * 2**level`` to before ``(index + 1) * 2**level``.

    Examples
    --------
    >>> Chunk(3, 1).first, Chunk(3, 1).end
    (8, 16)
    """

    level: int
    index: int

    @property
    def first(self) -> int:
        """The first block."""
        return self.index << self.level

    @property
    def end(self) -> int:
        """The block after the last."""
        return (self.index + 1) << self.level

    @property
    def parent(self) -> "Chunk":
        """The chunk of which this is a half."""
        return Chunk(self.level + 1, self.index >> 1)


@dataclass(frozen=True)
class Subtree:
    """The states of all reductions for a chunk."""

    chunk: Chunk
    states: tuple[State, ...]


def next_chunk(first: int, end: int, level: int) -> Chunk:
    """The largest aligned chunk that starts at a block, up to a level.

    Parameters
    ----------
    first, end
        Its first block, and the end of all blocks.
    level
        The largest level.

    Examples
    --------
    >>> next_chunk(8, 100, 2), next_chunk(9, 100, 2), next_chunk(8, 10, 2)
    (Chunk(level=2, index=2), Chunk(level=0, index=9), Chunk(level=1, index=4))
    """
    aligned = (first & -first).bit_length() - 1 if first else MOST_LEVEL
    level = min(level, aligned, (end - first).bit_length() - 1)
    return Chunk(level, first >> level)


class Chunks:
    """Chunks of a sweep in order; their size adapts to the time that earlier ones took.

    Parameters
    ----------
    first, end
        First block, and the end of all blocks.
    level
        Level of the first chunks; `fixed` keeps it.

    Examples
    --------
    >>> chunks = Chunks(0, 7, level=1)
    >>> [next(chunks).end for _ in range(2)]
    [2, 4]
    >>> chunks.took(Chunk(1, 0), 0.01)  # far too short: 32 times larger at once
    >>> chunks.level, [chunk.end for chunk in chunks]
    (6, [6, 7])
    """

    def __init__(self, first: int, end: int, level: int = 0, *, fixed: bool = False) -> None:
        self.first, self.end, self.level, self.fixed = first, end, level, fixed

    def __iter__(self) -> Iterator[Chunk]:
        return self

    def __next__(self) -> Chunk:
        if self.first >= self.end:
            raise StopIteration
        chunk = next_chunk(self.first, self.end, self.level)
        self.first = chunk.end
        return chunk

    def took(self, chunk: Chunk, seconds: float) -> None:
        """Report the time of a chunk [s], which adapts the size of later ones."""
        if self.fixed or LEAST_SECONDS <= seconds <= MOST_SECONDS:
            return
        best = (LEAST_SECONDS * MOST_SECONDS) ** 0.5
        doublings = round_log2(best / max(seconds, 1e-6))
        if doublings > 0 and chunk.level < self.level:
            return  # shortened by alignment, or at the end
        self.level = min(max(chunk.level + doublings, 0), MOST_LEVEL)


def round_log2(ratio: float) -> int:
    """Logarithm to base two, rounded down.

    Examples
    --------
    >>> round_log2(9.0), round_log2(0.9)
    (3, -1)
    """
    from math import floor, log2

    return floor(log2(ratio))


def joined(
    subtrees: Sequence[Subtree], subtree: Subtree, merges: Sequence[Merge]
) -> tuple[Subtree, ...]:
    """Subtrees in order, with the next one added and halves of a chunk merged.

    Parameters
    ----------
    subtrees
        Subtrees of which no two are halves of one chunk.
    subtree
        The subtree of the blocks right after them.
    merges
        One for each reduction.
    """
    kept = [*subtrees, subtree]
    while len(kept) > 1 and _are_halves(kept[-2].chunk, kept[-1].chunk):
        right, left = kept.pop(), kept.pop()
        kept.append(Subtree(left.chunk.parent, merged(left.states, right.states, merges)))
    return tuple(kept)


def _are_halves(left: Chunk, right: Chunk) -> bool:
    return left.level == right.level and left.parent == right.parent


def merged(
    left: Sequence[State], right: Sequence[State], merges: Sequence[Merge]
) -> tuple[State, ...]:
    """States of two adjacent runs of points, merged."""
    each = zip(merges, left, right, strict=True)
    return tuple(merge(one, other) for merge, one, other in each)


def folded(subtrees: Sequence[Subtree], merges: Sequence[Merge]) -> tuple[State, ...]:
    """States of all subtrees, merged from the last to the first.

    Parameters
    ----------
    subtrees
        In order of their blocks; at least one.
    merges
        One for each reduction.
    """
    states = subtrees[-1].states
    for subtree in reversed(subtrees[:-1]):
        states = merged(subtree.states, states, merges)
    return states
