"""Lines of jobs, and heaps of jobs: the twin of ``lines.h``, in its order.

Lines are linked lists of jobs. The next job by rank, or the next to finish among jobs that share
servers, is the first of a pairing heap (Fredman and others, Algorithmica 1, 1986).
"""

from collections.abc import Sequence
from typing import Protocol

from headway.queueing.playing.rows import NONE


class Linked(Protocol):
    """The fields of a job used by lines and heaps: its links, keys and turn."""

    next: int
    child: int
    turn: int
    key: float
    second: float


class Lines(Protocol):
    """What lines and heaps need of a simulation."""

    @property
    def job(self) -> Sequence[Linked]:
        """The jobs, by number."""


def append(p: Lines, first: int, last: int, j: int) -> tuple[int, int]:
    """Append a job to a line; returns its first and last job."""
    p.job[j].next = NONE
    if NONE in (first, last):
        return j, j
    p.job[last].next = j
    return first, j


def removed(p: Lines, first: int, last: int, place: int) -> tuple[int, int, int]:
    """Remove a job from a line; returns that job, and the first and last of the others."""
    before, j = NONE, first
    while place > 0 and p.job[j].next != NONE:
        before, j, place = j, p.job[j].next, place - 1
    after = p.job[j].next
    if before == NONE:
        first = after
    else:
        p.job[before].next = after
    p.job[j].next = NONE
    return j, first, before if after == NONE else last


def precedes(one: Linked, other: Linked) -> bool:
    """Whether a job precedes another, by keys, and by turn among equal keys."""
    return (one.key, one.second, one.turn) < (other.key, other.second, other.turn)


def _merged(p: Lines, one: int, other: int) -> int:
    if NONE in (one, other):
        return other if one == NONE else one
    if precedes(p.job[other], p.job[one]):
        one, other = other, one
    p.job[other].next = p.job[one].child
    p.job[one].child = other
    return one


def push(p: Lines, heap: int, j: int) -> int:
    """Add a job to a heap; returns its first job."""
    p.job[j].next = p.job[j].child = NONE
    return _merged(p, heap, j)


def pop(p: Lines, first: int) -> tuple[int, int]:
    """Remove the first job of a heap; returns it, and the first of the others."""
    heap, pairs = NONE, NONE
    each = p.job[first].child
    while each != NONE:
        one, other = each, p.job[each].next
        each = NONE if other == NONE else p.job[other].next
        one = _merged(p, one, other)
        p.job[one].next, pairs = pairs, one
    while pairs != NONE:
        after = p.job[pairs].next
        heap = _merged(p, heap, pairs)
        pairs = after
    if heap != NONE:
        p.job[heap].next = NONE
    p.job[first].child = NONE
    return first, heap
