"""Requests that meet in a thread of the event loop: those that have come, and those set aside."""

from headway.queueing.layers.states.play import Play
from headway.queueing.playing.lines import pop, push
from headway.queueing.playing.rows import NONE


def party(p: Play, task: int, entry: int) -> int:
    """The request for an entry that has come to its task's meeting; none if it has not."""
    j = p.queue[task].met
    while j != NONE and p.job[j].entry != entry:
        j = p.job[j].next
    return j


def come(p: Play, task: int, j: int) -> int:
    """Let a request come to the meeting; returns how many are there."""
    queue = p.queue[task]
    p.job[j].next, queue.met = queue.met, j
    queue.parties += 1
    return queue.parties


def set_aside(p: Play, task: int) -> None:
    """Set aside the first requests in the queue, as long as they are for entries that have come."""
    queue = p.queue[task]
    while queue.first != NONE and party(p, task, p.job[queue.first].entry) != NONE:
        j, queue.first = pop(p, queue.first)
        p.job[j].next, queue.aside = queue.aside, j


def over(p: Play, task: int) -> None:
    """End the meeting: requests that were set aside go back to their turns in the queue."""
    queue = p.queue[task]
    queue.met, queue.parties = NONE, 0
    while queue.aside != NONE:
        j = queue.aside
        queue.aside = p.job[j].next
        queue.first = push(p, queue.first, j)
