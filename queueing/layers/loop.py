"""The event loop of a layered system, instruction by instruction: the twin of ``layered.c``.

A call continues from a state, and stops after a number of events, at a time, or when an array is
full (`headway.queueing.layers.states.rows.Reason`). Tokens that can go on are in a line, the first
of which follows instruction after instruction until it takes time or waits. The loop draws the same
random numbers as the kernel and rounds in the same way, so that both leave the same state, bit for
bit.
"""

from collections.abc import Callable
from typing import Any

from headway.queueing.compiled.library import compiled
from headway.queueing.layers.states.meeting import come, over, party, set_aside
from headway.queueing.layers.states.play import Play, drop, go_on, ready, take
from headway.queueing.layers.states.rows import (
    InstructionRow,
    Job,
    Journey,
    Kind,
    Order,
    PlaceRow,
    Reason,
    Tally,
    WayRow,
    in_order,
    orders,
)
from headway.queueing.playing.calendar import cancel, close_hole, open_hole, schedule
from headway.queueing.playing.chance import drawn, sample
from headway.queueing.playing.lines import append, pop, precedes, push, removed
from headway.queueing.playing.rows import NONE, IntArray


def _owner_of_place(p: Play, k: int) -> int:
    return len(p.entry) + k


def _owner_of_job(p: Play, j: int) -> int:
    return len(p.entry) + len(p.place) + j


# Counts


def _count_tally(p: Play, tally: Tally) -> None:
    passed = p.now - tally.since
    tally.since = p.now
    tally.waiting_area += passed * float(tally.waiting)
    tally.first_area += passed * float(tally.first)
    tally.second_area += passed * float(tally.second)


def _busy(place: PlaceRow, sharers: int) -> float:
    return float(min(sharers, place.servers))


def _count_shared(p: Play, k: int) -> None:
    queue = p.queue[k]
    passed = p.now - queue.since
    queue.since = p.now
    if queue.serving > 0:
        queue.each += passed * _busy(p.place[k], queue.serving) / float(queue.serving)


def _count_used(p: Play, task: int) -> None:
    queue, k, served = p.queue[task], p.place[task].processor, p.now
    if p.place[k].order == Order.SHARED:
        _count_shared(p, k)
        served = p.queue[k].each
    queue.worked += float(queue.used) * (served - queue.used_since)
    queue.used_since = served


def _use(p: Play, j: int, more: int) -> None:
    task = p.entry[p.job[j].entry].task
    _count_used(p, task)
    p.queue[task].used += more


def _record(p: Play, entry: int, time: float) -> None:
    p.journey[p.clock.recorded] = Journey(entry, time)
    p.clock.recorded += 1


# Places: which jobs are served


def _share_out(p: Play, k: int) -> None:
    queue = p.queue[k]
    if queue.first == NONE:
        cancel(p, _owner_of_place(p, k))
        if queue.serving == 0:
            queue.each = 0.0
        return
    left = max(p.job[queue.first].key - queue.each, 0.0)
    slower = float(queue.serving) / _busy(p.place[k], queue.serving)
    schedule(p, _owner_of_place(p, k), p.now + left * slower)


def _begin(p: Play, j: int) -> None:
    job = p.job[j]
    entry, tally = p.entry[job.entry], p.tally[job.entry]
    _count_tally(p, tally)
    tally.waiting -= not entry.clients
    tally.first += not entry.thinks
    tally.begun += 1
    job.address, job.tokens, job.answered = entry.start, 1, 0
    if entry.clients:
        job.born = p.now
    if entry.meeting != NONE and p.queue[entry.task].met == NONE:
        _count_tally(p, p.tally[entry.meeting])
        p.tally[entry.meeting].first += 1


def _serve(p: Play, k: int, j: int) -> None:
    job = p.job[j]
    if k < p.tasks:
        _begin(p, j)
        ready(p, j)
        return
    if p.place[k].interrupts:
        job.previous, job.next = NONE, p.queue[k].served_first
        if job.next != NONE:
            p.job[job.next].previous = j
        p.queue[k].served_first = j
    _use(p, j, 1)
    schedule(p, _owner_of_job(p, j), p.now + job.work)


def _take_from_service(p: Play, k: int, j: int) -> None:
    job = p.job[j]
    if job.previous == NONE:
        p.queue[k].served_first = job.next
    else:
        p.job[job.previous].next = job.next
    if job.next != NONE:
        p.job[job.next].previous = job.previous


