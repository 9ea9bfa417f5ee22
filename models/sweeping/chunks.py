"""How a sweep is cut: blocks of points, and aligned runs of blocks as pieces of work.

A block is solved by itself, and blocks are merged pairwise in one fixed binary tree: 0 with 1, 2
with 3, then those two pairs, and so on. A `Chunk` is a subtree, so however large chunks are and
whoever does them, the same numbers are merged in the same order.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from headway.models.sweeping.reductions.reduction import State

Merge: TypeAlias = Callable[[State, State], State]
"""Of what is kept of some points and of those right after them."""

LEAST_SECONDS, MOST_SECONDS = 0.2, 1.0
"""How long a chunk should take [s]."""

MOST_LEVEL = 40


@dataclass(frozen=True)
class Chunk:
    """Blocks ``index * 2**level`` to ``(index + 1) * 2**level``, the last one not among them.

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
        """The chunk that this is a half of."""
        return Chunk(self.level + 1, self.index >> 1)


@dataclass(frozen=True)
class Subtree:
    """What reductions keep of a chunk, a state each."""

    chunk: Chunk
    states: tuple[State, ...]


def next_chunk(first: int, end: int, level: int) -> Chunk:
    """The largest aligned chunk that begins at a block, of a level at most.

    Parameters
    ----------
    first, end
        The block it begins at, and the block where all ends.
    level
        The largest that is wanted.

    Examples
    --------
    >>> next_chunk(8, 100, 2), next_chunk(9, 100, 2), next_chunk(8, 10, 2)
    (Chunk(level=2, index=2), Chunk(level=0, index=9), Chunk(level=1, index=4))
    """
    aligned = (first & -first).bit_length() - 1 if first else MOST_LEVEL
    level = min(level, aligned, (end - first).bit_length() - 1)
    return Chunk(level, first >> level)


class Chunks:
    """Chunks of a sweep in order, of a size that follows how long the last ones took.

    Parameters
    ----------
    first, end
        Blocks to begin and end at.
    level
        Of the chunks to begin with; `fixed` keeps to it.

    Examples
    --------
    >>> chunks = Chunks(0, 7, level=1)
    >>> [next(chunks).end for _ in range(2)]
    [2, 4]
    >>> chunks.took(Chunk(1, 0), 0.01)  # far too short: 32 times as many at once
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
        """Say how long one took [s]: those to come are made larger or smaller by it."""
        if self.fixed or LEAST_SECONDS <= seconds <= MOST_SECONDS:
            return
        best = (LEAST_SECONDS * MOST_SECONDS) ** 0.5
        doublings = round_log2(best / max(seconds, 1e-6))
        if doublings > 0 and chunk.level < self.level:
            return  # a short one for want of alignment, or at the end
        self.level = min(max(chunk.level + doublings, 0), MOST_LEVEL)


def round_log2(ratio: float) -> int:
    """Logarithm to base two, as a whole number no larger.

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
    """Nodes in order of their blocks with the next one, halves of one chunk merged.

    Parameters
    ----------
    subtrees
        None of them two halves of one chunk.
    subtree
        Of the blocks right after theirs.
    merges
        One a reduction.
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
    """What reductions keep of two runs of points, one right after the other."""
    each = zip(merges, left, right, strict=True)
    return tuple(merge(one, other) for merge, one, other in each)


def folded(subtrees: Sequence[Subtree], merges: Sequence[Merge]) -> tuple[State, ...]:
    """What reductions keep of all subtrees, merged from the last to the first.

    Parameters
    ----------
    subtrees
        In order of their blocks; at least one.
    merges
        One a reduction.
    """
    states = subtrees[-1].states
    for subtree in reversed(subtrees[:-1]):
        states = merged(subtree.states, states, merges)
    return states
