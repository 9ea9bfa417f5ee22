"""Lines of jobs and heaps of them: the twin of ``lines.h``, in its order.

Lines are linked lists of jobs; who is next by rank, and who is next to be done among those who
share, is the first of a pairing heap (Fredman and others, Algorithmica 1, 1986).
"""

from collections.abc import Sequence
from typing import Protocol

from headway.queueing.playing.rows import NONE


class Linked(Protocol):
    """A job as lines and heaps need it: its links, its keys and its turn."""

    next: int
    child: int
    turn: int
    key: float
    second: float


class Lines(Protocol):
    """What is played, as its lines need it."""

    @property
    def job(self) -> Sequence[Linked]:
        """Jobs, by number."""


def append(p: Lines, first: int, last: int, j: int) -> tuple[int, int]:
    """The first and the last of a line with one more."""
    p.job[j].next = NONE
    if NONE in (first, last):
        return j, j
    p.job[last].next = j
    return first, j


def removed(p: Lines, first: int, last: int, place: int) -> tuple[int, int, int]:
    """A job of a line, and the first and the last of the others."""
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
    """Whether one is before another by its keys, and else by its turn."""
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
    """The heap with one more."""
    p.job[j].next = p.job[j].child = NONE
    return _merged(p, heap, j)


def pop(p: Lines, first: int) -> tuple[int, int]:
    """The first job of a heap, and the heap of the others."""
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