def _interrupted(p: Play, k: int, j: int) -> int:
    last = each = p.queue[k].served_first
    while each != NONE:
        if precedes(p.job[last], p.job[each]):
            last = each
        each = p.job[each].next
    if last == NONE or p.job[last].key <= p.job[j].key:
        return j
    owner = _owner_of_job(p, last)
    if p.at[owner] != NONE:
        p.job[last].work = p.event[p.at[owner]].time - p.now
    cancel(p, owner)
    _take_from_service(p, k, last)
    _use(p, last, -1)
    _serve(p, k, j)
    return last


def _rank(place: PlaceRow, job: Job, priority: float) -> None:
    turn = float(job.turn)
    job.key = place.by_turn * turn + place.by_priority * priority + place.by_work * job.work
    job.second = (
        place.then_turn * turn + place.then_priority * priority + place.then_work * job.work
    )


def _line_up(p: Play, k: int, j: int) -> None:
    place, queue, job = p.place[k], p.queue[k], p.job[j]
    job.turn = queue.come
    queue.come += 1
    if place.order == Order.RANKED:
        entry = p.entry[job.entry]
        _rank(place, job, float(entry.rank if k < p.tasks else p.place[entry.task].rank))
    if queue.serving < place.servers and not (place.meets and party(p, k, job.entry) != NONE):
        queue.serving += 1
        _serve(p, k, j)
        return
    if place.interrupts:
        j = _interrupted(p, k, j)
    queue.waiting += 1
    if place.order == Order.RANKED:
        queue.first = push(p, queue.first, j)
    else:
        queue.first, queue.last = append(p, queue.first, queue.last, j)


def _start_next(p: Play, k: int) -> None:
    place, queue, chosen = p.place[k], p.queue[k], 0
    queue.serving -= 1
    if place.meets:
        set_aside(p, k)
    if queue.first == NONE or queue.serving >= place.servers:
        return
    if place.order == Order.AT_RANDOM:
        chance = drawn(p, len(p.law) + k)
        chosen = int(chance * float(queue.waiting))
    queue.waiting -= 1
    queue.serving += 1
    if place.order == Order.RANKED:
        j, queue.first = pop(p, queue.first)
    else:
        j, queue.first, queue.last = removed(p, queue.first, queue.last, chosen)
    _serve(p, k, j)


# A token arrives at a processor, and leaves it


def _come(p: Play, k: int, j: int) -> None:
    queue = p.queue[k]
    if p.place[k].order != Order.SHARED:
        _line_up(p, k, j)
        return
    _use(p, j, 1)
    job = p.job[j]
    job.turn, job.key, job.second = queue.come, queue.each + job.work, 0.0
    queue.come += 1
    queue.serving += 1
    queue.first = push(p, queue.first, j)
    _share_out(p, k)


def _leave(p: Play, k: int, j: int) -> None:
    _use(p, j, -1)
    if p.place[k].order == Order.SHARED:
        p.queue[k].serving -= 1
        _share_out(p, k)
    else:
        _start_next(p, k)


# Instructions; each returns whether its token goes on at once


def _ask(p: Play, entry: int, caller: int, source: int, born: float) -> None:
    j = take(p, entry)
    p.job[j].caller, p.job[j].source, p.job[j].born = caller, source, born
    _count_tally(p, p.tally[entry])
    p.tally[entry].waiting += 1
    _line_up(p, p.entry[entry].task, j)


def _way_of(p: Play, address: int) -> WayRow | None:
    instruction = p.instruction[address]
    ways = p.way[instruction.way : instruction.way + instruction.ways]
    if not ways or ways[0].chance >= 1:
        return ways[0] if ways else None
    chance = drawn(p, address)
    return next((way for way in ways if chance < way.chance), None)


def _ways_in_order(p: Play, address: int) -> list[WayRow]:
    instruction = p.instruction[address]
    count = orders(instruction)
    order = int(drawn(p, address) * float(count)) if count > 1 else 0
    return [p.way[n] for n in in_order(instruction, order)]


def _spawn(p: Play, j: int) -> bool:
    job = p.job[j]
    instruction = p.instruction[job.address]
    job.spawned, job.left, job.next = p.clock.spawned, instruction.needed, NONE
    p.clock.spawned += 1
    for way in _ways_in_order(p, job.address):
        number = take(p, job.entry)
        branch = p.job[number]
        branch.address, branch.thread = way.target, job.thread
        branch.parent, branch.asked = j, job.spawned
        p.job[job.thread].tokens += 1
        first = p.instruction[way.target]
        if first.kind == Kind.GATE:
            branch.left, branch.next, job.next = first.needed, job.next, number
        else:
            ready(p, number)
    return False


