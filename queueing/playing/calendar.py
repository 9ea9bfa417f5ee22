"""The calendar of events: the twin of ``calendar.h``, in its order.

It is a binary heap of events by time, and by number among equal times.
"""

from typing import Protocol

from headway.queueing.playing.rows import NONE, Event


class Counts(Protocol):
    """Number of events in the calendar, and number ever put there."""

    size: int
    scheduled: int


class Calendar(Protocol):
    """What the calendar needs of a simulation: events, and the position of each owner's event."""

    event: list[Event]
    at: list[int]
    hole: bool

    @property
    def clock(self) -> Counts:
        """The counts."""


def _sooner(one: Event, other: Event) -> bool:
    return one.time < other.time or (one.time == other.time and one.number < other.number)


def _put(p: Calendar, place: int, event: Event) -> None:
    p.event[place] = event
    p.at[event.owner] = place


def _rise(p: Calendar, place: int, event: Event) -> None:
    while place > 0:
        above = (place - 1) // 2
        if not _sooner(event, p.event[above]):
            break
        _put(p, place, p.event[above])
        place = above
    _put(p, place, event)


def _sink(p: Calendar, place: int, event: Event) -> None:
    size = p.clock.size
    while (below := 2 * place + 1) < size:
        if below + 1 < size and _sooner(p.event[below + 1], p.event[below]):
            below += 1
        if not _sooner(p.event[below], event):
            break
        _put(p, place, p.event[below])
        place = below
    _put(p, place, event)


def schedule(p: Calendar, owner: int, time: float) -> None:
    """Put the event of an owner into the calendar, or move it if it is there."""
    place, event = p.at[owner], Event(time, p.clock.scheduled, owner)
    p.clock.scheduled += 1
    if place == NONE and p.hole:
        p.hole = False
        _sink(p, 0, event)
    elif place == NONE:
        p.clock.size += 1
        _rise(p, p.clock.size - 1, event)
    elif _sooner(event, p.event[place]):
        _rise(p, place, event)
    else:
        _sink(p, place, event)


def cancel(p: Calendar, owner: int) -> None:
    """Take the event of an owner out of the calendar."""
    place = p.at[owner]
    if place == NONE:
        return
    p.at[owner] = NONE
    p.clock.size -= 1
    last = p.event[p.clock.size]
    if place == p.clock.size:
        return
    if _sooner(last, p.event[place]):
        _rise(p, place, last)
    else:
        _sink(p, place, last)


def open_hole(p: Calendar) -> None:
    """Free the first position for the next new event, after its event has been played."""
    p.at[p.event[0].owner] = NONE
    p.hole = True


def close_hole(p: Calendar) -> None:
    """Fill the first position of the calendar, if it is still free."""
    if not p.hole:
        return
    p.hole = False
    p.clock.size -= 1
    if p.clock.size > 0:
        _sink(p, 0, p.event[p.clock.size])