def _tell(p: Play, j: int) -> bool:
    """Gates of the same spawn that are still shut are in a list that begins at its parent."""
    for way in _ways_in_order(p, p.job[j].address):
        before = p.job[j].parent
        gate = p.job[before].next
        while gate != NONE and p.job[gate].address != way.target:
            before, gate = gate, p.job[gate].next
        if gate == NONE:
            continue
        p.job[gate].left -= 1
        if p.job[gate].left == 0:
            p.job[before].next = p.job[gate].next
            go_on(p, gate)
    p.job[j].address += 1
    return True


def _answered(p: Play, j: int, entry: int) -> Job:
    """The request that a token answers: its own, or that for an entry in a meeting."""
    own = p.job[p.job[j].thread]
    return own if entry == NONE else p.job[party(p, p.entry[own.entry].task, entry)]


def _answer(p: Play, j: int) -> bool:
    address = p.job[j].address
    job = _answered(p, j, p.instruction[address].entry)
    tally, caller, source = p.tally[job.entry], job.caller, job.source
    onward = _way_of(p, address)
    _count_tally(p, tally)
    tally.first -= 1
    tally.second += 1
    tally.answered += 1
    job.answered, job.caller, job.source = 1, NONE, NONE
    p.job[j].address += 1
    if onward:
        _ask(p, onward.target, caller, source, job.born)
    elif caller != NONE:
        go_on(p, caller)
    elif source != NONE:
        _record(p, source, p.now - job.born)
    if not p.instruction[address].drawn or drawn(p, address) < 0.5:
        return True
    ready(p, j)
    return False


def _end(p: Play, j: int) -> None:
    job, tally = p.job[j], p.tally[p.job[j].entry]
    _count_tally(p, tally)
    tally.ended += 1
    tally.first -= not job.answered
    tally.second -= job.answered


def _meet(p: Play, j: int) -> None:
    """A request has come to a meeting; with the last one the thread goes on for all of them."""
    own = p.entry[p.job[j].entry]
    if come(p, own.task, j) < p.entry[own.meeting].parties:
        _start_next(p, own.task)
        return
    meeting = take(p, own.meeting)
    p.tally[own.meeting].begun += 1
    p.job[meeting].address, p.job[meeting].tokens = p.entry[own.meeting].start, 1
    ready(p, meeting)


def _release_met(p: Play, task: int) -> None:
    each = p.queue[task].met
    while each != NONE:
        j, each = each, p.job[each].next
        _end(p, j)
        drop(p, j)
    over(p, task)


def _release(p: Play, j: int) -> None:
    job = p.job[j]
    entry, tally = p.entry[job.entry], p.tally[job.entry]
    if entry.meeting != NONE:
        _meet(p, j)
        return
    _end(p, j)
    if entry.parties:
        tally.answered += 1
        _release_met(p, entry.task)
    if entry.clients:
        tally.answered += 1
        _record(p, job.entry, p.now - job.born)
        _begin(p, j)
        ready(p, j)
        return
    drop(p, j)
    _start_next(p, entry.task)


def _done(p: Play, j: int) -> bool:
    thread, parent, asked = p.job[j].thread, p.job[j].parent, p.job[j].asked
    if j != thread:
        drop(p, j)
        if p.job[parent].spawned == asked:
            p.job[parent].left -= 1
            if p.job[parent].left == 0:
                p.job[parent].spawned = NONE
                go_on(p, parent)
    p.job[thread].tokens -= 1
    if p.job[thread].tokens == 0:
        _release(p, thread)
    return False


def _send(p: Play, instruction: InstructionRow, j: int) -> bool:
    p.job[j].address += 1
    _ask(p, instruction.entry, NONE, NONE, 0.0)
    return True


def _branch(p: Play, instruction: InstructionRow, j: int) -> bool:
    way = _way_of(p, p.job[j].address) or p.way[instruction.way + instruction.ways - 1]
    p.job[j].address = way.target
    return True


def _follow(p: Play, j: int) -> bool:
    """Execute an instruction; returns whether the token goes on at once."""
    job = p.job[j]
    if job.address == NONE:
        _begin(p, j)
        return True
    instruction = p.instruction[job.address]
    if instruction.kind == Kind.SERVE:
        job.work = sample(p, job.address)
        _come(p, instruction.place, j)
    elif instruction.kind == Kind.WAIT:
        schedule(p, _owner_of_job(p, j), p.now + sample(p, job.address))
    elif instruction.kind == Kind.CALL:
        _ask(p, instruction.entry, j, NONE, 0.0)
    elif instruction.kind != Kind.GATE:
        return _AT_ONCE[instruction.kind](p, instruction, j)
    return False


_AT_ONCE: dict[int, Callable[[Play, InstructionRow, int], bool]] = {
    Kind.SEND: _send,
    Kind.BRANCH: _branch,
    Kind.SPAWN: lambda p, _, j: _spawn(p, j),
    Kind.TELL: lambda p, _, j: _tell(p, j),
    Kind.ANSWER: lambda p, _, j: _answer(p, j),
    Kind.DONE: lambda p, _, j: _done(p, j),
}


# Events


def _arrival(p: Play, entry: int) -> None:
    schedule(p, entry, p.now + sample(p, len(p.instruction) + entry))
    _ask(p, entry, NONE, entry, p.now)


def _place_event(p: Play, k: int) -> None:
    _count_shared(p, k)
    j, p.queue[k].first = pop(p, p.queue[k].first)
    _leave(p, k, j)
    go_on(p, j)


def _job_event(p: Play, j: int) -> None:
    job = p.job[j]
    entry, instruction = p.entry[job.entry], p.instruction[job.address]
    if instruction.kind == Kind.SERVE:
        if p.place[instruction.place].interrupts:
            _take_from_service(p, instruction.place, j)
        _leave(p, instruction.place, j)
    elif entry.thinks and job.address == entry.start:
        _count_tally(p, p.tally[job.entry])
        p.tally[job.entry].first += 1
        job.born = p.now
    go_on(p, j)


def _event(p: Play) -> None:
    first = p.event[0]
    if first.time > p.now:
        p.clock.still = 0
    p.now = first.time
    p.clock.events += 1
    open_hole(p)
    if first.owner < len(p.entry):
        _arrival(p, first.owner)
    elif first.owner < len(p.entry) + len(p.place):
        _place_event(p, first.owner - len(p.entry))
    else:
        _job_event(p, first.owner - len(p.entry) - len(p.place))


def _room(p: Play) -> int:
    """Number of jobs above which an instruction may find no free job."""
    spawns = (one.ways for one in p.instruction if one.kind == Kind.SPAWN)
    return len(p.job) - max(1, max(spawns, default=1))


def _stopped(p: Play, room: int) -> Reason | None:
    if p.clock.jobs > room:
        return Reason.CROWDED
    return Reason.RECORDED if p.clock.recorded >= len(p.journey) else None


def _played(p: Play, until: float, most: int) -> tuple[Reason, int]:
    """Play until the loop has to stop; returns the reason, and the token that then goes on."""
    clock, on, room = p.clock, NONE, _room(p)
    while (stopped := _stopped(p, room)) is None:
        if on == NONE and clock.first != NONE:
            on, clock.first, clock.last = removed(p, clock.first, clock.last, 0)
        if on != NONE:
            clock.still += 1
            if clock.still > clock.most_still:
                return Reason.ENDLESS, on
            on = on if _follow(p, on) else NONE
            continue
        close_hole(p)
        if clock.size == 0 or p.event[0].time > until:
            return Reason.OVER, on
        if most <= 0:
            return Reason.MORE, on
        most -= 1
        _event(p)
    return stopped, on


@compiled
def play_program(
    instructions: IntArray,
    ways: IntArray,
    laws: IntArray,
    entries: IntArray,
    places: IntArray,
    clock: IntArray,
    queues: IntArray,
    tallies: IntArray,
    jobs: IntArray,
    at: IntArray,
    events: IntArray,
    streams: IntArray,
    journeys: IntArray,
    until: float,
    most: int,
) -> None:
    """Play until a time, or until a number of events has been played.

    Parameters
    ----------
    instructions, ways, laws, entries, places
        Arrays of a `LayeredScore`, with rows as flat int64.
    clock, queues, tallies, jobs, at, events, streams, journeys
        Arrays of a `LayeredState`, with rows as flat int64; they are updated.
    until
        The time at which to stop [s].
    most
        The number of events after which to stop.
    """
    state: tuple[Any, ...] = (clock, queues, tallies, jobs, at, events, streams, journeys)
    p = Play((instructions, ways, laws, entries, places), state)
    p.clock.reason, on = _played(p, until, most)
    close_hole(p)
    if on != NONE:
        p.job[on].next, p.clock.first = p.clock.first, on
        if p.job[on].next == NONE:
            p.clock.last = on
    if p.clock.reason == Reason.OVER and until > p.now:
        p.now = until
        for tally in p.tally:
            _count_tally(p, tally)
        for task in range(p.tasks):
            _count_used(p, task)
    p.clock.now = p.now
    p.write(state)
